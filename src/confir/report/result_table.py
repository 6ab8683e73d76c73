"""The table of a result: its study's own, or the one that follows from its declared columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from confir.data.result import Record, Result
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import UnsupportedMethodError
from confir.number_text import difference_text, frequency_text, number_text, p_text, share_text
from confir.report.tables import Cell, Table
from confir.studies import find_function

# Columns of words: names of the row, and conclusions; all others have numbers.
_OF_WORDS = (Role.NAME, Role.VERDICT)
# The open end of an interval in records, and in texts.
_OPEN_ENDS = {None: 0, "low": 1, "high": -1}


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
    text = result.note() if note is None else note
    return records_table(result.table_records(), result.table_columns(), text, result.bold_means)


def records_table(
    records: list[Record], declared: TableColumns, note: str = "", bold: str = ""
) -> Table:
    """Return a table of records with the declared columns; ``bold`` says what bold means."""
    columns = {
        name: column
        for name, column in declared.items()
        if records and name in records[0]
        if not column.if_several or len({record[name] for record in records}) > 1
    }
    rows = []
    for record in records:
        cells = []
        for name, column in columns.items():
            if column.text is not None:
                text = column.text(record)
            else:
                others = (record[other] for other in column.others if other in record)
                text = _TEXTS[column.role](column, record[name], *others)
            cells.append(Cell(text, column.bold is not None and column.bold(record)))
        rows.append(tuple(cells))
    headings = tuple(column.title or name.replace("_", " ") for name, column in columns.items())
    of_words = [column.role in _OF_WORDS for column in columns.values()]
    names = of_words.index(False) if False in of_words else len(of_words)
    return Table(headings, tuple(rows), note, names, bold)


def _word(column: TableColumn, value: Any, borderline: object = None) -> str:
    words: Mapping[Any, str] = column.words or {}
    text = words.get(value, "–" if value is None else str(value))
    return f"{text}, borderline" if borderline else text


def _count(_column: TableColumn, value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


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
    Role.SCORE: lambda _column, *numbers: number_text(*numbers),
    Role.DIFFERENCE: lambda _column, value, low=math.nan, high=math.nan, end=None: difference_text(
        value, low, high, _OPEN_ENDS[end]
    ),
    Role.SHARE: lambda _column, share: share_text(math.nan if share is None else share),
    Role.FREQUENCY: lambda _column, share: frequency_text(share),
    Role.P: lambda _column, p: p_text(p),
    Role.COUNT: _count,
    Role.NUMBER: _number,
    Role.RANGE: _range,
    Role.FLAG: _flag,
    Role.WINS: lambda _column, *counts: "/".join(f"{count:,}" for count in counts),
}
