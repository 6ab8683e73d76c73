"""The columns of a score table: from columns under a header to entries.

A table is *long* (one row per score) or *wide* (one row per topic, one column per run; or, where a
column names the run, one column per measure). Names that confir reserves are never runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.files import name_from_path
from confir.data.scores import LARGEST_SCORE, Scores
from confir.data.tables.input_table import Ids, InputTable
from confir.data.tables.measure_names import find_measures
from confir.data.tables.summary_rows import drop_summaries
from confir.data.tables.table_kind import TOPIC_NAMES, fold
from confir.data.text_numbers import parse_number
from confir.errors import ReadingWarning, enumerate_names, warn_caller

Layout = Literal["long", "wide"]

# what a column or a key may be called, the preferred name first
COLUMN_NAMES = {
    "run": ("run", "run_id", "runid", "system", "tag", "name"),
    "measure": ("measure", "metric"),
    "topic": TOPIC_NAMES,
    "score": ("score", "value"),
}
KNOWN_NAMES = frozenset(name for names in COLUMN_NAMES.values() for name in names)

# what R, pandas and Arrow call a column of row names
_ROW_NAMES = re.compile(r"|__index_level_\d+__|index|unnamed: \d+(\.\d+)?")
_UNUSED_NAMES = ("dataset", "cluster", "weight")
_DOCUMENT_NAMES = {"docid", "docno", "doc_id", "document"}

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
_CUT_MEASURES = {"ndcg": "nDCG", "map": "AP", "recall": "R", "precision": "P", "mrr": "RR"}
_AT_CUTOFF = re.compile(rf"(?:^|[._-])({'|'.join(_CUT_MEASURES)})_at_([0-9]+)$", re.IGNORECASE)
_FILE_MEASURE = re.compile(r"([a-z-]+)(\d*)", re.IGNORECASE)


class ScoreEntries(NamedTuple):
    """One entry per score: its run, its measure, its topic (these in order) and its value."""

    runs: Ids
    measures: Ids
    topics: Ids
    values: Floats

    @property
    def sizes(self) -> dict[str, int]:
        """How many topics, runs and measures there are, by name."""
        names = {"topics": self.topics, "runs": self.runs, "measures": self.measures}
        return {name: len(ids.names) for name, ids in names.items()}

    def find_repetition(self) -> tuple[int, int] | None:
        """Return the first entry that repeats an earlier one's run, measure and topic, and that."""
        cells, shape = self._cells()
        taken = np.zeros(math.prod(shape), bool)
        taken[cells] = True
        if np.count_nonzero(taken) == len(cells):
            return None
        order = np.argsort(cells, kind="stable")
        second = int(order[1:][cells[order[1:]] == cells[order[:-1]]].min())
        return second, int(np.argmax(cells == cells[second]))

    def names(self, entry: int) -> tuple[str, str, str]:
        """Return the run, the measure and the topic of an entry."""
        run, measure, topic = (ids.names[ids.codes[entry]] for ids in self[:3])
        return run, measure, topic

    def describe(self, entry: int, unit: str = "topic") -> str:
        """Return whose score an entry is, in words; ``unit`` is what topics are called."""
        run, measure, topic = self.names(entry)
        return f"run {run!r}, measure {measure!r}, {unit} {topic!r}"

    def to_scores(self) -> Scores:
        """Return the table of all entries, none of which repeats another; others are NaN."""
        cells, shape = self._cells()
        values = np.full(shape, np.nan)
        values.reshape(-1)[cells] = self.values
        runs, measures = tuple(self.runs.names), tuple(self.measures.names)
        return Scores(tuple(self.topics.names), runs, measures, values)

    def _cells(self) -> tuple[Integers, tuple[int, ...]]:
        """Return each entry's cell in the table of topics × runs × measures, and its shape."""
        axes = (self.topics, self.runs, self.measures)
        shape = tuple(len(ids.names) for ids in axes)
        return np.ravel_multi_index(tuple(ids.codes for ids in axes), shape), shape


def score_entries(table: InputTable) -> tuple[ScoreEntries, InputTable]:
    """Return the scores in a table, and the rows that they come from, without summaries.

    Entry ``i`` comes from row ``i`` modulo the rows. Names that the table lacks are taken from that
    of its file.
    """
    columns = find_columns(table)
    places = score_places(table, columns)
    topic = topic_place(table, columns)
    if topic is None:
        topics = _numbered_topics(table)
    else:
        table, topics = drop_summaries(table, topic)
    values = table.numbers(places, expected="" if "score" in columns else EXPECTED)
    for column in np.flatnonzero((np.abs(values) > LARGEST_SCORE).any(axis=1))[:1]:
        fits = np.abs(values[column]) <= LARGEST_SCORE
        expected = f"a number of at most {LARGEST_SCORE:g}"
        table.check_numbers(fits | np.isnan(values[column]), values[column], "score", expected)
    heads = [table.header[place] for place in places]
    runs = _names(table, columns, "run", heads, name_from_path(table.source))
    measures = _names(table, columns, "measure", heads, measure_from_path(table.source))
    topics = topics.in_order()
    topics = Ids(topics.names, np.tile(topics.codes, len(places)))
    return ScoreEntries(runs, measures, topics, values.reshape(-1)), table


