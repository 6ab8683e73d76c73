"""The rule for families of comparisons in plain loops, written from its definition alone.

A pair is the list of its differences, one per topic, NaN where a run has no score. Draws are
numbers of topics, replicates × topics. Nothing is shared with the package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, product
from statistics import NormalDist, median

import numpy as np
from scipy import stats

from confir.arrays import Floats, Integers

Pair = Sequence[float] | Floats
Draws = Integers  # replicates × topics

# The least factor by which a normal tail bounds that of a self-normalised symmetric sum: 3.1787.
FACTOR = 1 / (4 * NormalDist().cdf(-math.sqrt(2)))

# Up to so many units, no p-value of a family is below that of the pair's own sign flips.
FEW_UNITS = 12

# Differences that are equal up to rounding; t* that reach t up to rounding.
EQUAL = 1e-12
REACHES = 1 - 1e-9


@dataclass(frozen=True)
class PlainPair:
    """What the family says of one pair: t is d over se, p the adjusted p-value."""

    d: float
    se: float
    t: float
    sums: float
    c: float
    p_family: float
    p_sign: float
    p: float
    low: float
    high: float
    open: int


def borrowed_share(m: int, n: float) -> float:
    """u: the share of n topics of which one of m pairs is expected to have met none."""
    return 1 - m ** (-1 / n)


def self_normalised_sum(values: Sequence[float] | Floats) -> float:
    """T; 0 where all values are 0."""
    squares = sum(value * value for value in values)
    return sum(values) / math.sqrt(squares) if squares > 0 else 0.0


def sign_bound(sums: float, m: int, sides: int = 2) -> float:
    """p_T of a self-normalised sum T: two-sided by |T|, one-sided by T."""
    reached = abs(sums) if sides == 2 else sums
    return min(1.0, m * sides * FACTOR * float(stats.norm.sf(reached)))


@lru_cache
def all_signs(units: int) -> Floats:
    """Every combination of signs: 2^units × units."""
    return np.array(list(product((1.0, -1.0), repeat=units)))


def flip_share(values: Sequence[float] | Floats) -> float:
    """The share of sign flips whose sum is at least as large as the observed one, on its side."""
    added = np.asarray(values, float)
    side = 1.0 if added.sum() >= 0 else -1.0
    sums = side * (all_signs(len(added)) * added).sum(axis=1)
    return float((sums >= side * added.sum() - EQUAL).mean())


def flip_floor(values: Sequence[float] | Floats, m: int, sides: int = 2) -> float:
    """What p is at least in a family on few units."""
    few = m > 1 and len(values) <= FEW_UNITS
    return min(1.0, sides * flip_share(values)) if few else 0.0


def order_statistic(values: Sequence[float], level: float) -> float:
    """The ⌈(B+1)·level⌉-th smallest; ∞ where there are too few."""
    place = math.ceil(round((len(values) + 1) * level, 9))
    return sorted(values)[place - 1] if place <= len(values) else math.inf


def critical_value(
    maxima: Sequence[float], m: int, df: float, level: float, sides: int = 2
) -> float:
    """c: of the maxima, between the t quantile of a single pair and Bonferroni's."""
    single = stats.t.isf((1 - level) / sides, df)
    bonferroni = stats.t.isf((1 - level) / sides / m, df)
    return float(
        bonferroni if m == 1 else min(max(order_statistic(maxima, level), single), bonferroni)
    )


def family_p(t: float, maxima: Sequence[float], m: int, df: float, sides: int = 2) -> float:
    """p_family = min(max(p_B, p_1), m·p_1, 1)."""
    reached = abs(t) if sides == 2 else t
    single = sides * float(stats.t.sf(reached, df))
    if m == 1 or not len(maxima):
        return min(m * single, 1.0)
    beyond = sum(one >= reached * REACHES for one in maxima)
    return min(max((1 + beyond) / (len(maxima) + 1), single), m * single, 1.0)


def present(pair: Pair) -> Floats:
    """The differences that are there; those of 0 up to rounding are 0."""
    values = np.asarray(pair, float)
    there = values[~np.isnan(values)]
    return np.where(np.abs(there) <= EQUAL, 0.0, there)


