"""Which columns of a score table hold run, measure, topic and scores, where the user says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import invalid
from confir.data.formats.run_sources import name_from_path
from confir.data.tables.input_table import InputTable
from confir.errors import InvalidValueError, enumerate_names

# Of a score table, in the order in which entries have them.
_ROLES = ("run", "measure", "topic", "value")
_EXAMPLE = "topic=qid,value=nDCG@10"
_ORDER = "run,measure,topic,value"
_EXPECTED = f"which columns hold topic, value, run and measure, such as {_EXAMPLE}"

# What says it: text such as _EXAMPLE or _ORDER, or a mapping with one name or, of values, several.
ColumnsSource = str | Mapping[str, str | Sequence[str]]


class ColumnRoles(NamedTuple):
    """Names of the columns of a score table.

    Attributes
    ----------
    topic, values
        The columns of topics and of scores; each of the latter is a measure, unless there is a
        column of measures.
    run, measure
        The columns of runs and measures; None where there are none.
    order
        What the columns of lines without a header hold, "-" for nothing of use; none of tables with
        a header.
    """

    topic: str
    values: tuple[str, ...]
    run: str | None = None
    measure: str | None = None
    order: tuple[str, ...] = ()


def as_column_roles(given: Any) -> ColumnRoles | None:
    """Return which columns hold what, as text or a mapping says it; None for None."""
    if given is None:
        return None
    if isinstance(given, str) and "=" not in given:
        return _in_order(given)
    found: dict[str, list[str]] = {}
    for role, name in _pairs(given):
        if role not in _ROLES or not name:
            raise invalid("columns", given, _EXPECTED)
        found.setdefault(role, []).append(name)
    twice = [role for role, names in found.items() if len(names) > 1 and role != "value"]
    if twice:
        raise InvalidValueError(f"columns names two columns of {twice[0]}s; expected one")
    if not {"topic", "value"} <= found.keys():
        raise invalid("columns", given, _EXPECTED)
    if "measure" in found and len(found["value"]) > 1:
        raise InvalidValueError(
            "columns names a column of measures, and several of values; expected one of values"
        )
    one = {role: names[0] for role, names in found.items() if role != "value"}
    return ColumnRoles(one["topic"], tuple(found["value"]), one.get("run"), one.get("measure"))


def _in_order(given: str) -> ColumnRoles:
    """Return what columns without names hold, as in ``run,measure,topic,value``."""
    roles = tuple(part.strip() for part in given.split(","))
    named = [role for role in roles if role != "-"]
    wrong = not {"topic", "value"} <= set(named) <= set(_ROLES) or len(set(named)) < len(named)
    if wrong:
        raise invalid("columns", given, f"{_EXPECTED}, or the columns in order: {_ORDER}")
    run, measure = (role if role in named else None for role in ("run", "measure"))
    return ColumnRoles("topic", ("score",), run, measure, roles)


def check_nameless(table: InputTable, roles: ColumnRoles) -> None:
    """Raise where a table names its columns, so that their order says nothing."""
    if table.unit == "row" or table.header_line is not None:
        raise InvalidValueError(
            f"{table.source} names its columns, where columns {','.join(roles.order)} is for lines "
            f"without names; expected {_EXPECTED}"
        )


def _pairs(given: Any) -> Iterable[tuple[str, str]]:
    """Yield role and name of the column of each part of what was given."""
    if isinstance(given, str):
        for part in given.split(","):
            role, _, name = part.partition("=")
            yield role.strip(), name.strip()
        return
    for role, names in given.items() if isinstance(given, Mapping) else [("", given)]:
        for name in names if isinstance(names, list | tuple) else [names]:
            if not isinstance(role, str) or not isinstance(name, str):
                raise invalid("columns", given, _EXPECTED)
            yield role, name


def with_roles(table: InputTable, roles: ColumnRoles) -> InputTable:
    """Return the scores of a table in the columns run, measure, topic and score."""
    many, rows = len(roles.values), len(table)
    topics = _cells(table, roles.topic)
    default = [name_from_path(table.source)] * rows
    runs = default if roles.run is None else _cells(table, roles.run)
    if roles.measure is None:
        measures = [name for name in roles.values for _ in range(rows)]
    else:
        measures = _cells(table, roles.measure)
    scores = [cell for name in roles.values for cell in _cells(table, name)]
    return replace(
        table,
        header=["run", "measure", "topic", "score"],
        columns=[runs * many, measures, topics * many, scores],
        lines=np.tile(np.asarray(table.lines), many),
    )


def _cells(table: InputTable, name: str) -> list[Any]:
    """Return the cells of the column that the user names."""
    place = table.named(name)
    if place is None:
        known = enumerate_names(map(repr, table.header), 20)
        raise table.header_error(f"no column {name!r}; expected one of {known}")
    return table.cells(place)
