"""Mean and variance of each measure for random rankings.

Every function maps a `RankedCollection` to arrays of its shape. Closed forms are arranged to avoid
cancellation; a topic without relevant documents scores 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.measures.graded import check_rbp, dcg_gain
from confir.measures.long_sums import (
    discount_sum,
    harmonic,
    harmonic_between,
    harmonic_squares,
    log_miss_probability,
)

# Sums over the rank of the first relevant document: number of terms added one by one; the rest is
# integrated by Gauss-Legendre quadrature: number of panels, and of nodes in each.
_HEAD = 256
_PANELS, _NODES = 32, 16
_AT_ONCE = 100_000
# e^-60: a negligible probability.
_LOG_NEGLIGIBLE = 60.0
# The variance squares 2^gain.
_HIGHEST_EXPONENT = 500

RankFunction = Callable[[Any, Any], Any]


class ChanceMoments(NamedTuple):
    """Mean and variance of the scores of a measure over random rankings."""

    mean: Floats
    variance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RankedCollection:
    """N documents ranked at random: arrays of the same shape.

    Attributes
    ----------
    documents
        N.
    by_gain
        Number of relevant documents of each gain.
    depth
        Length of the list.
    scalar
        Whether the input was plain numbers.
    """

    documents: Floats
    by_gain: dict[int, Floats]
    depth: Floats
    scalar: bool

    def relevant(self, rel: int = 1) -> Floats:
        """Return the number of documents of gain ``rel`` or more."""
        total = np.zeros(self.documents.shape)
        for gain, count in self.by_gain.items():
            if gain >= rel:
                total = total + count
        return total

    def length(self, cutoff: int | None) -> Floats:
        """Return how many documents of the list a measure takes into account."""
        return self.depth if cutoff is None else np.minimum(self.depth, cutoff)

    def shaped(self, values: Floats) -> float | Floats:
        """Return a number for numbers, else the array."""
        return float(values[0]) if self.scalar else values


def average_precision(
    c: RankedCollection, *, cutoff: int | None = None, rel: int = 1
) -> ChanceMoments:
    """Return E(AP), ``(H + (R-1)(k-H)/(N-1)) / N`` with H = H_k, and Var(AP).

    The variance is a sum over pairs of terms, by the ranks that they share. R·AP = Σ_i X_i/i + Σ_{i<j} X_i X_j/j, with X_i = 1 where rank i holds a relevant document. Two
    terms on a and b ranks, u of them distinct, have the covariance p_u - p_a p_b, where p_j is the
    probability that j given ranks are all relevant. Each such difference is written as a multiple
    of N - R: the second moment minus the squared mean would cancel for large R.
    """
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    h, g = harmonic(k), harmonic_squares(k)
    left = n - r
    n1, n2, n3 = (np.maximum(n - i, 1.0) for i in (1.0, 2.0, 3.0))
    mean = (h + (r - 1.0) * (k - h) / n1) / n
    p1, p2 = r / n, r * (r - 1.0) / (n * n1)
    # ranks with ranks: the same one, two different ones
    value = p1 * left / n * (g - (h * h - g) / n1)
    # ranks with pairs: the rank in the pair, or outside it
    inside = 2.0 * (h - g) + (h * h - g)
    outside = 2.0 * h * (k - h) - inside
    value += p2 * left / n * (inside - 2.0 * outside / n2)
    # pairs with pairs: the same, sharing a rank, or apart
    same = h - g
    shared = 5.0 * k - 7.0 * h + 4.0 * g - 2.0 * h * h
    apart = (k - h) ** 2 - shared - same
    pairs = (n + r - 1.0) * same + ((n - 2.0) * (r - 2.0) - 2.0) / n2 * shared
    pairs -= ((2.0 * n - 3.0) * (2.0 * r - 3.0) - 3.0) / (n2 * n3) * apart
    value += p2 * left / (n * n1) * pairs
    variance = np.maximum(value, 0.0) / np.maximum(r, 1.0) ** 2
    return ChanceMoments(np.where(r > 0, mean, 0.0), np.where(r > 0, variance, 0.0))


def _found_variance(n: Floats, r: Floats, k: Floats, out_of: Floats | int) -> Floats:
    """Return the variance of (relevant documents among k) / out_of: hypergeometric."""
    variance: Floats = k * r * (n - r) * (n - k) / (n * n * np.maximum(n - 1.0, 1.0))
    return variance / np.square(out_of)


def precision(c: RankedCollection, *, cutoff: int, rel: int = 1) -> ChanceMoments:
    """Return the moments of P@k; the mean is R/N, less where the list is shorter than k."""
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    return ChanceMoments(r / n * k / cutoff, _found_variance(n, r, k, cutoff))


def recall(c: RankedCollection, *, cutoff: int, rel: int = 1) -> ChanceMoments:
    """Return the moments of R@k; the mean is k/N."""
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    variance = _found_variance(n, r, k, np.maximum(r, 1.0))
    return ChanceMoments(np.where(r > 0, k / n, 0.0), variance)


def r_precision(c: RankedCollection, *, rel: int = 1) -> ChanceMoments:
    """Return the moments of Rprec; the mean is R/N, less where the list is shorter than R."""
    n, r = c.documents, c.relevant(rel)
    k = np.minimum(r, c.depth)
    return ChanceMoments(k / n, _found_variance(n, r, k, np.maximum(r, 1.0)))


def success(c: RankedCollection, *, cutoff: int, rel: int = 1) -> ChanceMoments:
    """Return the moments of Success@k: ``1 - C(N-R, k) / C(N, k)``, and a Bernoulli variance."""
    missed = log_miss_probability(c.documents, c.relevant(rel), c.length(cutoff))
    mean: Floats = -np.expm1(missed)
    return ChanceMoments(mean, mean * np.exp(missed))


def reciprocal_rank(
    c: RankedCollection, *, cutoff: int | None = None, rel: int = 1
) -> ChanceMoments:
    """Return the moments of RR.

    The mean is ``R/(N-R+1) (H_N - H_{R-1})`` for a full ranking, else a sum over ranks; the variance
    the mean of (RR - E)², which avoids cancellation.
    """
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    some = np.maximum(r, 1.0)
    mean = some / (n - some + 1.0) * harmonic_between(some - 1.0, n)
    cut = k < n - some + 1.0
    if cut.any():
        mean = np.where(cut, _first_rank_sum(n, some, k, _reciprocal, _reciprocal_slope), mean)
    mean = np.where(r > 0, mean, 0.0)
    found = _first_rank_sum(
        n,
        some,
        k,
        lambda rank, where: (1.0 / rank - mean[where]) ** 2,
        lambda rank, where: -2.0 * (1.0 / rank - mean[where]) / rank**2,
    )
    missed = np.exp(log_miss_probability(n, some, k))
    return ChanceMoments(mean, np.where(r > 0, found + missed * mean**2, 0.0))


def _reciprocal(rank: Any, _: Any) -> Any:
    return 1.0 / rank


def _reciprocal_slope(rank: Any, _: Any) -> Any:
    return -1.0 / rank**2


def _first_rank_sum(
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


def _linear(
    c: RankedCollection, gains: Mapping[float, Floats], first: Floats, second: Floats
) -> ChanceMoments:
    """Return the moments of Σ a_r·gain_r, from Σ a_r and Σ a_r²: sampling without replacement."""
    n, total = c.documents, np.zeros(c.documents.shape)
    for gain, count in gains.items():
        total = total + gain * count
    mean = total / n
    spread = (n - c.relevant()) * mean**2
    for gain, count in gains.items():
        spread = spread + count * (gain - mean) ** 2
    variance: Floats = spread / np.maximum(n - 1.0, 1.0) * np.maximum(second - first**2 / n, 0.0)
    return ChanceMoments(mean * first, variance)


def _dcg_gains(c: RankedCollection, dcg: str, gains: str | None) -> dict[float, Floats]:
    """Return the number of documents of each gain of DCG, highest gain first."""
    levels = np.array([gain for gain in c.by_gain if gain >= 1], np.int64)
    values = dcg_gain(levels, dcg, gains, highest=_HIGHEST_EXPONENT)
    counts: dict[float, Floats] = {}
    for place in np.argsort(-values, kind="stable").tolist():
        gain = float(values[place])
        counts[gain] = counts.get(gain, 0.0) + c.by_gain[int(levels[place])]
    return counts


def _ideal_dcg(c: RankedCollection, gains: Mapping[float, Floats], cutoff: int | None) -> Floats:
    """Return the DCG of the ideal list; 1 if there is no gain."""
    best, placed = np.zeros(c.documents.shape), np.zeros(c.documents.shape)
    bound = np.inf if cutoff is None else cutoff
    for gain, count in gains.items():
        start, placed = np.minimum(placed, bound), placed + count
        best = best + gain * (discount_sum(np.minimum(placed, bound)) - discount_sum(start))
    return np.where(best > 0, best, 1.0)


def ndcg(
    c: RankedCollection, *, cutoff: int | None = None, dcg: str = "log2", gains: str | None = None
) -> ChanceMoments:
    """Return the moments of nDCG: those of DCG, over the DCG of the ideal list."""
    counted, k = _dcg_gains(c, dcg, gains), c.length(cutoff)
    gained = _linear(c, counted, discount_sum(k), discount_sum(k, power=2))
    ideal = _ideal_dcg(c, counted, cutoff)
    return ChanceMoments(gained.mean / ideal, gained.variance / ideal**2)


def rank_biased_precision(
    c: RankedCollection,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: int | None = None,
    gains: str | None = None,
) -> ChanceMoments:
    """Return the moments of RBP: the mean gain times the weight of the ranks of the list."""
    check_rbp(p, rel, gains)
    if rel is None:
        counted = _dcg_gains(c, "log2", gains)
    else:
        counted = {1.0: c.relevant(rel), 0.0: c.relevant() - c.relevant(rel)}
    decay = c.length(cutoff) * np.log(p)
    squares = -np.expm1(2.0 * decay) * (1.0 - p) / (1.0 + p)
    return _linear(c, counted, -np.expm1(decay), squares)
