"""What is missing from the runs and qrels?"""
