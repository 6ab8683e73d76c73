"""What do runs and qrels lack?"""
