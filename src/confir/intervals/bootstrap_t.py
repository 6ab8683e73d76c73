"""Intervals from the bootstrap distribution of a studentised statistic.

On the score's own scale `bootstrap-t` and `symmetric-t`; on the logit scale `bootstrap-t-logit`,
`symmetric-t-logit` and `hall-logit`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confir.arguments import as_level
from confir.arrays import Floats, Integers, inverse_logit, logit
from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.method import Method, Use
from confir.intervals.probe import Probe, mirrored, side_of_quantiles
from confir.resampling.distribution import (
    SamplingDistribution,
    around_quantiles,
    quantile_of_sorted,
)


def bootstrap_t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``m - q(1-α/2)·se, m - q(α/2)·se`` with quantiles of ``(m*-m)/se*`` ([Soboroff2014] §4).

    Replicates without variance are dropped. Two topics have no limits: a replicate of two topics that
    varies has the sample's own mean, so that T* is 0 throughout.
    """
    tails = tail_probabilities(level)
    low, high = _quantiles(around_quantiles(distribution.t, tails), tails)
    estimate = distribution.estimate
    se = np.where(distribution.df > 1, distribution.require("se"), np.nan)
    return Limits(estimate - high * se, estimate - low * se)


def bootstrap_t_side(probe: Probe, level: float) -> Integers:
    """Return the side of values relative to the bootstrap-t interval, by counting.

    A value below the interval has a studentised distance above the upper quantile.
    """
    return mirrored(side_of_quantiles(probe.among_t, *tail_probabilities(level)))


def symmetric_t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``m ± q·se`` with the level-quantile of ``|m*-m|/se*`` (Hall 1988)."""
    as_level(level)
    (reach,) = _quantiles(distribution.ascending(_absolute_t), (level,))
    half = reach * np.where(distribution.df > 1, distribution.require("se"), np.nan)
    return Limits(distribution.estimate - half, distribution.estimate + half)


def bootstrap_t_logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Bootstrap-t on the logit scale, standard errors by the delta method, transformed back."""
    low, high = _quantiles(distribution.sorted_logit_t, tail_probabilities(level))
    return _from_logit_t(distribution, low, high)


def symmetric_t_logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Bootstrap-t on the logit scale with the level-quantile of |T*| on both sides."""
    as_level(level)
    (reach,) = _quantiles(distribution.ascending(_absolute_logit_t), (level,))
    return _from_logit_t(distribution, -reach, reach)


def hall_logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Bootstrap-t on the logit scale with the skewness taken out first (after Hall 1992).

    ``U(T) = ((1+aT)³ - 1)/(3a) + b`` with ``a = (γ/3 - (1-2m)s/(2m(1-m)))/√n`` and
    ``b = γ/(6√n)``: quantiles of U*, each replicate with its own a and b, are turned back to T.
    """
    u = distribution.ascending(_hall_replicates)
    n = distribution.count.astype(np.float64)
    # γ from the acceleration Σd³ / (6 (Σd²)^1.5)
    skewness = 6.0 * np.sqrt(distribution.count) * distribution.require("acceleration")
    a, b = _hall_constants(distribution.estimate, distribution.require("se"), skewness, n)
    low, high = (_from_u(q, a, b) for q in _quantiles(u, tail_probabilities(level)))
    # Cube roots of nearly equal numbers are rounded, on some processors in the wrong order.
    return _from_logit_t(distribution, np.minimum(low, high), np.maximum(low, high))


def _absolute_t(distribution: SamplingDistribution) -> Floats:
    return np.abs(distribution.t)


def _absolute_logit_t(distribution: SamplingDistribution) -> Floats:
    return np.abs(distribution.logit_t)


def _hall_replicates(distribution: SamplingDistribution) -> Floats:
    """Return U of each replicate, with the replicate's own a and b; infinite T stay as they are."""
    n = distribution.count.astype(np.float64)
    replicates, se = distribution.require("replicates"), distribution.require("replicate_se")
    a, b = _hall_constants(replicates, se, distribution.require("replicate_skewness"), n)
    t = distribution.logit_t
    with np.errstate(invalid="ignore"):
        bend = a * t
        u = t * (1.0 + bend * (1.0 + bend / 3.0)) + b
    return np.where(np.isinf(t), t, u)


