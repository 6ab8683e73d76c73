"""Is a run reproduced?"""