def spread(values: Floats) -> float:
    """s², ddof 1; 0 where all differences are equal up to rounding."""
    constant = len(values) < 2 or values.max() - values.min() <= EQUAL
    return 0.0 if constant else float(values.var(ddof=1))


def median_spread(pairs: Sequence[Pair]) -> float:
    """M: the median variance of the pairs that are not constant; 0 where all are."""
    known = [one for one in (spread(present(pair)) for pair in pairs) if one > 0]
    return median(known) if known else 0.0


def count_tested(pairs: Sequence[Pair]) -> int:
    """m: pairs with two topics or more that are not identical."""
    return sum(len(present(pair)) > 1 and present(pair).any() for pair in pairs)


def resampled_t(pair: Pair, draws: Draws, borrowed: float) -> list[float]:
    """t* of each replicate, with the factor √(n/(n-1)) of the pair's own topics."""
    values = present(pair)
    factor = math.sqrt(len(values) / (len(values) - 1))
    return [_drawn_t(values, present(drawn), borrowed, factor) for drawn in np.asarray(pair)[draws]]


def _drawn_t(values: Floats, drawn: Floats, borrowed: float, factor: float) -> float:
    if len(drawn) == 0:
        return 0.0
    moved = drawn.mean() - values.mean()
    total = spread(drawn) + borrowed if len(drawn) > 1 else 0.0
    if total <= EQUAL**2:
        return 0.0 if abs(moved) <= EQUAL else math.copysign(math.inf, moved)
    return float(moved / math.sqrt(total / len(drawn)) * factor)


def signed_t(pairs: Sequence[Pair], draws: Draws, m: int, middle: float) -> list[list[float]]:
    """t* of the pairs that are not constant: a list for each replicate."""
    vary = [pair for pair in pairs if spread(present(pair)) > 0]
    drawn = [
        resampled_t(pair, draws, borrowed_share(m, len(present(pair))) * middle) for pair in vary
    ]
    return [list(row) for row in zip(*drawn, strict=True)] if drawn else [[] for _ in draws]


def largest_t(pairs: Sequence[Pair], draws: Draws, m: int, middle: float) -> list[float]:
    """The largest |t*| of each replicate."""
    drawn = signed_t(pairs, draws, m, middle)
    return [max((abs(t) for t in row), default=-math.inf) for row in drawn]


def standard_error(pair: Pair, m: int, middle: float) -> float:
    """√((s² + u·M)/n); NaN where that is 0."""
    values = present(pair)
    if len(values) < 2:
        return math.nan
    total = spread(values) + borrowed_share(m, len(values)) * middle
    if total <= 0:
        return math.nan
    error = math.sqrt(total / len(values))
    if spread(values) > 0 or len(values) <= FEW_UNITS:
        return error
    return sign_limited(error, float(values.mean()), len(values), len(values) - 1.0)


def sign_limited(error: float, mean: float, units: float, df: float) -> float:
    """Return an error so large that t of equal differences is no stronger than their signs are."""
    return max(error, abs(mean) / float(stats.t.isf(0.5**units, df)))


def compare_family(pairs: Sequence[Pair], draws: Draws, level: float) -> list[PlainPair]:
    """All pairs of a family, two-sided."""
    m, middle = max(count_tested(pairs), 1), median_spread(pairs)
    maxima = largest_t(pairs, draws, m, middle) if m > 1 else []
    return [_compare(pair, maxima, m, middle, level) for pair in pairs]


def _compare(pair: Pair, maxima: Sequence[float], m: int, middle: float, level: float) -> PlainPair:
    values = present(pair)
    # identical runs are not in the family, and have no interval
    se = standard_error(pair, m, middle) if values.any() else math.nan
    sums = self_normalised_sum(values)
    # T of a single pair says nothing: it is a plain t test, or exact sign flips
    p_sign = sign_bound(sums, m) if m > 1 else 1.0
    if m == 1 and not math.isfinite(se) and values.any():
        p_sign = 2.0 ** (1 - len(values))
    floor = flip_floor(values, m)
    return decide(values.mean(), se, len(values) - 1, sums, p_sign, maxima, m, level, floor)


