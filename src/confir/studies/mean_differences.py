"""How large are the differences, and between which limits? For all pairs and measures at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.errors import UnsupportedMethodError
from confir.intervals.catalogue import METHODS, Method, find_method
from confir.intervals.interval import Limits
from confir.parallel import run_in_threads
from confir.resampling.statistics import STATISTICS
from confir.resampling.topics import TopicSample, topic_weights
from confir.studies.pairs import Pairs

# Columns resampled together, as in the catalogue of intervals: the same limits, bit for bit.
_RESAMPLED_COLUMNS = 64


class MeanDifferences(NamedTuple):
    """Mean differences of pairs: all arrays are pairs × measures.

    Attributes
    ----------
    difference
        Mean over the topics that both runs have.
    se
        Its standard error; NaN where the differences are all equal, or fewer than two.
    topics
        Number of topics that both runs have.
    """

    difference: Floats
    se: Floats
    topics: Integers


def find_difference_method(name: str) -> Method:
    """Return an interval method that serves differences; one for [0, 1] only raises."""
    method = find_method(name)
    if method.bounded:
        fitting = [other.name for other in METHODS.values() if not other.bounded]
        raise UnsupportedMethodError(
            f"method {name!r} does not fit: it is for statistics in [0, 1], which a difference is "
            f"not; methods that fit: {', '.join(fitting)}"
        )
    return method


def mean_differences(
    pairs: Pairs, method: Method, level: float, replicates: int, rng: np.random.Generator
) -> tuple[MeanDifferences, Limits]:
    """Return mean differences and their limits; all pairs share the replicate weights."""
    weights = topic_weights(len(pairs.values), replicates, rng) if method.resamples else None

    def task(columns: slice) -> tuple[MeanDifferences, Limits]:
        values = pairs.differences(columns)
        width = values.shape[1]
        labels = tuple((str(place), "difference") for place in range(width))
        support = np.zeros(width, np.bool_)
        sample = TopicSample(labels, (width,), (values,), STATISTICS["difference"], support)
        block = sample.distribution(slice(None), weights, method.needs)
        still = block.degenerate | _constant(pairs.whole_differences(columns))
        low, high = (np.where(still, np.nan, limit) for limit in method.compute(block, level))
        se = np.where(still, np.nan, block.require("se"))
        return MeanDifferences(block.estimate, se, block.count), Limits(low, high)

    blocks = pairs.blocks() if weights is None else pairs.blocks(_RESAMPLED_COLUMNS)
    parts = run_in_threads(task, blocks)
    means = [np.concatenate(part) for part in zip(*(mean for mean, _ in parts), strict=True)]
    limits = [np.concatenate(part) for part in zip(*(limit for _, limit in parts), strict=True)]
    difference, se, topics = (array.reshape(pairs.shape) for array in means)
    low, high = (array.reshape(pairs.shape) for array in limits)
    return MeanDifferences(difference, se, topics), Limits(low, high)


def _constant(differences: Floats) -> Booleans:
    """Whether the differences of a column are all equal; missing ones do not count."""
    there = ~np.isnan(differences)
    low = np.where(there, differences, np.inf).min(axis=0)
    high = np.where(there, differences, -np.inf).max(axis=0)
    constant: Booleans = low >= high
    return constant
