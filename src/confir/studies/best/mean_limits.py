"""Confidence limits of the means by which runs are ranked: over the topics that all runs have."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from confir.errors import ConfirWarning
from confir.intervals.interval import Limits
from confir.intervals.method_list import confidence_interval
from confir.resampling.kinds import as_sample
from confir.resampling.topic_bootstrap import Rng


def mean_limits(scores: Any, level: float, replicates: int, rng: Rng) -> Limits:
    """Return the limits of all means by the default method, as `evaluate` shows them: runs × measures.

    Where runs lack topics, the means are those over the topics that all runs have.
    """
    sample = as_sample(scores)
    low, high = np.full((2, *sample.shape), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)  # the comparison of the runs has its own
        for measure, found in enumerate(sample.by_measure("limits")):
            interval = confidence_interval(
                found.sample, level=level, replicates=replicates, rng=rng
            )
            low[found.scored, measure] = interval.low.reshape(-1)
            high[found.scored, measure] = interval.high.reshape(-1)
    return Limits(low, high)
