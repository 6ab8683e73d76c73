"""Which scores do bare lines hold, as trec_eval and ir_measures print them?

The order of their columns is inferred from their content. Measures of trec_eval are given confir's
names where they are the same.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

import numpy as np

from confir.data.tables.columns import InputTable, drop_rows, fold
from confir.data.tables.measure_names import (
    begins_like_a_measure,
    confir_name,
    is_text_measure,
)
from confir.data.tables.score_columns import COLUMN_NAMES, EXPECTED, is_numeric
from confir.errors import FormatError

_SUMMARY = "all"

_THREE_COLUMNS = ["measure", "topic", "score"]


def read_lines(
    content: bytes, first: bytes, separator: str | None, source: str
) -> InputTable | None:
    """Return the table of lines without a header; None where the first line is a header."""
    if not _is_bare(first, separator, source):
        return None
    lines, rows = _split_lines(content, source)
    columns: list[Sequence[str]] = list(zip(*rows, strict=True))
    header = ["measure", "topic", "run", "score"] if len(columns) == 4 else _THREE_COLUMNS
    if len(columns) == 3 and _topics_come_first(columns[0], columns[1], content, source):
        columns = [columns[1], columns[0], columns[2]]
    else:
        columns[0] = [confir_name(name) for name in columns[0]]
    table = InputTable(source, header, columns, lines)
    kept = np.array([topic != _SUMMARY for topic in columns[1]])
    return table if kept.all() else drop_rows(table, kept, f"topic {_SUMMARY!r}")


def _is_bare(line: bytes, separator: str | None, source: str) -> bool:
    """Whether a first line holds a score, rather than names of columns.

    Lines of a run, of qrels or of summaries are errors; of four columns, those that begin with a
    measure are scores, others qrels.
    """
    names = [fold(cell.strip('" ')) for cell in line.decode().split(separator)]
    if set(names) & set(COLUMN_NAMES["topic"]):
        return False
    fields = [field.decode() for field in line.split()]
    count = len(fields)
    numeric = [is_numeric(field) for field in fields]
    measured = begins_like_a_measure(fields[0])
    mistaken = None
    if count == 2 and measured and numeric[1]:
        mistaken = "summaries of measures (written without the option -q?)"
    if count == 4 and not measured and re.fullmatch(r"[+-]?\d+", fields[3]):
        mistaken = "qrels"
    if count >= 5 and numeric[3] and numeric[4]:
        mistaken = "a run"
    if mistaken:
        raise FormatError(f"this looks like {mistaken}; {EXPECTED}", path=source)
    if count == 4:
        return measured and numeric[3]
    return count == 3 and (numeric[2] or is_text_measure(fields[0]))


def _split_lines(content: bytes, source: str) -> tuple[list[int], list[list[str]]]:
    """Return the numbers of lines that hold scores, and their fields, as many in each.

    Lines are split at ASCII blanks only, so that any other blank stays part of an id.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    width = 0
    for number, line in _numbered_lines(content):
        fields = line.decode().split() if line.isascii() else [f.decode() for f in line.split()]
        if not fields or fields[0][0] == "#" or is_text_measure(fields[0]):
            continue
        width = width or len(fields)
        if width not in (3, 4):
            raise FormatError(f"{width} columns; expected 3 or 4", path=source, line=number)
        if width == 4 and len(fields) == 3 and fields[1] == _SUMMARY:
            fields.insert(2, _SUMMARY)
        if len(fields) != width:
            raise FormatError(
                f"{len(fields)} columns; expected {width} as before", path=source, line=number
            )
        lines.append(number)
        rows.append(fields)
    if not rows:
        raise FormatError("no numbers; expected a score per topic", path=source)
    return lines, rows


def _numbered_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file and their numbers, one after the other: the first fault ends it."""
    number = 0
    for held in io.BytesIO(content):
        for line in held.splitlines():  # what ends in a carriage return alone is a line, too
            number += 1
            yield number, line


def _topics_come_first(
    first: Sequence[str], second: Sequence[str], content: bytes, source: str
) -> bool:
    """Whether lines are ir_measures' (topic, measure, score), not trec_eval's (measure, topic).

    Inferred from the column in which summaries are marked, else by trec_eval's padding, else
    by the column that holds more names of usual measures.
    """
    if (_SUMMARY in first) != (_SUMMARY in second):
        return _SUMMARY in first
    if re.search(rb"^\S+ +\t", content, re.MULTILINE):
        return False
    usual = [
        sum(map(begins_like_a_measure, names)) / len(names) for names in (set(first), set(second))
    ]
    if usual[0] == usual[1]:
        raise FormatError(
            "columns of topics and measures cannot be distinguished; expected a first line that "
            "names the columns, such as topic, measure, score",
            path=source,
        )
    return usual[1] > usual[0]
