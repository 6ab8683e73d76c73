"""Significant differences: those where test, mean and interval agree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.intervals.simultaneous import is_significant
from confir.studies.comparison.verdicts import BETTER, INCONCLUSIVE, WORSE, Words


class Estimates(NamedTuple):
    """Mean differences, their limits, and whether all topics show the same: arrays or numbers.

    Attributes
    ----------
    open
        1 where the lower limit is excluded from the interval, -1 where the upper one is, else 0.
    """

    difference: Any
    low: Any
    high: Any
    constant: Any
    open: Any = 0


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
    above = (estimates.low > 0) | ((estimates.low == 0) & np.equal(estimates.open, 1))
    below = (estimates.high < 0) | ((estimates.high == 0) & np.equal(estimates.open, -1))
    by_limits = np.where(above, 1, 0) - np.where(below, 1, 0)
    unlimited = np.isnan(estimates.low) | np.isnan(estimates.high)
    found = np.where(estimates.constant & unlimited, direction, by_limits)
    agrees = (found == direction) & (np.sign(estimates.difference) == direction)
    return np.where(agrees & is_significant(p_adjusted, level), found, 0).astype(np.int64)
