"""What would the means be by human judgements? A model's, corrected by a few human ones."""
