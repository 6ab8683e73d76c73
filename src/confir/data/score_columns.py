"""What do the columns of a table of scores mean? From columns under a header to entries.

A table is *long* (a row per score) or *wide* (a row per topic, a column per run). Rows of the topic
``all`` are summaries: they are left out.
"""

from __future__ import annotations

import math
import re
import reprlib
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from confir.data.trec_files import name_from_path
from confir.errors import FormatError, InputWarning

Layout = Literal["long", "wide"]

SUMMARY_TOPIC = "all"

# what a column or a key may be called, the preferred name first
COLUMN_NAMES = {
    "run": ("run", "run_id", "system", "tag", "name"),
    "measure": ("measure", "metric"),
    "topic": ("topic", "topic_id", "query_id", "qid", "q_id", "query"),
    "score": ("score", "value"),
}

# what R and pandas call the column of row names
ROW_NAMES = ("", "__index_level_0__")
DOCUMENT_NAMES = {"docid", "docno", "doc_id", "document"}
_MISSING = {"", "na", "nan", "-nan"}

EXPECTED = (
    "expected columns run, measure, topic, score, or topic and a column per run, or lines as "
    "trec_eval -q prints them"
)

# the measures that a file's name may end in, a cutoff aside
_FILE_MEASURES = {
    "ap": "AP",
    "map": "AP",
    "p": "P",
    "rprec": "Rprec",
    "rr": "RR",
    "ndcg": "nDCG",
    "err": "ERR",
    "nerr": "nERR",
    "bpref": "Bpref",
    "alpha-ndcg": "alpha-nDCG",
    "nerr-ia": "nERR-IA",
}
_FILE_MEASURE = re.compile(r"([a-z-]+)(\d*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns under a header.

    ``lines`` are those on which the rows stand; where there are none, as in Parquet, ``unit`` is
    "row" and ``lines`` numbers the rows.
    """

    source: str
    header: Sequence[str]
    columns: Sequence[Sequence[Any]]
    lines: Sequence[int]
    unit: Literal["line", "row"] = "line"

    def __len__(self) -> int:
        return len(self.columns[0])

    def error(self, problem: str, row: int) -> FormatError:
        """Return the error that names the place of a row."""
        number = self.lines[row]
        if self.unit == "line":
            return FormatError(problem, path=self.source, line=number)
        return FormatError(f"row {number}: {problem}", path=self.source)


class ScoreEntries(NamedTuple):
    """One entry per score; entry ``i`` stands in row ``i`` modulo the rows of its table."""

    runs: Sequence[str]
    measures: Sequence[str]
    topics: Sequence[str]
    values: Sequence[float]


def scored_rows(table: Table) -> Table:
    """Return a table without its summaries; raise where its header is not that of scores."""
    _check_header(table)
    find_layout(table.header, table.source)
    return _without_summaries(table)


def score_entries(table: Table) -> ScoreEntries:
    """Return the scores in a table; names that it lacks are taken from that of its file."""
    if find_layout(table.header, table.source) == "long":
        return _long_entries(table)
    return _wide_entries(table)


def find_layout(header: Sequence[str], source: str) -> Layout:
    """Return whether a header is that of a long or of a wide table; raise where of neither."""
    if any(name.strip().casefold() in DOCUMENT_NAMES for name in header):
        raise FormatError(f"this looks like a run or qrels; {EXPECTED}", path=source)
    places = column_places(header)
    if "score" in places and len(places) > 1:
        if "topic" not in places:
            raise FormatError(f"no column of topics; {EXPECTED}", path=source)
        return "long"
    if "topic" not in places and all(map(is_numeric, header)):
        raise FormatError(f"the first row holds numbers only, no names; {EXPECTED}", path=source)
    return "wide"


def is_unicode(text: str) -> bool:
    """Whether a text can be written: half of a surrogate pair, as JSON can spell it, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_numeric(cell: str) -> bool:
    """Whether a cell holds a number, be it an infinite one."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _check_header(table: Table) -> None:
    """Raise where a column has no name, another's name, or one that is not text."""
    counts = Counter(table.header)
    for place, name in enumerate(table.header, start=1):
        if counts[name] > 1:
            raise FormatError(f"two columns are named {name!r}; expected one", path=table.source)
        if not is_unicode(name) or (not name and place > 1):
            raise FormatError(f"the name of column {place} is {name!r}", path=table.source)


def column_places(header: Sequence[str]) -> dict[str, int]:
    """Return the places of the columns of run, measure, topic and score, as far as there are."""
    folded = [name.strip().casefold() for name in header]
    found = {
        column: next((folded.index(name) for name in names if name in folded), None)
        for column, names in COLUMN_NAMES.items()
    }
    return {column: place for column, place in found.items() if place is not None}


def _topic_place(table: Table) -> int | None:
    """Return the place of the column of topics; without one, row names stand for them."""
    row_names = next((i for i, name in enumerate(table.header) if name in ROW_NAMES), None)
    return column_places(table.header).get("topic", row_names)


def _without_summaries(table: Table) -> Table:
    place = _topic_place(table)
    if place is None or SUMMARY_TOPIC not in table.columns[place]:
        return table
    rows = [row for row, topic in enumerate(table.columns[place]) if topic != SUMMARY_TOPIC]
    if not rows:
        raise FormatError(
            "only summaries (topic 'all'); expected scores per topic, as with the option -q of "
            "trec_eval and ir_measures",
            path=table.source,
        )
    columns = [[column[row] for row in rows] for column in table.columns]
    return replace(table, columns=columns, lines=[table.lines[row] for row in rows])


def _long_entries(table: Table) -> ScoreEntries:
    places = column_places(table.header)
    count = len(table)
    runs = _ids(table, places["run"]) if "run" in places else [name_from_path(table.source)] * count
    if "measure" in places:
        measures = _ids(table, places["measure"])
    else:
        measures = [_measure_from_path(table.source)] * count
    return ScoreEntries(
        runs, measures, _ids(table, places["topic"]), _scores(table, places["score"])
    )


def _wide_entries(table: Table) -> ScoreEntries:
    topic_place = _topic_place(table)
    places = [
        place
        for place, name in enumerate(table.header)
        if place != topic_place and name not in ROW_NAMES
    ]
    if not places:
        raise FormatError(f"no column of scores; {EXPECTED}", path=table.source)
    values = [value for place in places for value in _scores(table, place)]
    count = len(table)
    if topic_place is not None:
        topics = _ids(table, topic_place)
    else:
        topics = [f"{number:0{len(str(count))}}" for number in range(1, count + 1)]
        warnings.warn(
            f"{table.source}: no column of topics; its rows are numbered {topics[0]} to "
            f"{topics[-1]}",
            InputWarning,
            stacklevel=5,
        )
    return ScoreEntries(
        [table.header[place] for place in places for _ in topics],
        [_measure_from_path(table.source)] * len(values),
        topics * len(places),
        values,
    )


def _measure_from_path(source: str) -> str:
    """Return the measure that a file's name ends in, as in ``c.AP@1000.csv`` or ``c_ap.csv``."""
    stem = name_from_path(source)
    dotted = stem.rpartition(".")[2] if "." in stem else ""
    if re.fullmatch(r".+@\d+", dotted):
        return dotted
    match = _FILE_MEASURE.fullmatch(dotted or stem.partition("_")[2])
    name = match and _FILE_MEASURES.get(match[1].lower())
    if not match or not name or (name == "P" and not match[2]):
        return "score"
    return f"{name}@{match[2]}" if match[2] else name


def _ids(table: Table, place: int) -> list[str]:
    """Return a column of ids as text; whole numbers are ids, too."""
    column = table.columns[place]
    name = table.header[place]
    if "" in column or not set(map(type, column)) <= {str, int}:
        row = next(i for i, cell in enumerate(column) if cell == "" or type(cell) not in (str, int))
        raise table.error(f"{name} {reprlib.repr(column[row])} is not an id; expected text", row)
    ids = list(map(str, column))
    if not is_unicode("".join(ids)):
        raise FormatError(f"a {name} is not Unicode text", path=table.source)
    return ids


def _scores(table: Table, place: int) -> list[float]:
    """Return a column of scores, NaN where missing; raise where one is no finite number."""
    column = table.columns[place]
    values = _plain_numbers(column)
    if values is not None:
        return values
    numbers = [_number(cell) for cell in column]
    if None in numbers:
        row = numbers.index(None)
        problem = (
            f"{reprlib.repr(column[row])} under {table.header[place]!r} is not a finite number"
        )
        layout = "" if find_layout(table.header, table.source) == "long" else f"; {EXPECTED}"
        raise table.error(problem + layout, row)
    return [number for number in numbers if number is not None]


def _plain_numbers(column: Sequence[Any]) -> list[float] | None:
    """Return a column's numbers at once where all are finite and nothing needs a closer look."""
    kinds = set(map(type, column))
    if kinds == {str}:
        text = "".join(column)
        kinds = {float} if text.isascii() and "_" not in text else kinds
    if not kinds <= {float, int}:
        return None
    try:
        values = list(map(float, column))
    except (ValueError, OverflowError):
        return None
    return None if np.isinf(values).any() else values


def _number(cell: Any) -> float | None:
    """Return the number in a cell: NaN where it is missing, None where it is not finite."""
    if isinstance(cell, str):
        if cell.strip().casefold() in _MISSING:
            return math.nan
        # Python alone reads 1_000 and digits of other scripts as numbers
        if "_" in cell or not cell.isascii():
            return None
    if cell is None or isinstance(cell, bool):
        return math.nan if cell is None else None
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isinf(value) else value
