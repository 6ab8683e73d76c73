"""Intervals for scores that vary much like a beta distribution: `beta-logit`, `calibrated-beta`.

Both correct Student's t on the logit scale for skewness, and pass, as scores become equal, into limits
that equal scores have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confir.arrays import TIE, Floats, Integers, inverse_logit, logit
from confir.intervals.dirichlet_means import (
    FarthestLimits,
    ScoreMoments,
    dirichlet_limit,
    is_within,
    least_limit,
)
from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.method import Method, Use
from confir.intervals.pivot import (
    PRIOR_TOPICS,
    Pivot,
    pivot_quantiles,
    sample_skewness,
    skewness_terms,
    solve_cubic,
)
from confir.intervals.pivot_test import first_rejected, softly_rejected
from confir.intervals.quantiles import t_quantile
from confir.resampling.distribution import SamplingDistribution

# Below this dispersion, s²/(m(1-m)), scores are nearly equal. Of samples of real scores under 1%
# are: reproductions/nearly_equal_scores.py.
NEARLY_EQUAL = 0.001

# Scores are also nearly equal if the standard deviation of their sum is below this; of more than twenty
# topics, below 20/n of this. Near 0 or 1, a change of 1e-6 in a score would change U too much.
NEARLY_EQUAL_SUM, _TWENTY_TOPICS = 0.006, 20.0


def beta_logit_interval(
    distribution: SamplingDistribution, level: float, prior_topics: float = PRIOR_TOPICS
) -> Limits:
    """`logit-t` with a correction of skewness, which is shrunk to that of a beta distribution.

    Solves ``T + aT² + a²T³/3 + b = ±t_{n-1}`` for ``T = (logit m - logit μ)·m(1-m)/se``, with a and
    b as in `hall-logit` (Hall 1992). Their γ is the mean of the sample's skewness, with weight n,
    and that of the beta distribution of the same mean and variance, with weight ``prior_topics``.
    Equal scores have the limits of `equal_scores_limits`, into which those of nearly equal scores
    pass: the limits by the formula count by `spread_share`, those for equal scores for the rest.
    """
    m, se = distribution.estimate, distribution.require("se")
    quantile = t_quantile(distribution.df, level)
    a, b = skewness_terms(distribution.count, m, se, sample_skewness(distribution), prior_topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = se / (m * (1.0 - m))
        low, high = (
            inverse_logit(logit(m) - solve_cubic(a, u - b) * spread) for u in (quantile, -quantile)
        )
    limits = Limits(low, high)
    return pass_into_equal_scores(limits, distribution, level, spread_share(distribution))


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
    highest = 1.0 - 2.0 * float(table.tails[-1])
    tail, _ = tail_probabilities(min(level, highest))
    sample = replace(distribution, skewness=sample_skewness(distribution))
    rows = table.rows(sample.count, dispersion(distribution), tail)
    limits, share = inverted_limits(sample, table.logits, rows, tail), share_of_test(distribution)
    if (share < 1.0).any():
        limits = pass_into_equal_scores(limits, distribution, level, share)
    if level <= highest:
        return limits
    other = beta_logit_interval(distribution, level)
    low, high = np.minimum(limits.low, other.low), np.maximum(limits.high, other.high)
    return _within_gaffke(Limits(low, high), sample, level)


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
    # The columns of the scores, then in the same order those of the scores 1-x.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # by equal scores
        pivot = Pivot.before_mirrored(sample)
        # The lower limit of `gaffke` is 1 less the upper one of the mirrored scores.
        mirrored = ScoreMoments.after_mirrored(sample)
        farthest = FarthestLimits.of(mirrored.count, mirrored.mean, tail)
        found, steep = first_rejected(pivot, logits, rows, mirrored.count, farthest)
        lowest = inverse_logit(found)
        doubtful = np.empty(0, np.int64)
        if sample.sample is not None:
            sure = steep & is_within(mirrored, tail, 1.0 - lowest)
            doubtful = np.flatnonzero(np.tile(sample.require("se") > 0, 2) & ~sure)
        if len(doubtful):
            scores = sample.require("sample")
            bound = _gaffke_bounds(scores, mirrored, doubtful, tail, np.where(steep, lowest, 0.0))
            lowest[doubtful] = np.maximum(lowest[doubtful], bound)
            flat = np.flatnonzero(~steep[doubtful])
            if len(flat):
                columns = doubtful[flat]
                part, own = pivot.of_columns(columns), rows[columns % len(rows)]
                end = np.minimum(logit(bound[flat]), part.centre)
                soft = softly_rejected(part, logits, own, mirrored.count[columns], end)
                lowest[columns] = inverse_logit(soft)
    low, above = np.split(lowest, 2)
    return Limits(low, 1.0 - above)


def _gaffke_bounds(
    scores: Floats, mirrored: ScoreMoments, columns: Integers, tail: float, lowest: Floats
) -> Floats:
    """Return the lower limits of `gaffke` of some columns, or others where these are nearer.

    Parameters
    ----------
    scores
        Topics × columns; higher column numbers are those of the scores 1-x.
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
    if len(free):
        outer[free] = FarthestLimits.of(count[free], mean[free], tail).solve()
    return 1.0 - dirichlet_limit(chosen, count, tail, least, outer)


