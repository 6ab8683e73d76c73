"""Intervals that read quantiles off the replicates: `percentile` and `studentised-logit`."""

from __future__ import annotations

import numpy as np

from confir.arrays import Integers
from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.method import Method, Use
from confir.intervals.probe import Probe, side_of_quantiles
from confir.intervals.quantiles import t_quantile
from confir.measures.summary import inverse_logit
from confir.resampling.distribution import SamplingDistribution, quantile_of_sorted


def percentile_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Quantiles of the bootstrap means ([Park2011] §4.1, [Soboroff2014] §4)."""
    lower, upper = tail_probabilities(level)
    ordered, count = distribution.sorted_replicates, defined_replicates(distribution)
    return Limits(
        quantile_of_sorted(ordered, lower, count), quantile_of_sorted(ordered, upper, count)
    )


def percentile_side(probe: Probe, level: float) -> Integers:
    """Return the side of values beside the percentile interval, by counting."""
    return side_of_quantiles(probe.among_replicates, *tail_probabilities(level))


def studentised_logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``μ ± t_{n-1} σ`` of the logits of the bootstrap means, transformed back ([Park2011] §4.3).

    Means equal to 0 or 1 are dropped; σ is the maximum-likelihood one.
    """
    mean, spread = distribution.logit_moments
    half = t_quantile(distribution.df, level) * spread
    return Limits(inverse_logit(mean - half), inverse_logit(mean + half))


def defined_replicates(distribution: SamplingDistribution) -> Integers:
    """Return how many replicates of each column the statistic is defined on."""
    count = np.full(len(distribution.estimate), len(distribution.require("replicates")))
    return count if distribution.dropped is None else count - distribution.dropped


PERCENTILE = Method(
    "percentile",
    percentile_interval,
    needs=("replicates",),
    count_side=percentile_side,
    topics=Use(
        assumes="bootstrap means vary around m as m varies around the true mean",
        source="Efron 1979; Park 2011, Soboroff 2014",
        cites=("Efron1979", "Park2011", "Soboroff2014"),
        cost="one product, a sort",
        fails="few topics: too narrow",
    ),
    documents=Use(
        assumes="replicates vary around the score as it varies around its true value",
        source="Efron 1979; Cormack & Lynam 2006",
        cites=("Efron1979", "Cormack2006"),
        cost="a sort",
        fails="few relevant documents: too narrow",
    ),
)

STUDENTISED_LOGIT = Method(
    "studentised-logit",
    studentised_logit_interval,
    needs=("replicates",),
    bounded=True,
    logit_scale=True,
    topics=Use(
        assumes="the logit of the mean is nearly normal",
        source="Park 2011",
        cites=("Park2011",),
        cost="one product, a sort",
        fails="few topics: too narrow",
    ),
)
