"""What effects does a table hold? Files of effects of studies, with errors or limits.

CSV, TSV, JSON, JSONL or Parquet, a row an effect; of several files each is a collection.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.data.files import read_bytes
from confir.data.trec_files import find_runs, text_bytes
from confir.errors import FormatError, InputWarning, MissingDependencyError

# what columns may be called, the preferred name first
_STUDY = ("study", "topic", "topic_id", "query_id", "qid", "collection")
_EFFECT = ("effect", "difference", "mean", "score")
_SIGMA = ("se", "sigma")
_GROUP = ("measure", "run", "baseline", "collection")
_COUNTS = ("wins", "ties", "losses")

_EXPECTED = (
    "expected columns study (or topic, or collection), effect (or difference, mean, score), and se "
    "(or sigma, or low and high)"
)
# blank lines and comments at the beginning
_LEAD = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\r?\n)*")
_MISSING = ("", "na", "nan", "-nan", "–")


class Group(NamedTuple):
    """What a column of effects is about; None where it does not matter."""

    measure: str | None = None
    run: str | None = None
    baseline: str | None = None
    collection: str | None = None

    def __str__(self) -> str:
        run = self.run if self.baseline is None else f"{self.run or 'run'} against {self.baseline}"
        return ", ".join(filter(None, (self.collection, self.measure, run)))


@dataclass(frozen=True, slots=True, eq=False)
class EffectTable:
    """Effects of studies as a table has them: arrays are studies × groups, NaN where it has none.

    Attributes
    ----------
    unit
        What the studies are: "study", "topic" or "collection".
    studies, groups
        Names of the studies, and what each column of effects is about.
    effects, sigmas
        Effects and their standard errors.
    low, high, level
        Limits and their confidence level.
    df
        Degrees of freedom of limits by Student's t; infinite for others.
    """

    unit: str
    studies: tuple[str, ...]
    groups: tuple[Group, ...]
    effects: Floats
    sigmas: Floats
    low: Floats
    high: Floats
    level: Floats
    df: Floats


def read_effects(files: Sequence[str], *, level: float = 0.95) -> EffectTable:
    """Return the effects in files, each file a collection where there are several.

    Parameters
    ----------
    files
        Paths, or NAME=PATH to name a collection.
    level
        Level of limits in tables that do not say theirs.
    """
    sources = [source for file in files for source in find_runs([file])]
    rows = []
    for source in sources:
        own = list(_read_rows(source.path))
        if len(sources) > 1 and "collection" not in own[0].cells:
            own = [row._replace(cells={**row.cells, "collection": source.label()}) for row in own]
        rows += own
    unit = rows[0].find(_STUDY)
    if unit is None:
        raise FormatError(
            f"no column of studies; {_EXPECTED}; or several files, each a collection",
            path=rows[0].path,
        )
    return _arrange([_entry(row, unit, level) for row in rows], unit)


class _Row(NamedTuple):
    """A row of a table: its cells by column, and where it stands."""

    path: str
    line: int
    unit: str
    cells: dict[str, Any]

    @property
    def place(self) -> str:
        return (
            f"{self.path}:{self.line}" if self.unit == "line" else f"{self.path}: row {self.line}"
        )

    def error(self, problem: str) -> FormatError:
        if self.unit == "line":
            return FormatError(problem, path=self.path, line=self.line)
        return FormatError(f"row {self.line}: {problem}", path=self.path)

    def find(self, names: Sequence[str]) -> str | None:
        """Return the first of the names that is a column."""
        return next((name for name in names if name in self.cells), None)

    def number(self, name: str) -> float:
        """Return the number in a column, NaN where it is missing or there is no such column."""
        cell = self.cells.get(name)
        if cell is None or (isinstance(cell, str) and cell.strip().casefold() in _MISSING):
            return math.nan
        try:
            # Python alone reads 1_000, and True as a number
            value = math.inf if isinstance(cell, bool) or "_" in str(cell) else float(cell)
        except (TypeError, ValueError, OverflowError):
            value = math.inf
        if math.isinf(value):
            raise self.error(f"{cell!r} under {name!r} is not a finite number")
        return value

    def name(self, column: str) -> str | None:
        """Return the id in a column as text, None where there is none."""
        cell = self.cells.get(column)
        if cell is None or cell == "":
            return None
        if isinstance(cell, bool) or not isinstance(cell, str | int):
            raise self.error(f"{column} {cell!r} is not an id; expected text")
        return str(cell)


class _Entry(NamedTuple):
    """One effect: whose it is, and what is known of its error."""

    row: _Row
    study: str
    group: Group
    effect: float
    sigma: float
    low: float
    high: float
    level: float
    df: float


def _entry(row: _Row, unit: str, level: float) -> _Entry:
    """Return the effect in a row; its error is worked out later, for all rows at once."""
    study = row.name(unit)
    effect, sigma = row.find(_EFFECT), row.find(_SIGMA)
    if study is None:
        raise row.error(f"no {unit}; expected its name")
    if effect is None:
        raise row.error(f"no column of effects; {_EXPECTED}")
    if sigma is None and not {"low", "high"} <= set(row.cells):
        raise row.error(f"no column of standard errors, nor of limits; {_EXPECTED}")
    if sigma is not None and row.number(sigma) < 0:
        raise row.error(f"{sigma} {row.number(sigma):g}; expected a number above 0")
    low, high = row.number("low"), row.number("high")
    if low > high:
        raise row.error(f"low {low:g} is above high {high:g}")
    own_level = row.number("level")
    if not math.isnan(own_level) and not 0 < own_level < 1:
        raise row.error(f"level {own_level:g}; expected a number between 0 and 1, such as 0.95")
    return _Entry(
        row,
        study,
        Group(**{name: row.name(name) for name in _GROUP if name != unit}),
        row.number(effect),
        math.nan if sigma is None else row.number(sigma),
        low,
        high,
        level if math.isnan(own_level) else own_level,
        _degrees(row),
    )


def _degrees(row: _Row) -> float:
    """Return the degrees of freedom of limits by t, from the topics that confir counts."""
    topics = row.number("topics")
    if math.isnan(topics):
        topics = sum(row.number(name) for name in _COUNTS)
    by_t = row.cells.get("method") == "t" and topics >= 2
    return topics - 1 if by_t else math.inf


def _arrange(entries: Sequence[_Entry], unit: str) -> EffectTable:
    """Return the effects as studies × groups."""
    _warn_of_level(entries)
    studies = {study: s for s, study in enumerate(dict.fromkeys(e.study for e in entries))}
    groups = {group: g for g, group in enumerate(dict.fromkeys(e.group for e in entries))}
    places: dict[tuple[int, int], _Entry] = {}
    for entry in entries:
        place = studies[entry.study], groups[entry.group]
        if place in places:
            about = f" ({entry.group})" if str(entry.group) else ""
            raise entry.row.error(
                f"a second effect of {unit} {entry.study!r}{about}; expected one (the first: "
                f"{places[place].row.place})"
            )
        places[place] = entry
    arrays = {}
    for name in ("effect", "sigma", "low", "high", "level", "df"):
        arrays[name] = np.full((len(studies), len(groups)), np.nan)
        for place, entry in places.items():
            arrays[name][place] = getattr(entry, name)
    return EffectTable(
        unit if unit in ("study", "collection") else "topic",
        tuple(studies),
        tuple(groups),
        arrays["effect"],
        arrays["sigma"],
        arrays["low"],
        arrays["high"],
        arrays["level"],
        arrays["df"],
    )


def _warn_of_level(entries: Sequence[_Entry]) -> None:
    unknown = [e for e in entries if math.isnan(e.sigma) and math.isnan(e.row.number("level"))]
    for entry in unknown[:1]:
        warnings.warn(
            f"{entry.row.path}: no column level; its limits are taken for those of level "
            f"{entry.level:g}",
            InputWarning,
            stacklevel=4,
        )


def _read_rows(path: str) -> Iterator[_Row]:
    """Yield the rows of a table, of which there is one at least; columns in small letters."""
    content = read_bytes(path)
    if content.startswith(b"PAR1"):
        records = _parquet_records(content, path)
    else:
        text = text_bytes(content, path).decode()
        start = _LEAD.sub("", text)
        if not start.strip():
            raise FormatError(f"the file is empty; {_EXPECTED}", path=path)
        if start.lstrip()[0] not in "[{":
            yield from _separated_rows(start, path, text.count("\n", 0, len(text) - len(start)))
            return
        records = _json_records(start.lstrip(), path)
    if not records:
        raise FormatError(f"no records; {_EXPECTED}", path=path)
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise FormatError(f"row {number}: not a record; {_EXPECTED}", path=path)
        yield _Row(path, number, "row", {str(k).strip().casefold(): v for k, v in record.items()})


def _separated_rows(text: str, path: str, skipped: int) -> Iterator[_Row]:
    """Yield the rows below a header, separated by tabs where it has one, else by commas."""
    separator = "\t" if "\t" in text.split("\n", maxsplit=1)[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        table = [(skipped + reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise FormatError(f"the columns cannot be told apart ({error})", path=path) from None
    header = [name.strip().casefold() for name in table[0][1]]
    if len(set(header)) < len(header):
        raise FormatError("two columns have the same name", path=path, line=table[0][0])
    if len(table) == 1:
        raise FormatError(f"no rows below the header; {_EXPECTED}", path=path)
    for line, cells in table[1:]:
        if len(cells) != len(header):
            problem = f"{len(cells)} columns; expected {len(header)} as in the header"
            raise FormatError(problem, path=path, line=line)
        yield _Row(path, line, "line", dict(zip(header, cells, strict=True)))


def _json_records(text: str, path: str) -> list[Any]:
    """Return the records in a list, or one a line."""
    try:
        if text.startswith("["):
            found: list[Any] = json.loads(text)
            return found
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON ({error}); expected a list of records", path=path) from None


def _parquet_records(content: bytes, path: str) -> list[Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("pyarrow", f"{path}: reading Parquet", "parquet") from None
    try:
        records: list[Any] = pq.read_table(io.BytesIO(content)).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        problem = str(error).split("\n", maxsplit=1)[0]
        raise FormatError(f"cannot be read as Parquet ({problem})", path=path) from None
    return records
