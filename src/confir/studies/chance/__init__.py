"""Is a run better than a random ranking?"""