def decide(
    d: float,
    se: float,
    df: float,
    sums: float,
    p_sign: float,
    maxima: Sequence[float],
    m: int,
    level: float,
    floor: float = 0.0,
) -> PlainPair:
    """Interval, p-value and open end of one pair."""
    if not math.isfinite(se):
        p = max(min(p_sign, 1.0), floor)
        return PlainPair(d, se, math.nan, sums, math.nan, 1.0, p_sign, p, math.nan, math.nan, 0)
    c, p_family = critical_value(maxima, m, df, level), family_p(d / se, maxima, m, df)
    low, high, side = d - c * se, d + c * se, 0
    p = max(min(p_family, p_sign, 1.0), floor)
    shown = p <= (1 - level) * (1 + 1e-9) and d != 0
    if shown and abs(d) <= c * se:
        side = 1 if d > 0 else -1
        low, high = (0.0, high) if side > 0 else (low, 0.0)
    if not shown:  # by the signs of few units: 0 is the near end
        low, high = min(low, 0.0), max(high, 0.0)
    return PlainPair(d, se, d / se, sums, c, p_family, p_sign, p, low, high, side)


def pairs_of(table: Sequence[Sequence[float]], baseline: int | None = None) -> list[Floats]:
    """Differences of the runs of a table, topics × runs: second less first, in order."""
    values = np.asarray(table, float)
    runs = range(values.shape[1])
    if baseline is not None:
        numbers = [(baseline, run) for run in runs if run != baseline]
    else:
        numbers = [(first, second) for first in runs for second in runs if first < second]
    return [values[:, second] - values[:, first] for first, second in numbers]


@dataclass(frozen=True)
class PlainBest:
    """The confidence set of the best run, with Hsu's limits of the gap to the best of the others."""

    members: list[bool]
    p: list[float]
    lower: list[float]
    upper: list[float]


def find_best(table: Sequence[Sequence[float]], draws: Draws, level: float) -> PlainBest:
    """Multiple comparisons with the best: m = K - 1, M over all pairs, one-sided."""
    values = np.asarray(table, float)
    topics, runs = values.shape
    m, middle, df = runs - 1, median_spread(pairs_of(table)), topics - 1
    c, p = [0.0] * runs, [1.0] * runs
    d, se = np.zeros((runs, runs)), np.full((runs, runs), np.nan)
    for i in range(runs):
        others = [j for j in range(runs) if j != i]
        above = [values[:, j] - values[:, i] for j in others]
        for j, pair in zip(others, above, strict=True):
            d[i, j], se[i, j] = present(pair).mean(), standard_error(pair, m, middle)
        drawn = signed_t(above, draws, m, middle) if m > 1 else []
        maxima = [max(row, default=-math.inf) for row in drawn]
        c[i] = max(0.0, critical_value(maxima, m, df, level, 1))
        for j, pair in zip(others, above, strict=True):
            if d[i, j] <= 0:
                continue
            known = math.isfinite(se[i, j])
            by_t = family_p(d[i, j] / se[i, j], maxima, m, df, 1) if known else 1.0
            by_sign = sign_bound(self_normalised_sum(present(pair)), m, 1) if m > 1 else 1.0
            if m == 1 and not known:
                by_sign = 2.0**-topics
            p[i] = min(p[i], max(min(by_t, by_sign), flip_floor(present(pair), m, 1)))
    members = [one > (1 - level) * (1 + 1e-9) for one in p]
    upper, lower = [], []
    for i in range(runs):
        others = [j for j in range(runs) if j != i and math.isfinite(se[i, j])]
        limit = min((-d[i, j] + c[i] * se[i, j] for j in others), default=math.nan)
        upper.append(max(limit, 0.0) if members[i] else 0.0)
        rivals = [j for j in others if members[j]]
        limit = min((-d[i, j] - c[j] * se[i, j] for j in rivals), default=math.nan)
        alone = members[i] and sum(members) == 1
        lower.append(0.0 if alone else min(limit, 0.0))
    return PlainBest(members, p, lower, upper)


