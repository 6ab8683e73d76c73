"""Which topics speak for a run, and which against it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Integers
from confir.data.frames import columns_from_records, frame_from_records
from confir.data.scores import Record, Scores
from confir.order import TIE


class TopicDifference(NamedTuple):
    """A topic, and by how much the run is better there than the baseline."""

    topic: str
    difference: float


@dataclass(frozen=True, slots=True, eq=False)
class TopicDifferences:
    """The differences between runs on every topic.

    Attributes
    ----------
    scores
        The scores that were compared.
    first, second
        Numbers of the two runs of each pair: baseline and run.
    """

    scores: Scores
    first: Integers
    second: Integers

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

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
        """Return the topics that speak most for the run and most against it, strongest first."""
        ordered = self.ordered(pair, measure)
        won = [entry for entry in ordered if entry.difference > TIE]
        lost = [entry for entry in ordered[::-1] if entry.difference < -TIE]
        return won[:limit], lost[:limit]

    def to_records(self) -> list[Record]:
        """Return a record (measure, baseline, run, topic, difference) per topic, most for first."""
        return [
            {
                "measure": measure,
                "baseline": self.scores.runs[self.first[pair]],
                "run": self.scores.runs[self.second[pair]],
                "topic": entry.topic,
                "difference": entry.difference,
            }
            for m, measure in enumerate(self.scores.measures)
            for pair in range(len(self.first))
            for entry in self.ordered(pair, m)
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return columns_from_records(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)
