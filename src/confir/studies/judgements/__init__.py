"""How far do several judges agree, and what does the choice of a judge change?"""