def _hall_constants(mean: Floats, se: Floats, skewness: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return a and b; ``s/√n`` is the standard error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        curvature = (1.0 - 2.0 * mean) * se / (2.0 * mean * (1.0 - mean))
        return skewness / (3.0 * np.sqrt(n)) - curvature, skewness / (6.0 * np.sqrt(n))


def _from_u(u: Floats, a: Floats, b: Floats) -> Floats:
    """Return the T of a U: ``((1 + 3a(u-b))^⅓ - 1) / a``, and u - b where a is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (np.cbrt(1.0 + 3.0 * a * (u - b)) - 1.0) / a
    return np.where(np.abs(a) < 1e-12, u - b, np.where(np.isinf(u), u, t))


def _from_logit_t(distribution: SamplingDistribution, low: Floats, high: Floats) -> Limits:
    """Return the limits that belong to quantiles of T on the logit scale."""
    m = distribution.estimate
    with np.errstate(divide="ignore", invalid="ignore"):
        se = distribution.require("se") / (m * (1.0 - m))
        return Limits(inverse_logit(logit(m) - high * se), inverse_logit(logit(m) - low * se))


def _quantiles(ordered: Floats, probabilities: tuple[float, ...]) -> list[Floats]:
    """Return quantiles of columns in ascending order whose undefined values are NaN, last."""
    count = np.full(ordered.shape[1], len(ordered))
    if np.isnan(ordered[-1]).any():
        count -= np.isnan(ordered).sum(axis=0)
    return [quantile_of_sorted(ordered, probability, count) for probability in probabilities]


_STUDENTISED = ("se", "replicates", "replicate_se")
_SYMMETRIC = Use(
    source="Hall 1988",
    cites=("Hall1988",),
    cost="two products, a sort",
    fails="skewed scores: right on average, not in each tail",
)
_ON_LOGITS = Use(
    source="confir",
    cost="two products, a sort",
    fails="nearly constant scores: up to the whole of [0, 1]",
)

BOOTSTRAP_T = Method(
    "bootstrap-t",
    bootstrap_t_interval,
    needs=_STUDENTISED,
    count_side=bootstrap_t_side,
    topics=Use(
        assumes="(m*-m)/se* spreads as (m-μ)/se does",
        source="Efron 1981; Soboroff 2014 (its 95% interval was a 90% one)",
        cites=("Efron1981", "Soboroff2014"),
        cost="two products, a sort",
        fails="nearly constant scores: very wide; limits may leave [0, 1]",
    ),
)

SYMMETRIC_T = Method(
    "symmetric-t",
    symmetric_t_interval,
    needs=_STUDENTISED,
    topics=replace(_SYMMETRIC, assumes="as bootstrap-t, for the two tails together"),
)

BOOTSTRAP_T_LOGIT = Method(
    "bootstrap-t-logit",
    bootstrap_t_logit_interval,
    needs=_STUDENTISED,
    bounded=True,
    logit_scale=True,
    topics=replace(_ON_LOGITS, assumes="as bootstrap-t, on the logit scale"),
)

SYMMETRIC_T_LOGIT = replace(
    BOOTSTRAP_T_LOGIT,
    name="symmetric-t-logit",
    compute=symmetric_t_logit_interval,
    topics=replace(
        _SYMMETRIC,
        assumes="as bootstrap-t-logit, for the two tails together",
        source="confir, after Hall 1988",
    ),
)

HALL_LOGIT = replace(
    BOOTSTRAP_T_LOGIT,
    name="hall-logit",
    compute=hall_logit_interval,
    needs=("se", "acceleration", "replicates", "replicate_se", "replicate_skewness"),
    topics=replace(
        _ON_LOGITS,
        assumes="as bootstrap-t-logit, after a correction of skewness",
        source="confir, after Hall 1992",
        cites=("Hall1992",),
        cost="three products, a sort",
    ),
)
