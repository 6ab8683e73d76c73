"""The number of replicates, the seeds from which they are drawn, and when further ones decide."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from confir.arguments import as_integer
from confir.defaults import LEVELS
from confir.errors import InvalidValueError

Rng: TypeAlias = "int | np.random.Generator | None"  # as text: numpy.random takes time to load

# With this many replicates the Monte-Carlo error is negligible.
MOST_REPLICATES = 10_000_000

# Where a decision is borderline, so many times as many replicates are drawn.
FURTHER = 10

# Products of scores and weights that further replicates may take: seconds on two cores.
MOST_PRODUCTS = 20_000_000_000


def own_seed(rng: np.random.Generator) -> int:
    """Return a seed for methods that draw their own random numbers; the generator is unchanged."""
    return int(rng.spawn(1)[0].integers(2**63))


def check_replicates(replicates: int) -> None:
    """Raise if the number of replicates is invalid."""
    if as_integer("replicates", replicates) > MOST_REPLICATES:
        raise InvalidValueError(
            f"replicates is {replicates:,}; expected at most {MOST_REPLICATES:,}"
        )


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
