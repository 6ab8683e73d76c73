"""May a candidate replace the baseline?"""
