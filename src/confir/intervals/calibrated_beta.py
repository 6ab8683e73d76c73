"""An interval by inverting a test whose error is that of beta distributions: `calibrated-beta`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confir.arrays import Floats, Integers
from confir.intervals.beta_logit import (
    BETA_LOGIT,
    PRIOR_TOPICS,
    SKEWNESS_CORRECTED,
    beta_logit_interval,
    dispersion,
    pass_into_equal_scores,
    sample_skewness,
    skewness_terms,
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
from confir.intervals.pivot_quantiles import pivot_quantiles
from confir.intervals.pivot_test import PivotTest, first_rejected, softly_rejected
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import inverse_logit, logit

# Scores are nearly equal, too, if the standard deviation of their sum is below this, or below as much
# less as there are more than twenty topics: near 0 or 1, a move of 1e-6 would change U too much.
NEARLY_EQUAL_SUM, _TWENTY_TOPICS = 0.006, 20.0


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
    sample = replace(distribution, skewness=sample_skewness(distribution))
    rows = table.rows(sample.count, dispersion(distribution), tail)
    limits, share = inverted_limits(sample, table.logits, rows, tail), share_of_test(distribution)
    if (share < 1.0).any():
        limits = pass_into_equal_scores(limits, distribution, level, share)
    if level <= table.highest_level:
        return limits
    other = beta_logit_interval(distribution, level)
    low, high = np.minimum(limits.low, other.low), np.maximum(limits.high, other.high)
    return within_gaffke(Limits(low, high), sample, level)


def share_of_test(distribution: SamplingDistribution) -> Floats:
    """Return how much the limits of the test count: 1 unless scores are nearly equal.

    As in `beta-logit`, or less where the sum of the scores hardly varies.
    """
    count, se = distribution.count, distribution.require("se")
    of_sum = count * se / NEARLY_EQUAL_SUM * np.maximum(1.0, count / _TWENTY_TOPICS)
    share: Floats = np.minimum(spread_share(distribution), of_sum)
    return share


def inverted_limits(
    sample: SamplingDistribution, logits: Floats, rows: Floats, tail: float
) -> Limits:
    """Return the first means rejected on either side, none of them beyond the limits of `gaffke`.

    Most follow from the moments of the scores. Where U - q may be flat, or a limit may be beyond
    that of `gaffke`, the scores themselves are needed; a summary of scores does not have them.

    Parameters
    ----------
    sample
        The means, with the skewness of the scores; a summary does not have the scores themselves.
    logits, rows
        Logits of the table, and the quantiles of each column there, compressed: columns × logits.
    tail
        Probability beyond each limit.
    """
    # Behind the columns of the scores stand, in the same order, those of the scores 1-x.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # by equal scores
        test = PivotTest.before_mirrored(sample)
        # The lower limit of `gaffke` is 1 less the upper one of the mirrored scores.
        mirrored = ScoreMoments.after_mirrored(sample)
        farthest = FarthestLimits.of(mirrored.count, mirrored.mean, tail)
        found, steep = first_rejected(test, logits, rows, mirrored.count, farthest)
        lowest = inverse_logit(found)
        if sample.sample is not None:
            sure = steep & is_within(mirrored, tail, 1.0 - lowest)
            doubtful = np.flatnonzero(np.tile(sample.require("se") > 0, 2) & ~sure)
            bound = _bounds(sample.sample, mirrored, doubtful, tail, np.where(steep, lowest, 0.0))
            lowest[doubtful] = np.maximum(lowest[doubtful], bound)
            flat = np.flatnonzero(~steep[doubtful])
            if len(flat):
                columns = doubtful[flat]
                part, own = test.of_columns(columns), rows[columns % len(rows)]
                end = np.minimum(logit(bound[flat]), part.centre)
                soft = softly_rejected(part, logits, own, mirrored.count[columns], end)
                lowest[columns] = inverse_logit(soft)
    low, above = np.split(lowest, 2)
    return Limits(low, 1.0 - above)


def _bounds(
    scores: Floats, mirrored: ScoreMoments, columns: Integers, tail: float, lowest: Floats
) -> Floats:
    """Return the lower limits of `gaffke` of some columns, or others where these are nearer.

    Parameters
    ----------
    scores
        Topics × columns; columns counted on behind these are those of the scores 1-x.
    mirrored
        The moments of all columns, mirrored.
    columns
        Which columns.
    tail
        Probability beyond a limit.
    lowest
        The other limits, of all columns.
    """
    number = scores.shape[1]
    chosen = scores[:, columns % number]
    chosen = np.where(columns < number, 1.0 - chosen, chosen)
    count = mirrored.count[columns]
    mean = mirrored.mean[columns]
    least, outer = least_limit(count, mean, tail), 1.0 - lowest[columns]
    free = np.flatnonzero(outer >= 1.0)
    outer[free] = FarthestLimits.of(count[free], mean[free], tail).solve()
    return 1.0 - dirichlet_limit(chosen, count, tail, least, outer)


def within_gaffke(limits: Limits, sample: SamplingDistribution, level: float) -> Limits:
    """Return limits of which none is farther out than that of `gaffke`, as far as scores are known."""
    if sample.sample is None:
        return limits
    tail, _ = tail_probabilities(level)
    varied = np.flatnonzero(sample.require("se") > 0)
    mirrored = ScoreMoments.after_mirrored(sample)
    both = np.concatenate([limits.low, 1.0 - limits.high])
    columns = np.concatenate([varied, varied + len(sample.estimate)])
    both[columns] = _bounds(sample.sample, mirrored, columns, tail, both)
    low, above = np.split(both, 2)
    return Limits(low, 1.0 - above)


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
        skewness, se = third / (variance * (n - 1) / n) ** 1.5, np.sqrt(variance / n)
        a, b = skewness_terms(n, mean, se, skewness, prior_topics)
        u, _ = PivotTest(logit(mean), mean * (1.0 - mean) / se, a, b).pivot_and_slope(
            logit(np.array(truth))
        )
    return np.where(np.isnan(u), np.copysign(np.inf, mean - truth), u)


CALIBRATED_BETA = replace(
    BETA_LOGIT,
    name="calibrated-beta",
    compute=calibrated_beta_interval,
    topics=replace(
        SKEWNESS_CORRECTED,
        assumes="scores in [0, 1] vary much like a beta distribution with their mean and variance",
        cost="a table, a search",
    ),
)
