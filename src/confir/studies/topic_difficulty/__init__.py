"""Which topics are hard, and where does a run fail?"""
