"""How did a gate decide over time?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from confir.arguments import as_path
from confir.arrays import Floats, Integers
from confir.data.files import PathLike, read_bytes
from confir.data.result import Record, Result, axis, over, result
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import FormatError, counted
from confir.number_text import level_text
from confir.studies.history.history_file import FAILS, LOOK_FIELDS, MEANS, parse_looks
from confir.studies.history.looks import TOPICS

# Digits of a commit that are enough to find it.
SHORT_COMMIT = 10


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
    record_columns = (*LOOK_FIELDS, *MEANS)

    def table_columns(self) -> TableColumns:
        """Return how the columns read, with the interval that decides; what fails is bold."""
        name = TableColumn(Role.NAME)
        columns = {
            "look": name,
            "date": name._replace(text=lambda record: record["date"][:10]),
            "commit": name._replace(text=lambda record: (record["commit"] or "")[:SHORT_COMMIT]),
            **dict.fromkeys(("measure", "run", "against"), name),
            "decision": TableColumn(Role.VERDICT, "gate"),
            "difference": TableColumn(Role.DIFFERENCE, others=("look_low", "look_high")),
            "look_level": TableColumn(
                Role.NUMBER, "level", text=lambda record: level_text(record["look_level"])
            ),
        }
        return {one: column._replace(bold=_fails) for one, column in columns.items()}

    def note(self) -> str:
        """Return how many looks failed, and what their intervals are."""
        pairs = zip(self.entries, self.decision, strict=True)
        looks = {look for look, *_ in self.entries}
        failed = {look for (look, *_), decision in pairs if decision == FAILS}
        first = f"{counted(len(looks), 'look')}, {len(failed):,} with a candidate that fails; mean difference from the baseline with the interval that decides"
        if TOPICS in self.looks:
            return f"{first}: a confidence sequence, whose limits hold at every look"
        return (
            f"{first}: look j has the error rate 6α/(π²j²), so that the error rate over all looks is at most "
            "α = 1 - level if mean differences are nearly normal; candidates tuned on these data remain uncontrolled"
        )


def _fails(record: Record) -> bool:
    return bool(record["decision"] == FAILS)


def read_history(path: PathLike) -> GateHistory:
    """Return the decisions that ``confir compare --history`` kept in a file.

    A gate that looks at every change decides wrongly sooner or later: its history keeps all looks,
    so that their error is controlled together, and shows what the gate let pass.

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
    content = read_bytes(name)
    records = parse_looks(content, name)
    if not records:
        problem = "the only look was cut short" if content.strip() else "the history is empty"
        raise FormatError(f"{problem}; expected a look or more", path=name)
    columns = {field: [record[field] for record in records] for field in LOOK_FIELDS}
    labels = zip(*(columns.pop(part) for part in GateHistory.label_parts["entry"]), strict=True)
    means = {name: _numbers([record.get(name) for record in records]) for name in MEANS}
    values = {name: _values(name, columns[name]) for name in columns} | means
    return GateHistory(tuple(labels), **values)


def _values(field: str, values: list[Any]) -> Any:
    """Return a column: numbers as an array, missing ones as NaN; text as it is."""
    if str in LOOK_FIELDS[field]:
        return tuple(values)
    if LOOK_FIELDS[field] == (int,):
        return np.array(values, np.int64)
    return _numbers(values)


def _numbers(values: list[float | None]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], np.float64)
