"""Score tables of any length, read block by block."""
