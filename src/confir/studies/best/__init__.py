"""Which runs may be the best?"""
