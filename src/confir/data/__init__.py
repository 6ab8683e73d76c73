"""The data of an experiment: runs, qrels, ranked lists and scores, from files and objects."""
