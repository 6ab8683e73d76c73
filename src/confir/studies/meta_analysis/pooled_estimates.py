"""Pooled effects with their errors: weighted means, and Stouffer's test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.intervals.interval import Limits
from confir.intervals.quantiles import t_quantile
from confir.studies.meta_analysis.effect_sample import (
    EffectSample,
    inverse_sum,
    or_nan,
    weighted_mean,
)
from confir.studies.meta_analysis.models import HARTUNG_KNAPP, Model


class PooledEstimate(NamedTuple):
    """A pooled effect, its standard error, degrees of freedom, t or z, and one-sided p-values."""

    effect: Floats
    se: Floats
    df: Floats
    statistic: Floats
    p_greater: Floats
    p_less: Floats

    @property
    def p(self) -> Floats:
        """Two-sided p-values."""
        p: Floats = np.minimum(1.0, 2.0 * np.minimum(self.p_greater, self.p_less))
        return p

    def limits(self, level: float) -> Limits:
        """Return the limits of each effect alone."""
        margin = t_quantile(self.df, level) * self.se
        return Limits(self.effect - margin, self.effect + margin)


def estimate_mean(sample: EffectSample, weights: Floats, model: Model) -> PooledEstimate:
    """Return the weighted mean; with Hartung-Knapp, on the scale of the observed spread."""
    from scipy.special import ndtr, stdtr

    # without τ², as for a single study, there are no weights: the plain mean is the same
    effect = weighted_mean(sample.effects, np.where(np.isnan(weights), sample.present, weights))
    se = np.sqrt(inverse_sum(weights))
    df = np.full(effect.shape, np.inf)
    if model.interval == HARTUNG_KNAPP:
        # Knapp & Hartung 2003: Q at τ² over its degrees of freedom scales the variance
        df = sample.df
        scale = (weights * sample.residuals(weights) ** 2).sum(axis=0) / or_nan(df)
        se = np.where(sample.all_equal, np.nan, se * np.sqrt(scale))
    greater, less = (
        np.where(np.isinf(df), ndtr(statistic), stdtr(np.maximum(df, 1.0), statistic))
        for statistic in (-effect / se, effect / se)
    )
    return PooledEstimate(effect, se, df, effect / se, greater, less)


def stouffer_test(sample: EffectSample) -> PooledEstimate:
    """Return the test without an estimate; ``p_greater = 1 - Φ(Σ d_i/(√k σ_i))`` as published."""
    from scipy.special import ndtr

    z = (sample.effects / np.sqrt(sample.variances)).sum(axis=0) / np.sqrt(or_nan(sample.sizes))
    none = np.full(z.shape, np.nan)
    return PooledEstimate(none, none, np.full(z.shape, np.inf), z, ndtr(-z), ndtr(z))
