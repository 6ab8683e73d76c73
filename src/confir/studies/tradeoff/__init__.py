"""Which runs are worth their cost?"""
