"""Confidence intervals: from a sampling distribution to limits."""
