"""What an experiment is: runs, qrels, rankings, scores."""
