"""Is a run good enough: does its mean reach a target?"""
