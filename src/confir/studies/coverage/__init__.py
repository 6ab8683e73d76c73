"""Are the intervals calibrated?"""
