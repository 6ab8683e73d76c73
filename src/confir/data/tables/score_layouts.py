"""Layouts of score tables other than run, measure, topic and score, and how they become these columns.

The user may say which columns hold what. A sample of inspect's ``samples_df`` is a topic, and each column
``score_NAME`` a measure; epochs repeat a sample: they are no further topics, but repeats of a run, as a
column ``repeat`` names them. Columns ``metadata_NAME`` tell what samples have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import invalid
from confir.data.files import name_from_path
from confir.data.tables.input_table import InputTable
from confir.data.tables.measure_names import confir_name
from confir.data.tables.table_kind import fold
from confir.errors import InvalidValueError, ReadingWarning, enumerate_names, warn_caller

# Of a score table, in the order in which entries have them.
_ROLES = ("run", "measure", "topic", "value")
_EXAMPLE = "topic=qid,value=nDCG@10"
_ORDER = "run,measure,topic,value"
_EXPECTED = f"which columns hold topic, value, run and measure, such as {_EXAMPLE}"

# What says it: text such as _EXAMPLE or _ORDER, or a mapping with one name or, of values, several.
ColumnsSource = str | Mapping[str, str | Sequence[str]]

# the columns of ``pt.Experiment(…, perquery=True)``
_PYTERRIER = ["measure", "name", "qid", "value"]

_SCORE, _METADATA = "score_", "metadata_"
_IDS = ("id", "sample_id")
_RUNS = ("model", "eval_id")

# The grades of inspect's scorers, with the numbers that its own metrics make of them.
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


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


def usual_columns(table: InputTable, roles: ColumnRoles | None) -> InputTable:
    """Return a table of scores in the columns that confir names, whatever its layout."""
    if roles is not None:
        table = _with_roles(table, roles)
    return _with_confir_names(_with_repeats(_from_samples(table)))


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
    for role in ("topic", "value"):
        if role not in found:
            raise InvalidValueError(
                f"columns names no column of {role}s; expected one, as in topic=qid,value=nDCG@10"
            )
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


def _with_roles(table: InputTable, roles: ColumnRoles) -> InputTable:
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
    """Return the cells of the column of a name, which the user may have given."""
    place = table.named(name)
    if place is None:
        known = enumerate_names(map(repr, table.header), 20)
        raise table.header_error(f"no column {name!r}; expected one of {known}")
    return table.cells(place)


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


def _from_samples(table: InputTable) -> InputTable:
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


def _with_repeats(table: InputTable) -> InputTable:
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


def _ids(table: InputTable, name: str) -> list[str]:
    return table.texts(list(table.header).index(name))


def _graded(cell: Any) -> Any:
    return _GRADES.get(cell, cell) if isinstance(cell, str) else cell


def _with_confir_names(table: InputTable) -> InputTable:
    """Return a frame of PyTerrier's experiments with confir's names of measures; others as they are.

    They are measures of trec_eval, spelt as the user spelt them.
    """
    if sorted(map(fold, table.header)) != _PYTERRIER:
        return table
    place = table.find_named(["measure"])
    columns = [
        [confir_name(cell) if isinstance(cell, str) else cell for cell in table.cells(number)]
        if number == place
        else column
        for number, column in enumerate(table.columns)
    ]
    return replace(table, columns=columns)
