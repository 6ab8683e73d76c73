"""Which ranks may a run have? A test of each rank, from the run's comparisons with all others.

If run i has rank r, then r - 1 runs are better than it and K - r are not (a tied run counts as not
better). So of each pair only one direction is wrong, and rank r is wrongly rejected only if one of
the K - r seems significantly better, or one of the r - 1 significantly worse. Rank r is rejected
where r runs are better by more than c standard errors, or K - r + 1 worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.intervals.simultaneous import ComparisonFamily
from confir.studies.best.run_pairs import RunPairs
from confir.studies.comparison.significance import is_significant


class RankTests(NamedTuple):
    """p-values of each run's ranks: runs × ranks.

    Attributes
    ----------
    marginal
        Adjusted for the comparisons of the one run.
    simultaneous
        Adjusted for all pairs, so that the ranks of all runs hold at once.
    """

    marginal: Floats
    simultaneous: Floats


def rank_tests(pairs: RunPairs) -> RankTests:
    """Return the p-values of each run's ranks, after Mogstad, Romano, Shaikh & Wilhelm (2024).

    The marginal test of rank r bounds the chance of a wrong direction by the smallest of three:
    the largest |t*| of the run's pairs over replicates; Bonferroni's one-sided t for K - 1 wrong
    directions; and the sum of the chances that one of the K - r seems better and that one of the
    r - 1 seems worse, each by the largest signed t*, or by Bonferroni. For rank 1 that is Hsu's
    test of `find_best`. The simultaneous test is the two-sided one of all pairs.
    """
    from scipy.special import stdtr

    runs, others = pairs.runs, pairs.runs - 1
    units = np.array(pairs.df + 1.0)
    evidence = _evidence(pairs)
    tail = stdtr(units - 1.0, -evidence)
    either, below = pairs.maxima.either, pairs.maxima.below
    marginal = np.empty((runs, runs))
    for run in range(runs):
        maxima = (pairs.above_in_order[run], np.sort(below[run]), np.sort(either[run]))
        p = _marginal_p(evidence[:, run], tail[:, run], maxima if others > 1 else ())
        marginal[run] = _with_constant(evidence[:, run], p, pairs.constant_p(others))
    every = ComparisonFamily.of(runs * others // 2, either.max(axis=0))
    p = every.p_values(evidence, units)
    simultaneous = _with_constant(evidence, p, pairs.constant_p(runs * others))
    return RankTests(marginal, simultaneous)


def rank_limits(p: Floats, level: float) -> tuple[Integers, Integers]:
    """Return the lowest and the highest rank that is not rejected: from runs × ranks."""
    kept = ~is_significant(p, level)
    low: Integers = 1 + kept.argmax(axis=1)
    high: Integers = p.shape[1] - kept[:, ::-1].argmax(axis=1)
    return low, high


def _evidence(pairs: RunPairs) -> Floats:
    """Return the smallest t that must be significant to reject each rank: runs × ranks.

    From both sides, and from each without and with constant differences, which have no t, among
    those that count: 4 × runs × ranks, ∞ where they suffice. Where there are none, the larger t
    of both sides, twice.
    """
    ranks = np.arange(1, pairs.runs + 1)
    better, worse = _side(pairs, 1, ranks), _side(pairs, -1, pairs.runs + 1 - ranks)
    if pairs.constant.any():
        return np.stack([*better, *worse])
    return np.stack([np.maximum(better[0], worse[0])] * 2)


def _side(pairs: RunPairs, sign: int, needed: Integers) -> tuple[Floats, Floats]:
    """Return the t of as many better (or worse) runs as are needed, without constant pairs and with."""
    t = np.where(pairs.se > 0, sign * pairs.t, -np.inf)
    ordered = -np.sort(-t, axis=1)
    constant = (pairs.constant & (sign * pairs.difference > 0)).sum(axis=1, keepdims=True)
    left = needed - constant
    beside = np.take_along_axis(ordered, np.maximum(left, 1) - 1, axis=1)
    return ordered[:, needed - 1], np.where(left > 0, beside, np.inf)


def _marginal_p(t: Floats, tail: Floats, maxima: Sequence[Floats]) -> Floats:
    """Return the p-values of one run's ranks.

    Parameters
    ----------
    t, tail
        What must be significant to reject each rank, and its chance by the t distribution.
    maxima
        The largest t* of other runs above this one, below it, and either, ascending; none where
        there is one other run.
    """
    others = t.shape[-1] - 1
    better = np.arange(others + 1)  # runs that are better than one of rank 1, 2, …
    shares = [_share(largest, t) for largest in maxima]
    above, below, either = shares or [np.ones_like(t)] * 3
    seems_better = np.minimum(above, (others - better) * tail)
    seems_worse = np.minimum(below, better * tail)
    adjusted = np.minimum(np.minimum(either, others * tail), seems_better + seems_worse)
    p: Floats = np.maximum(adjusted, tail)  # never less than that of a single comparison
    return p


def _share(maxima: Floats, t: Floats) -> Floats:
    """Return the share of ordered maxima that reach t, the observed one counted along."""
    reached = len(maxima) - np.searchsorted(maxima, t, side="left")
    share: Floats = np.divide(1.0 + reached, len(maxima) + 1.0)
    return share


def _with_constant(evidence: Floats, p: Floats, constant_p: float) -> Floats:
    """Return the smaller p-value of both sides; constant differences take their place in order."""
    p = np.where(evidence > 0, np.minimum(p, 1.0), 1.0)
    p = np.where(np.isposinf(evidence), 0.0, p)
    alone, beside_constant = p[::2], p[1::2]
    smaller: Floats = np.clip(constant_p, beside_constant, alone).min(axis=0)
    return smaller