def is_long(header: Sequence[str]) -> bool:
    """Whether a header is that of a table with one row per score."""
    return not {fold(name) for name in header}.isdisjoint(COLUMN_NAMES["score"])


def is_reserved(name: str) -> bool:
    """Whether a column of that name is never a run."""
    return (
        fold(name) in {*KNOWN_NAMES, *_UNUSED_NAMES, *_DOCUMENT_NAMES}
        or _ROW_NAMES.fullmatch(fold(name)) is not None
    )


def is_numeric(cell: str) -> bool:
    """Whether a cell holds a number, be it an infinite one."""
    return parse_number(cell) is not None


def find_columns(table: InputTable) -> dict[str, int]:
    """Return the places of the columns of run, measure, topic and score, as far as there are."""
    if any(fold(name) in _DOCUMENT_NAMES for name in table.header):
        raise table.header_error(f"this looks like a run or qrels; {EXPECTED}")
    topics = [name for name in table.header if fold(name) in COLUMN_NAMES["topic"]]
    if len(set(map(fold, topics))) > 1:
        raise table.header_error(
            f"columns {' and '.join(map(repr, topics))} are all named like topics; expected one, or "
            f"--columns topic={topics[0]},value=…"
        )
    found = {column: table.find_named(names) for column, names in COLUMN_NAMES.items()}
    unused = [name for name in table.header if fold(name) in _UNUSED_NAMES]
    if unused:
        hint = "; confir leaderboard compares datasets" if "dataset" in map(fold, unused) else ""
        message = f"{table.source}: not used: columns {', '.join(unused)}{hint}"
        warn_caller(message, ReadingWarning)
    return {column: place for column, place in found.items() if place is not None}


def score_places(table: InputTable, columns: Mapping[str, int]) -> list[int]:
    """Return the places of the columns of scores: that of a long table, or those of a wide one."""
    if "score" in columns:
        return [columns["score"]]
    places = [place for place, name in enumerate(table.header) if not is_reserved(name)]
    if not places or {"run", "measure"} <= set(columns):
        raise table.header_error(f"no column of scores; {EXPECTED}")
    if not columns and all(map(is_numeric, table.header)):
        raise table.header_error(f"the first row holds numbers only, no names; {EXPECTED}")
    known = {"run", "measure"} & set(columns)  # whether columns are measures or runs
    measures = [] if known else find_measures([table.header[place] for place in places])
    if measures:
        raise table.header_error(
            f"columns are named like measures ({enumerate_names(measures, 3)}), where each should be "
            f"a run; expected a column run, or --columns topic=…,value={measures[0]}; if "
            "they are runs, a column measure"
        )
    return places


def topic_place(table: InputTable, columns: Mapping[str, int]) -> int | None:
    """Return the place of the topics, for which row names stand in a table of runs."""
    if "topic" in columns:
        return columns["topic"]
    if not columns.keys().isdisjoint({"run", "measure"}):
        raise table.header_error(f"no column of topics; {EXPECTED}")
    names = enumerate(table.header)
    return next((place for place, name in names if _ROW_NAMES.fullmatch(fold(name))), None)


def _numbered_topics(table: InputTable) -> Ids:
    count = len(table)
    names = [f"{number:0{len(str(count))}}" for number in range(1, count + 1)]
    warn_caller(
        f"{table.source}: no column of topics; its rows are numbered {names[0]} to {names[-1]}",
        ReadingWarning,
    )
    return Ids(names, np.arange(count))


def _names(
    table: InputTable, columns: Mapping[str, int], kind: str, heads: Sequence[str], default: str
) -> Ids:
    """Return the run or the measure of each entry: a column's, that of a head, or the default."""
    rows = len(table)
    if kind in columns:
        ids = table.ids(columns[kind])
        return Ids(ids.names, np.tile(ids.codes, len(heads)))
    headed = "measure" if "run" in columns else "run"
    if kind == headed and "score" not in columns:
        return Ids(heads, np.repeat(np.arange(len(heads)), rows))
    return Ids([default], np.zeros(rows * len(heads), np.int64))


def measure_from_path(source: str) -> str:
    """Return the measure that a file's name ends in, as in ``c.AP@1000.csv``, ``c_ap.csv`` or ``ndcg_at_10.csv``."""
    stem = name_from_path(source)
    spelt_out = _AT_CUTOFF.search(stem)  # as MTEB spells it
    if spelt_out:
        return f"{_CUT_MEASURES[spelt_out[1].lower()]}@{spelt_out[2]}"
    dotted = stem.rpartition(".")[2] if "." in stem else ""
    if re.fullmatch(r".+@\d+", dotted):
        return dotted
    match = _FILE_MEASURE.fullmatch(dotted or stem.partition("_")[2])
    name = match and _FILE_MEASURES.get(match[1].lower())
    if not match or not name or (name == "P" and not match[2]):
        return "score"
    return f"{name}@{match[2]}" if match[2] else name
