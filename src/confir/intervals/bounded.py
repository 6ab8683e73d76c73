"""Intervals that need only that scores lie in [0, 1]: `betting` and `gaffke`.

And a confidence sequence: intervals that are valid at every look while topics arrive. All have limits for
any sample, also of equal scores, and rarely miss the mean even for runs that score 0 on nearly all topics
([Soboroff2014] §6).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_level
from confir.arrays import Booleans, Floats
from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.method import Method, Use
from confir.resampling.distribution import SamplingDistribution, quantile_of_sorted

# No bet risks more than this share of the capital (Waudby-Smith & Ramdas 2023).
_STAKE = 0.5

# Bets are largest where they serve 95% intervals best.
_TUNED_ERROR = 0.05

# Halvings of [0, 1] in the search for a limit: finer than the spacing of doubles near 1.
_HALVINGS = 54

# Weights of more scores and replicates are drawn again each time, rather than kept.
_WEIGHTS_KEPT = 10_000_000


def betting_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Means that no betting strategy rejects: coverage is guaranteed for any n.

    (Waudby-Smith & Ramdas 2023, hedged capital.) The bets depend on the order of the topics,
    which may not depend on their scores: that of their ids, permuted by the seed.
    """
    as_level(level)
    scores = _shuffled(distribution)
    topics = np.maximum(np.sum(~np.isnan(scores), axis=0), 1)
    return hedged_limits(scores, bets(scores, topics, _TUNED_ERROR), level)


def hedged_limits(scores: Floats, stake: Floats, level: float) -> Limits:
    """Return the means that two bettors, one on higher and one on lower scores, never reject.

    Each starts with half of the capital and rejects a mean where its own reaches ``2/α`` times that.

    Parameters
    ----------
    scores
        Scores in [0, 1] in the order of the bets, topics × columns; NaN is no bet.
    stake
        The share of the capital that is bet on each, before its limit by `_STAKE`.
    level
        Confidence level.
    """
    goal = np.log(2.0 / (1.0 - level))
    low = _lowest_where(lambda mean: log_capital(scores, stake, mean) < goal, scores)
    above = _lowest_where(lambda mean: log_capital(1.0 - scores, stake, mean) < goal, scores)
    # Where both strategies reject all means, as at low levels, the mean of equal capital remains.
    balance = _lowest_where(
        lambda mean: (
            log_capital(scores, stake, mean) < log_capital(1.0 - scores, stake, 1.0 - mean)
        ),
        scores,
    )
    return Limits(np.minimum(low, balance), np.maximum(1.0 - above, balance))


