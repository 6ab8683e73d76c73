"""Tables of scores and of effects: one reader for all formats."""
