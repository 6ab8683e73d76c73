"""What do several collections show when combined?"""
