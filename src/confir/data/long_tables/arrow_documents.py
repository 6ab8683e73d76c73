"""Runs and qrels as rows of Arrow: one per retrieved or judged document, under fixed names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.exclusions import Exclusions
from confir.data.formats.entries import (
    QRELS,
    RUN_COLUMN,
    Entries,
    EntryKind,
    Shape,
    find_shape,
    qrels_from_entries,
)
from confir.data.qrels import Qrels
from confir.data.ranked_lists.rankings import Rankings, empty_rankings
from confir.data.run import TiePrecision
from confir.data.tables.arrow_columns import id_column, number_column
from confir.data.tables.parquet_files import import_pyarrow
from confir.data.tables.table_kind import fold
from confir.errors import FormatError

# The columns of rows, whatever a table calls them: the name of a run, or a subtopic, comes first.
ROW_COLUMNS = ("label", "topic", "docid", "value")
_NO_SUBTOPIC = "0"


def row_schema() -> Any:
    """Return the names and types of rows."""
    arrow = import_pyarrow()
    text = arrow.large_string()
    return arrow.schema(zip(ROW_COLUMNS, (text, text, text, arrow.float64()), strict=True))


class RowColumns(NamedTuple):
    """Where the rows of runs or qrels are found in a table.

    Attributes
    ----------
    kind
        RUN or QRELS.
    shape
        The columns of topic, document, value and subtopic.
    label
        The column of run or subtopic; None where a table has none.
    source
        What the table is called in messages.
    """

    kind: EntryKind
    shape: Shape
    label: str | None
    source: str

    @classmethod
    def find(cls, names: Sequence[str], kind: EntryKind, source: str) -> RowColumns:
        """Return the columns of a table that has these; raise where it is of another kind."""
        shape = find_shape(names, kind, "columns", source)
        run = next((name for name in names if fold(name) == RUN_COLUMN), None)
        return cls(kind, shape, shape.subtopic if kind is QRELS else run, source)

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        own = [] if self.label is None else [self.label]
        return [*own, *self.shape.required()]

    def rows(self, table: Any, run: str = _NO_SUBTOPIC) -> Any:
        """Return the rows of a batch, by ROW_COLUMNS; ``run`` names those without a column of runs."""
        arrow = import_pyarrow()
        columns = [self._ids(table, self.shape.topic), self._ids(table, self.shape.document)]
        if self.label is None:
            label = arrow.repeat(arrow.scalar(run, arrow.large_string()), table.num_rows)
        else:
            label = self._ids(table, self.label)
        values = number_column(table.column(self.shape.value), self.shape.value, self.source)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            topic, document = (column[int(wrong[0])].as_py() for column in columns)
            value = values[wrong[0]]
            raise FormatError(
                f"{self.kind.value} of document {document!r} in topic {topic!r} is "
                f"{'missing' if np.isnan(value) else value}; expected a finite number",
                path=self.source,
            )
        return arrow.RecordBatch.from_arrays([label, *columns, arrow.array(values)], ROW_COLUMNS)

    def _ids(self, table: Any, name: str) -> Any:
        ids = id_column(table.column(name), name, self.source)
        return ids.cast(import_pyarrow().large_string())


def qrels_of_rows(rows: Any, source: str) -> Qrels:
    """Return the judgements in rows of whole topics."""
    subtopics, topics, documents = (rows.column(name).to_pylist() for name in ROW_COLUMNS[:3])
    values = rows.column("value").to_numpy()
    return qrels_from_entries(Entries(topics, subtopics, documents, values), source, None)


def counting_rows(rows: Any, exclusions: Exclusions, *, retrieved: bool) -> Any:
    """Return rows without the documents that do not count.

    Documents with the id of their topic are taken from runs alone: where rows are ``retrieved``.
    """
    kept = np.ones(rows.num_rows, bool)
    if exclusions.documents:
        topics, documents = exclusions.pairs()
        kept &= ~_are_pairs(rows, topics, documents)
    if retrieved and exclusions.identical:
        kept &= ~_identical_rows(rows)
    return rows if kept.all() else rows.filter(kept)


def count_identical(rows: Any, qrels: Qrels, runs: tuple[str, ...]) -> Integers:
    """Return for how many topics of the qrels each run retrieves the document with the topic's id."""
    own = rows.filter(_identical_rows(rows))
    known = _places(own.column("topic"), qrels.topics) >= 0
    return np.bincount(_places(own.column("label"), runs)[known], minlength=len(runs))


def _identical_rows(rows: Any) -> Booleans:
    """Return which rows have a document with the id of its topic."""
    compute = import_pyarrow().compute
    same: Booleans = compute.equal(rows.column("topic"), rows.column("docid")).to_numpy()
    return same


def _are_pairs(rows: Any, topics: Sequence[str], documents: Sequence[str]) -> Booleans:
    """Return which rows have one of some pairs of topic and document."""
    names, ids = sorted(set(topics)), sorted(set(documents))
    wanted = _places(text_array(topics), names) * len(ids) + _places(text_array(documents), ids)
    topic, document = _places(rows.column("topic"), names), _places(rows.column("docid"), ids)
    found: Booleans = np.isin(topic * len(ids) + document, wanted)
    return found & (topic >= 0) & (document >= 0)


