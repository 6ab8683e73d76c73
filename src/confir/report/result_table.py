"""The table of a result, from what it declares about its columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from confir.data.readings import Reading, Role
from confir.data.result import Record, Result
from confir.number_text import (
    NumberText,
    difference_text,
    frequency_text,
    p_text,
    share_text,
)
from confir.report.tables import Cell, Table

# Columns of words, which name the row or say what was concluded; all others hold numbers.
_WORDS = (Role.NAME, Role.VERDICT)

_YES_OR_NO = {True: "yes", False: "no"}


def result_table(result: Result, note: str | None = None) -> Table:
    """Return the table that the readings of a result declare: one row per record.

    Parameters
    ----------
    result
        A result with readings.
    note
        The note below; by default the result's own.
    """
    records = result.to_records()
    shown = {
        column: reading
        for column, reading in result.readings().items()
        if _is_shown(column, reading, records)
    }
    rows = tuple(
        tuple(_cell(record, column, reading) for column, reading in shown.items())
        for record in records
    )
    headings = tuple(reading.title or column.replace("_", " ") for column, reading in shown.items())
    roles = [reading.role in _WORDS for reading in shown.values()]
    names = roles.index(False) if False in roles else len(roles)
    return Table(headings, rows, result.note() if note is None else note, names, result.bold_means)


def _is_shown(column: str, reading: Reading, records: list[Record]) -> bool:
    if not records or column not in records[0]:
        return False
    return not reading.if_several or len({record[column] for record in records}) > 1


def _cell(record: Record, column: str, reading: Reading) -> Cell:
    values = [record[column], *(record[name] for name in reading.others)]
    text = _TEXTS[reading.role](reading, *values)
    return Cell(text, reading.bold is not None and reading.bold(record))


def _word(reading: Reading, value: Any) -> str:
    return (reading.words or {}).get(value, "–" if value is None else str(value))


def _score(_reading: Reading, value: float, low: float = math.nan, high: float = math.nan) -> str:
    return NumberText.of(value, low, high)


def _difference(
    _reading: Reading, value: float, low: float = math.nan, high: float = math.nan
) -> str:
    return difference_text(value, low, high)


def _count(_reading: Reading, value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:,.10g}"


def _number(reading: Reading, value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else format(value, reading.format)


def _range(_reading: Reading, low: int, high: int, borderline: object = False) -> str:
    return f"{low:,} to {high:,}{', borderline' if borderline else ''}"


def _flag(reading: Reading, value: bool, borderline: object = False) -> str:
    words = reading.words or _YES_OR_NO
    return f"{words[value]}{', borderline' if borderline else ''}"


def _wins(_reading: Reading, *counts: int) -> str:
    return "/".join(map(str, counts))


_TEXTS: dict[Role, Callable[..., str]] = {
    Role.NAME: _word,
    Role.VERDICT: _word,
    Role.SCORE: _score,
    Role.DIFFERENCE: _difference,
    Role.SHARE: lambda _reading, value: share_text(value),
    Role.FREQUENCY: lambda _reading, value: frequency_text(value),
    Role.P: lambda _reading, value: p_text(value),
    Role.COUNT: _count,
    Role.NUMBER: _number,
    Role.RANGE: _range,
    Role.FLAG: _flag,
    Role.WINS: _wins,
}
