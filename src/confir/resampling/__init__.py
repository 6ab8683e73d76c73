"""From data to the sampling distribution of a statistic."""
