"""Tables of inspect's samples, as ``samples_df`` and its CSV have them.

A sample is a topic, and each column ``score_NAME`` a measure; epochs repeat a sample: they are no further
topics, but repeats of a run. Columns ``metadata_NAME`` tell what samples have in common.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from confir.data.tables.column_roles import ColumnRoles
from confir.data.tables.input_table import InputTable
from confir.errors import ReadingWarning, warn_caller

_SCORE, _METADATA, _EPOCH = "score_", "metadata_", "epoch"
_IDS = ("id", "sample_id")
_RUNS = ("model", "eval_id")

# The grades of inspect's scorers, with the numbers that its own metrics make of them.
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def samples_with_roles(table: InputTable) -> tuple[InputTable, ColumnRoles] | None:
    """Return a table of samples as one of scores, and what its columns hold; None of any other."""
    topic, header = _topic_of_samples(table), list(table.header)
    if topic is None:
        return None
    run = next((name for name in _RUNS if name in header), None)
    epochs = dict.fromkeys(table.texts(header.index(_EPOCH)))
    if len(epochs) > 1:
        named = next(iter(table.texts(header.index(run)))) if run else "run"
        warn_caller(
            f"{table.source}: epochs repeat the samples: runs are named by them, as in "
            f"{named}@{next(iter(epochs))}; --repeats (summarise_repeats) combines them",
            ReadingWarning,
        )
    names = [name.removeprefix(_SCORE) for name in header if name.startswith(_SCORE)]
    columns = [
        [_graded(cell) for cell in table.cells(header.index(_SCORE + name))] for name in names
    ]
    used = [name for name in (topic, run, _EPOCH) if name is not None]
    graded = replace(
        table,
        header=[*used, *names],
        columns=[*(table.columns[header.index(name)] for name in used), *columns],
    )
    return graded, ColumnRoles(topic, tuple(names), run, None, _EPOCH if len(epochs) > 1 else None)


def topics_of_samples(table: InputTable) -> InputTable:
    """Return a table of samples as one of topics, each with its metadata; any other as it is."""
    topic = _topic_of_samples(table)
    if topic is None:
        return table
    names = [topic, *(name for name in table.header if name.startswith(_METADATA))]
    columns = [table.cells(list(table.header).index(name)) for name in names]
    rows = list(map(repr, zip(*columns, strict=True)))  # metadata may be lists
    first = {row: place for place, row in reversed(list(enumerate(rows)))}
    kept = np.array([first[row] == place for place, row in enumerate(rows)])
    described = replace(table, header=["topic", *names[1:]], columns=columns)
    return described.where(kept)


def _topic_of_samples(table: InputTable) -> str | None:
    """Return the column of the topics in a table of samples; None of any other table."""
    scores = any(name.startswith(_SCORE) for name in table.header)
    if _EPOCH not in table.header or not scores:
        return None
    return next((name for name in _IDS if name in table.header), None)


def _graded(cell: Any) -> Any:
    return _GRADES.get(cell, cell) if isinstance(cell, str) else cell
