"""How much of the variance over topics comes from the choice of nuggets?"""
