"""Tables of any length, read block by block: scores, runs and qrels."""
