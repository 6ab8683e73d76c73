"""Sums over the ranks of a whole collection, without adding every term.

Short sums are tabulated; long ones use the Euler-Maclaurin formula, to nearly full precision for up
to 10¹² ranks. All functions take and return arrays.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from confir.arrays import Floats

# From here on, three or four terms of an asymptotic series are exact up to rounding.
_SERIES_FROM = 64
# From here on, the third derivative of 1/log2(rank + 1) is negligible.
_DISCOUNT_FROM = 4096
# Stirling's series starts this far above its argument.
_SHIFT = 16


def harmonic(count: Floats) -> Floats:
    """Return ``H_n``, the sum of 1/r over the first n ranks; 0 for none."""
    large = np.maximum(count, _SERIES_FROM)
    square = 1.0 / (large * large)
    series = np.log(large) + np.euler_gamma + 0.5 / large
    series -= square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
    return _small_or(count, _table(1), series)


def harmonic_between(low: Floats, high: Floats) -> Floats:
    """Return ``H_high - H_low`` without cancellation for large, close arguments."""
    start = np.maximum(low, _SERIES_FROM)
    stop = np.maximum(high, start)
    product, total = start * stop, start + stop
    squares = start * start + stop * stop
    # each term of the series, differenced: all are multiples of the distance
    corrections = 0.5 / product - total / (12.0 * product**2)
    corrections += total * squares / (120.0 * product**4)
    corrections -= total * (squares**2 - product**2) / (252.0 * product**6)
    series = np.log1p((stop - start) / start) - (stop - start) * corrections
    return np.where(low < _SERIES_FROM, harmonic(high) - harmonic(low), series)


def harmonic_squares(count: Floats) -> Floats:
    """Return the sum of 1/r² over the first n ranks."""
    large = np.maximum(count, _SERIES_FROM)
    square = 1.0 / (large * large)
    tail = 1.0 / large - 0.5 * square
    tail += square / large * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
    return _small_or(count, _table(2), np.pi**2 / 6.0 - tail)


def discount_sum(count: Floats, power: int = 1) -> Floats:
    """Return the sum of ``log2(r + 1)^-power`` over the first n ranks, for a power of 1 or 2."""
    small = _discounts(power)
    if not np.any(count >= _DISCOUNT_FROM):
        return small[np.asarray(count, np.int64)]
    first, last = float(_DISCOUNT_FROM), np.maximum(count, _DISCOUNT_FROM) + 1.0
    logs, start = np.log(last), np.log(first)
    ends = (logs**-power - start**-power) / 2.0
    slopes = power * (start ** (-power - 1) / first - logs ** (-power - 1) / last)
    area = _integral(last, power) - _integral(np.array(first), power)
    # the table ends with the term at ``first``; half of that one and half of the last belong here
    long = small[-1] + np.log(2.0) ** power * (area + ends + slopes / 12.0)
    return _small_or(count, small, long)


def log_miss_probability(documents: Floats, relevant: Floats, drawn: Floats) -> Floats:
    """Return ``ln(C(N-R, k) / C(N, k))``: no relevant document among k drawn; -∞ if impossible.

    With a = N-R, b = N-k and c = N-R-k, Stirling's series of ``ln a! b! / (c! N!)`` is arranged so
    that every term is a multiple of Rk: ``ab - cN = Rk``. k need not be whole.
    """
    rest = documents - relevant - drawn
    possible = rest >= 0
    c = np.where(possible, rest, 0.0)
    common = relevant * drawn
    # the product of 1 + Rk/((c+i)(N+i)), less 1: what the shift leaves out
    below = np.zeros(np.broadcast_shapes(np.shape(common), np.shape(c)))
    for step in range(1, _SHIFT + 1):
        below += common / ((c + step) * (documents + step)) * (1.0 + below)
    n, c = documents + _SHIFT, c + _SHIFT
    a, b = n - relevant, n - drawn
    logs = (c + 0.5) * np.log1p(common / (c * n))
    logs += drawn * np.log1p(-relevant / n) + relevant * np.log1p(-drawn / n)
    logs += _stirling_rest(a) + _stirling_rest(b) - _stirling_rest(c) - _stirling_rest(n)
    return np.where(possible, logs - np.log1p(below), -np.inf)


def _small_or(count: Floats, table: Floats, series: Floats) -> Floats:
    """Return the table's entry where a count is within the table, else the series."""
    place = np.minimum(count, len(table) - 1).astype(np.int64)
    return np.where(count < len(table), table[place], series)


@cache
def _table(power: int) -> Floats:
    """Return the sums of r^-power for 0 … _SERIES_FROM - 1 ranks."""
    terms = np.arange(1.0, _SERIES_FROM) ** -power
    return np.concatenate(([0.0], np.cumsum(terms)))


@cache
def _discounts(power: int) -> Floats:
    """Return the sums of log2(r + 1)^-power for 0 … _DISCOUNT_FROM - 1 ranks."""
    terms = np.log2(np.arange(2.0, _DISCOUNT_FROM + 1.0)) ** -power
    return np.concatenate(([0.0], np.cumsum(terms)))


def _integral(end: Floats, power: int) -> Floats:
    """Return an antiderivative of ``(ln x)^-power``: li(x), or li(x) - x/ln x."""
    from scipy.special import expi

    logs = np.log(end)
    area: Floats = expi(logs)
    return area if power == 1 else area - end / logs


def _stirling_rest(x: Floats) -> Floats:
    """Return ``ln x! - (x + ½) ln x + x - ½ ln 2π``."""
    square = 1.0 / (x * x)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / x
