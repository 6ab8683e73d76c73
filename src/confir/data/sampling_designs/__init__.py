"""How topics were sampled: designs, repeats of systems, human and model judgements."""
