"""Further replicates for decisions that lie too near to their threshold."""

from __future__ import annotations

# Where a decision is borderline, so many times as many replicates are drawn.
FURTHER = 10

# Products of scores and weights that further replicates may take: seconds on two cores.
_MOST_PRODUCTS = 20_000_000_000


def can_draw_further(pairs: int, topics: int, replicates: int) -> bool:
    """Whether ten times as many replicates of pairs of runs take seconds, not minutes."""
    return pairs > 1 and pairs * topics * FURTHER * replicates <= _MOST_PRODUCTS
