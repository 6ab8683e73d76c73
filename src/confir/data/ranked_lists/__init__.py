"""The ranked lists of runs: whole, reduced to judged documents, tied, and with unjudged documents."""
