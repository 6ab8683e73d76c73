"""The percentile interval corrected for bias and acceleration: `bca`."""

from __future__ import annotations

import numpy as np

from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.percentile import defined_replicates
from confir.resampling.distribution import SamplingDistribution, quantile_of_sorted

# Replicates this near to the estimate are equal to it but for the rounding of the matrix product.
TIE = 1e-12


def bca_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Quantiles at ``Φ(z0 + (z0+z)/(1-a(z0+z)))`` of the bootstrap means.

    (Efron 1987; [Park2011] §4.2, [Soboroff2014] §2.4.) z0 from the share of replicates below the
    estimate, ties counting half; a from the jackknife.
    """
    from scipy.special import ndtr, ndtri

    ordered, count = distribution.sorted_replicates, defined_replicates(distribution)
    replicates, estimate = distribution.require("replicates"), distribution.estimate
    below = (replicates < estimate - TIE).sum(axis=0)
    tied = (replicates <= estimate + TIE).sum(axis=0) - below
    acceleration = distribution.require("acceleration")
    limits = []
    with np.errstate(divide="ignore", invalid="ignore"):
        bias = ndtri((below + tied / 2.0) / count)
        for tail in tail_probabilities(level):
            shifted = bias + ndtri(tail)
            probability = ndtr(bias + shifted / (1.0 - acceleration * shifted))
            limit = quantile_of_sorted(ordered, probability, count)
            limits.append(np.where(np.isnan(probability), np.nan, limit))
    return Limits(*limits)
