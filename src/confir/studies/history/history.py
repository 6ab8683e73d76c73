"""How did a gate decide over time?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from confir.arguments import as_path
from confir.arrays import Floats, Integers
from confir.data.files import PathLike, read_bytes
from confir.data.result import Result, axis, over, result
from confir.errors import FormatError
from confir.studies.history.history_file import FIELDS, MEANS, parse_looks


@result
class GateHistory(Result):
    """The decisions of a gate, one per look, measure and candidate; oldest first.

    Attributes
    ----------
    entries
        Look, measure, run and baseline of each decision.
    date, commit
        When it was made (ISO 8601), and on which commit, if that is known.
    decision
        passes or fails.
    require, margin
        What was required; see `Gate`.
    topics
        Topics that it rests on.
    difference, low, high, level
        The mean difference from the baseline, and its interval at this look alone.
    looks
        What is new at each look: candidates or topics.
    look_low, look_high, look_level
        The interval that the decision rests on, and its level.
    mean, against_mean
        Means of the run and of the baseline; NaN in histories of earlier versions.
    """

    entries: tuple[tuple[int, str, str, str], ...] = axis("entry")
    date: tuple[str, ...] = over("entry")
    commit: tuple[str | None, ...] = over("entry")
    decision: tuple[str, ...] = over("entry")
    require: tuple[str, ...] = over("entry")
    margin: Floats = over("entry")
    topics: Integers = over("entry")
    difference: Floats = over("entry")
    low: Floats = over("entry")
    high: Floats = over("entry")
    level: Floats = over("entry")
    looks: tuple[str, ...] = over("entry")
    look_low: Floats = over("entry")
    look_high: Floats = over("entry")
    look_level: Floats = over("entry")
    mean: Floats = over("entry")
    against_mean: Floats = over("entry")

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "entry": ("look", "measure", "run", "against")
    }
    record_columns = (*FIELDS, *MEANS)


def read_history(path: PathLike) -> GateHistory:
    """Return the decisions that ``confir compare --history`` kept in a file.

    Parameters
    ----------
    path
        The file, JSON Lines.

    Examples
    --------
    >>> confir.read_history("history.jsonl")  # written by confir compare --history
    GateHistory(entry: 1)
    """
    name = as_path("path", path)
    records = parse_looks(read_bytes(name), name)
    if not records:
        raise FormatError("the history is empty; expected a look or more", path=name)
    columns = {field: [record[field] for record in records] for field in FIELDS}
    labels = zip(*(columns.pop(part) for part in GateHistory.label_parts["entry"]), strict=True)
    means = {name: _numbers([record.get(name) for record in records]) for name in MEANS}
    values = {name: _values(name, columns[name]) for name in columns} | means
    return GateHistory(tuple(labels), **values)


def _values(field: str, values: list[Any]) -> Any:
    """Return a column: numbers as an array, missing ones as NaN; text as it is."""
    if str in FIELDS[field]:
        return tuple(values)
    if FIELDS[field] == (int,):
        return np.array(values, np.int64)
    return _numbers(values)


def _numbers(values: list[float | None]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], np.float64)
