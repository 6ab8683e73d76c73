"""Which systems are best over many datasets, and which of their differences are significant?"""
