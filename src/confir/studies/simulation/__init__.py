"""How do methods perform when the true means are known?"""