def rank_p(table: Sequence[Sequence[float]], draws: Draws, run: int) -> list[float]:
    """p-values of ranks 1, 2, … of one run, among its own K - 1 comparisons."""
    values = np.asarray(table, float)
    topics, runs = values.shape
    m, middle, df = runs - 1, median_spread(pairs_of(table)), topics - 1
    pairs = [values[:, j] - values[:, run] for j in range(runs) if j != run]
    drawn = signed_t(pairs, draws, m, middle) if m > 1 else []
    above = [max(row, default=-math.inf) for row in drawn]
    below = [max((-t for t in row), default=-math.inf) for row in drawn]
    either = [max(pair) for pair in zip(above, below, strict=True)]

    def share(maxima: Sequence[float], t: float) -> float:
        return (1 + sum(one >= t * REACHES for one in maxima)) / (len(maxima) + 1)

    def rejecting(t: float, rank: int) -> float:
        """The chance that one of K - r seems better by t, or one of r - 1 worse."""
        if not t > 0:
            return 1.0
        tail = float(stats.t.sf(t, df))
        better = min(share(above, t), (runs - rank) * tail)
        worse = min(share(below, t), (rank - 1) * tail)
        return max(tail, min(1.0, share(either, t), m * tail, better + worse))

    def significance(pair: Pair, sign: int, rank: int) -> float:
        """The level from which on a run counts as better (1) or worse (-1) than this one."""
        d, se = sign * present(pair).mean(), standard_error(pair, m, middle)
        if not d > 0:
            return 1.0
        by_t = rejecting(d / se, rank) if math.isfinite(se) else 1.0
        if m == 1:
            return by_t if math.isfinite(se) else 2.0**-topics
        by_sign = sign_bound(sign * self_normalised_sum(present(pair)), m, 1)
        return max(min(by_t, by_sign), flip_floor(present(pair), m, 1))

    p = []
    for rank in range(1, runs + 1):
        better = sorted(significance(pair, 1, rank) for pair in pairs)
        worse = sorted(significance(pair, -1, rank) for pair in pairs)
        by_better = better[rank - 1] if rank < runs else 1.0
        by_worse = worse[runs - rank] if rank > 1 else 1.0
        p.append(min(by_better, by_worse))
    return p


def simultaneous_ranks(
    table: Sequence[Sequence[float]], draws: Draws, level: float
) -> tuple[list[int], list[int]]:
    """1 + runs that are better, and runs less those that are worse, in the family of all pairs."""
    runs = np.asarray(table).shape[1]
    found = iter(compare_family(pairs_of(table), draws, level))
    low, high = [1] * runs, [runs] * runs
    for first in range(runs):
        for second in range(first + 1, runs):
            pair = next(found)
            if pair.p <= (1 - level) * (1 + 1e-9) and pair.d != 0:
                loser, winner = (first, second) if pair.d > 0 else (second, first)
                low[loser] += 1
                high[winner] -= 1
    return low, high


@dataclass(frozen=True)
class PlainDesign:
    """A design: stratum, cluster and weight of each topic, and each stratum's share of the mean."""

    stratum: Sequence[int]
    cluster: Sequence[int]
    weight: Sequence[float]
    share: Sequence[float]

    def topics(self, stratum: int, cluster: int | None = None) -> list[int]:
        """Numbers of the topics of a stratum, or of a cluster of it."""
        return [
            topic
            for topic in range(len(self.stratum))
            if self.stratum[topic] == stratum and cluster in (None, self.cluster[topic])
        ]

    def clusters(self, stratum: int) -> list[int]:
        """The clusters of a stratum in order."""
        return sorted({self.cluster[topic] for topic in self.topics(stratum)})

    @property
    def count(self) -> int:
        """Number of clusters."""
        return sum(len(self.clusters(h)) for h in range(len(self.share)))


def designed_moments(
    pair: Sequence[float], design: PlainDesign, drawn: Sequence[Sequence[int]]
) -> tuple[float, float]:
    """Mean and variance; drawn are clusters of each stratum, with repeats."""
    mean, total = 0.0, 0.0
    for h, share in enumerate(design.share):
        groups = [design.topics(h, g) for g in drawn[h]]
        mass = sum(design.weight[i] for group in groups for i in group)
        centre = sum(design.weight[i] * pair[i] for group in groups for i in group) / mass
        sums = [sum(design.weight[i] * (pair[i] - centre) for i in group) for group in groups]
        size = len(groups)
        total += share**2 * size / (size - 1) * sum(s * s for s in sums) / mass**2
        mean += share * centre
    return mean, total


