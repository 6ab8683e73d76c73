"""Exact sign flips of what units add to differences: p-values, and the limits that agree with them.

Were the runs of a pair interchangeable, each unit would add as much with the other sign. Of the 2^G flips
of G units, those are counted that give a sum as large as the observed one, itself included. Units are
topics, or whole clusters where these are few.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from confir.arrays import Floats
from confir.intervals.interval import Limits

# Numbers held at once: columns × flips.
_NUMBERS_AT_ONCE = 1 << 22


def flip_p(parts: Floats, ties: Floats) -> Floats:
    """Return the share of sign flips whose sum is as large as the observed one, on its side of 0.

    It is half of the two-sided p-value. Flips that turn all signs give the same sum on the other side: half
    of them are looked at.

    Parameters
    ----------
    parts
        What each unit adds to the differences: columns × units.
    ties
        How near two sums are equal up to rounding: columns.
    """
    units = parts.shape[1]
    signs = _half_of_the_flips(units)
    p = np.empty(len(parts))
    width = max(1, _NUMBERS_AT_ONCE // len(signs))
    for start in range(0, len(parts), width):
        block = slice(start, start + width)
        sums = np.abs(parts[block] @ signs.T)
        least = np.abs(parts[block].sum(axis=1)) - ties[block]
        p[block] = (sums >= least[:, None]).sum(axis=1) / 2.0**units
    return p


def flip_limits(parts: Floats, weights: Floats, share: float) -> Limits:
    """Return the limits of differences that the test does not reject, each side at a share of the flips.

    They are the k-th smallest and the k-th largest ratio of the parts of some units to their weights, over
    all sets of units, with k the number of flips in that share; NaN if k is 0. Units that weigh nothing add
    sets that are never counted.

    Parameters
    ----------
    parts, weights
        What each unit adds to the differences, and what it weighs: columns × units.
    share
        The share of flips up to which the test rejects, for each side.
    """
    columns, units = parts.shape
    count = math.floor(round(share * 2.0**units, 9))
    low, high = np.full((2, columns), np.nan)
    if not count:
        return Limits(low, high)
    sets = _sets_of_units(units)
    count = min(count, len(sets))
    width = max(1, _NUMBERS_AT_ONCE // len(sets))
    for start in range(0, columns, width):
        block = slice(start, start + width)
        weight = weights[block] @ sets.T
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = parts[block] @ sets.T / weight
        known = weight > 0
        low[block] = np.partition(np.where(known, ratio, -np.inf), count - 1)[:, count - 1]
        high[block] = -np.partition(np.where(known, -ratio, -np.inf), count - 1)[:, count - 1]
    nowhere = np.isinf(low) | np.isinf(high)
    return Limits(np.where(nowhere, np.nan, low), np.where(nowhere, np.nan, high))


@lru_cache
def _half_of_the_flips(units: int) -> Floats:
    """Return the flips that leave the first unit as it is: flips × units, 1 and -1."""
    numbers = np.arange(2 ** (units - 1))[:, None]
    return 1.0 - 2.0 * (numbers >> np.arange(units) & 1)[:, ::-1].astype(np.float64)


@lru_cache
def _sets_of_units(units: int) -> Floats:
    """Return all sets of units but the empty one: sets × units, 1 for those in it."""
    return (np.arange(1, 2**units)[:, None] >> np.arange(units) & 1).astype(np.float64)
