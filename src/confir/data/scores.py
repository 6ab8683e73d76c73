"""How well did each run do on each topic? The central table: topics × runs × measures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.errors import FormatError, UnknownNameError

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of every run on every topic by every measure.

    Attributes
    ----------
    topics
        Topic ids in bytewise order.
    runs
        Names of the runs.
    measures
        Names of the measures.
    values
        Topics × runs × measures; NaN where a run has no score.
    """

    topics: tuple[str, ...]
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats

    def __post_init__(self) -> None:
        expected = (len(self.topics), len(self.runs), len(self.measures))
        if self.values.shape != expected:
            raise FormatError(f"scores have shape {self.values.shape}; expected {expected}")
        for kind in ("topics", "runs", "measures"):
            names = getattr(self, kind)
            if len(set(names)) < len(names):
                raise FormatError(f"two {kind} of the scores have the same name")

    def __repr__(self) -> str:
        return (
            f"Scores({len(self.topics)} topics × {len(self.runs)} runs × "
            f"{len(self.measures)} measures)"
        )

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def select(
        self, *, runs: Sequence[str] | None = None, measures: Sequence[str] | None = None
    ) -> Scores:
        """Return the scores of some runs and measures only, in the order given."""
        chosen_runs = self.runs if runs is None else tuple(runs)
        chosen_measures = self.measures if measures is None else tuple(measures)
        run_places = [_place("run", name, self.runs) for name in chosen_runs]
        measure_places = [_place("measure", name, self.measures) for name in chosen_measures]
        values = self.values[:, run_places][:, :, measure_places]
        return Scores(self.topics, chosen_runs, chosen_measures, values)

    def mean(self) -> Floats:
        """Return the mean over the topics that have a score: runs × measures."""
        present = ~np.isnan(self.values)
        total = np.where(present, self.values, 0.0).sum(axis=0)
        count = present.sum(axis=0)
        mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return mean

    def to_records(self) -> list[Record]:
        """Return one record (run, measure, topic, score) per score that is there."""
        return [
            {"run": run, "measure": measure, "topic": topic, "score": score}
            for r, run in enumerate(self.runs)
            for m, measure in enumerate(self.measures)
            for topic, score in zip(self.topics, self.values[:, r, m].tolist(), strict=True)
            if not math.isnan(score)
        ]

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return run → measure → topic → score."""
        result: dict[str, dict[str, dict[str, float]]] = {}
        for record in self.to_records():
            by_measure = result.setdefault(record["run"], {})
            by_measure.setdefault(record["measure"], {})[record["topic"]] = record["score"]
        return result

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with the columns run, measure, topic, score.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        from confir.data.frames import frame_from_records

        return frame_from_records(self.to_records(), backend)


def scores_from_entries(
    runs: Sequence[str],
    measures: Sequence[str],
    topics: Sequence[str],
    values: Sequence[float],
    *,
    path: str | None = None,
) -> Scores:
    """Return the table made of one (run, measure, topic, score) entry per score.

    Runs and measures keep the order of their first entry; entries that are not there are NaN.
    """
    if len(values) == 0:
        raise FormatError("no scores; expected one per run, measure and topic", path=path)
    run_place = _places(runs)
    measure_place = _places(measures)
    topic_names = sorted(set(topics))
    topic_place = {name: place for place, name in enumerate(topic_names)}
    table = np.full((len(topic_names), len(run_place), len(measure_place)), np.nan)
    cells = (
        np.array([topic_place[name] for name in topics]),
        np.array([run_place[name] for name in runs]),
        np.array([measure_place[name] for name in measures]),
    )
    flat = np.ravel_multi_index(cells, table.shape)
    order = np.argsort(flat, kind="stable")
    repeated = order[1:][flat[order[1:]] == flat[order[:-1]]]
    if len(repeated):
        i = int(repeated.min())
        raise FormatError(
            f"a second score of run {runs[i]!r}, measure {measures[i]!r}, topic {topics[i]!r}; "
            "expected one",
            path=path,
        )
    table.reshape(-1)[flat] = values
    return Scores(tuple(topic_names), tuple(run_place), tuple(measure_place), table)


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _place(kind: str, name: str, known: Sequence[str] | Mapping[str, int]) -> int:
    names = list(known)
    if name not in names:
        raise UnknownNameError(kind, name, names)
    return names.index(name)
