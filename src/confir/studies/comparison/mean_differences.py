"""Mean differences with their limits, for all pairs and measures at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.errors import UnsupportedMethodError
from confir.intervals.interval import Limits
from confir.intervals.method import Method
from confir.intervals.method_list import (
    DEFAULT_DOCUMENT_METHOD,
    DEFAULT_METHOD,
    METHODS,
    check_fit,
    find_method,
    methods_over,
    misfit,
)
from confir.parallel import run_blocks, run_in_threads
from confir.resampling.distribution import Resampled, SamplingDistribution
from confir.resampling.drawn_weights import DrawnWeights
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


def find_difference_method(name: str | None, over: Resampled = "topics") -> Method:
    """Return an interval method that serves differences, or the default; one for [0, 1] only raises."""
    usual = DEFAULT_METHOD if over == "topics" else DEFAULT_DOCUMENT_METHOD
    method = find_method(usual if name is None else name, over)
    if method.bounded:
        reason = "it is for statistics in [0, 1], which a difference is not"
        others = methods_over(over).values()
        raise misfit(method, reason, [other for other in others if not other.bounded])
    return method


def mean_differences(
    pairs: Pairs, method: Method, level: float, replicates: int, rng: np.random.Generator
) -> tuple[MeanDifferences, Limits]:
    """Return mean differences and their limits; all pairs share the replicates."""
    blocks = pairs.blocks(_RESAMPLED_COLUMNS) if method.resamples else pairs.blocks()
    first = pairs.contrast(blocks[0])
    check_fit(method, first)
    drawn: DrawnWeights[Any] = DrawnWeights(
        lambda own: first.draw(replicates, own, method.needs) if method.resamples else None, rng
    )

    def task(columns: slice) -> tuple[MeanDifferences, Limits]:
        contrast = pairs.contrast(columns)
        block = contrast.distribution(slice(None), drawn.weights, method.needs)
        least, most = contrast.extremes()
        constant = block.degenerate | (least >= most)
        low, high = (np.where(constant, np.nan, limit) for limit in method.compute(block, level))
        se = np.where(constant, np.nan, block.require("se"))
        identical = (block.count >= LEAST_TOPICS) & (least == 0) & (most == 0)
        units = contrast.unit_counts(block.count)
        sums = contrast.self_normalised(block.estimate, se, units)
        means = MeanDifferences(block.estimate, se, block.df, block.count, identical, units, sums)
        return means, Limits(low, high)

    parts = (run_in_threads if pairs.sample.threaded else run_blocks)(task, blocks)
    means = [np.concatenate(part) for part in zip(*(mean for mean, _ in parts), strict=True)]
    limits = [np.concatenate(part) for part in zip(*(limit for _, limit in parts), strict=True)]
    low, high = (array.reshape(pairs.shape) for array in limits)
    return MeanDifferences(*(array.reshape(pairs.shape) for array in means)), Limits(low, high)


def model_weights(pairs: Pairs) -> Floats | None:
    """Return the weight of a model in each difference; None where there is one judge."""
    found = [pairs.contrast(columns).model_weight() for columns in pairs.blocks()]
    known = [part for part in found if part is not None]
    return np.concatenate(known).reshape(pairs.shape) if known else None


def limits_at(means: MeanDifferences, method: str, level: float) -> Limits:
    """Return the limits of mean differences at a level, by a method that takes se alone."""
    chosen = METHODS[method]
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
