"""Which measure separates systems best here?"""