def cluster_parts(pair: Sequence[float], design: PlainDesign) -> list[float]:
    """What each cluster adds to the mean, z_hg."""
    added = []
    for h, share in enumerate(design.share):
        mass = sum(design.weight[i] for i in design.topics(h))
        groups = [design.topics(h, g) for g in design.clusters(h)]
        added += [share * sum(design.weight[i] * pair[i] for i in group) / mass for group in groups]
    return added


def cluster_sum(pair: Sequence[float], design: PlainDesign) -> float:
    """T of what each cluster adds to the mean."""
    return self_normalised_sum(cluster_parts(pair, design))


def flipped_pair(
    pair: Sequence[float], design: PlainDesign, m: int, level: float
) -> tuple[float, float, float]:
    """p-value and limits of one of m pairs by sign flips of whole clusters: each bound is tested."""
    parts = np.array(cluster_parts(pair, design))
    weights = np.array(cluster_parts([1.0] * len(pair), design))
    p = min(1.0, 2.0 * m * flip_share(parts))
    chosen = [
        list(one) for r in range(1, len(parts) + 1) for one in combinations(range(len(parts)), r)
    ]
    bounds = sorted(parts[one].sum() / weights[one].sum() for one in chosen)

    def rejected(bound: float, side: float) -> bool:
        moved = side * (parts - bound * weights)
        sums = (all_signs(len(moved)) * moved).sum(axis=1)
        return bool(2.0 * m * (sums >= moved.sum() - EQUAL).mean() <= (1 - level) * (1 + 1e-9))

    steps = [bounds[0] - 1.0, *bounds, bounds[-1] + 1.0]
    middles = [(low + high) / 2.0 for low, high in pairwise(steps)]
    low = [one for one, middle in zip(bounds, middles, strict=False) if rejected(middle, 1.0)]
    high = [one for one, middle in zip(bounds, middles[1:], strict=True) if rejected(middle, -1.0)]
    return p, max(low, default=math.nan), min(high, default=math.nan)


def compare_designed(
    pairs: Sequence[Sequence[float]],
    design: PlainDesign,
    draws: Sequence[Sequence[Sequence[int]]],
    dfs: Sequence[float],
    level: float,
) -> list[PlainPair]:
    """All pairs of a family by a design, with degrees of freedom that are known.

    A draw has the clusters drawn in each stratum.
    """
    whole = [design.clusters(h) for h in range(len(design.share))]
    moments = [designed_moments(pair, design, whole) for pair in pairs]
    vary = [max(pair) - min(pair) > EQUAL for pair in pairs]
    m = sum(any(abs(one) > EQUAL for one in pair) for pair in pairs)
    middle = median([v for (_, v), kept in zip(moments, vary, strict=True) if kept])
    added = borrowed_share(m, design.count) * middle
    factor = math.sqrt(design.count / (design.count - 1)) if len(design.share) == 1 else 1.0
    maxima = []
    for draw in draws:
        largest = -math.inf
        for pair, (mean, _), kept in zip(pairs, moments, vary, strict=True):
            if kept:
                moved, own = designed_moments(pair, design, draw)
                largest = max(largest, factor * abs(moved - mean) / math.sqrt(own + added))
        maxima.append(largest)
    found = []
    for pair, (mean, own), kept, df in zip(pairs, moments, vary, dfs, strict=True):
        sums = cluster_sum(pair, design)
        se = math.sqrt((own if kept else 0.0) + added) if any(pair) else math.nan
        parts = cluster_parts(pair, design)
        if not kept and se > 0 and len(parts) > FEW_UNITS:
            se = sign_limited(se, mean, design.count, df)
        floor = flip_floor(parts, m)
        found.append(decide(mean, se, df, sums, sign_bound(sums, m), maxima, m, level, floor))
    return found
