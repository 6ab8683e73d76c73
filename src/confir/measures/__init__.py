"""Measures: from rankings to scores."""
