"""Which systems are best over many datasets, and which can be told apart?"""
