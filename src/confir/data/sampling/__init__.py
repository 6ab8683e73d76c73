"""How topics came about: designs, repeats of systems, judgements by people and by a model."""
