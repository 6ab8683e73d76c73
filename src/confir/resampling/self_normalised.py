"""Self-normalised sums T of differences: their sum over the root of the sum of their squares.

Of differences that are symmetric about 0, T bounds the p-value without any variance (Bentkus &
Dzindzalieta 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.arrays import Floats


def self_normalised(contributions: Floats) -> Floats:
    """Return T of what each unit adds to a difference: from units × columns; 0 where all are 0."""
    size = np.sqrt(np.square(contributions).sum(axis=0))
    total = contributions.sum(axis=0)
    sums: Floats = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
    return sums


def self_normalised_sums(difference: Floats, se: Floats, units: Any) -> Floats:
    """Return T of differences on n equally weighted units, from their mean and its standard error.

    ``T = t·√(n/(n-1+t²))``; where all units show the same difference, whose se is NaN, ±√n.
    """
    squares = np.square(difference) + (units - 1.0) * np.square(np.nan_to_num(se))
    with np.errstate(divide="ignore", invalid="ignore"):
        sums: Floats = np.sqrt(units) * difference / np.sqrt(squares)
    return np.where(squares > 0, sums, 0.0)
