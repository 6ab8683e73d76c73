"""How did a gate decide over time, and what may later looks still claim?"""
