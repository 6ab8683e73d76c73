"""The reader of every table, and tables of scores, effects, costs and teams."""
