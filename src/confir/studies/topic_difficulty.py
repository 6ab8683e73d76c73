"""Which topics are hard? How the runs did on each topic, taken together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.frames import columns_from_records, frame_from_records
from confir.data.score_objects import ScoresSource, as_scores
from confir.data.scores import Record, Scores


@dataclass(frozen=True, slots=True, eq=False)
class TopicDifficulty:
    """How all runs did on each topic: arrays are topics × measures.

    Attributes
    ----------
    scores
        The scores of the runs.
    runs
        Number of runs that have a score.
    lowest, median, highest
        Of the runs' scores; NaN where no run has one.
    """

    scores: Scores
    runs: Integers
    lowest: Floats
    median: Floats
    highest: Floats

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record (measure, topic, runs, lowest, median, highest), hardest topics first."""
        records: list[Record] = []
        for m, measure in enumerate(self.scores.measures):
            records += [
                {
                    "measure": measure,
                    "topic": self.scores.topics[t],
                    "runs": int(self.runs[t, m]),
                    "lowest": float(self.lowest[t, m]),
                    "median": float(self.median[t, m]),
                    "highest": float(self.highest[t, m]),
                }
                for t in np.argsort(self.median[:, m], kind="stable").tolist()
                if self.runs[t, m] > 0
            ]
        return records

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return columns_from_records(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def describe_topics(scores: ScoresSource) -> TopicDifficulty:
    """Return how all runs did on each topic: lowest, median and highest score.

    Parameters
    ----------
    scores
        Scores of the runs, or what `as_scores` makes them of; missing ones do not count.
    """
    scores = as_scores(scores)
    count = (~np.isnan(scores.values)).sum(axis=1)
    none = count == 0
    known = np.where(none[:, None], 0.0, scores.values)
    lowest, median, highest = (
        np.where(none, np.nan, statistic(known, axis=1))
        for statistic in (np.nanmin, np.nanmedian, np.nanmax)
    )
    return TopicDifficulty(scores, count, lowest, median, highest)
