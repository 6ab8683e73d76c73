"""How did a gate decide over time, and what can be concluded after repeated looks?"""
