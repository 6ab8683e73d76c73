"""An interval from the mean, spread and skewness of scores in [0, 1] alone: `beta-logit`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confir.arrays import Floats, Integers
from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.method import Method, Use
from confir.intervals.quantiles import t_quantile
from confir.order import TIE
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import inverse_logit, logit

# Few topics say little about skewness: the beta distribution's has the weight of this many topics.
PRIOR_TOPICS = 100.0

# Below this dispersion, s²/(m(1-m)), scores are nearly equal. Of samples of real scores under 1%
# are: reproductions/nearly_equal_scores.py.
NEARLY_EQUAL = 0.001


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


def skewness_terms(
    n: Integers | int, m: Floats, se: Floats, skewness: Floats, prior_topics: float = PRIOR_TOPICS
) -> tuple[Floats, Floats]:
    """Return a and b, the terms of the correction, with the skewness shrunk to the beta's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = 1.0 / (m * (1.0 - m))
        # (1-2m)s/(m(1-m)): the skewness of zeros and ones with this mean and variance
        binary = (1.0 - 2.0 * m) * slope * se * np.sqrt(n)
        beta = 2.0 * binary / (1.0 + n * np.square(se) * slope)
        shrunk = (n * skewness + prior_topics * beta) / (n + prior_topics)
        if np.isinf(prior_topics):
            shrunk = beta
        return (shrunk / 3.0 - binary / 2.0) / np.sqrt(n), shrunk / (6.0 * np.sqrt(n))


def pass_into_equal_scores(
    limits: Limits, distribution: SamplingDistribution, level: float, share: Floats
) -> Limits:
    """Return limits that those of nearly equal scores leave for the limits of equal ones.

    Parameters
    ----------
    limits
        Those of scores that are not nearly equal.
    distribution, level
        What they are limits of.
    share
        How much they count: 1 unless scores are nearly equal, 0 where they are all equal.
    """
    rest, found = 1.0 - share, []
    for spread, equal in zip(limits, equal_scores_limits(distribution, level), strict=True):
        between = share * np.where(share > 0, spread, 0.0) + rest * equal
        found.append(np.where(share < 1.0, between, spread))
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


def sample_skewness(distribution: SamplingDistribution) -> Floats:
    """Return the skewness of each column's scores (ddof=0)."""
    if distribution.skewness is not None:
        return distribution.skewness
    n = distribution.count
    deviations = np.nan_to_num(distribution.require("sample") - distribution.estimate)
    variance = np.square(distribution.require("se")) * (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness: Floats = (np.square(deviations) * deviations).sum(axis=0) / n / variance**1.5
    return skewness


def remove_skewness(t: Floats, bend: Floats, b: Floats) -> Floats:
    """Return ``U = T + aT² + a²T³/3 + b``, Hall's cubic, of T and its bend ``aT``."""
    u: Floats = t * (1.0 + bend * (1.0 + bend / 3.0)) + b
    return u


def solve_cubic(a: Floats, value: Floats) -> Floats:
    """Return the T with ``T + aT² + a²T³/3 = value``: ``(c-1)/a`` with ``c = ∛(1 + 3a·value)``.

    ``c-1 = (c³-1)/(c²+c+1)`` gives it without a division by a, which may be 0.
    """
    root = np.cbrt(1.0 + 3.0 * a * value)
    solution: Floats = 3.0 * value / (np.square(root) + root + 1.0)
    return solution


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
