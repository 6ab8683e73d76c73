"""Would a run that is not in the pool be scored fairly?"""
