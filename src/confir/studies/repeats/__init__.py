"""How far does a system's mean depend on its repeats?"""
