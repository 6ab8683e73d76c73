"""Which run is better: paired differences, families, tests, decisions, best sets, ranks and their words."""
