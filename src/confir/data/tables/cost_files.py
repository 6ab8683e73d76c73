"""Costs of runs: tables of latency, tokens or money, per run or per run and topic."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_list, as_real, invalid
from confir.arrays import Floats
from confir.data.files import PathLike
from confir.data.tables.column_names import TOPIC_NAMES
from confir.data.tables.input_table import InputTable
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import has_columns, read_table
from confir.errors import FormatError, InvalidValueError, UnknownNameError, enumerate_names

_EXPECTED = "expected columns run, topic (if costs vary by topic), and one of numbers per cost"
_COSTS = TableKind(
    _EXPECTED, {"run": ("run", "run_id", "runid", "system", "model"), "topic": TOPIC_NAMES}
)

CostSource = PathLike | Mapping[str, float] | Sequence[PathLike] | Any


class Cost(NamedTuple):
    """One kind of cost of runs.

    Attributes
    ----------
    name
        What it is: latency, tokens, money.
    values
        By run, and by topic where it varies: run → topic → cost; topic None for a constant one.
    source
        Where it comes from, for messages.
    lines
        Line of the first cost of each run; None where it does not come from lines.
    """

    name: str
    values: dict[str, dict[str | None, float]]
    source: str
    lines: Mapping[str, int] | None = None

    @property
    def constant(self) -> bool:
        """Whether each run has one cost, whatever the topic."""
        return all(set(topics) == {None} for topics in self.values.values())

    def of_runs(self, runs: Sequence[str]) -> Cost:
        """Return the costs of some runs."""
        return self._replace(values={run: self.values[run] for run in runs if run in self.values})

    def table(self, runs: Sequence[str], topics: Sequence[str]) -> Floats:
        """Return the costs: runs of a constant cost, else topics × runs; raise where one lacks."""
        for run in self.values:
            if run not in runs:
                line = (self.lines or {}).get(run)
                place = self.source if line is None else f"{self.source}:{line}"
                raise UnknownNameError(f"run with {self.name} in {place}", run, runs)
        lacking = [run for run in runs if run not in self.values]
        if lacking:
            raise InvalidValueError(
                f"{self.source}: no {self.name} of {enumerate_names(lacking, 5)}; expected the cost "
                "of every run"
            )
        if self.constant:
            return np.array([self.values[run][None] for run in runs])
        for run in runs:
            own = self.values[run]
            gone = [topic for topic in topics if topic not in own]
            if gone:
                raise InvalidValueError(
                    f"{self.source}: no {self.name} of run {run!r} on {enumerate_names(gone, 5)}; "
                    "expected the cost of every run on every topic"
                )
        return np.array([[self.values[run][topic] for run in runs] for topic in topics])


def read_costs(source: CostSource) -> list[Cost]:
    """Return the costs in files, frames, or a mapping run → cost.

    Parameters
    ----------
    source
        A table with columns run, topic (where costs vary by topic) and one per cost: a path, a
        frame, or several of them; or run → cost.
    """
    if isinstance(source, Mapping):
        values: dict[str, dict[str | None, float]] = {
            str(run): {None: _checked(run, value)} for run, value in source.items()
        }
        return [Cost("cost", values, "costs")]
    if isinstance(source, str) and not source:
        raise invalid("costs", source, "a table of costs")
    if isinstance(source, str | os.PathLike) or has_columns(source):
        return _from_table(read_table(source, _COSTS))
    listed = as_list("costs", source)
    found = [
        cost for one in listed for cost in ([one] if isinstance(one, Cost) else read_costs(one))
    ]
    names = [cost.name for cost in found]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InvalidValueError(
            f"two columns of costs are named {twice[0]!r}; expected costs of different names"
        )
    if not found:
        raise invalid("costs", source, "one or more tables of costs")
    return found


def _checked(run: Any, value: Any) -> float:
    """Return a cost; raise where it is none."""
    number = as_real(f"the cost of {run!r}", value)
    if not np.isfinite(number) or number < 0:
        raise InvalidValueError(
            f"the cost of {run!r} is {number:g}; expected a number of 0 or more"
        )
    return number


def _from_table(table: InputTable) -> list[Cost]:
    """Return the costs in the columns of a table."""
    run, topic = table.need("run"), table.find("topic")
    places = [place for place in range(len(table.header)) if place not in (run, topic)]
    if not places:
        raise table.header_error(f"no column of costs; {_EXPECTED}")
    names = table.texts(run)
    topics = [None] * len(names) if topic is None else table.texts(topic)
    return [_column(table, place, names, topics) for place in places]


def _column(
    table: InputTable, place: int, runs: Sequence[str], topics: Sequence[str | None]
) -> Cost:
    """Return the costs in one column; raise where one is missing, negative, or there twice."""
    name = table.header[place].strip()
    if not fold(name):
        raise table.header_error("a column of costs has no name; expected one, such as latency")
    numbers = table.numbers([place], expected="expected a cost of 0 or more")[0]
    table.check_numbers(
        numbers >= 0, numbers, lambda row: f"{name} of run {runs[row]!r}", "a number of 0 or more"
    )
    values: dict[str, dict[str | None, float]] = {}
    lines: dict[str, int] = {}
    for row, (run, topic) in enumerate(zip(runs, topics, strict=True)):
        own = values.setdefault(run, {})
        if topic in own:
            where = "" if topic is None else f" on topic {topic!r}"
            raise table.error(f"a second {name} of run {run!r}{where}; expected one", row)
        own[topic] = float(numbers[row])
        if table.unit == "line":
            lines.setdefault(run, int(table.lines[row]))
    if not values:
        raise FormatError("no rows; expected the cost of every run", path=table.source)
    return Cost(name, values, table.source, lines)
