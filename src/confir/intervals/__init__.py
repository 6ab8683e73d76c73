"""From a sampling distribution to an interval."""
