"""Intervals from the bootstrap distribution of a studentised statistic.

On the score's own scale `bootstrap-t` and `symmetric-t`; on the logit scale `bootstrap-t-logit`,
`symmetric-t-logit` and `hall-logit`.
"""

from __future__ import annotations

import numpy as np

from confir.arrays import Floats
from confir.intervals.interval import Limits, check_level, tail_probabilities
from confir.measures.summary import inverse_logit, logit
from confir.resampling.distribution import SamplingDistribution, quantile_of_sorted


def bootstrap_t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``m - q(1-α/2)·se, m - q(α/2)·se`` with quantiles of ``(m*-m)/se*`` ([Soboroff2014] §2.3).

    Replicates without variance are dropped.
    """
    low, high = _quantiles(distribution.sorted_t, tail_probabilities(level))
    estimate, se = distribution.estimate, distribution.require("se")
    return Limits(estimate - high * se, estimate - low * se)


def symmetric_t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``m ± q·se`` with the level-quantile of ``|m*-m|/se*`` (Hall 1988)."""
    check_level(level)
    (reach,) = _quantiles(np.sort(np.abs(distribution.sorted_t), axis=0), (level,))
    margin = reach * distribution.require("se")
    return Limits(distribution.estimate - margin, distribution.estimate + margin)


def bootstrap_t_logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Bootstrap-t on the logit scale, standard errors by the delta method, transformed back."""
    low, high = _quantiles(distribution.sorted_logit_t, tail_probabilities(level))
    return _from_logit_t(distribution, low, high)


def symmetric_t_logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Bootstrap-t on the logit scale with the level-quantile of |T*| on both sides."""
    check_level(level)
    (reach,) = _quantiles(np.sort(np.abs(distribution.sorted_logit_t), axis=0), (level,))
    return _from_logit_t(distribution, -reach, reach)


def hall_logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Bootstrap-t on the logit scale with the skewness taken out first (after Hall 1992).

    ``U(T) = ((1+aT)³ - 1)/(3a) + b`` with ``a = (γ/3 - (1-2m)s/(2m(1-m)))/√n`` and
    ``b = γ/(6√n)``: quantiles of U*, each replicate with its own a and b, are turned back to T.
    """
    n = distribution.count.astype(np.float64)
    replicates, se = distribution.require("replicates"), distribution.require("replicate_se")
    a, b = _hall_constants(replicates, se, distribution.require("replicate_skewness"), n)
    t = distribution.logit_t
    with np.errstate(invalid="ignore"):
        u = t * (1.0 + a * t * (1.0 + a * t / 3.0)) + b
    u = np.where(np.isfinite(t), u, t)
    a, b = _hall_constants(
        distribution.estimate, distribution.require("se"), _skewness(distribution), n
    )
    low, high = (
        _from_u(q, a, b) for q in _quantiles(np.sort(u, axis=0), tail_probabilities(level))
    )
    return _from_logit_t(distribution, low, high)


def _hall_constants(mean: Floats, se: Floats, skewness: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return a and b; ``s/√n`` is the standard error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        curvature = (1.0 - 2.0 * mean) * se / (2.0 * mean * (1.0 - mean))
    return skewness / (3.0 * np.sqrt(n)) - curvature, skewness / (6.0 * np.sqrt(n))


def _skewness(distribution: SamplingDistribution) -> Floats:
    """Return the skewness of each column's scores: from ``a = Σd³ / (6 (Σd²)^1.5)``."""
    skewness: Floats = 6.0 * np.sqrt(distribution.count) * distribution.require("acceleration")
    return skewness


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
    count = len(ordered) - np.isnan(ordered).sum(axis=0)
    return [quantile_of_sorted(ordered, probability, count) for probability in probabilities]
