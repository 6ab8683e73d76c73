"""The table of a result: its study's own, or from what it declares about its columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from confir.data.result import Record, Result
from confir.data.table_columns import Role, TableColumn
from confir.errors import UnsupportedMethodError
from confir.number_text import (
    NumberText,
    difference_text,
    frequency_text,
    p_text,
    share_text,
)
from confir.report.tables import Cell, Table
from confir.studies import find_function

# Columns of words, which name the row or say what was concluded; all others hold numbers.
_OF_WORDS = (Role.NAME, Role.VERDICT)


def table_of(result: Any) -> Table:
    """Return the table of a result: its study's own, or the one that it declares."""
    make = find_function(result, "table")
    if make is None and not (isinstance(result, Result) and result.table_columns()):
        raise UnsupportedMethodError(f"there is no table of a {type(result).__name__}")
    table: Table = result_table(result) if make is None else make(result)
    return table


def result_table(result: Result, note: str | None = None) -> Table:
    """Return the table that a result declares: one row per record.

    Parameters
    ----------
    result
        A result with `table_columns`.
    note
        The note below; by default the result's own.
    """
    records = result.to_records()
    columns = {
        name: column
        for name, column in result.table_columns().items()
        if _is_shown(name, column, records)
    }
    rows = tuple(
        tuple(_cell(record, name, column) for name, column in columns.items()) for record in records
    )
    headings = tuple(column.title or name.replace("_", " ") for name, column in columns.items())
    of_words = [column.role in _OF_WORDS for column in columns.values()]
    names = of_words.index(False) if False in of_words else len(of_words)
    return Table(headings, rows, result.note() if note is None else note, names, result.bold_means)


def _is_shown(name: str, column: TableColumn, records: list[Record]) -> bool:
    if not records or name not in records[0]:
        return False
    return not column.if_several or len({record[name] for record in records}) > 1


def _cell(record: Record, name: str, column: TableColumn) -> Cell:
    values = [record[name], *(record[other] for other in column.others)]
    text = _TEXTS[column.role](column, *values)
    return Cell(text, column.bold is not None and column.bold(record))


def _word(column: TableColumn, value: Any) -> str:
    words: Mapping[Any, str] = column.words or {}
    return words.get(value, "–" if value is None else str(value))


def _count(_column: TableColumn, value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:,.10g}"


def _number(column: TableColumn, value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else format(value, column.format)


def _range(_column: TableColumn, low: int, high: int, borderline: object = None) -> str:
    return f"{low:,} to {high:,}{', borderline' if borderline else ''}"


def _flag(column: TableColumn, value: object, borderline: object = None) -> str:
    words = column.words or {True: "yes", False: "no"}
    return f"{words[bool(value)]}{', borderline' if borderline else ''}"


_TEXTS: dict[Role, Callable[..., str]] = {
    Role.NAME: _word,
    Role.VERDICT: _word,
    Role.SCORE: lambda _column, *numbers: NumberText.of(*numbers),
    Role.DIFFERENCE: lambda _column, value, low=math.nan, high=math.nan: difference_text(
        value, low, high
    ),
    Role.SHARE: lambda _column, share: share_text(share),
    Role.FREQUENCY: lambda _column, share: frequency_text(share),
    Role.P: lambda _column, p: p_text(p),
    Role.COUNT: _count,
    Role.NUMBER: _number,
    Role.RANGE: _range,
    Role.FLAG: _flag,
    Role.WINS: lambda _column, *counts: "/".join(map(str, counts)),
}
