"""Tests of the ranks that a run may have, from its comparisons with all others.

If run i has rank r, then r - 1 runs are better than it and K - r are not (a tied run counts as not
better). So of each pair only one direction is wrong, and rank r is wrongly rejected only if one of
the K - r seems significantly better, or one of the r - 1 significantly worse. Rank r is rejected
where r runs are better by more than c standard errors, or K - r + 1 worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.simultaneous import (
    MONTE_CARLO_ERRORS,
    is_significant,
    monte_carlo_error,
    symmetric_bound,
)

if TYPE_CHECKING:
    from confir.studies.best.run_pairs import RunPairs

# p-values above this decide nothing at any level that is asked for.
_LARGEST_P = 0.5


def rank_tests(pairs: RunPairs) -> tuple[Floats, Floats]:
    """Return p-values of each run's ranks, after Mogstad, Romano, Shaikh & Wilhelm (2024): runs × ranks.

    The first are adjusted for the comparisons of the one run, the second for all pairs, so that they
    are simultaneous for all runs.

    The marginal test of rank r bounds the chance of a wrong direction by the smallest of three:
    the largest |t*| of the run's pairs over replicates; Bonferroni's one-sided t for K - 1 wrong
    directions; and the sum of the chances that one of the K - r seems better and that one of the
    r - 1 seems worse, each by the largest signed t*, or by Bonferroni. For rank 1 that is Hsu's
    test of `find_best`. Pairs whose signs are certain enough by themselves count, too. The
    simultaneous test is the two-sided one of all pairs.
    """
    pair_p = pairs.pair_p()
    better, worse = (
        np.sort(np.where(sign * pairs.difference > 0, pair_p, 1.0), axis=1) for sign in (1, -1)
    )
    return marginal_rank_p(pairs), np.minimum(better, worse[:, ::-1])


def borderline_ranks(p: Floats, level: float, draws: int) -> Booleans:
    """Return for which runs another seed might change a limit of the rank: from runs × ranks."""
    error = MONTE_CARLO_ERRORS * monte_carlo_error(p, draws) if draws else np.zeros_like(p)
    narrow, wide = (
        rank_limits(np.clip(moved, 0.0, 1.0), level) for moved in (p - error, p + error)
    )
    unclear: Booleans = (narrow[0] != wide[0]) | (narrow[1] != wide[1])
    return unclear


def rank_limits(p: Floats, level: float) -> tuple[Integers, Integers]:
    """Return the lowest and the highest rank that is not rejected: from runs × ranks."""
    kept = ~is_significant(p, level)
    low: Integers = 1 + kept.argmax(axis=1)
    high: Integers = p.shape[1] - kept[:, ::-1].argmax(axis=1)
    return low, high


def marginal_rank_p(pairs: RunPairs) -> Floats:
    """Return the p-values of each run's ranks, adjusted for the comparisons of the one run.

    A rank is rejected where too many of the others are better, or too many worse.
    """
    runs = pairs.runs
    if runs == 1:
        return np.ones((1, 1))
    better = np.arange(1, runs + 1)
    found = np.empty((2, runs, runs))
    for run in range(runs):
        above, below = pairs.maxima.above[run], pairs.maxima.below[run]
        maxima = (pairs.above_in_order[run], np.sort(below), np.sort(np.maximum(above, below)))
        tests = _RankTests(runs, pairs.df, maxima if runs > 2 else ())
        for side, sign, needed in zip(found, (1, -1), (better, better[::-1]), strict=True):
            t = np.delete(sign * pairs.t[run], run)
            sums = np.delete(sign * pairs.self_normalised[run], run)
            exact = np.delete(pairs.exact[run] & (sign * pairs.difference[run] > 0), run)
            certain = symmetric_bound(sums, runs - 1, 1) if runs > 2 else np.ones(1)
            certain = np.where(exact, min(1.0, (runs - 1) * pairs.constant_p), certain)
            side[run] = tests.rejecting(t, certain, needed)
    least: Floats = found.min(axis=0)
    return least


class _RankTests(NamedTuple):
    """The tests of one run's ranks.

    Attributes
    ----------
    runs, df
        Number of runs, and degrees of freedom of t.
    maxima
        The largest t* of other runs above this one, below it, and either, ascending; none where
        there is one other run.
    """

    runs: int
    df: float
    maxima: tuple[Floats, ...]

    def rejecting(self, t: Floats, certain: Floats, needed: Integers) -> Floats:
        """Return the p-value of each rank, from the runs on one side.

        Parameters
        ----------
        t
            Statistics of the others, positive on this side.
        certain
            Their p-values by the signs of the differences alone.
        needed
            How many must be significant to reject rank 1, 2, ….
        """
        from scipy.special import stdtr

        either = _share(self.maxima[2], t) if self.maxima else np.ones_like(t)
        by_t = np.minimum(either, (self.runs - 1) * stdtr(self.df, -t))  # signs above add nothing
        order = np.argsort(certain, kind="stable")
        helpful = order[certain[order] < np.minimum(_LARGEST_P, by_t[order])]
        p = self.p_values(t, needed)
        for count, place in enumerate(helpful.tolist(), start=1):
            beside = self.p_values(np.delete(t, helpful[:count]), needed - count)
            p = np.minimum(p, np.maximum(beside, certain[place]))
        return p

    def p_values(self, statistics: Floats, needed: Integers) -> Floats:
        """Return the p-values of all ranks, each by the statistic that must be significant.

        That is the 1st, 2nd, … largest: ∞ where none is needed, -∞ where there are too few.
        """
        from scipy.special import stdtr

        ordered = np.concatenate([[np.inf], -np.sort(-statistics), [-np.inf]])
        t = ordered[np.clip(needed, 0, len(statistics) + 1)]
        others = self.runs - 1
        tail = stdtr(self.df, -t)
        better = np.arange(others + 1)  # runs that are better than one of rank 1, 2, …
        shares = [_share(largest, t) for largest in self.maxima]
        above, below, either = shares or [np.ones_like(t)] * 3
        seems_better = np.minimum(above, (others - better) * tail)
        seems_worse = np.minimum(below, better * tail)
        adjusted = np.minimum(np.minimum(either, others * tail), seems_better + seems_worse)
        p = np.maximum(adjusted, tail)  # never less than that of a single comparison
        p = np.where(t > 0, np.minimum(p, 1.0), 1.0)
        return np.where(np.isposinf(t), 0.0, p)


def _share(maxima: Floats, t: Floats) -> Floats:
    """Return the share of ordered maxima that reach t, the observed one counted along."""
    reached = len(maxima) - np.searchsorted(maxima, t, side="left")
    share: Floats = np.divide(1.0 + reached, len(maxima) + 1.0)
    return share
