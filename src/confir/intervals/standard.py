"""Intervals from the standard error alone: `t` and `logit-t`."""

from __future__ import annotations

import numpy as np

from confir.intervals.interval import Limits
from confir.intervals.quantiles import t_quantile
from confir.measures.summary import inverse_logit, logit
from confir.resampling.distribution import SamplingDistribution


def t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``m ± t_{n-1} · se``: Student's interval ([Soboroff2014] §2)."""
    margin = t_quantile(distribution.df, level) * distribution.require("se")
    return Limits(distribution.estimate - margin, distribution.estimate + margin)


def logit_t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``logit(m) ± t_{n-1} · se / (m(1-m))``, transformed back: the delta method."""
    m = distribution.estimate
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = t_quantile(distribution.df, level) * distribution.require("se") / (m * (1.0 - m))
        return Limits(inverse_logit(logit(m) - margin), inverse_logit(logit(m) + margin))
