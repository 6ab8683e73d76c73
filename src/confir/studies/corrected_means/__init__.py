"""What would people have judged? Means by a model's judgements, corrected by human ones."""
