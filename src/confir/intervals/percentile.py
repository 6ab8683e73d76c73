"""Intervals that read quantiles off the replicates: `percentile`, `bca` and `studentised-logit`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confir.arrays import Floats, Integers, inverse_logit
from confir.intervals.interval import Limits, tail_probabilities, tie_distance
from confir.intervals.method import Method, Use
from confir.intervals.probe import Probe, side_of_quantiles
from confir.intervals.quantiles import t_quantile
from confir.resampling.distribution import SamplingDistribution, count_below, quantile_of_sorted


def percentile_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Quantiles of the bootstrap means ([Park2011] §4.1, [Soboroff2014] §4)."""
    lower, upper = tail_probabilities(level)
    ordered, count = distribution.sorted_replicates, defined_replicates(distribution)
    return Limits(
        quantile_of_sorted(ordered, lower, count), quantile_of_sorted(ordered, upper, count)
    )


def percentile_side(probe: Probe, level: float) -> Integers:
    """Return the side of values relative to the percentile interval, by counting."""
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


def bca_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Quantiles at ``Φ(z0 + (z0+z)/(1-a(z0+z)))`` of the bootstrap means.

    (Efron 1987; [Park2011] §4.2, [Soboroff2014] §4.) z0 from the share of replicates below the
    estimate, ties counting half; a from the jackknife. An estimate that does not vary is its own
    interval.
    """
    ordered, count = distribution.sorted_replicates, defined_replicates(distribution)
    tie = tie_distance(distribution.estimate)
    below = count_below(ordered, distribution.estimate - tie)
    with_ties = count_below(ordered, distribution.estimate + tie)
    share = (below + with_ties) / (2.0 * np.maximum(count, 1))
    constant = distribution.require("se") == 0
    limits = [
        np.where(
            constant,
            distribution.estimate,
            np.where(np.isnan(chance), np.nan, quantile_of_sorted(ordered, chance, count)),
        )
        for chance in corrected_probabilities(share, distribution.require("acceleration"), level)
    ]
    return Limits(*limits)


def bca_side(probe: Probe, level: float) -> Integers:
    """Return the side of values relative to the BCa interval, by counting."""
    share = probe.estimate_among_replicates.share_below
    acceleration = probe.distribution.require("acceleration")
    return side_of_quantiles(
        probe.among_replicates, *corrected_probabilities(share, acceleration, level)
    )


def corrected_probabilities(
    share_below: Floats, acceleration: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return the probabilities of the limits, NaN where the bias is undefined."""
    from scipy.special import ndtr, ndtri

    lower, upper = tail_probabilities(level)
    with np.errstate(divide="ignore", invalid="ignore"):
        bias = ndtri(share_below)
        low, high = bias + ndtri(lower), bias + ndtri(upper)
        return (
            ndtr(bias + low / (1.0 - acceleration * low)),
            ndtr(bias + high / (1.0 - acceleration * high)),
        )


_OF_MEANS = Use(cost="one product, a sort", fails="few topics: too narrow")
_CORRECTED = "as percentile, corrected for bias and skewness"

PERCENTILE = Method(
    "percentile",
    percentile_interval,
    needs=("replicates",),
    count_side=percentile_side,
    topics=replace(
        _OF_MEANS,
        assumes="bootstrap means vary around m as m varies around the true mean",
        source="Efron 1979; Park 2011, Soboroff 2014",
        cites=("Efron1979", "Park2011", "Soboroff2014"),
    ),
    documents=Use(
        assumes="replicates vary around the score as it varies around its true value",
        source="Efron 1979; Cormack & Lynam 2006",
        cites=("Efron1979", "Cormack2006"),
        cost="a sort",
        fails="few relevant documents: too narrow",
    ),
)

BCA = Method(
    "bca",
    bca_interval,
    needs=("se", "acceleration", "replicates"),
    count_side=bca_side,
    topics=replace(
        _OF_MEANS,
        assumes=_CORRECTED,
        source="Efron 1987; Park 2011, Soboroff 2014",
        cites=("Efron1987", "Park2011", "Soboroff2014"),
    ),
    documents=Use(
        assumes=_CORRECTED,
        source="Efron 1987; Cormack & Lynam 2006",
        cites=("Efron1987", "Cormack2006"),
        cost="a sort, and a replicate for every document left out",
        fails="few relevant documents: too narrow; a single one has no interval",
    ),
)

STUDENTISED_LOGIT = Method(
    "studentised-logit",
    studentised_logit_interval,
    needs=("replicates",),
    bounded=True,
    logit_scale=True,
    topics=replace(
        _OF_MEANS,
        assumes="the logit of the mean is nearly normal",
        source="Park 2011",
        cites=("Park2011",),
    ),
)
