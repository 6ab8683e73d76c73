"""Sums over the ranks of a whole collection, without adding every term.

Short sums are tabulated; long ones use the Euler-Maclaurin formula, to nearly full precision for up
to 10¹² ranks. All functions take and return arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from confir.arrays import Floats

# From here on, three or four terms of an asymptotic series are exact up to rounding.
_SERIES_FROM = 64
# The sums of r^-1 and of r^-2 for fewer ranks: none, one, …
_SHORT_SUMS = {
    power: np.concatenate(([0.0], np.cumsum(np.arange(1.0, _SERIES_FROM) ** -power)))
    for power in (1, 2)
}
# From here on, the third derivative of 1/log2(rank + 1) is negligible.
_DISCOUNT_FROM = 4096
# Stirling's series starts this far above its argument.
_SHIFT = 16
# Sums over the rank of the first relevant document: number of terms added one by one; the rest is
# integrated by Gauss-Legendre quadrature: number of panels, and of nodes in each.
_HEAD = 256
_PANELS, _NODES = 32, 16
_AT_ONCE = 100_000
# e^-60: a negligible probability.
_LOG_NEGLIGIBLE = 60.0

RankFunction = Callable[[Any, Any], Any]


def harmonic(count: Floats) -> Floats:
    """Return ``H_n``, the sum of 1/r over the first n ranks; 0 for none."""
    large = np.maximum(count, _SERIES_FROM)
    square = 1.0 / (large * large)
    series = np.log(large) + np.euler_gamma + 0.5 / large
    series -= square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
    return _small_or(count, _SHORT_SUMS[1], series)


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
    return _small_or(count, _SHORT_SUMS[2], np.pi**2 / 6.0 - tail)


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


def first_rank_sum(
    n: Floats, r: Floats, k: Floats, weight: RankFunction, slope: RankFunction
) -> Floats:
    """Return E(``weight(rank)``) over the rank of the first relevant document.

    ``weight`` and its derivative are functions of ranks and of the entries that they belong to.
    """
    last = np.minimum(k, n - r + 1.0)
    total, missed = np.zeros(n.shape), np.ones(n.shape)
    for rank in range(1, int(min(last.max(initial=0.0), _HEAD)) + 1):
        left = np.maximum(n - rank + 1.0, 1.0)
        total += np.where(rank <= last, weight(rank, ...) * missed * r / left, 0.0)
        missed *= np.maximum(left - r, 0.0) / left
    far = last > _HEAD
    if far.any():
        total[far] += _first_rank_tail(n[far], r[far], last[far], far, weight, slope)
    return total


def _first_rank_tail(
    n: Floats, r: Floats, last: Floats, where: Any, weight: RankFunction, slope: RankFunction
) -> Floats:
    """Return the part of the sum beyond the first ranks, by the Euler-Maclaurin formula."""
    first = np.full(n.shape, _HEAD + 1.0)
    # P(no relevant in x ranks) <= e^(-xR/N)
    end = np.minimum(last, np.floor(first + _LOG_NEGLIGIBLE * n / r))

    def term(rank: Floats) -> Floats:
        value: Floats = weight(rank, where) * _first_rank_probability(n, r, rank)
        return value

    def derivative(rank: Floats) -> Floats:
        decay = 1.0 / (n - rank + 1.0) - harmonic_between(n - r - rank + 1.0, n - rank + 1.0)
        change = slope(rank, where) + weight(rank, where) * decay
        value: Floats = change * _first_rank_probability(n, r, rank)
        return value

    span = np.log(end / first)
    area = np.zeros(n.shape)
    for places, shares in _quadrature(max(1, _AT_ONCE // len(n))):
        rank = first * np.exp(places[:, None] * span)
        area += (shares[:, None] * rank * term(rank)).sum(axis=0)
    ends = (term(first) + term(end)) / 2.0 + (derivative(end) - derivative(first)) / 12.0
    tail: Floats = area * span + ends
    return tail


def _first_rank_probability(n: Floats, r: Floats, rank: Floats) -> Floats:
    probability: Floats = np.exp(log_miss_probability(n, r, rank - 1.0)) * r / (n - rank + 1.0)
    return probability


def _quadrature(group: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield nodes in (0, 1) and their weights, in groups: Gauss-Legendre in equal panels."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = ((np.arange(_PANELS)[:, None] + (nodes + 1.0) / 2.0) / _PANELS).reshape(-1)
    shares = np.tile(weights / (2.0 * _PANELS), _PANELS)
    for start in range(0, len(places), group):
        yield places[start : start + group], shares[start : start + group]


def _small_or(count: Floats, table: Floats, series: Floats) -> Floats:
    """Return the table's entry where a count is within the table, else the series."""
    place = np.minimum(count, len(table) - 1).astype(np.int64)
    return np.where(count < len(table), table[place], series)


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
