"""How do samples of inspect become scores? From the columns of ``samples_df`` to those of a table.

A sample is a topic, and each column ``score_NAME`` a measure. Epochs repeat a sample: they are no
further topics, and refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from confir.data.formats.run_sources import name_from_path
from confir.data.tables.columns import InputTable

_SCORE = "score_"
_IDS = ("id", "sample_id")
_RUNS = ("model", "eval_id")

# The grades of inspect's scorers, with the numbers that its own metrics make of them.
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def from_samples(table: InputTable) -> InputTable:
    """Return a table of samples as one of scores; any other table as it is."""
    header = list(table.header)
    scores = [name for name in header if name.startswith(_SCORE)]
    topic = next((name for name in _IDS if name in header), None)
    if "epoch" not in header or not scores or topic is None:
        return table
    run = next((name for name in _RUNS if name in header), None)
    topics = _cells(table, topic)
    runs = [name_from_path(table.source)] * len(table) if run is None else _cells(table, run)
    _refuse_epochs(table, list(zip(runs, topics, strict=True)), topic)
    measures = [[_graded(cell) for cell in _cells(table, name)] for name in scores]
    names = ["run", "topic", *(name.removeprefix(_SCORE) for name in scores)]
    return replace(table, header=names, columns=[runs, topics, *measures])


def with_repeats(table: InputTable) -> InputTable:
    """Return a table whose runs are named by their repeat, where it has a column of repeats."""
    place, run = table.find(["repeat"]), table.find(["run", "run_id", "runid", "system"])
    if place is None or run is None:
        return table
    names, numbers = table.ids(run), table.ids(place)
    pairs = zip(names.codes.tolist(), numbers.codes.tolist(), strict=True)
    named = [f"{names.names[one]}@{numbers.names[other]}" for one, other in pairs]
    kept = [number for number in range(len(table.header)) if number != place]
    columns = [named if number == run else table.columns[number] for number in kept]
    return replace(table, header=[table.header[number] for number in kept], columns=columns)


def _refuse_epochs(table: InputTable, samples: list[tuple[Any, Any]], topic: str) -> None:
    """Raise where a sample occurs in several epochs."""
    first: dict[tuple[Any, Any], int] = {}
    for row, sample in enumerate(samples):
        if sample in first:
            raise table.error(
                f"{topic} {sample[1]!r} in a second epoch (the first: {table.place(first[sample])}); "
                "epochs repeat a topic: expected one row each, such as the mean over epochs",
                row,
            )
        first[sample] = row


def _cells(table: InputTable, name: str) -> list[Any]:
    column = table.columns[list(table.header).index(name)]
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def _graded(cell: Any) -> Any:
    return _GRADES.get(cell, cell) if isinstance(cell, str) else cell
