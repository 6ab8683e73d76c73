"""Questions, answered from scores and intervals."""
