"""Three estimators of τ², the variance of the true effects of studies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from confir.arrays import Booleans, Floats
from confir.studies.meta_analysis.effect_sample import EffectSample, inverse_sum, or_nan

DERSIMONIAN_LAIRD, PAULE_MANDEL, REML = "dersimonian-laird", "paule-mandel", "reml"

# Halvings in the search for τ²: finer than double precision.
_HALVINGS = 120

# Points at which the restricted likelihood is looked at: it may have several peaks.
_GRID_POINTS = 96


def dersimonian_laird(sample: EffectSample) -> Floats:
    """``τ² = (Q - df)/(Σw - Σw²/Σw)``, not below 0."""
    weights = sample.weights(0.0)
    q = (weights * sample.residuals(weights) ** 2).sum(axis=0)
    total = weights.sum(axis=0)
    scale = total - (weights**2).sum(axis=0) * inverse_sum(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau2 = np.maximum((q - sample.df) / scale, 0.0)
    return np.where(sample.sizes > 1, tau2, np.nan)


def paule_mandel(sample: EffectSample) -> Floats:
    """Return the τ² at which Q is its degrees of freedom; 0 where Q is never that large."""

    def spread_is_larger(tau2: Floats) -> Booleans:
        weights = sample.weights(tau2)
        q: Floats = (weights * sample.residuals(weights) ** 2).sum(axis=0)
        larger: Booleans = q > sample.df
        return larger

    # Q(τ²) falls, and is at most the sum of squares over τ²
    highest = sample.squares() / or_nan(sample.df)
    return _bisect(spread_is_larger, np.zeros(highest.shape), highest)


def reml(sample: EffectSample) -> Floats:
    """Return the τ² of the highest restricted likelihood."""

    def rises(tau2: Floats) -> Booleans:
        weights = sample.weights(tau2)
        squares = (weights**2 * sample.residuals(weights) ** 2).sum(axis=0)
        total = weights.sum(axis=0)
        rising: Booleans = squares > total - (weights**2).sum(axis=0) * inverse_sum(weights)
        return rising

    columns = np.arange(len(sample.groups))
    variances = np.where(sample.present, sample.variances, np.nan)
    # beyond this the likelihood falls: there all weights are within a factor of two
    highest = np.fmax(2.0 * sample.squares(), np.fmax.reduce(variances))
    lowest = np.fmin(np.fmin.reduce(variances), highest) / 100.0
    highest, lowest = (np.where(sample.sizes > 0, end, 1.0) for end in (highest, lowest))
    steps = np.geomspace(lowest, highest, _GRID_POINTS - 1)
    grid = np.concatenate([np.zeros((1, len(columns))), steps])
    best = np.argmax([_restricted_likelihood(sample, tau2) for tau2 in grid], axis=0)
    low = grid[np.maximum(best - 1, 0), columns]
    high = grid[np.minimum(best + 1, len(grid) - 1), columns]
    return np.where(sample.sizes > 1, _bisect(rises, low, high), np.nan)


def _restricted_likelihood(sample: EffectSample, tau2: Floats) -> Floats:
    """Return the logarithm of the restricted likelihood, up to a constant."""
    weights = sample.weights(tau2)
    with np.errstate(divide="ignore"):
        spread = np.where(sample.present, np.log(sample.variances + tau2), 0.0).sum(axis=0)
        total = np.log(weights.sum(axis=0))
    squares = (weights * sample.residuals(weights) ** 2).sum(axis=0)
    likelihood: Floats = -0.5 * (spread + total + squares)
    return likelihood


def _bisect(is_below: Callable[[Floats], Booleans], low: Floats, high: Floats) -> Floats:
    """Return where a condition ends that holds from ``low``; ``low`` where it holds nowhere."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(np.isnan(high), np.nan, low)


TAU2_ESTIMATORS: dict[str, Callable[[EffectSample], Floats]] = {
    DERSIMONIAN_LAIRD: dersimonian_laird,
    PAULE_MANDEL: paule_mandel,
    REML: reml,
}
