"""From rankings to scores."""
