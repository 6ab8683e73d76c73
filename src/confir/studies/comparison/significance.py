"""Is a difference significant? Where test, mean and interval agree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.studies.comparison.verdicts import BETTER, INCONCLUSIVE, WORSE, Words

# Adjusted p-values are products of p-values: those so near to 1 - level are equal to it.
_ROUNDING = 1e-9


class Estimates(NamedTuple):
    """Mean differences, their limits, and whether all topics show the same: arrays or numbers."""

    difference: Any
    low: Any
    high: Any
    constant: Any


def judge_differences(
    estimates: Estimates, direction: Any, p_adjusted: Floats, level: float
) -> Words:
    """Return better and worse where a difference is significant, and inconclusive elsewhere."""
    significant = significant_directions(estimates, direction, p_adjusted, level)
    words = np.array([INCONCLUSIVE, BETTER, WORSE])
    verdict: Words = words[significant]
    return verdict


def significant_directions(
    estimates: Estimates, direction: Any, p_adjusted: Any, level: float
) -> Any:
    """Return 1 or -1 where test, mean and interval agree that the run is better or worse, else 0."""
    by_limits = np.where(estimates.low > 0, 1, 0) - np.where(estimates.high < 0, 1, 0)
    found = np.where(estimates.constant, direction, by_limits)
    agrees = (found == direction) & (np.sign(estimates.difference) == direction)
    return np.where(agrees & is_significant(p_adjusted, level), found, 0).astype(np.int64)


def is_significant(p: Any, level: float) -> Any:
    """Whether p-values are at most 1 - level, up to rounding."""
    error = 1.0 - level
    return (p < error) | (abs(p - error) <= _ROUNDING * error)
