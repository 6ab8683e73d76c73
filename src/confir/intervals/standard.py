"""Intervals from the standard error alone: `t` and `logit-t`."""

from __future__ import annotations

import numpy as np

from confir.intervals.interval import Limits
from confir.intervals.method import Method, Use
from confir.intervals.quantiles import t_quantile
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import inverse_logit, logit


def t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``m ± t_{n-1} · se``: Student's interval ([Soboroff2014] §2)."""
    half = t_quantile(distribution.df, level) * distribution.require("se")
    return Limits(distribution.estimate - half, distribution.estimate + half)


def logit_t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``logit(m) ± t_{n-1} · se / (m(1-m))``, transformed back: the delta method."""
    m = distribution.estimate
    with np.errstate(divide="ignore", invalid="ignore"):
        half = t_quantile(distribution.df, level) * distribution.require("se") / (m * (1.0 - m))
        return Limits(inverse_logit(logit(m) - half), inverse_logit(logit(m) + half))


T = Method(
    "t",
    t_interval,
    needs=("se",),
    closed_form=True,
    topics=Use(
        assumes="the mean is nearly normal",
        source="Student 1908; Soboroff 2014",
        cites=("Student1908", "Soboroff2014"),
        cost="none",
        fails="few topics or skewed scores: too many misses on one side; limits may leave [0, 1]",
    ),
)

LOGIT_T = Method(
    "logit-t",
    logit_t_interval,
    needs=("se",),
    bounded=True,
    closed_form=True,
    logit_scale=True,
    topics=Use(
        assumes="the logit of the mean is nearly normal",
        source="delta method",
        cost="none",
        fails="scores that are nearly all 0 or 1",
    ),
)
