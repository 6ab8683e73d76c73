"""Order and equality of numbers up to rounding; signed differences and intervals as text."""

from __future__ import annotations

import math

import numpy as np

from confir.arrays import Booleans, Floats, Integers

# Scores in [0, 1] that differ by less are equal up to rounding.
TIE = 1e-12

# Levels that somebody chose, such as 99.95%, have at most so many decimals.
_DECIMALS_OF_LEVELS = 2

# As many decimals tell every level from 100%.
_MOST_DECIMALS = 17


def distinct(values: Integers) -> Integers:
    """Return the distinct values, ascending.

    `np.unique` would do, but first loads numpy's masked arrays, which takes longer.
    """
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    found: Integers = ordered[is_new]
    return found


def ranks_by_mean(mean: Floats) -> Integers:
    """Return ranks along the first axis, 1 the highest; equal means share the better rank, NaN is last."""
    known = np.nan_to_num(mean, nan=-np.inf)
    ranks: Integers = 1 + (known[None] > known[:, None] + TIE).sum(axis=1)
    return ranks


def best_first(values: Floats) -> list[int]:
    """Return the indices of values, highest first; NaN last."""
    places: list[int] = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist()
    return places


def is_best(values: Floats) -> Booleans:
    """Return which values equal the highest up to rounding."""
    if np.isnan(values).all():
        return np.zeros(values.shape, bool)
    highest = float(np.nanmax(values))
    best: Booleans = values >= highest - TIE * max(1.0, abs(highest))
    return best


def signed(value: float, decimals: int = 4) -> str:
    """Return a signed difference to some decimals; one digit if it would round to 0."""
    if math.isnan(value):
        return "–"
    if abs(value) < TIE:
        return f"{0:.{decimals}f}"
    if abs(value) < 0.5 * 10.0**-decimals:
        return f"{value:+.0e}"
    return f"{value:+,.{decimals if abs(value) < 10 else 1}f}"


def level_text(level: float) -> str:
    """Return a confidence level: ``95%``, or one of many digits to one decimal, ``97.0%``, never 100%."""
    exact = f"{100.0 * level:.10g}"
    if level == 1.0 or (len(exact.partition(".")[2]) <= _DECIMALS_OF_LEVELS and exact != "100"):
        return f"{exact}%"
    decimals = 1
    while float(f"{100.0 * level:.{decimals}f}") >= 100.0 and decimals < _MOST_DECIMALS:
        decimals += 1
    return f"{100.0 * level:.{decimals}f}%"


def bracketed(low: str, high: str, open_end: int = 0) -> str:
    """Return the text of an interval: ``[low, high]``, a round bracket at an end that is excluded.

    Parameters
    ----------
    open_end
        1 where the lower end is excluded, -1 where the upper one is, else 0.
    """
    return f"{'(' if open_end > 0 else '['}{low}, {high}{')' if open_end < 0 else ']'}"
