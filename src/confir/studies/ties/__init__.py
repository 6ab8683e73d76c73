"""How far do scores depend on the order of tied documents?"""
