"""The format of numbers: scores, intervals, shares, p-values and counts."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from confir.arrays import Booleans, Integers
from confir.errors import counted
from confir.order import signed

# Smaller p-values would round to 0 in four decimals.
_SMALLEST_P = 0.00005


def number_text(value: float) -> str:
    """Return a score to four decimals, a large number to one, a dash if missing."""
    return _fixed(value, _decimals(value))


def interval_text(mean: float, low: float, high: float) -> str:
    """Return text such as ``0.2175 [0.1484, 0.2866]``: three numbers with the same decimals."""
    if math.isnan(low) or math.isnan(high):
        return number_text(mean)
    return f"{_fixed(mean, _decimals(mean, low, high))} {limits_text(mean, low, high)}"


def limits_text(mean: float, low: float, high: float) -> str:
    """Return the limits of a mean alone: ``[0.1484, 0.2866]``, a dash if missing."""
    if math.isnan(low) or math.isnan(high):
        return "–"
    decimals = _decimals(mean, low, high)
    return f"[{_fixed(low, decimals)}, {_fixed(high, decimals)}]"


def difference_text(difference: float, low: float, high: float) -> str:
    """Return text such as ``+0.0210 [+0.0040, +0.0390]``; missing numbers are left out."""
    if math.isnan(low) or math.isnan(high):
        return signed(difference)
    limits = f"[{signed(low)}, {signed(high)}]"
    return limits if math.isnan(difference) else f"{signed(difference)} {limits}"


def percent(share: float, digits: int = 10) -> str:
    """Return a share or a level for a sentence: ``95 %``, ``4.6 %``."""
    if math.isnan(share):
        return "–"
    return f"{Decimal(f'{100 * share:.{digits}g}'):f} %"


def share_text(share: float, decimals: int = 1) -> str:
    """Return a share for a column of shares: ``12.3 %``, a dash if missing."""
    return "–" if math.isnan(share) else f"{100 * share:.{decimals}f} %"


def frequency_text(share: float) -> str:
    """Return a share of bootstrap samples: ``0.832``."""
    return f"{share:.3f}"


def p_text(p: float) -> str:
    """Return a p-value to four decimals, never 0."""
    if math.isnan(p):
        return "–"
    return f"{p:.4f}" if p >= _SMALLEST_P else "<0.0001"


def topics_text(counts: Integers) -> str:
    """Return the number of topics of means: ``60 topics``, or ``40 to 60 topics``.

    Counts of 0, of runs without a mean, are ignored.
    """
    known = counts[counts > 0]
    fewest, most = int(known.min(initial=counts.max())), int(counts.max())
    return counted(most, "topic") if fewest == most else f"{fewest:,} to {counted(most, 'topic')}"


def runs_differ_in_topics(counts: Integers) -> Booleans:
    """Return for which measures runs have different numbers of topics, from counts runs × measures."""
    return np.array([len(set(column) - {0}) > 1 for column in counts.T.tolist()], bool)


def _decimals(*values: float) -> int:
    """Return the number of decimals for numbers shown together."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return 4 if largest < 10 else 1


def _fixed(value: float, decimals: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{decimals}f}"
