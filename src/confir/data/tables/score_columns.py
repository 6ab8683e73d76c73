"""The entries of a score table: the run, measure, topic and value of each score in its columns."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.files import name_from_path
from confir.data.scores import LARGEST_SCORE, Scores
from confir.data.tables.column_names import CORE_NAMES
from confir.data.tables.column_roles import EXPECTED, ColumnRoles, find_roles
from confir.data.tables.input_table import Ids, InputTable, encode_ids
from confir.data.tables.measure_names import confir_name
from confir.data.tables.sample_tables import samples_with_roles
from confir.data.tables.summary_rows import drop_summaries
from confir.data.tables.table_kind import fold
from confir.data.text_numbers import spelt_numbers
from confir.errors import FormatError, ReadingWarning, enumerate_names, warn_caller

Layout = Literal["long", "wide"]

# the columns of ``pt.Experiment(…, perquery=True)``
_PYTERRIER = ["measure", "name", "qid", "value"]
# What stands for a verdict that a judge did not give; numbers of rows are not told from scores in fewer rows.
_NO_VERDICT, _FEW_ROWS = -1.0, 9

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


def score_entries(table: InputTable, given: ColumnRoles | None) -> tuple[ScoreEntries, InputTable]:
    """Return the scores in a table, and the rows that they come from, without summaries.

    Entry ``i`` comes from row ``i`` modulo the rows. Columns hold what the user says (``given``), or what
    their names and cells show. Names that the table lacks are taken from that of its file.
    """
    table, roles = _with_roles(table, given)
    if roles.topic is None:
        topics = _numbered_topics(table)
    else:
        table = _without_blank_rows(table, _place(table, roles.topic))
        table, topics = drop_summaries(table, _place(table, roles.topic))
    places = [_place(table, name) for name in roles.values]
    is_long = given is None and not roles.are_runs and fold(roles.values[0]) in CORE_NAMES["score"]
    values = _score_values(table, places, "" if is_long or given else EXPECTED)
    if roles.are_runs and given is None:
        _refuse_counters(table, places, values)
    heads = [table.header[place] for place in places]
    runs = _names(
        table, roles.run, heads if roles.are_runs else (), name_from_path(table.source), len(places)
    )
    if roles.run is not None and roles.repeat is not None:
        runs = _by_repeat(runs, table.ids(_place(table, roles.repeat)), len(places))
    named = () if roles.are_runs or is_long else heads
    measures = _names(table, roles.measure, named, measure_from_path(table.source), len(places))
    if sorted(map(fold, table.header)) == _PYTERRIER:
        measures = _distinct(list(map(confir_name, measures.names)), measures.codes)
    topics = topics.in_order()
    topics = Ids(topics.names, np.tile(topics.codes, len(places)))
    found = ScoreEntries(runs, measures, topics, values.reshape(-1))
    return _without_verdict(found, table.source), table


def _with_roles(table: InputTable, given: ColumnRoles | None) -> tuple[InputTable, ColumnRoles]:
    """Return a table and what its columns hold."""
    if given is None:
        return samples_with_roles(table) or (table, find_roles(table))
    if given.order:
        measure = "measure" if given.measure else None
        return table, given._replace(topic="topic", values=("score",), measure=measure)
    names = [name for name in (given.topic, given.run, given.measure, given.repeat) if name]
    for name in (*names, *given.values):
        _place(table, name)
    return table, given


def _without_blank_rows(table: InputTable, topic: int) -> InputTable:
    """Return a table of text without rows of separators alone, as spreadsheets have them."""
    if table.separator is None or "" not in table.columns[topic]:
        return table
    named = np.array([bool(cell) for cell in table.columns[topic]])
    for row in np.flatnonzero(~named).tolist():
        named[row] = any(column[row] for column in table.columns)
    return table.where(named)


def _place(table: InputTable, name: str) -> int:
    """Return the place of the column of a name, which the user may have given."""
    place = table.named(name)
    if place is None:
        known = enumerate_names(map(repr, table.header), 20)
        raise table.header_error(f"no column {name!r}; expected one of {known}")
    return place


def _score_values(table: InputTable, places: Sequence[int], expected: str) -> Floats:
    """Return the scores in columns, a row of the array each; raise where one is too large."""
    try:
        values = table.numbers(places, expected=expected)
    except FormatError:
        values = np.empty((len(places), len(table)))
        for row, place in enumerate(places):
            spelt = spelt_numbers(table.cells(place), table.separator)
            if spelt is None:
                raise
            values[row] = spelt.numbers
            if spelt.note:
                warn_caller(f"{table.source}: {table.header[place]}: {spelt.note}", ReadingWarning)
    for column in np.flatnonzero((np.abs(values) > LARGEST_SCORE).any(axis=1))[:1]:
        fits = np.abs(values[column]) <= LARGEST_SCORE
        limit = f"a number of at most {LARGEST_SCORE:g}"
        table.check_numbers(fits | np.isnan(values[column]), values[column], "score", limit)
    return values


def _refuse_counters(table: InputTable, places: Sequence[int], values: Floats) -> None:
    """Raise where a column that is taken for a run numbers the rows, or holds other whole numbers of its own."""
    start = values[:, : 1 << 10]
    whole = np.all(start == np.rint(start), axis=1)
    whole[whole] = np.all(values[whole] == np.rint(values[whole]), axis=1)
    for column in np.flatnonzero(whole & (len(table) > _FEW_ROWS)).tolist():
        own = values[column]
        distinct = len(np.unique(own)) == len(own)
        if distinct and (np.ptp(own) == len(own) - 1 or not whole.all()):
            name = table.header[places[column]]
            others = tuple(table.header[p] for p in places if table.header[p] != name)
            reading = ColumnRoles(name, others, are_runs=True)
            raise table.header_error(
                f"{name!r} holds another whole number in each row, as numbers of rows do and scores do not; "
                f"expected {reading} where these are the topics"
            )


def _without_verdict(entries: ScoreEntries, source: str) -> ScoreEntries:
    """Return scores with -1 missing where it stands for no verdict: no other is below 0, and some are above 1."""
    if not (entries.values == _NO_VERDICT).any():
        return entries
    values, names = entries.values.copy(), []
    for code, name in enumerate(entries.measures.names):
        own = entries.measures.codes == code
        absent = own & (values == _NO_VERDICT)
        others = values[own & ~absent & ~np.isnan(values)]
        if (
            absent.any()
            and others.size
            and others.min() >= 0
            and (others.max() > 1 or (others % 1).any())
        ):
            values[absent] = np.nan
            names.append(f"{name} ({np.count_nonzero(absent):,} times)")
    if names:
        warn_caller(
            f"{source}: -1 is taken for a missing score, as no other is below 0: {enumerate_names(names, 5)}",
            ReadingWarning,
        )
    return entries._replace(values=values)


def _by_repeat(runs: Ids, repeats: Ids, many: int) -> Ids:
    """Return runs named by their repeat, as in ``model@1``."""
    count = len(repeats.names)
    pairs = runs.codes * count + np.tile(repeats.codes, many)
    order, first, codes = np.unique(pairs, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    names = [""] * len(order)
    for place, pair in zip(rank.tolist(), order.tolist(), strict=True):
        names[place] = f"{runs.names[pair // count]}@{repeats.names[pair % count]}"
    return Ids(names, rank[codes])


def _numbered_topics(table: InputTable) -> Ids:
    count = len(table)
    names = [f"{number:0{len(str(count))}}" for number in range(1, count + 1)]
    warn_caller(
        f"{table.source}: no column of topics; its rows are numbered {names[0]} to {names[-1]}",
        ReadingWarning,
    )
    return Ids(names, np.arange(count))


def _names(
    table: InputTable, column: str | None, heads: Sequence[str], default: str, many: int
) -> Ids:
    """Return the run or the measure of each entry: a column's, that of a head, or the default."""
    rows = len(table)
    if column is not None:
        ids = table.ids(_place(table, column))
        return Ids(ids.names, np.tile(ids.codes, many))
    if heads:
        return Ids(list(heads), np.repeat(np.arange(many), rows))
    return Ids([default], np.zeros(rows * many, np.int64))


def _distinct(names: Sequence[str], codes: Integers) -> Ids:
    """Return ids whose names may be the same."""
    own = encode_ids(names)
    return Ids(own.names, own.codes[codes])


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
