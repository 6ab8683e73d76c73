"""Does the difference between two runs depend on the kind of topic?"""
