"""Differences from a baseline on each topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Columns, Variable, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.number_text import signed
from confir.order import TIE
from confir.studies.comparison.pair_results import PairResult, turn_columns


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
    position, turned
        The place of each pair in the order of the comparison, and whether it is shown as first run
        against second, because that is the better one: pairs × measures.
    """

    scores: Scores
    first: Integers = over("pair")
    second: Integers = over("pair")
    position: Integers = over("pair", "measure")
    turned: Booleans = over("pair", "measure")

    record_columns = ("measure", "run", "against", "topic", "difference")
    row_order = ("measure", "pair", "topic")

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        names = dict.fromkeys(("measure", "run", "against", "topic"), TableColumn(Role.NAME))
        differences = TableColumn(Role.DIFFERENCE, text=lambda record: signed(record["difference"]))
        return {**names, "difference": differences}

    def note(self) -> str:
        """Return the order of the rows."""
        return "largest difference in favour of the run first"

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

    def rows(self) -> Integers:
        """Return the rows of each measure and pair, most for the run first; missing ones left out."""
        by_pair = self.difference.transpose(2, 1, 0)
        sides = np.where(self.turned, -1.0, 1.0).T[..., None]
        inside = np.argsort(-by_pair * sides, axis=2, kind="stable")
        starts = np.arange(inside.size).reshape(inside.shape)[..., :1]
        there = ~np.isnan(np.take_along_axis(by_pair, inside, axis=2))
        pairs = np.argsort(self.position, axis=0, kind="stable").T
        measures = np.arange(len(pairs))[:, None]
        rows: Integers = (starts + inside)[measures, pairs][there[measures, pairs]]
        return rows

    def to_dict(self) -> Columns:
        """Return the records as columns; of all pairs, the better run comes first."""
        turned = np.repeat(self.turned.T.reshape(-1), len(self.scores.topics))
        return turn_columns(PairResult.to_dict(self), turned[self.rows()])

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
        self, pair: int, measure: int, limit: int = 3, *, turned: bool | np.bool_ = False
    ) -> tuple[list[TopicDifference], list[TopicDifference]]:
        """Return the topics with the largest differences for and against the run, largest first.

        Turned, the run is the first of the pair.
        """
        ordered = self.ordered(pair, measure)
        if turned:
            ordered = [TopicDifference(one.topic, -one.difference) for one in ordered[::-1]]
        won = [entry for entry in ordered if entry.difference > TIE]
        lost = [entry for entry in ordered[::-1] if entry.difference < -TIE]
        return won[:limit], lost[:limit]
