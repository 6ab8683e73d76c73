"""Entries of runs and qrels: topic, document and value, from tables and objects of other libraries.

Dicts (pytrec_eval, ranx), data frames (ir_measures, PyTerrier, ranx, confir), named tuples
(ir_measures), and the objects of ranx. None of these libraries is imported for it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import is_from
from confir.arrays import Floats
from confir.data.formats.format import RunSource
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run, build_run, pick
from confir.data.tables.input_table import InputTable, encode_ids
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import frame_table, has_columns
from confir.data.trec_lines import HIGHEST_GAIN, Judgements
from confir.errors import FormatError, TopicWarning, enumerate_names, type_name, warn_caller

_NO_SUBTOPIC = "0"

# The columns of judgements, as confir names them.
JUDGEMENT_COLUMNS = ("topic", "subtopic", "docid", "gain")

# The column that names the run of each document, in frames and tables that may hold several.
RUN_COLUMN = "run"

# Iterable, but no iterables of entries or of runs.
SINGLE = (str, bytes, bytearray, os.PathLike, Mapping, Run, Qrels, RunSource)


class Shape(NamedTuple):
    """The columns or fields in which a library keeps runs or qrels; the subtopic may lack."""

    topic: str
    document: str
    value: str
    subtopic: str | None = None

    def required(self) -> tuple[str, str, str]:
        """Return the names that must be there."""
        return self[:3]


class EntryKind(NamedTuple):
    """What entries are of, a run or qrels: its name, that of its numbers, and the shapes it comes in.

    PyTerrier's frames have a ``docid`` beside the ``docno`` that is meant, so columns are found by
    shape, never one by one.
    """

    name: str
    value: str
    shapes: tuple[Shape, ...]

    @property
    def table(self) -> TableKind:
        """What the reader of tables must know: all names of columns, and what is expected."""
        names = {name for shape in self.shapes for name in shape if name is not None}
        choices = " or ".join(", ".join(shape.required()) for shape in self.shapes)
        return TableKind(f"expected {choices}", {self.name: (RUN_COLUMN, *sorted(names))})

    def accepted(self) -> str:
        """Return what it is made from, in words."""
        return (
            f"a path, a mapping topic → docid → {self.value}, a pandas, polars or Arrow frame, "
            f"the {self.name.capitalize()} of confir or ranx, or (topic, docid, {self.value}) tuples"
        )


RUN = EntryKind(
    "run",
    "score",
    (
        Shape("topic", "docid", "score"),
        Shape("topic", "document", "score"),
        Shape("query_id", "doc_id", "score"),
        Shape("qid", "docno", "score"),
        Shape("q_id", "doc_id", "score"),
    ),
)
QRELS = EntryKind(
    "qrels",
    "gain",
    (
        Shape("topic", "docid", "gain", "subtopic"),
        Shape("topic", "document", "gain", "subtopic"),
        Shape("query_id", "doc_id", "relevance", "iteration"),
        Shape("qid", "docno", "label", "iteration"),
        Shape("q_id", "doc_id", "score"),
        Shape("query-id", "corpus-id", "score"),  # BEIR
        Shape("query", "docid", "rating"),  # Quepid
    ),
)

# The columns of which one set makes a table one of a run or of qrels.
COLUMNS = [set(shape.required()) for kind in (RUN, QRELS) for shape in kind.shapes]


class Entries(NamedTuple):
    """Retrieved documents or judgements, one per position; with their runs where these are named."""

    topics: list[str]
    subtopics: list[str]
    documents: list[str]
    values: Floats
    runs: list[str] | None = None


def read_entries(source: Any, kind: EntryKind, source_name: str) -> Entries:
    """Return the entries that an object holds; ``source_name`` is its name in messages."""
    if is_from("ranx", source) and hasattr(source, kind.name):
        return _from_mapping(source.to_dict(), kind, source_name)
    if isinstance(source, Mapping):
        return _from_mapping(source, kind, source_name)
    if has_columns(source):
        table = frame_table(source, source_name, kind.table)
        if table is not None:
            return entries_from_table(table, kind)
    elif is_iterable(source):
        return _from_tuples(list(source), kind, source_name)
    raise FormatError(
        f"an object of type {type_name(source)}; expected {kind.accepted()}", path=source_name
    )


def qrels_from_object(source: Any, source_name: str, intents: Intents | None) -> Qrels:
    """Return the qrels that an object holds; ``source_name`` is its name in messages."""
    return qrels_from_entries(read_entries(source, QRELS, source_name), source_name, intents)


def qrels_from_entries(entries: Entries, source_name: str, intents: Intents | None) -> Qrels:
    """Return the qrels made of judgements, whose gains are whole numbers."""
    topics, subtopics, documents, values, _ = entries
    whole = (values == np.floor(values)) & (np.abs(values) <= HIGHEST_GAIN)
    if not whole.all():
        i = int(np.flatnonzero(~whole)[0])
        raise FormatError(
            f"gain of document {documents[i]!r} in topic {topics[i]!r} is {values[i]}; expected a "
            f"whole number of at most {HIGHEST_GAIN}",
            path=source_name,
        )
    gains = values.astype(np.int64)
    return build_qrels(topics, subtopics, documents, gains, path=source_name, intents=intents)


def runs_from_entries(
    entries: Entries, name: str | None, default: str, path: str | None = None
) -> list[Run]:
    """Return the runs that entries hold, in the order of their first entries.

    Parameters
    ----------
    entries
        One per retrieved document.
    name
        What the run is to be called; entries of several runs are then an error.
    default
        The run's name where neither the user nor a column says it.
    path
        The file, for messages.
    """
    if entries.runs is None or not entries.runs:
        made = [(name or default, entries.topics, entries.documents, entries.values)]
    else:
        ids = encode_ids(entries.runs)
        # the rows of all runs by one sort: looking at all rows for each run would not scale
        order = np.argsort(ids.codes, kind="stable")
        topics, documents = pick(entries.topics, order), pick(entries.documents, order)
        values = entries.values[order]
        ends = np.cumsum(np.bincount(ids.codes, minlength=len(ids.names))).tolist()
        spans = map(slice, [0, *ends[:-1]], ends)
        made = [
            (run, topics[own], documents[own], values[own])
            for run, own in zip(ids.names, spans, strict=True)
        ]
        if name is not None and len(made) == 1:
            made = [(name, *made[0][1:])]
    runs = [build_run(*one, path=path) for one in made]
    if name is not None:
        single_run(runs, path or name)
    return runs


def single_run(runs: Sequence[Run], source_name: str) -> Run:
    """Return the run of a source that may hold one only."""
    check_single([run.name for run in runs], source_name)
    return runs[0]


def check_single(names: Sequence[str], source_name: str) -> None:
    """Raise where a source that may hold one run only holds runs of several names."""
    if len(names) != 1:
        known = enumerate_names(names, 5)
        raise FormatError(f"holds {len(names)} runs ({known}); expected one here", path=source_name)


def judgements(qrels: Qrels) -> Judgements:
    """Return topic, subtopic, docid and gain of each judgement."""
    judged = qrels.judged_documents
    topics = [qrels.topics[topic] for topic in qrels.document_topics[judged].tolist()]
    documents = [qrels.documents[document] for document in judged.tolist()]
    return topics, list(qrels.subtopics), documents, qrels.subtopic_gains


def is_iterable(source: Any) -> bool:
    """Whether an object can be iterated over for entries or runs; a 0-d array cannot."""
    return (
        isinstance(source, Iterable)
        and not isinstance(source, SINGLE)
        and getattr(source, "shape", None) != ()
    )


def _from_mapping(mapping: Mapping[Any, Any], kind: EntryKind, source_name: str) -> Entries:
    twice = [name for name, count in Counter(map(str, mapping)).items() if count > 1]
    if twice:
        raise FormatError(
            f"topic {twice[0]!r} occurs twice, as text and as number", path=source_name
        )
    columns: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    empty = []
    for topic, held in mapping.items():
        documents, values = _listed(held, kind, topic, source_name)
        for column, cells in zip(columns, ([topic] * len(values), documents, values), strict=True):
            column.extend(cells)
        if not values:
            empty.append(str(topic))
    if kind is QRELS and columns[0] and empty:
        warn_caller(
            f"{source_name}: topics without a judgement are left out: {enumerate_names(empty)}",
            TopicWarning,
        )
    header, rows = ("topic", "docid", kind.value), range(1, len(columns[0]) + 1)
    table = InputTable(source_name, header, columns, rows, "topic", kind=kind.table)
    return entries_from_table(table, kind)


def is_hit(entry: Any) -> bool:
    """Whether an object is a document with its score, as sentence-transformers returns them."""
    return isinstance(entry, Mapping) and {"corpus_id", "score"} <= entry.keys()


def _listed(
    held: Any, kind: EntryKind, topic: Any, source_name: str
) -> tuple[list[Any], list[Any]]:
    """Return the documents of a topic and their values.

    As sentence-transformers has them, a set holds relevant documents, and a list has an entry for each
    retrieved one.
    """
    if isinstance(held, Mapping):
        return list(held), list(held.values())
    if kind is QRELS and isinstance(held, AbstractSet):
        return list(held), [1] * len(held)
    if kind is RUN and isinstance(held, list) and all(map(is_hit, held)):
        return [hit["corpus_id"] for hit in held], [hit["score"] for hit in held]
    raise FormatError(
        f"topic {topic!r} holds an object of type {type_name(held)}; expected a mapping "
        f"docid → {kind.value}",
        path=source_name,
    )


def entries_from_table(table: InputTable, kind: EntryKind) -> Entries:
    """Return the entries in the columns of a shape, and the runs where a column names them."""
    names = list(table.header)
    shape = find_shape(names, kind, "columns", table.source, table.header_line)
    topics, documents = (table.texts(names.index(one)) for one in (shape.topic, shape.document))
    subtopics = [_NO_SUBTOPIC] * len(topics)
    if shape.subtopic is not None:
        subtopics = table.texts(names.index(shape.subtopic))
    values = table.numbers([names.index(shape.value)])[0]
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        problem = f"the {shape.value} is missing; expected a number"
        raise table.error(problem, int(missing[0]))
    run = table.find_named([RUN_COLUMN]) if kind is RUN else None
    return Entries(topics, subtopics, documents, values, None if run is None else table.texts(run))


def _from_tuples(entries: list[Any], kind: EntryKind, source_name: str) -> Entries:
    types = dict.fromkeys(map(type, entries))
    expected = f"expected (topic, docid, {kind.value}) tuples, or named ones"
    for other in types:
        if not issubclass(other, tuple):
            raise FormatError(
                f"an entry of type {other.__qualname__}; {expected}", path=source_name
            )
    if len(types) > 1:
        listed = enumerate_names(other.__qualname__ for other in types)
        raise FormatError(f"entries of several types: {listed}; expected one", path=source_name)
    fields: Sequence[str] = ("topic", "docid", kind.value)
    named = next((getattr(other, "_fields", None) for other in types), None)
    if named is not None:
        fields = named
        find_shape(fields, kind, "fields", source_name)
    for number, entry in enumerate(entries, start=1):
        if len(entry) != len(fields):
            raise FormatError(
                f"entry {number} has {len(entry)} fields; {expected}", path=source_name
            )
    columns = [[entry[i] for entry in entries] for i in range(len(fields))]
    rows = range(1, len(entries) + 1)
    return entries_from_table(
        InputTable(source_name, fields, columns, rows, "row", kind=kind.table), kind
    )


def find_shape(
    names: Sequence[Any], kind: EntryKind, what: str, source_name: str, line: int | None = None
) -> Shape:
    """Return the one shape whose columns or fields are all there, as they are spelt there."""
    known: dict[str, list[Any]] = {}
    for name in names:
        known.setdefault(fold(str(name)), []).append(name)
    fitting = _fitting_shapes(known, kind)
    if len(fitting) == 1:
        return _spelt(fitting[0], known, source_name, line)
    found = enumerate_names(map(str, names), 20) or "none"
    if fitting:
        choices = " and ".join(", ".join(shape.required()) for shape in fitting)
        problem = f"the {what} {found} can be read in two ways: {choices}; expected one of them"
    else:
        problem = f"the {what} are {found}; {kind.table.expected}"
        if _fitting_shapes(known, QRELS if kind is RUN else RUN):
            problem += f" (this looks like {'qrels' if kind is RUN else 'a run'})"
    raise FormatError(problem, path=source_name, line=line)


def _spelt(
    shape: Shape, known: Mapping[str, Sequence[str]], source_name: str, line: int | None
) -> Shape:
    """Return a shape as its columns are spelt; case does not matter, unless it alone differs."""
    used = [name for name in shape if name is not None and name in known]
    for name in used:
        if len(known[name]) > 1:
            problem = f"two columns are named {name!r}; expected one"
            raise FormatError(problem, path=source_name, line=line)
    return Shape(*(known[name][0] for name in used))


def _fitting_shapes(names: Collection[str], kind: EntryKind) -> list[Shape]:
    return [shape for shape in kind.shapes if set(shape.required()) <= set(names)]
