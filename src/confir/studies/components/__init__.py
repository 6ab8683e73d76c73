"""How much of the variance is due to systems, topics, judges and repeats?"""
