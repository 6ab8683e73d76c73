"""How far can an information-retrieval evaluation score be trusted?"""
