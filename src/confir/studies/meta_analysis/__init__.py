"""What do several collections say together?"""
