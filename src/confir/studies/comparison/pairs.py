"""The pairs of a comparison: which runs are compared with which, and on which topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans, Floats, Integers
from confir.errors import InvalidValueError
from confir.resampling.sample import Sample, names
from confir.resampling.topic_bootstrap import tie_steps

# Columns and numbers taken together, so that memory does not grow with the topics or the pairs.
MOST_COLUMNS = 1024
MOST_NUMBERS = 4_000_000

# More differences (pairs × measures × tests) take minutes, and nobody reads them.
MOST_DIFFERENCES = 1_000_000

# More differences (pairs × measures) on millions of topics take hours.
_MOST_SUMMARISED = 10_000

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

    @property
    def columns(self) -> int:
        """Number of pairs × measures."""
        pairs, measures = self.shape
        return pairs * measures

    def blocks(self, most: int = MOST_COLUMNS) -> list[slice]:
        """Return the columns in blocks whose differences fit into memory, fixed by the problem."""
        rows = self.sample.rows
        width = max(1, min(most, MOST_NUMBERS // rows)) if rows else self.columns
        return [slice(start, start + width) for start in range(0, self.columns, width)]

    def contrast(self, columns: slice = slice(None)) -> Sample:
        """Return differences as a sample; the columns are pairs × measures, flattened."""
        measures = self.shape[1]
        start, stop, step = columns.indices(self.columns)
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


def check_differences(runs: int, measures: int, tests: int) -> None:
    """Raise where all pairs of runs, by all measures and tests, are too many to compare."""
    pairs = runs * (runs - 1) // 2
    if pairs * measures * tests > MOST_DIFFERENCES:
        raise InvalidValueError(
            f"{runs:,} runs make {pairs:,} pairs, by {measures} measure{'s'[: measures != 1]} and "
            f"{tests} test{'s'[: tests != 1]} more than {MOST_DIFFERENCES:,} differences: name a "
            "baseline to compare the others with, or choose fewer runs or measures"
        )


def complete_topics(values: Floats) -> Booleans:
    """Return which topics every run has, by measure: topics × measures."""
    complete: Booleans = np.all(~np.isnan(values), axis=1)
    return complete
