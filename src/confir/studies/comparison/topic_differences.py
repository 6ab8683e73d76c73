"""On which topics is a run better than its baseline, and on which worse?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.result import Columns, Variable, over, result
from confir.data.scores import Scores
from confir.order import TIE
from confir.studies.comparison.pair_order import PairOrder, order_pairs, turn_columns
from confir.studies.comparison.pair_result import PairResult


class TopicDifference(NamedTuple):
    """A topic, and by how much the run is better there than the baseline."""

    topic: str
    difference: float


@result
class TopicDifferences(PairResult):
    """The differences between runs on every topic.

    Attributes
    ----------
    scores
        The scores that were compared.
    first, second
        Numbers of the two runs of each pair: baseline and run.
    baseline
        The run that all others are compared with; None where all pairs are compared.
    """

    scores: Scores
    first: Integers = over("pair")
    second: Integers = over("pair")
    baseline: str | None = None

    record_columns = ("measure", "run", "against", "topic", "difference")
    row_order = ("measure", "pair", "topic")

    def axes(self) -> dict[str, Sequence[Any]]:
        """Return topics, pairs and measures."""
        return {"topic": self.scores.topics, **PairResult.axes(self)}

    @property
    def difference(self) -> Floats:
        """The run's score less the baseline's: topics × pairs × measures, NaN where one is missing."""
        difference: Floats = self.scores.values[:, self.second] - self.scores.values[:, self.first]
        return difference

    def derived(self) -> Iterator[Variable]:
        """Yield the difference on every topic."""
        yield Variable("difference", ("topic", "pair", "measure"), self.difference)

    @property
    def order(self) -> PairOrder:
        """The order of the pairs in records: best first, the better run named first."""
        present = ~np.isnan(self.difference)
        counts = np.maximum(present.sum(axis=0), 1)
        mean = np.where(present, self.difference, 0.0).sum(axis=0) / counts
        has_baseline = self.baseline is not None
        return order_pairs(mean, self.first, self.second, has_baseline=has_baseline)

    def rows(self) -> Integers:
        """Return the rows of each measure and pair, most for the run first; missing ones left out."""
        return self._rows(self.order)

    def to_dict(self) -> Columns:
        """Return the records as columns; without a baseline, the better run of a pair comes first."""
        order = self.order
        turned = np.repeat(order.turned.T.reshape(-1), len(self.scores.topics))
        return turn_columns(PairResult.to_dict(self), turned[self._rows(order)])

    def _rows(self, order: PairOrder) -> Integers:
        by_pair = self.difference.transpose(2, 1, 0)
        sides = np.where(order.turned, -1.0, 1.0).T[..., None]
        inside = np.argsort(-by_pair * sides, axis=2, kind="stable")
        starts = np.arange(inside.size).reshape(inside.shape)[..., :1]
        rows = starts + inside
        there = ~np.isnan(np.take_along_axis(by_pair, inside, axis=2))
        measures = np.arange(len(rows))[:, None]
        chosen: Integers = rows[measures, order.places][there[measures, order.places]]
        return chosen

    def ordered(self, pair: int, measure: int) -> list[TopicDifference]:
        """Return the topics that both runs have, from most for the run to most against it."""
        values = self.scores.values[:, :, measure]
        difference = values[:, self.second[pair]] - values[:, self.first[pair]]
        order = np.argsort(-difference, kind="stable")
        return [
            TopicDifference(self.scores.topics[place], float(difference[place]))
            for place in order
            if not np.isnan(difference[place])
        ]

    def extremes(
        self, pair: int, measure: int, limit: int = 3
    ) -> tuple[list[TopicDifference], list[TopicDifference]]:
        """Return the topics with the largest differences for and against the run, largest first."""
        ordered = self.ordered(pair, measure)
        won = [entry for entry in ordered if entry.difference > TIE]
        lost = [entry for entry in ordered[::-1] if entry.difference < -TIE]
        return won[:limit], lost[:limit]
