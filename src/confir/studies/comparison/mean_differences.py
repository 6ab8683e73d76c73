"""How large are the differences, and between which limits? For all pairs and measures at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.errors import UnsupportedMethodError
from confir.intervals.catalogue import (
    check_fit,
    check_judged_method,
    find_method,
    methods_over,
    misfit,
)
from confir.intervals.interval import Limits
from confir.intervals.method import Method
from confir.intervals.simultaneous import self_normalised, self_normalised_sums
from confir.parallel import run_blocks
from confir.resampling.clusters import cluster_contributions
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.drawn_weights import DrawnWeights
from confir.resampling.human_judgements import JudgedSample, JudgedWeights, judged_weights
from confir.resampling.statistics import STATISTICS
from confir.resampling.topic_weights import TopicWeights
from confir.resampling.topics import TopicSample, replicate_weights
from confir.studies.comparison.pairs import LEAST_TOPICS, Pairs
from confir.studies.comparison.summarised_pairs import AnyPairs, SummarisedPairs

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
    df
        Its degrees of freedom.
    topics
        Number of topics that both runs have.
    identical
        Whether both runs have the same score on all of them.
    units
        Number of independent units: topics, or clusters.
    self_normalised
        Sum of the differences over the root of the sum of their squares, T; 0 where it does not
        exist, as for corrected differences.
    """

    difference: Floats
    se: Floats
    df: Floats
    topics: Integers
    identical: Booleans
    units: Floats
    self_normalised: Floats

    @property
    def constant(self) -> Booleans:
        """Whether all topics, two or more, show the same difference; identical runs included."""
        constant: Booleans = np.isnan(self.se) & (self.topics >= LEAST_TOPICS)
        return constant

    @property
    def sign(self) -> Integers:
        """1 where the second run has the higher mean, -1 where the first, 0 where neither."""
        return np.sign(np.where(self.identical, 0.0, np.nan_to_num(self.difference))).astype(int)


def find_difference_method(name: str, *, judged: bool = False) -> Method:
    """Return an interval method that serves differences; one for [0, 1] only raises.

    So do those that need one sample of topics, where there are two: judged by people, and not.
    """
    method = find_method(name)
    if method.bounded:
        reason = "it is for statistics in [0, 1], which a difference is not"
        others = methods_over("topics").values()
        raise misfit(method, reason, [other for other in others if not other.bounded])
    if judged:
        check_judged_method(name, bounded=False)
    return method


def mean_differences(
    pairs: AnyPairs, method: Method, level: float, replicates: int, rng: np.random.Generator
) -> tuple[MeanDifferences, Limits]:
    """Return mean differences and their limits; all pairs share the replicate weights."""
    if isinstance(pairs, SummarisedPairs):
        return _summarised_differences(pairs, method, level, replicates, rng)
    distribution = _distribution(pairs, method, replicates, rng)

    def task(columns: slice) -> tuple[MeanDifferences, Limits]:
        extremes = _extremes(pairs.whole_differences(columns))
        means, limits = _limited(distribution(columns), *extremes, method, level)
        if pairs.judged is not None:  # a corrected difference is no mean of independent ones
            means = means._replace(self_normalised=np.zeros_like(means.difference))
        elif pairs.clusters is not None:
            by_cluster = cluster_contributions(pairs.clusters, pairs.differences(columns))
            means = means._replace(
                units=np.full(means.difference.shape, float(pairs.clusters.count)),
                self_normalised=self_normalised(by_cluster),
            )
        return means, limits

    blocks = pairs.blocks(_RESAMPLED_COLUMNS) if method.resamples else pairs.blocks()
    parts = run_blocks(task, blocks)
    means = [np.concatenate(part) for part in zip(*(mean for mean, _ in parts), strict=True)]
    limits = [np.concatenate(part) for part in zip(*(limit for _, limit in parts), strict=True)]
    low, high = (array.reshape(pairs.shape) for array in limits)
    return MeanDifferences(*(array.reshape(pairs.shape) for array in means)), Limits(low, high)