def _within_gaffke(limits: Limits, sample: SamplingDistribution, level: float) -> Limits:
    """Return limits, none farther out than that of `gaffke`; unchanged where scores are not kept."""
    if sample.sample is None:
        return limits
    tail, _ = tail_probabilities(level)
    varied = np.flatnonzero(sample.require("se") > 0)
    mirrored = ScoreMoments.after_mirrored(sample)
    both = np.concatenate([limits.low, 1.0 - limits.high])
    columns = np.concatenate([varied, varied + len(sample.estimate)])
    both[columns] = _gaffke_bounds(sample.sample, mirrored, columns, tail, both)
    low, above = np.split(both, 2)
    return Limits(low, 1.0 - above)


def pass_into_equal_scores(
    limits: Limits, distribution: SamplingDistribution, level: float, share: Floats
) -> Limits:
    """Return limits that become those of equal scores as scores become equal.

    Parameters
    ----------
    limits
        Limits by the formula or the test.
    distribution, level
        The means that they are limits of, and the level.
    share
        Weight of these limits: 1 unless scores are nearly equal, 0 where they are all equal.
    """
    rest, found = 1.0 - share, []
    for spread, equal in zip(limits, equal_scores_limits(distribution, level), strict=True):
        # of scores whose differences from 0 or 1 are lost in rounding, whose share is below 1e-9
        known = np.where((share > 0) & ~np.isnan(spread), spread, equal)
        found.append(np.where(share < 1.0, share * known + rest * equal, spread))
    return Limits(*found)


def spread_share(distribution: SamplingDistribution) -> Floats:
    """Return how far each sample is from equal scores: 0 for these, 1 unless nearly equal.

    It is the dispersion as a share of NEARLY_EQUAL, so that limits have no jump: many scores of 0
    and one just above say as little about other topics as scores that are all 0. Scores x and 1-x
    have the same share.
    """
    share: Floats = np.minimum(dispersion(distribution) / NEARLY_EQUAL, 1.0)
    return np.where(share > TIE, share, 0.0)


def dispersion(distribution: SamplingDistribution) -> Floats:
    """Return ``s²/(m(1-m))``, 0 for equal scores: n/(n-1) for zeros and ones."""
    n, m, se = distribution.count, distribution.estimate, distribution.require("se")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(n * np.square(se) / (m * (1.0 - m)))


def equal_scores_limits(distribution: SamplingDistribution, level: float) -> Limits:
    """Return ``c·r`` and ``1 - (1-c)·r`` with ``r = (α/2)^{1/n}``, for scores that all equal c.

    Were the true mean higher or lower, more than a share 1-r of the topics would score otherwise,
    and n that score c would be rarer than α/2: so each limit errs with that probability at most.
    For zeros and ones these are the limits of Clopper and Pearson (1934).
    """
    tail, _ = tail_probabilities(level)
    n = np.where(distribution.count > 1, distribution.count, np.nan)
    rest = tail ** (1.0 / n)
    return Limits(distribution.estimate * rest, 1.0 - (1.0 - distribution.estimate) * rest)


def share_of_test(distribution: SamplingDistribution) -> Floats:
    """Return how much the limits of the test count: 1 unless scores are nearly equal.

    As in `beta-logit`, or less where the sum of the scores hardly varies.
    """
    count, se = distribution.count, distribution.require("se")
    of_sum = count * se / NEARLY_EQUAL_SUM * np.maximum(1.0, count / _TWENTY_TOPICS)
    share: Floats = np.minimum(spread_share(distribution), of_sum)
    return share


SKEWNESS_CORRECTED = Use(
    source="confir, after Hall 1992",
    cites=("Hall1992",),
    fails="scores that are 0 except on a rare topic: too many misses on one side",
)

BETA_LOGIT = Method(
    "beta-logit",
    beta_logit_interval,
    needs=("skewness", "se"),
    bounded=True,
    any_sample=True,
    one_sample=True,
    closed_form=True,
    logit_scale=True,
    topics=replace(
        SKEWNESS_CORRECTED,
        assumes="as logit-t, corrected for a skewness near that of a beta distribution",
        cost="none",
    ),
)

CALIBRATED_BETA = replace(
    BETA_LOGIT,
    name="calibrated-beta",
    compute=calibrated_beta_interval,
    topics=replace(
        SKEWNESS_CORRECTED,
        assumes="scores in [0, 1] vary much like a beta distribution with their mean and variance",
        cost="a table, a search",
    ),
    tabled_level=0.999,
    beyond="has limits no nearer than those of beta-logit",
)