class RankedRows(NamedTuple):
    """Rows of runs, ranked against qrels.

    Attributes
    ----------
    rankings
        Of all runs.
    unknown
        The number of each run's topics that the qrels lack.
    """

    rankings: Rankings
    unknown: Integers


def rank_rows(
    qrels: Qrels, rows: Any, runs: tuple[str, ...], tie_precision: TiePrecision, source: str
) -> RankedRows:
    """Return where the judged documents stand in the lists of runs.

    Parameters
    ----------
    qrels, rows
        The judgements, and the retrieved documents, of whole topics in any order.
    runs
        Names of all runs, of which some may have no rows.
    tie_precision
        "single" compares scores after rounding them to single precision.
    source
        What the runs are called in messages.
    """
    topics, names = len(qrels.topics), rows.column("topic").unique()
    number = _places(names, qrels.topics)
    number = np.where(number < 0, topics + np.arange(len(names)), number)
    width = topics + len(names)
    topic = number[_places(rows.column("topic"), names)]
    lists = _places(rows.column("label"), runs) * width + topic
    document, documents = _encoded(rows.column("docid"))
    _refuse_repeated(rows, lists * len(documents) + document, source)
    order = _rank(lists, rows, tie_precision)
    lists, document, topic = lists[order], document[order], topic[order]
    starts = np.flatnonzero(np.diff(lists, prepend=-1))
    before = np.arange(len(lists)) - np.repeat(starts, np.diff(starts, append=len(lists)))
    unknown = np.bincount(lists[starts][topic[starts] >= topics] // width, minlength=len(runs))
    kept = np.flatnonzero(topic < topics)
    judged = np.full(len(lists), -1)
    judged[kept] = _find_judged(qrels, topic[kept] * len(documents) + document[kept], documents)
    found = np.flatnonzero(judged >= 0)
    own = lists // width * topics + topic
    depth = np.bincount(own[kept], minlength=len(runs) * topics).reshape(len(runs), topics)
    rankings = empty_rankings(qrels).filled(runs, depth, own[found], judged[found], before[found])
    return RankedRows(rankings, unknown)


def _rank(lists: Integers, rows: Any, tie_precision: TiePrecision) -> Integers:
    """Return the rows by list, then by score, ties by docid, both descending."""
    arrow = import_pyarrow()
    scores: Floats = rows.column("value").to_numpy()
    if tie_precision == "single":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    order = np.lexsort((-scores, lists))
    same = (np.diff(lists[order]) == 0) & (scores[order][1:] == scores[order][:-1])
    tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    if len(tied):
        chosen = order[tied]
        columns = {"list": lists[chosen], "score": scores[chosen]}
        compared = arrow.table({**columns, "docid": rows.column("docid").take(arrow.array(chosen))})
        # text is compared by its bytes, as trec_eval does
        by = [("list", "ascending"), ("score", "descending"), ("docid", "descending")]
        order[tied] = chosen[arrow.compute.sort_indices(compared, sort_keys=by).to_numpy()]
    return order


def _refuse_repeated(rows: Any, cells: Integers, source: str) -> None:
    """Raise where a list holds a document twice."""
    order = np.argsort(cells, kind="stable")
    second = order[1:][cells[order[1:]] == cells[order[:-1]]]
    if len(second):
        run, topic, document = (rows.column(n)[int(second[0])].as_py() for n in ROW_COLUMNS[:3])
        raise FormatError(
            f"document {document!r} occurs twice in topic {topic!r} of run {run!r}; expected each "
            "document once per topic",
            path=source,
        )


def _find_judged(qrels: Qrels, cells: Integers, documents: Any) -> Integers:
    """Return the position in the qrels of documents, by topic × document; -1 where not judged."""
    code = _places(text_array(qrels.documents), documents)
    known = np.flatnonzero(code >= 0)
    judged = qrels.document_topics[known] * len(documents) + code[known]
    order = np.argsort(judged, kind="stable")
    ends = np.append(judged[order], -1)
    place = np.searchsorted(ends[:-1], cells)
    positions = np.append(known[order], -1)
    return np.where(ends[place] == cells, positions[place], -1)


def _encoded(column: Any) -> tuple[Integers, Any]:
    """Return the numbers of a column's distinct values, and these."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary


def _places(column: Any, names: Any) -> Integers:
    """Return the place of each value among names; -1 where it is none."""
    known = names if hasattr(names, "type") else text_array(names)
    found = import_pyarrow().compute.index_in(column, value_set=known).fill_null(-1)
    return np.asarray(found.to_numpy()).astype(np.int64)


def text_array(names: Sequence[str]) -> Any:
    """Return names as an Arrow array."""
    arrow = import_pyarrow()
    return arrow.array(names, arrow.large_string())
