"""The pairs of a comparison: which runs, on which topics, and their mean differences with limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans, Floats, Integers
from confir.errors import InvalidValueError, UnsupportedMethodError, counted
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
from confir.pairs.sign_flips import flip_p
from confir.pairs.simultaneous import Evidence
from confir.parallel import run_blocks, run_in_threads
from confir.resampling.distribution import Resampled, SamplingDistribution
from confir.resampling.replicates import DrawnWeights
from confir.resampling.sample import MOST_FLIPPED, Sample, names
from confir.resampling.topic_sample import tie_steps

# Columns and numbers taken together, so that memory does not grow with the topics or the pairs.
MOST_COLUMNS = 1024
MOST_NUMBERS = 4_000_000

# More differences (pairs × measures × tests) take minutes, and nobody reads them.
MOST_DIFFERENCES = 1_000_000

# More differences (pairs × measures) on millions of topics take hours.
_MOST_SUMMARISED = 10_000

# Columns resampled together, as in the catalogue of intervals: the same limits, bit for bit.
_RESAMPLED_COLUMNS = 64

# A difference needs as many topics, to have a variance.
LEAST_TOPICS = 2


class SharedTopics(NamedTuple):
    """Pairs that have the same topics in common, by one measure.

    Attributes
    ----------
    measure
        Number of the measure.
    topics
        Numbers of the topics that both runs of each pair have.
    pairs
        Numbers of the pairs, ascending.
    """

    measure: int
    topics: Integers
    pairs: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of runs: the second one's estimate minus the first one's is the difference.

    Attributes
    ----------
    sample
        The runs, columns runs × measures.
    first, second
        Numbers of the two runs of each pair.
    """

    sample: Sample
    first: Integers
    second: Integers

    @property
    def shape(self) -> tuple[int, int]:
        """Number of pairs and of measures."""
        return len(self.first), self.sample.shape[1]

    def blocks(self, most: int = MOST_COLUMNS) -> list[slice]:
        """Return the columns in blocks whose differences fit into memory, fixed by the problem."""
        rows, columns = self.sample.rows, prod(self.shape)
        width = max(1, min(most, MOST_NUMBERS // rows)) if rows else columns
        return [slice(start, start + width) for start in range(0, columns, width)]

    def contrast(self, columns: slice = slice(None)) -> Sample:
        """Return differences as a sample; the columns are pairs × measures, flattened."""
        measures = self.shape[1]
        start, stop, step = columns.indices(prod(self.shape))
        pair, measure = np.divmod(np.arange(start, stop, step), measures)
        plus, minus = (side[pair] * measures + measure for side in (self.second, self.first))
        return self.sample.contrast(plus, minus)

    def unit_scores(self) -> UnitScores:
        """Return the runs' scores on independent units that count alike: topics, or clusters."""
        values = self.sample.unit_scores()
        shaped = values.reshape(len(values), *self.sample.shape)
        return UnitScores(shaped, self.first, self.second)


@dataclass(frozen=True, slots=True, eq=False)
class UnitScores:
    """Scores of pairs of runs on independent units, which tests flip, rank and permute.

    Attributes
    ----------
    values
        Units × runs × measures; NaN where missing.
    first, second
        Numbers of the two runs of each pair.
    """

    values: Floats
    first: Integers
    second: Integers

    @property
    def shape(self) -> tuple[int, int]:
        """Number of pairs and of measures."""
        return len(self.first), self.values.shape[2]

    def ties(self) -> Floats:
        """Return how near two mean differences of a pair are equal: pairs × measures."""
        flat = self.values.reshape(len(self.values), -1)
        measures = np.arange(self.shape[1])
        plus, minus = (
            (side[:, None] * len(measures) + measures).reshape(-1)
            for side in (self.second, self.first)
        )
        return tie_steps(flat, plus, minus).reshape(self.shape)

    def shared_topics(self) -> Iterator[SharedTopics]:
        """Yield the pairs by measure and the topics in common, where those are enough."""
        every_topic, every_pair = np.arange(len(self.values)), np.arange(len(self.first))
        for measure in range(self.shape[1]):
            present = ~np.isnan(self.values[:, :, measure])
            if present.all():
                yield SharedTopics(measure, every_topic, every_pair)
                continue
            shared = present[:, self.first] & present[:, self.second]
            patterns, member = np.unique(np.packbits(shared, axis=0), axis=1, return_inverse=True)
            for number in range(patterns.shape[1]):
                pairs = np.flatnonzero(member.reshape(-1) == number)
                topics = np.flatnonzero(shared[:, pairs[0]])
                if len(topics) >= LEAST_TOPICS:
                    yield SharedTopics(measure, topics, pairs)


def pair_runs(sample: Sample, baseline: str | None) -> Pairs:
    """Return all runs paired with the baseline, or without one each run with each earlier one."""
    runs, measures = names(sample)
    if len(runs) < 2:
        raise InvalidValueError("there is one run; a comparison needs at least 2")
    if baseline is None:
        first, second = (side.astype(np.int64) for side in np.triu_indices(len(runs), 1))
    else:
        place = runs.index(as_choice("baseline", baseline, runs, "run"))
        second = np.array([r for r in range(len(runs)) if r != place], np.int64)
        first = np.full(len(second), place, np.int64)
    if not sample.rows and len(first) * len(measures) > _MOST_SUMMARISED:
        raise InvalidValueError(
            f"{len(first):,} pairs by {len(measures)} measures are more than "
            f"{_MOST_SUMMARISED:,} differences on every topic of a summary: name a baseline to "
            "compare the others with, or choose fewer runs or measures"
        )
    pairs = Pairs(sample, first, second)
    if not sample.rows:  # the pass over pairs finds all that is needed of the runs, too
        pairs.contrast()
    if sample.topics < LEAST_TOPICS:
        raise InvalidValueError("there is one topic; a comparison needs at least 2")
    return pairs


def check_differences(
    runs: int, measures: int = 1, tests: int = 1, *, may_name_baseline: bool = False
) -> None:
    """Raise where all pairs of runs, by all measures and tests, are too many to compare."""
    pairs = runs * (runs - 1) // 2
    if pairs * measures * tests > MOST_DIFFERENCES:
        by = counted(measures, "measure") + (f" and {counted(tests, 'test')}" if tests > 1 else "")
        advice = "name a baseline to compare the others with, or " if may_name_baseline else ""
        raise InvalidValueError(
            f"{runs:,} runs make {pairs:,} pairs, by {by} more than {MOST_DIFFERENCES:,} differences: "
            f"{advice}choose fewer runs or measures"
        )


def complete_topics(values: Floats) -> Booleans:
    """Return which topics every run has, by measure: topics × measures."""
    complete: Booleans = np.all(~np.isnan(values), axis=1)
    return complete


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
    step
        How near to 0 a difference is 0 up to rounding.
    flips
        Share of the sign flips of units that give as large a difference on its side, where units are
        few; else NaN.
    parts, weights
        What each of few units adds to the difference, and what it weighs: pairs × measures × units; of
        no units where they are many.
    """

    difference: Floats
    se: Floats
    df: Floats
    topics: Integers
    identical: Booleans
    units: Floats
    self_normalised: Floats
    step: Floats
    flips: Floats
    parts: Floats
    weights: Floats

    @property
    def constant(self) -> Booleans:
        """Whether all topics, two or more, show the same difference; identical runs included."""
        constant: Booleans = np.isnan(self.se) & (self.topics >= LEAST_TOPICS)
        return constant

    @property
    def tested(self) -> Integers:
        """Number of pairs that are tested, by measure: identical runs are not."""
        tested: Integers = np.sum((self.topics >= LEAST_TOPICS) & ~self.identical, axis=0)
        return tested

    def columns(self) -> Iterator[MeanDifferences]:
        """Yield the mean differences by each measure."""
        swapped = (np.swapaxes(one, 0, 1) for one in self)
        return (MeanDifferences(*part) for part in zip(*swapped, strict=True))

    @property
    def sign(self) -> Integers:
        """1 where the second run has the higher mean, -1 where the first, 0 where neither."""
        known = np.where(np.abs(self.difference) > self.step, np.sign(self.difference), 0.0)
        return np.where(self.identical, 0.0, known).astype(int)

    @property
    def evidence(self) -> Evidence:
        """What decisions rest on: differences that are 0 up to rounding are 0."""
        difference = np.where(self.identical, 0.0, self.sign * np.abs(self.difference))
        known = np.where(np.isnan(self.difference), np.nan, difference)
        return Evidence(known, self.se, self.units, self.df, self.self_normalised, self.flips)

    def beyond(self, bound: Any) -> MeanDifferences:
        """Return the differences less a bound other than 0, of which T says nothing."""
        moved = self.difference - bound
        flips = self.flips
        if self.parts.shape[-1]:
            apart = self.parts - np.broadcast_to(bound, moved.shape)[..., None] * self.weights
            units = apart.shape[-1]
            p = flip_p(apart.reshape(-1, units), self.step.reshape(-1)).reshape(moved.shape)
            flips = np.where(np.isnan(self.flips), np.nan, p)
        return self._replace(difference=moved, self_normalised=np.zeros(moved.shape), flips=flips)


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
    blocks = pairs.blocks(_RESAMPLED_COLUMNS) if "replicates" in method.needs else pairs.blocks()
    first = pairs.contrast(blocks[0])
    check_fit(method, first)
    drawn: DrawnWeights[Any] = DrawnWeights(
        lambda own: (
            first.draw(replicates, own, method.needs) if "replicates" in method.needs else None
        ),
        rng,
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
        means = MeanDifferences(
            block.estimate,
            se,
            block.df,
            block.count,
            identical,
            units,
            sums,
            contrast.ties,
            *sign_flips(contrast, units),
        )
        return means, Limits(low, high)

    parts = (run_in_threads if pairs.sample.threaded else run_blocks)(task, blocks)
    found = (_joined(part) for part in zip(*(mean for mean, _ in parts), strict=True))
    limits = [np.concatenate(part) for part in zip(*(limit for _, limit in parts), strict=True)]
    low, high = (array.reshape(pairs.shape) for array in limits)
    shaped = (array.reshape(*pairs.shape, *array.shape[1:]) for array in found)
    return MeanDifferences(*shaped), Limits(low, high)


def _joined(blocks: tuple[Any, ...]) -> Any:
    """Return blocks of columns in one array; where some have no units, as these are many, others do."""
    inner = {block.shape[1:] for block in blocks}
    if len(inner) > 1:
        units = max(sizes[0] for sizes in inner)
        blocks = tuple(np.pad(one, ((0, 0), (0, units - one.shape[1]))) for one in blocks)
    return np.concatenate(blocks)


class SignFlips(NamedTuple):
    """The sign flips of columns of a contrast, as in `MeanDifferences`."""

    p: Floats
    parts: Floats
    weights: Floats


def sign_flips(contrast: Sample, units: Floats) -> SignFlips:
    """Return the sign flips of differences between columns, of those that have few units."""
    found = contrast.unit_parts()
    if found is None:
        nothing = np.empty((len(units), 0))
        return SignFlips(np.full(len(units), np.nan), nothing, nothing)
    few = (units <= MOST_FLIPPED) & (units > 1)
    p = np.full(len(units), np.nan)
    p[few] = flip_p(found.parts[few], contrast.ties[few])
    return SignFlips(p, *found)


def model_weights(pairs: Pairs) -> Floats:
    """Return the weight of the model in each difference, by human and model judgements."""
    found = [cast("Floats", pairs.contrast(block).model_weight) for block in pairs.blocks()]
    return np.concatenate(found).reshape(pairs.shape)


def limits_at(means: MeanDifferences, method: str, level: float) -> Limits:
    """Return the limits of mean differences at a level, by a method that takes se alone."""
    chosen = METHODS[method]
    if chosen.needs != ("se",):
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