def _distribution(
    pairs: Pairs, method: Method, replicates: int, rng: np.random.Generator
) -> Callable[[slice], SamplingDistribution]:
    """Return what gives the sampling distribution of mean differences, by columns."""

    def draw(own: np.random.Generator) -> Floats | TopicWeights | JudgedWeights | None:
        if not method.resamples:
            return None
        if pairs.judged is not None:
            return judged_weights(pairs.judged, replicates, own)
        return replicate_weights(len(pairs.values), pairs.clusters, replicates, own)

    drawn = DrawnWeights(draw, rng)

    def found(columns: slice) -> SamplingDistribution:
        judged = pairs.judged_differences(columns)
        values = pairs.differences(columns) if judged is None else judged.human
        width = values.shape[1]
        labels = tuple((str(place), "difference") for place in range(width))
        support = np.zeros(width, np.bool_)
        if judged is None:
            difference = STATISTICS["difference"]
            sample = TopicSample(labels, (width,), (values,), difference, support, pairs.clusters)
            return sample.distribution(
                slice(None), cast("Floats | TopicWeights | None", drawn.weights), method.needs
            )
        corrected = JudgedSample(labels, (width,), judged, support)
        weights = cast("JudgedWeights | None", drawn.weights)
        return corrected.distribution(slice(None), weights, method.needs)

    return found


def model_weights(pairs: AnyPairs) -> Floats | None:
    """Return the weight of a model in each difference; None where there is one judge."""
    if isinstance(pairs, SummarisedPairs) or pairs.judged is None:
        return None
    parts = [pairs.judged_differences(columns) for columns in pairs.blocks()]
    weights = [part.corrected().weight for part in parts if part is not None]
    return np.concatenate(weights).reshape(pairs.shape)


def _summarised_differences(
    pairs: SummarisedPairs,
    method: Method,
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> tuple[MeanDifferences, Limits]:
    """Return mean differences and limits from a summary of the scores."""
    topics = pairs.topics
    check_fit(method, topics)
    weights = topics.draw(replicates, rng, method.needs) if method.resamples else None
    block = topics.distribution(slice(None), weights, method.needs)
    means, limits = _limited(block, pairs.totals.least, pairs.totals.most, method, level)
    shaped: list[Any] = [array.reshape(pairs.shape) for array in (*means, *limits)]
    return MeanDifferences(*shaped[:-2]), Limits(*shaped[-2:])


def _limited(
    block: SamplingDistribution,
    least: Floats,
    most: Floats,
    method: Method,
    level: float,
) -> tuple[MeanDifferences, Limits]:
    """Return mean differences and limits; none where the smallest difference is the largest."""
    constant = block.degenerate | (least >= most)
    low, high = (np.where(constant, np.nan, limit) for limit in method.compute(block, level))
    se = np.where(constant, np.nan, block.require("se"))
    identical = (block.count >= LEAST_TOPICS) & (least == 0) & (most == 0)
    units = block.count.astype(np.float64)
    sums = self_normalised_sums(block.estimate, se, units)
    means = MeanDifferences(block.estimate, se, block.df, block.count, identical, units, sums)
    return means, Limits(low, high)


def limits_at(means: MeanDifferences, method: str, level: float) -> Limits:
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
        estimate=means.difference.reshape(-1),
        count=means.topics.reshape(-1),
        df=means.df.reshape(-1),
        support=np.zeros(means.difference.size, np.bool_),
        resampled=frozenset({"topics"}),
        se=means.se.reshape(-1),
    )
    low, high = (limit.reshape(means.difference.shape) for limit in chosen.compute(flat, level))
    return Limits(low, high)


def _extremes(differences: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest difference of each column; missing ones do not count."""
    there = ~np.isnan(differences)
    least = np.where(there, differences, np.inf).min(axis=0)
    most = np.where(there, differences, -np.inf).max(axis=0)
    return least, most
