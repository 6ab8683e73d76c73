"""How large are the differences, and between which limits? For all pairs and measures at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.errors import UnsupportedMethodError
from confir.intervals.catalogue import find_method, methods_over, misfit
from confir.intervals.interval import Limits
from confir.intervals.method import Method
from confir.parallel import run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import STATISTICS
from confir.resampling.topics import TopicSample, topic_weights
from confir.studies.comparison.pairs import LEAST_TOPICS, Pairs

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
    identical
        Whether both runs have the same score on all of them.
    """

    difference: Floats
    se: Floats
    topics: Integers
    identical: Booleans

    @property
    def constant(self) -> Booleans:
        """Whether all topics, two or more, show the same difference; identical runs included."""
        constant: Booleans = np.isnan(self.se) & (self.topics >= LEAST_TOPICS)
        return constant

    @property
    def sign(self) -> Integers:
        """1 where the second run has the higher mean, -1 where the first, 0 where neither."""
        return np.sign(np.where(self.identical, 0.0, np.nan_to_num(self.difference))).astype(int)


def find_difference_method(name: str) -> Method:
    """Return an interval method that serves differences; one for [0, 1] only raises."""
    method = find_method(name)
    if method.bounded:
        reason = "it is for statistics in [0, 1], which a difference is not"
        others = methods_over("topics").values()
        raise misfit(method, reason, [other for other in others if not other.bounded])
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
        least, most = _extremes(pairs.whole_differences(columns))
        constant = block.degenerate | (least >= most)
        low, high = (np.where(constant, np.nan, limit) for limit in method.compute(block, level))
        se = np.where(constant, np.nan, block.require("se"))
        identical = (block.count >= LEAST_TOPICS) & (least == 0) & (most == 0)
        return MeanDifferences(block.estimate, se, block.count, identical), Limits(low, high)

    blocks = pairs.blocks() if weights is None else pairs.blocks(_RESAMPLED_COLUMNS)
    parts = run_in_threads(task, blocks)
    means = [np.concatenate(part) for part in zip(*(mean for mean, _ in parts), strict=True)]
    limits = [np.concatenate(part) for part in zip(*(limit for _, limit in parts), strict=True)]
    low, high = (array.reshape(pairs.shape) for array in limits)
    return MeanDifferences(*(array.reshape(pairs.shape) for array in means)), Limits(low, high)


def limits_at(
    difference: Floats, se: Floats, topics: Integers, method: str, level: float
) -> Limits:
    """Return the limits of mean differences at a level, by a method that takes se alone."""
    chosen = find_difference_method(method)
    if not chosen.takes_se_alone:
        lacking = [need for need in chosen.needs if need != "se"]
        raise UnsupportedMethodError(
            f"intervals by the method {method!r} need {' and '.join(lacking)} of the differences, "
            f"which a comparison does not keep; expected compare_runs with level={level:g}"
        )
    flat = SamplingDistribution(
        labels=(),
        estimate=difference.reshape(-1),
        count=topics.reshape(-1),
        df=topics.reshape(-1).astype(np.float64) - 1.0,
        support=np.zeros(difference.size, np.bool_),
        resampled=frozenset({"topics"}),
        se=se.reshape(-1),
    )
    low, high = chosen.compute(flat, level)
    return Limits(low.reshape(difference.shape), high.reshape(difference.shape))


def _extremes(differences: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest difference of each column; missing ones do not count."""
    there = ~np.isnan(differences)
    least = np.where(there, differences, np.inf).min(axis=0)
    most = np.where(there, differences, -np.inf).max(axis=0)
    return least, most
