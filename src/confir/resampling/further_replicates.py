"""Further replicates for decisions that lie too near to their threshold."""

from __future__ import annotations

from confir.defaults import LEVELS

# Where a decision is borderline, so many times as many replicates are drawn.
FURTHER = 10

# Products of scores and weights that further replicates may take: seconds on two cores.
MOST_PRODUCTS = 20_000_000_000


def levels_to_settle(level: float) -> tuple[float, ...]:
    """Return the levels at which decisions must be settled: the one asked for, and the usual ones.

    So a comparison at one of these equals one that was made at another, and the report.
    """
    return tuple(sorted({*LEVELS, level}))


def can_draw_further(pairs: int, topics: float, replicates: int) -> bool:
    """Whether ten times as many replicates of pairs of runs take seconds, not minutes.

    Units without number are documents, whose replicates are drawn already.
    """
    return pairs > 1 and pairs * topics * FURTHER * replicates <= MOST_PRODUCTS
