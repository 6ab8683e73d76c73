"""What if the truth were known?"""
