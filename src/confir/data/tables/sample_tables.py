"""Scores from samples of inspect: from the columns of ``samples_df`` to those of a table.

A sample is a topic, and each column ``score_NAME`` a measure. Epochs repeat a sample: they are no
further topics, but repeats of a run. Columns ``metadata_NAME`` tell what samples have in common.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confir.data.formats.run_sources import name_from_path
from confir.data.tables.input_table import InputTable
from confir.errors import ReadingWarning, warn_caller

_SCORE, _METADATA = "score_", "metadata_"
_IDS = ("id", "sample_id")
_RUNS = ("model", "eval_id")

# The grades of inspect's scorers, with the numbers that its own metrics make of them.
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


class _Samples(NamedTuple):
    """The columns of a table of samples: names of the topics, of scores, and each row's epoch."""

    topic: str
    scores: list[str]
    epochs: list[str]


def _samples_in(table: InputTable) -> _Samples | None:
    """Return the columns of a table of samples; None of any other table."""
    header = list(table.header)
    scores = [name for name in header if name.startswith(_SCORE)]
    topic = next((name for name in _IDS if name in header), None)
    if "epoch" not in header or not scores or topic is None:
        return None
    return _Samples(topic, scores, _ids(table, "epoch"))


def from_samples(table: InputTable) -> InputTable:
    """Return a table of samples as one of scores; any other table as it is."""
    samples = _samples_in(table)
    if samples is None:
        return table
    run = next((name for name in _RUNS if name in table.header), None)
    runs = [name_from_path(table.source)] * len(table) if run is None else _ids(table, run)
    if len(set(samples.epochs)) > 1:
        warn_caller(
            f"{table.source}: epochs repeat the samples: runs are named by them, as in "
            f"{runs[0]}@{samples.epochs[0]}; --repeats (summarise_repeats) combines them",
            ReadingWarning,
        )
        runs = [f"{name}@{epoch}" for name, epoch in zip(runs, samples.epochs, strict=True)]
    measures = [[_graded(cell) for cell in _cells(table, name)] for name in samples.scores]
    names = ["run", "topic", *(name.removeprefix(_SCORE) for name in samples.scores)]
    return replace(table, header=names, columns=[runs, _cells(table, samples.topic), *measures])


def topics_of_samples(table: InputTable) -> InputTable:
    """Return a table of samples as one of topics, each with its metadata; any other as it is."""
    samples = _samples_in(table)
    if samples is None:
        return table
    names = [samples.topic, *(name for name in table.header if name.startswith(_METADATA))]
    columns = [_cells(table, name) for name in names]
    rows = list(map(repr, zip(*columns, strict=True)))  # metadata may be lists
    first = {row: place for place, row in reversed(list(enumerate(rows)))}
    kept = np.array([first[row] == place for place, row in enumerate(rows)])
    described = replace(table, header=["topic", *names[1:]], columns=columns)
    return described.where(kept)


def with_repeats(table: InputTable) -> InputTable:
    """Return a table whose runs are named by their repeat, where it has a column of repeats."""
    place = table.find_named(["repeat"])
    run = table.find_named(["run", "run_id", "runid", "system"])
    if place is None or run is None:
        return table
    pairs = zip(table.texts(run), table.texts(place), strict=True)
    named = [f"{name}@{number}" for name, number in pairs]
    kept = [number for number in range(len(table.header)) if number != place]
    columns = [named if number == run else table.columns[number] for number in kept]
    return replace(table, header=[table.header[number] for number in kept], columns=columns)


def _cells(table: InputTable, name: str) -> list[Any]:
    return table.cells(list(table.header).index(name))


def _ids(table: InputTable, name: str) -> list[str]:
    return table.texts(list(table.header).index(name))


def _graded(cell: Any) -> Any:
    return _GRADES.get(cell, cell) if isinstance(cell, str) else cell
