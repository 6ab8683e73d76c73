"""How well do the runs do, and how far can a mean be trusted?"""
