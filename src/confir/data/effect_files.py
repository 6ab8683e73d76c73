"""Tables of effects of studies, with errors or limits.

CSV, TSV, JSON, JSONL or Parquet, a row an effect; of several files each is a collection.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_level, as_list, as_path
from confir.arrays import Floats
from confir.data.files import PathLike
from confir.data.formats.sources import find_runs
from confir.data.tables.input_table import InputTable, check_filled
from confir.data.tables.summary_rows import drop_summaries
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import read_table
from confir.defaults import LEVEL
from confir.errors import InputWarning, enumerate_names, warn_caller

# columns that may name the studies, the preferred one first
_STUDY = ("study", "topic", "topic_id", "query_id", "qid", "collection")
# Squares of anything larger or smaller leave the range of doubles in sums of weights.
LARGEST_EFFECT, SMALLEST_ERROR = 1e100, 1e-100
# effects that change their sign where run and baseline are exchanged
_SIGNED = ("effect", "difference")
_GROUP = ("measure", "run", "baseline", "collection")
_IDS = dict.fromkeys((*_STUDY, *_GROUP, "method"))
_COUNTS = ("wins", "ties", "losses")
_EFFECT = ("effect", "sigma", "low", "high")
_NUMBERS = (*_EFFECT, "level", "topics", *_COUNTS)

_EXPECTED = (
    "expected columns study (or topic, or collection), effect (or difference, mean, score), and se "
    "(or sigma, or low and high)"
)
_EFFECTS = TableKind(
    _EXPECTED,
    {
        **{name: (name,) for name in (*_IDS, *_NUMBERS)},
        "effect": ("effect", "difference", "mean", "score"),
        "sigma": ("se", "sigma"),
        "baseline": ("baseline", "against"),  # as records of comparisons have it
    },
)


class Group(NamedTuple):
    """What a column of effects is about; None where it does not matter."""

    measure: str | None = None
    run: str | None = None
    baseline: str | None = None
    collection: str | None = None

    def __str__(self) -> str:
        run = self.run if self.baseline is None else f"{self.run or 'run'} against {self.baseline}"
        return ", ".join(filter(None, (self.collection, self.measure, run)))

    @property
    def reversed(self) -> Group:
        """The same with run and baseline exchanged; itself where it does not name both."""
        if self.run is None or self.baseline is None:
            return self
        return self._replace(run=self.baseline, baseline=self.run)


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


def read_effects(files: PathLike | Sequence[PathLike], *, level: float = LEVEL) -> EffectTable:
    """Return the effects in files, each file a collection where there are several.

    Parameters
    ----------
    files
        One path or several; or NAME=PATH to name a collection.
    level
        Level of limits in tables that do not say theirs.

    Examples
    --------
    >>> confir.read_effects("effects.csv").effects  # its columns are study, effect and se
    array([[0.1],
           [0.2]])
    """
    level = as_level(level)
    listed = [files] if isinstance(files, str | os.PathLike) else as_list("files", files)
    paths = [as_path("files", file) for file in listed]
    sources = [source for path in paths for source in find_runs([path])]
    tables = [_read_columns(source.path) for source in sources]
    if len(sources) > 1:
        for source, held in zip(sources, tables, strict=True):
            held.ids.setdefault("collection", [source.label()] * len(held.table))
    unit = next((name for name in _STUDY if name in tables[0].ids), None)
    if unit is None:
        raise tables[0].table.header_error(
            f"no column of studies; {_EXPECTED}; or several files, each a collection"
        )
    entries = [entry for held in tables for entry in _entries(held, unit, level)]
    return _arrange(_in_one_direction(entries), unit)


def _in_one_direction(entries: Sequence[_Entry]) -> list[_Entry]:
    """Return the differences of two runs in the direction of the first file that has them.

    One file may have dense against bm25, another bm25 against dense: the same difference, with the
    other sign. A study that has both directions keeps them.
    """
    present = {(entry.study, entry.group) for entry in entries}
    first: dict[frozenset[Group], Group] = {}
    result, turned = [], []
    for entry in entries:
        other = entry.group.reversed
        kept = first.setdefault(frozenset((entry.group, other)), entry.group)
        if kept != entry.group and entry.changes_sign and (entry.study, other) not in present:
            turned.append(entry)
            low, high = -entry.high, -entry.low
            result.append(entry._replace(group=other, effect=-entry.effect, low=low, high=high))
        else:
            result.append(entry)
    if turned:
        paths = dict.fromkeys(entry.table.source for entry in turned)
        pairs = dict.fromkeys(str(entry.group.reversed) for entry in turned)
        warn_caller(
            f"{enumerate_names(paths, 5)}: differences are read with the opposite sign, as the "
            f"first file has them: {enumerate_names(pairs, 3)}",
            InputWarning,
        )
    return result


class _Columns(NamedTuple):
    """A table of effects: its ids by column, None where one is missing, and its numbers."""

    table: InputTable
    ids: dict[str, list[str | None]]
    numbers: dict[str, Floats]

    def number(self, name: str) -> Floats:
        """Return a column of numbers; NaN where one is missing or there is no such column."""
        return self.numbers.get(name, np.full(len(self.table), np.nan))


class _Entry(NamedTuple):
    """One effect: its row, whose it is, and its error, or limits and whether they name their level."""

    table: InputTable
    row: int
    study: str
    group: Group
    effect: float
    sigma: float
    low: float
    high: float
    level: float
    has_level: bool
    df: float

    @property
    def changes_sign(self) -> bool:
        """Whether it changes its sign where run and baseline are exchanged."""
        return fold(self.table.header[self.table.need("effect")]) in _SIGNED

    @property
    def place(self) -> str:
        """Where it stands: file and line."""
        if self.table.unit == "line":
            return f"{self.table.source}:{self.table.lines[self.row]}"
        return f"{self.table.source}: {self.table.describe_row(self.row)}"


def _entries(held: _Columns, unit: str, level: float) -> list[_Entry]:
    """Return the effects in a table; errors are worked out later, for all tables at once."""
    table, blank = held.table, [None] * len(held.table)
    studies = held.ids.get(unit, blank)
    if None in studies:
        raise table.error(f"no {unit}; expected its name", studies.index(None))
    effect, sigma, low, high, own, topics = map(held.number, (*_EFFECT, "level", "topics"))
    table.check_numbers(~(sigma < 0), sigma, "standard error", "a number above 0")
    extreme = (sigma > LARGEST_EFFECT) | ((sigma > 0) & (sigma < SMALLEST_ERROR))
    usual = f"a number from {SMALLEST_ERROR:g} to {LARGEST_EFFECT:g}"
    table.check_numbers(~extreme, sigma, "standard error", usual)
    usual = f"a number from {-LARGEST_EFFECT:g} to {LARGEST_EFFECT:g}"
    table.check_numbers(~(np.abs(effect) > LARGEST_EFFECT), effect, "effect", usual)
    for row in np.flatnonzero(low > high)[:1].tolist():
        raise table.error(f"low {low[row]:g} is above high {high[row]:g}", row)
    has_level = ~np.isnan(own)
    within = ~has_level | ((own > 0) & (own < 1))
    table.check_numbers(within, own, "level", "a number between 0 and 1, such as 0.95")
    names = [name for name in _GROUP if name != unit]
    labels = zip(*(held.ids.get(name, blank) for name in names), strict=True)
    groups = [Group(**dict(zip(names, label, strict=True))) for label in labels]
    # degrees of freedom of limits by t, from the topics that confir counts
    topics = np.where(np.isnan(topics), sum(map(held.number, _COUNTS)), topics)
    by_t = (np.array(held.ids.get("method", blank), object) == "t") & (topics >= 2)
    df = np.where(by_t, topics - 1.0, np.inf)
    columns = (effect, sigma, low, high, np.where(has_level, own, level), has_level, df)
    numbers: Any = zip(*(column.tolist() for column in columns), strict=True)
    rows = zip(range(len(table)), studies, groups, numbers, strict=True)
    return [_Entry(table, row, str(study), group, *found) for row, study, group, found in rows]


def _arrange(entries: Sequence[_Entry], unit: str) -> EffectTable:
    """Return the effects as studies × groups."""
    for entry in entries:
        if math.isnan(entry.sigma) and not entry.has_level:
            warn_caller(
                f"{entry.table.source}: no column level; its limits are taken for those of level "
                f"{entry.level:g}",
                InputWarning,
            )
            break
    studies = {study: s for s, study in enumerate(dict.fromkeys(e.study for e in entries))}
    groups = {group: g for g, group in enumerate(dict.fromkeys(e.group for e in entries))}
    sizes = {"studies": len(studies), "effects of each": len(groups)}
    numbers = (*_EFFECT, "level", "df")
    check_filled(sizes, len(entries), entries[0].table.source, arrays=len(numbers))
    places: dict[tuple[int, int], _Entry] = {}
    for entry in entries:
        place = studies[entry.study], groups[entry.group]
        if place in places:
            about = f" ({entry.group})" if str(entry.group) else ""
            raise entry.table.error(
                f"a second effect of {unit} {entry.study!r}{about}; expected one (the first: "
                f"{places[place].place})",
                entry.row,
            )
        places[place] = entry
    arrays = np.full((len(numbers), len(studies), len(groups)), np.nan)
    for place, entry in places.items():
        arrays[:, *place] = [getattr(entry, name) for name in numbers]
    kind = unit if unit in ("study", "collection") else "topic"
    return EffectTable(kind, tuple(studies), tuple(groups), *arrays)


def _read_columns(path: str) -> _Columns:
    """Return the columns of a table, of which there is one row at least, without summaries."""
    table = read_table(path, _EFFECTS)
    study = table.find_named(_STUDY)
    if study is not None:
        table, _ = drop_summaries(table, study)
    ids, numbers = _places(table, _IDS), _places(table, _NUMBERS)
    table.need("effect")
    if "sigma" not in numbers and not {"low", "high"} <= numbers.keys():
        raise table.header_error(f"no column of standard errors, nor of limits; {_EXPECTED}")
    texts: dict[str, list[str | None]] = {
        name: [text or None for text in table.texts(place, optional=True)]
        for name, place in ids.items()
    }
    found = table.numbers(list(numbers.values()))
    return _Columns(table, texts, dict(zip(numbers, found, strict=True)))


def _places(table: InputTable, roles: Iterable[str]) -> dict[str, int]:
    found = {role: table.find(role) for role in roles}
    return {role: place for role, place in found.items() if place is not None}
