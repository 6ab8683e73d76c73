"""How did a gate decide over time?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from confir.arguments import as_path
from confir.arrays import Floats, Integers
from confir.data.files import PathLike, read_bytes
from confir.data.result import Record, Result, axis, over, result
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import FormatError, counted
from confir.number_text import level_text
from confir.studies.history.history_file import (
    DIGESTS,
    FAILS,
    LATER_FIELDS,
    LOOK_FIELDS,
    MEANS,
    parse_looks,
)
from confir.studies.history.looks import TOPICS, describe_changes

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
    first_look
        The look that began the sequence of looks whose error rate is controlled together.
    qrels_digest, topics_digest, measures_digest, confir_version
        What was looked at, and by which version; None where it is not known.
    false_alarms
        What --show false-alarms found of the gate; None where it was not asked for.
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
    first_look: Integers = over("entry")
    qrels_digest: tuple[str | None, ...] = over("entry")
    topics_digest: tuple[str | None, ...] = over("entry")
    measures_digest: tuple[str | None, ...] = over("entry")
    confir_version: tuple[str | None, ...] = over("entry")
    false_alarms: tuple[Record | None, ...] = over("entry")

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "entry": ("look", "measure", "run", "against")
    }
    record_columns = (*LOOK_FIELDS, *LATER_FIELDS)

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
        if (self.first_look > 1).any():
            place = name._replace(
                title="of its sequence", text=lambda r: f"{r['look'] - r['first_look'] + 1:,}"
            )
            columns = {"look": name, "first_look": place, **columns}
        return {one: column._replace(bold=_fails) for one, column in columns.items()}

    def changes(self) -> list[str]:
        """Return what changed besides the candidates from look to look of a sequence, in sentences."""
        by_look: dict[int, list[Record]] = {}
        for record in self.to_records():
            by_look.setdefault(record["look"], []).append(record)
        return [
            f"since look {look:,}, other things than the candidates have changed: {changed}"
            for (look, one), (_, other) in pairwise(by_look.items())
            if one[0]["first_look"] == other[0]["first_look"]
            and (changed := describe_changes(one, other))
        ]

    def note(self) -> str:
        """Return how many looks failed, and what their intervals are."""
        pairs = zip(self.entries, self.decision, strict=True)
        looks = {look for look, *_ in self.entries}
        failed = {look for (look, *_), decision in pairs if decision == FAILS}
        first = f"{counted(len(looks), 'look')}, {len(failed):,} with a candidate that fails; mean difference from the baseline with the interval that decides"
        changes = "".join(f"\n{one}" for one in self.changes())
        if TOPICS in self.looks:
            return f"{first}: a confidence sequence, whose limits hold at every look{changes}"
        of = " of a sequence" if (self.first_look > 1).any() else ""
        return (
            f"{first}: look j{of} has the error rate 6α/(π²j²), so that the error rate over all looks is at most "
            "α = 1 - level if mean differences are nearly normal; candidates tuned on these data remain uncontrolled"
            f"{changes}"
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
        raise FormatError(f"{problem}; --history of a gate writes one line per look", path=name)
    columns = {field: [record[field] for record in records] for field in LOOK_FIELDS}
    labels = zip(*(columns.pop(part) for part in GateHistory.label_parts["entry"]), strict=True)
    values = {name: _values(name, columns[name]) for name in columns}
    values |= {name: _numbers([record.get(name) for record in records]) for name in MEANS}
    values["first_look"] = np.array([record.get("first_look", 1) for record in records], np.int64)
    values |= {name: tuple(record.get(name) for record in records) for name in DIGESTS}
    alarms = tuple(record.get("false_alarms") for record in records)
    return GateHistory(tuple(labels), **values, false_alarms=alarms)


def _values(field: str, values: list[Any]) -> Any:
    """Return a column: numbers as an array, missing ones as NaN; text as it is."""
    if str in LOOK_FIELDS[field]:
        return tuple(values)
    if LOOK_FIELDS[field] == (int,):
        return np.array(values, np.int64)
    return _numbers(values)


def _numbers(values: list[float | None]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], np.float64)
