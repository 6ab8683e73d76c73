"""How certain is the ranking of the runs?"""
