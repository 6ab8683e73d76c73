"""Which runs are compared with which, and on which topics? The pairs of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans, Floats, Integers
from confir.data.sampling.judged_scores import Judged, JudgedScores
from confir.data.scores import Scores
from confir.errors import FormatError, InvalidValueError, UnsupportedMethodError
from confir.order import TIE
from confir.resampling.clusters import Clusters

# Columns and numbers taken together, so that memory does not grow with the topics or the pairs.
MOST_COLUMNS = 1024
MOST_NUMBERS = 4_000_000

# More differences (pairs × measures × tests) take minutes, and nobody reads them.
MOST_DIFFERENCES = 1_000_000

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
    """Pairs of runs: the second one's score minus the first one's is the difference.

    Attributes
    ----------
    values
        Scores, topics × runs × measures; NaN where missing.
    first, second
        Numbers of the two runs of each pair.
    largest
        The largest absolute score of each run: runs × measures.
    clusters
        The clusters of the topics' design; None for one simple random sample.
    judged
        Scores by people, which ``values`` are, and by a model; None where there is one judge.
    """

    values: Floats
    first: Integers
    second: Integers
    largest: Floats
    clusters: Clusters | None = None
    judged: Judged | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of pairs and of measures."""
        return len(self.first), self.values.shape[2]

    @property
    def columns(self) -> int:
        """Number of pairs × measures."""
        pairs, measures = self.shape
        return pairs * measures

    def blocks(self, most: int = MOST_COLUMNS) -> list[slice]:
        """Return the columns in blocks whose differences fit into memory, fixed by the problem."""
        topics = len(self.values) + (0 if self.judged is None else len(self.judged.rest))
        width = max(1, min(most, MOST_NUMBERS // topics))
        return [slice(start, start + width) for start in range(0, self.columns, width)]

    def differences(self, columns: slice) -> Floats:
        """Return differences, topics × columns; the columns are pairs × measures, flattened."""
        return self._apart(self.values, columns)

    def judged_differences(self, columns: slice) -> Judged | None:
        """Return differences by people and by the model; None where there is one judge."""
        if self.judged is None:
            return None
        return Judged(*(self._apart(part, columns) for part in self.judged))

    def _apart(self, values: Floats, columns: slice) -> Floats:
        pair, measure = self._cells(columns)
        second = values[:, self.second[pair], measure]
        # in the order of memory that sums over topics have elsewhere, so that they round alike
        return np.ascontiguousarray(second - values[:, self.first[pair], measure])

    def whole_differences(self, columns: slice) -> Floats:
        """Return differences as whole multiples of a step: equal ones are equal in every bit.

        0.3 - 0.2 and 0.2 - 0.1 differ in the last bit, which would hide ties.
        """
        whole = self.differences(columns)
        whole /= self.tie(columns)
        return np.rint(whole, out=whole)

    def tie(self, columns: slice) -> Floats:
        """Return how near two mean differences of a pair are equal, up to rounding.

        Rounding grows with the scores; TIE is for scores up to 1.
        """
        pair, measure = self._cells(columns)
        first = self.largest[self.first[pair], measure]
        second = self.largest[self.second[pair], measure]
        return TIE * np.maximum(1.0, np.maximum(first, second))

    def _cells(self, columns: slice) -> tuple[Integers, Integers]:
        """Return pair and measure of each column."""
        start, stop, step = columns.indices(self.columns)
        return np.divmod(np.arange(start, stop, step), self.shape[1])

    def by_cluster(self) -> Pairs:
        """Return the same pairs with clusters in place of topics: equal means, of equal weights.

        Raises where scores are missing, whose weights others would have to take.
        """
        if self.clusters is None:
            return self
        if np.isnan(self.values).any():
            raise UnsupportedMethodError(
                "sign flips of clusters need a score of every run on every topic; take the test t"
            )
        flat = self.values.reshape(len(self.values), -1)
        values = self.clusters.count * self.clusters.totals(self.clusters.mean_weight * flat)
        return replace(self, values=values.reshape(-1, *self.values.shape[1:]), clusters=None)

    def run_scores(self, measure: int) -> Floats | Judged:
        """Return the scores by one measure, topics × runs; or those by people and by a model."""
        if self.judged is not None:
            return Judged(*(part[:, :, measure] for part in self.judged))
        return self.values[:, :, measure]

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


def pair_runs(scores: Scores, baseline: str | None) -> Pairs:
    """Return all runs paired with the baseline, or without one each run with each earlier one."""
    if len(scores.runs) < 2:
        raise InvalidValueError("there is one run; a comparison needs at least 2")
    if len(scores.topics) < LEAST_TOPICS:
        raise InvalidValueError("there is one topic; a comparison needs at least 2")
    if np.isinf(scores.values).any():
        raise FormatError("a score is infinite; expected finite numbers, NaN where missing")
    largest = np.where(np.isnan(scores.values), 0.0, np.abs(scores.values)).max(axis=0)
    clusters = None if scores.design is None else Clusters.of(scores.design)
    judged = scores.judged() if isinstance(scores, JudgedScores) else None
    if baseline is None:
        first, second = np.triu_indices(len(scores.runs), 1)
        numbers = first.astype(np.int64), second.astype(np.int64)
        return Pairs(scores.values, *numbers, largest, clusters, judged)
    as_choice("baseline", baseline, scores.runs, "run")
    place = scores.runs.index(baseline)
    others = np.array([r for r in range(len(scores.runs)) if r != place], np.int64)
    first = np.full(len(others), place, np.int64)
    return Pairs(scores.values, first, others, largest, clusters, judged)


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
