"""An interval by inverting a test whose error is that of beta distributions: `calibrated-beta`."""

from __future__ import annotations

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.beta_logit import (
    PRIOR_TOPICS,
    beta_logit_interval,
    dispersion,
    pass_into_equal_scores,
    sample_skewness,
    spread_share,
)
from confir.intervals.dirichlet_means import (
    FarthestLimits,
    ScoreMoments,
    dirichlet_limit,
    is_within,
    least_limit,
)
from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.method import Method, Use
from confir.intervals.pivot_quantiles import pivot_quantiles
from confir.intervals.pivot_test import (
    PivotTest,
    first_rejected,
    flat_slope,
    softly_rejected,
)
from confir.measures.summary import inverse_logit, logit
from confir.resampling.distribution import SamplingDistribution

# Below this standard deviation, scores are nearly equal, as they are below a dispersion: of scores near
# 0 or 1 a move of 1e-6 would change the pivot too much.
NEARLY_EQUAL_SPREAD = 0.005


def calibrated_beta_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Means up to the first that a test rejects, with the error it has for beta distributions.

    The test of a mean μ takes the pivot ``U = T + aT² + a²T³/3 + b`` of `beta-logit`, and compares
    it with its own quantiles over samples of n from the beta distribution with mean μ and the
    sample's dispersion ``φ = s²/(m(1-m))``, where `beta-logit` has those of t. They are tabulated
    (`tables/pivot_quantiles.py`) up to level 0.999; above, the interval is the hull of that
    interval and of `beta-logit`. No limit is farther out than that of `gaffke`. Nearly equal scores
    have limits as in `beta-logit`; for zeros and ones φ is at the end of the table, where the beta
    distribution is nearly that of zeros and ones.
    """
    table = pivot_quantiles()
    tail, _ = tail_probabilities(min(level, table.highest_level))
    rows = table.rows(distribution.count, dispersion(distribution), tail)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # by equal scores
        lowest = _lowest_limits(distribution, table.logits, rows, tail)
    low, mirrored = np.split(lowest, 2)
    share = np.minimum(spread_share(distribution), _spread(distribution) / NEARLY_EQUAL_SPREAD)
    limits = pass_into_equal_scores(Limits(low, 1.0 - mirrored), distribution, level, share)
    if level <= table.highest_level:
        return limits
    other = beta_logit_interval(distribution, level)
    low, high = np.minimum(limits.low, other.low), np.maximum(limits.high, other.high)
    return _within_gaffke(Limits(low, high), distribution, level)


def _lowest_limits(
    distribution: SamplingDistribution, logits: Floats, rows: Floats, tail: float
) -> Floats:
    """Return the lower limits of all columns, and then those of the scores 1-x.

    Most follow from the moments of the scores. Where U - q may be flat, or the limit may be beyond
    that of `gaffke`, the scores themselves are needed; a summary of scores does not have them.
    """
    n, m, se = distribution.count, distribution.estimate, distribution.require("se")
    skewness = sample_skewness(distribution)
    test = PivotTest.of(n, m, se, skewness, PRIOR_TOPICS).with_mirrored()
    rows, count = np.concatenate([rows, rows]), np.concatenate([n, n])
    # The lower limit of `gaffke` is 1 less the upper one of the mirrored scores.
    mean = np.concatenate([1.0 - m, m])
    farthest = FarthestLimits.of(count, mean, tail)
    logarithms = -np.log1p(np.exp(logits))

    def is_beyond(places: Integers, columns: Integers) -> Booleans:
        return farthest.lie_within(-logits[places], logarithms[places], columns)

    found, steep = first_rejected(test, logits, rows, flat_slope(count), is_beyond)
    lowest = inverse_logit(found)
    if distribution.sample is None:
        return lowest
    second = np.square(se) * n * (n - 1.0)
    third = skewness * second * np.sqrt(second / n)
    mirrored = ScoreMoments(
        count, mean, np.concatenate([second, second]), np.concatenate([-third, third])
    )
    spread = np.tile(spread_share(distribution) > 0, 2)
    chosen = np.flatnonzero(spread & ~(steep & is_within(mirrored, tail, 1.0 - lowest)))
    if not len(chosen):
        return lowest
    scores = _mirrored_scores(distribution.sample, chosen)
    outer = np.where(steep, 1.0 - lowest, 1.0)[chosen]
    inner = least_limit(count[chosen], mean[chosen], tail)
    bound = dirichlet_limit(scores, count[chosen], tail, inner, outer)
    lowest[chosen] = np.maximum(lowest[chosen], 1.0 - bound)
    flat = np.flatnonzero(~steep[chosen])
    if len(flat):
        columns = chosen[flat]
        end = np.minimum(-logit(bound[flat]), test.centre[columns])
        slope = flat_slope(count[columns])
        soft = softly_rejected(test.of_columns(columns), logits, rows[columns], slope, end)
        lowest[columns] = inverse_logit(soft)
    return lowest


def _spread(distribution: SamplingDistribution) -> Floats:
    """Return the standard deviation of each column's scores."""
    spread: Floats = distribution.require("se") * np.sqrt(distribution.count)
    return spread


def _mirrored_scores(sample: Floats, columns: Integers) -> Floats:
    """Return the scores 1-x of columns, and those x of columns that are counted on behind them."""
    number = sample.shape[1]
    scores = sample[:, columns % number]
    return np.where(columns < number, 1.0 - scores, scores)


def _within_gaffke(limits: Limits, distribution: SamplingDistribution, level: float) -> Limits:
    """Return limits of which none is farther out than that of `gaffke`."""
    if distribution.sample is None:
        return limits
    tail, _ = tail_probabilities(level)
    n, m = distribution.count, distribution.estimate
    chosen = np.flatnonzero(spread_share(distribution) > 0)
    n, m, scores = n[chosen], m[chosen], distribution.sample[:, chosen]
    low, high = limits.low.copy(), limits.high.copy()
    high[chosen] = dirichlet_limit(scores, n, tail, least_limit(n, m, tail), high[chosen])
    low[chosen] = 1.0 - dirichlet_limit(
        1.0 - scores, n, tail, least_limit(n, 1.0 - m, tail), 1.0 - low[chosen]
    )
    return Limits(low, high)


def pivot(
    n: int,
    mean: Floats,
    variance: Floats,
    third: Floats,
    truth: float,
    prior_topics: float = PRIOR_TOPICS,
) -> Floats:
    """Return U at the true mean, of samples with these moments about their mean.

    Equal scores have ±∞, by the side on which they lie.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        skewness = third / (variance * (n - 1) / n) ** 1.5
        test = PivotTest.of(n, mean, np.sqrt(variance / n), skewness, prior_topics)
        u = test.pivot(logit(np.array(truth)))
    return np.where(np.isnan(u), np.copysign(np.inf, mean - truth), u)


CALIBRATED_BETA = Method(
    "calibrated-beta",
    calibrated_beta_interval,
    needs=("skewness", "se"),
    bounded=True,
    any_sample=True,
    one_sample=True,
    closed_form=True,
    logit_scale=True,
    topics=Use(
        assumes="scores in [0, 1] vary much like a beta distribution with their mean and variance",
        source="confir, after Hall 1992",
        cites=("Hall1992",),
        cost="a table, a search",
        fails="scores that are 0 except on a rare topic: too many misses on one side",
    ),
)