def gaffke_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Quantiles of Dirichlet-weighted means of the scores and a further 0 (or 1).

    (Gaffke 2005; Learned-Miller & Thomas 2019.) Free of the topics' order; that its coverage is
    guaranteed is conjectured, not proven.
    """
    lower, upper = tail_probabilities(level)
    ordered = np.sort(distribution.require("sample"), axis=0)
    low, high = np.empty((2, ordered.shape[1]))
    for count in np.unique(distribution.count):
        columns = np.flatnonzero(distribution.count == count)
        weights = _dirichlet_weights(int(count), distribution.draws, distribution.seed)
        means = (ordered[:count, columns].T @ weights[:, :count].T).T
        size = np.full(len(columns), len(means))
        low[columns] = quantile_of_sorted(np.sort(means, axis=0), lower, size)
        means = means + weights[:, count:]
        high[columns] = quantile_of_sorted(np.sort(means, axis=0), upper, size)
    return Limits(np.maximum(low, 0.0), np.minimum(high, 1.0))


def _dirichlet_weights(count: int, replicates: int, seed: int) -> Floats:
    """Return weights of count + 1 scores, uniform over all weights that sum to 1."""
    draw = _keep_weights if replicates * count <= _WEIGHTS_KEPT else _draw_weights
    return draw(count, replicates, seed)


@lru_cache(maxsize=4)
def _keep_weights(count: int, replicates: int, seed: int) -> Floats:
    """Return weights that the columns of one call share."""
    return _draw_weights(count, replicates, seed)


def _draw_weights(count: int, replicates: int, seed: int) -> Floats:
    rng = np.random.default_rng([seed, count])
    spacings = rng.standard_exponential((replicates, count + 1))
    weights: Floats = spacings / spacings.sum(axis=1, keepdims=True)
    return weights


def _shuffled(distribution: SamplingDistribution) -> Floats:
    """Return the scores of each column in an order that only the seed decides, NaN last.

    Bets on a permutation of *sorted* scores would be no fair game: coverage would be guaranteed
    on average over seeds, but for no single seed.
    """
    sample = distribution.require("sample")
    shuffled = sample[np.random.default_rng(distribution.seed).permutation(len(sample))]
    present_first = np.argsort(np.isnan(shuffled), axis=0, kind="stable")
    return np.take_along_axis(shuffled, present_first, axis=0)


def bets(scores: Floats, duration: Any, error: float) -> Floats:
    """Return ``√(2 ln(2/α) / (n σ²))``, the variance estimated from the topics before each one.

    Estimates start at mean ½ and variance ¼, as if one such topic had been observed. Any bets that
    look only backwards keep the guarantee: one α for all levels keeps intervals nested.

    Parameters
    ----------
    scores
        As in `hedged_limits`.
    duration
        What n is, for each column or score.
    error
        α, for which the bets are tuned.
    """
    present = ~np.isnan(scores)
    filled = np.where(present, scores, 0.0)
    seen = np.cumsum(present, axis=0)
    mean = (0.5 + np.cumsum(filled, axis=0)) / (seen + 1.0)
    squares = np.where(present, np.square(filled - mean), 0.0)
    variance = (0.25 + np.cumsum(squares, axis=0)) / (seen + 1.0)
    before = np.concatenate((np.full((1, scores.shape[1]), 0.25), variance[:-1]))
    stakes: Floats = np.sqrt(2.0 * np.log(2.0 / error) / (duration * before))
    return stakes


def _lowest_where(holds: Callable[[Floats], Booleans], scores: Floats) -> Floats:
    """Return the lowest mean of each column from which on a condition holds, by halving [0, 1].

    A bettor on scores above the mean does the worse the higher the mean is. The side on which the
    condition fails is kept, which errs to the wider interval.
    """
    fails, held = np.zeros(scores.shape[1]), np.ones(scores.shape[1])
    for _ in range(_HALVINGS):
        middle = (fails + held) / 2.0
        holding = holds(middle)
        fails, held = np.where(holding, fails, middle), np.where(holding, middle, held)
    return fails


def log_capital(scores: Floats, stakes: Floats, mean: Floats) -> Floats:
    """Return the largest log capital that bets on scores above the mean ever reached."""
    with np.errstate(divide="ignore"):
        stake = np.minimum(stakes, _STAKE / mean)
    gain = np.where(np.isnan(scores), 0.0, stake * (scores - mean))
    largest: Floats = np.cumsum(np.log1p(gain), axis=0).max(axis=0)
    return largest


class SequenceLimits(NamedTuple):
    """The newest limits of each column's mean, and an always-valid p-value of a mean of ½.

    Attributes
    ----------
    limits
        Simultaneous with all earlier ones: the probability that any of them misses is at most α.
    p
        At most α where the limits exclude ½; also valid at every look.
    """

    limits: Limits
    p: Floats


def confidence_sequence(scores: Floats, level: float) -> SequenceLimits:
    """Return the means that betting on topics in their order of arrival never rejected.

    (Waudby-Smith & Ramdas 2023, Theorem 3, with the predictable plug-in bets
    ``λ_t = √(2 ln(2/α) / (σ̂²_{t-1} t ln(1+t)))``.) Limits after a topic depend on the topics
    up to it alone, and are the intersection of all limits so far.

    Parameters
    ----------
    scores
        Scores in [0, 1], topics in order of arrival × columns; NaN is a topic without a score.
    level
        Confidence level, of all looks together.
    """
    as_level(level)
    error = 1.0 - level
    time = np.maximum(np.cumsum(~np.isnan(scores), axis=0), 1)
    stakes = bets(scores, time * np.log1p(time), error)
    half = np.full(scores.shape[1], 0.5)
    capital = np.maximum(log_capital(scores, stakes, half), log_capital(1.0 - scores, stakes, half))
    return SequenceLimits(
        hedged_limits(scores, stakes, level), np.minimum(1.0, 2.0 * np.exp(-capital))
    )


BETTING = Method(
    "betting",
    betting_interval,
    needs=("sample",),
    bounded=True,
    any_sample=True,
    one_sample=True,
    topics=Use(
        assumes="scores lie in [0, 1], topics are drawn independently: nothing else",
        source="Waudby-Smith & Ramdas 2023",
        cites=("Waudby-SmithRamdas2023",),
        cost="no resampling; a search",
        fails="never, but it is wide: coverage is guaranteed",
    ),
)

GAFFKE = Method(
    "gaffke",
    gaffke_interval,
    needs=("sample",),
    bounded=True,
    any_sample=True,
    one_sample=True,
    draws=True,
    topics=Use(
        assumes="scores lie in [0, 1], topics are drawn independently: nothing else",
        source="Gaffke 2005; Learned-Miller & Thomas 2019",
        cites=("Gaffke2005", "Learned-MillerThomas2019"),
        cost="one product, a sort",
        fails="no failure is known; its coverage is conjectured, not proven",
    ),
)
