"""Which documents do the objects of neighbouring libraries hold? From objects to entries.

Dicts (pytrec_eval, ranx), data frames (ir_measures, PyTerrier, ranx, confir), named tuples
(ir_measures), and the objects of ranx. None of these libraries is imported for it.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.data.formats.run_sources import RunSource
from confir.data.formats.trec_lines import HIGHEST_GAIN
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run
from confir.data.tables.frame_tables import as_frame, has_columns
from confir.errors import FormatError, TopicWarning, enumerate_names, type_name, warn_caller

_NO_SUBTOPIC = "0"

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


class Kind(NamedTuple):
    """What is wanted: its name, the name of its numbers, and the shapes that it comes in.

    PyTerrier's frames have a ``docid`` beside the ``docno`` that is meant, so columns are found by
    shape, never one by one.
    """

    name: str
    value: str
    shapes: tuple[Shape, ...]

    def accepted(self) -> str:
        """Return what it is made from, in words."""
        return (
            f"a path, a mapping topic → docid → {self.value}, a pandas, polars or Arrow frame, "
            f"the {self.name.capitalize()} of confir or ranx, or (topic, docid, {self.value}) tuples"
        )


RUN = Kind(
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
QRELS = Kind(
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


class Entries(NamedTuple):
    """Retrieved documents or judgements, one per position; with their runs where these are named."""

    topics: list[str]
    subtopics: list[str]
    documents: list[str]
    values: Floats
    runs: list[str] | None = None


def read_entries(source: Any, kind: Kind, place: str) -> Entries:
    """Return the entries that an object holds; ``place`` is its name in messages."""
    if is_from_ranx(source) and hasattr(source, kind.name):
        return _from_mapping(source.to_dict(), kind, place)
    if isinstance(source, Mapping):
        return _from_mapping(source, kind, place)
    if has_columns(source):
        frame = as_frame(source, place)
        if frame is not None:
            return _from_frame(frame, kind, place)
    elif is_iterable(source):
        return _from_tuples(list(source), kind, place)
    raise FormatError(
        f"an object of type {type_name(source)}; expected {kind.accepted()}", path=place
    )


def qrels_from_object(source: Any, place: str, intents: Intents | None) -> Qrels:
    """Return the qrels that an object holds; ``place`` is its name in messages."""
    return qrels_from_entries(read_entries(source, QRELS, place), place, intents)


def qrels_from_entries(entries: Entries, place: str, intents: Intents | None) -> Qrels:
    """Return the qrels made of judgements, whose gains are whole numbers."""
    topics, subtopics, documents, values, _ = entries
    whole = (values == np.floor(values)) & (np.abs(values) <= HIGHEST_GAIN)
    if not whole.all():
        i = int(np.flatnonzero(~whole)[0])
        raise FormatError(
            f"gain of document {documents[i]!r} in topic {topics[i]!r} is {values[i]}; expected a "
            f"whole number of at most {HIGHEST_GAIN}",
            path=place,
        )
    gains = values.astype(np.int64)
    return build_qrels(topics, subtopics, documents, gains, path=place, intents=intents)


def judgements(qrels: Qrels) -> tuple[list[str], list[str], list[str]]:
    """Return topic, subtopic and docid of each judgement."""
    judged = qrels.judged_documents
    topics = [qrels.topics[topic] for topic in qrels.document_topics[judged].tolist()]
    documents = [qrels.documents[document] for document in judged.tolist()]
    return topics, list(qrels.subtopics), documents


def is_from_ranx(source: Any) -> bool:
    """Whether an object is one of ranx, or of a subclass, without importing ranx."""
    modules = (base.__module__ for base in type(source).__mro__)
    return any(module.partition(".")[0] == "ranx" for module in modules)


def is_iterable(source: Any) -> bool:
    """Whether an object can be iterated over for entries or runs; a 0-d array cannot."""
    return (
        isinstance(source, Iterable)
        and not isinstance(source, SINGLE)
        and getattr(source, "shape", None) != ()
    )


def ids_as_text(
    values: list[Any], what: str, place: str, *, within: str | None = None
) -> list[str]:
    """Return ids as text. Integers become text exactly; a float would do so in two ways."""
    types = dict.fromkeys(map(type, values))
    for other in types:
        if not issubclass(other, str | Integral) or issubclass(other, bool):
            i = next(i for i, value in enumerate(values) if type(value) is other)
            raise FormatError(
                f"a {what} in {within or f'entry {i + 1}'} is {_describe(values[i])}; expected "
                "text or an integer",
                path=place,
            )
    if types.keys() - {str}:
        values = [
            str.__str__(value) if isinstance(value, str) else str(int(value)) for value in values
        ]
    if "" in values:
        where = within or f"entry {values.index('') + 1}"
        raise FormatError(f"a {what} in {where} is empty; expected text", path=place)
    together = "".join(values)
    if not together.isascii():
        try:
            together.encode()
        except UnicodeEncodeError as error:
            raise FormatError(
                f"a {what} holds U+{ord(together[error.start]):04X}, half a character; expected "
                "text",
                path=place,
            ) from None
    return values


def most_frequent(names: Iterable[str]) -> str:
    """Return the most frequent name."""
    return Counter(names).most_common(1)[0][0]


def _from_mapping(mapping: Mapping[Any, Any], kind: Kind, place: str) -> Entries:
    names = ids_as_text(list(mapping), "topic id", place)
    if len(set(names)) < len(names):
        raise FormatError(
            f"topic {most_frequent(names)!r} occurs twice, as text and as number", path=place
        )
    topics: list[str] = []
    documents: list[str] = []
    values: list[Any] = []
    lists = [
        _as_list(held, kind, f"topic {topic!r}", place)
        for topic, held in zip(names, mapping.values(), strict=True)
    ]
    for topic, held in zip(names, lists, strict=True):
        if not isinstance(held, Mapping):
            raise FormatError(
                f"topic {topic!r} holds an object of type {type_name(held)}; expected a mapping "
                f"docid → {kind.value}",
                path=place,
            )
        topics.extend([topic] * len(held))
        documents.extend(ids_as_text(list(held), "docid", place, within=f"topic {topic!r}"))
        values.extend(held.values())
    empty = [topic for topic, held in zip(names, lists, strict=True) if not held]
    if kind is QRELS and topics and empty:
        warn_caller(
            f"{place}: topics without a judgement are left out: {enumerate_names(empty)}",
            TopicWarning,
        )
    numbers = _numbers(values, topics, documents, kind, place)
    return Entries(topics, [_NO_SUBTOPIC] * len(topics), documents, numbers)


def is_hit(entry: Any) -> bool:
    """Whether an object is a document with its score, as sentence-transformers returns them."""
    return isinstance(entry, Mapping) and {"corpus_id", "score"} <= entry.keys()


def _as_list(held: Any, kind: Kind, within: str, place: str) -> Any:
    """Return what a topic holds as a mapping, where it is what sentence-transformers has for that.

    A set holds relevant documents; a list has an entry for each retrieved document.
    """
    if kind is QRELS and isinstance(held, AbstractSet):
        return dict.fromkeys(held, 1)
    if kind is not RUN or not isinstance(held, list) or not all(map(is_hit, held)):
        return held
    documents = ids_as_text([entry["corpus_id"] for entry in held], "docid", place, within=within)
    scores = dict(zip(documents, (entry["score"] for entry in held), strict=True))
    if len(scores) < len(held):
        document = most_frequent(documents)
        raise FormatError(f"document {document!r} occurs twice in {within}", path=place)
    return scores


def _from_frame(frame: Any, kind: Kind, place: str) -> Entries:
    wanted = {RUN_COLUMN, *(name for shape in kind.shapes for name in shape)}
    columns = {name: frame[name].to_list() if name in wanted else () for name in frame.columns}
    return entries_from_columns(columns, kind, place)


def entries_from_columns(columns: Mapping[str, Any], kind: Kind, place: str) -> Entries:
    """Return the entries in columns, by name; those of a shape are used, and that of the run."""
    shape = find_shape(list(columns), kind, "columns", place)
    used = {name: columns[name] for name in shape if name is not None}
    entries = _from_columns(shape, used, kind, place)
    if kind is not RUN or RUN_COLUMN not in columns:
        return entries
    runs = ids_as_text(columns[RUN_COLUMN], "run", place)
    return entries._replace(runs=runs)


def _from_tuples(entries: list[Any], kind: Kind, place: str) -> Entries:
    types = dict.fromkeys(map(type, entries))
    expected = f"expected (topic, docid, {kind.value}) tuples, or named ones"
    for other in types:
        if not issubclass(other, tuple):
            raise FormatError(f"an entry of type {other.__qualname__}; {expected}", path=place)
    if len(types) > 1:
        listed = enumerate_names(other.__qualname__ for other in types)
        raise FormatError(f"entries of several types: {listed}; expected one", path=place)
    shape = Shape("topic", "docid", kind.value)
    fields: Sequence[str] = shape.required()
    named = next((getattr(other, "_fields", None) for other in types), None)
    if named is not None:
        fields = named
        shape = find_shape(fields, kind, "fields", place)
    for number, entry in enumerate(entries, start=1):
        if len(entry) != len(fields):
            raise FormatError(f"entry {number} has {len(entry)} fields; {expected}", path=place)
    columns = {name: [entry[i] for entry in entries] for i, name in enumerate(fields)}
    return _from_columns(shape, columns, kind, place)


def _from_columns(
    shape: Shape, columns: Mapping[str, list[Any]], kind: Kind, place: str
) -> Entries:
    topics = ids_as_text(columns[shape.topic], "topic id", place)
    documents = ids_as_text(columns[shape.document], "docid", place)
    subtopics = [_NO_SUBTOPIC] * len(topics)
    if shape.subtopic is not None:
        subtopics = ids_as_text(columns[shape.subtopic], "subtopic", place)
    numbers = _numbers(columns[shape.value], topics, documents, kind, place)
    return Entries(topics, subtopics, documents, numbers)


def find_shape(names: Sequence[Any], kind: Kind, what: str, place: str) -> Shape:
    """Return the one shape whose columns or fields are all there."""
    fitting = _fitting_shapes(names, kind)
    if len(fitting) == 1:
        shape = fitting[0]
        return shape if shape.subtopic in names else shape._replace(subtopic=None)
    found = enumerate_names(map(str, names), 20) or "none"
    if fitting:
        choices = " and ".join(", ".join(shape.required()) for shape in fitting)
        problem = f"the {what} {found} can be read in two ways: {choices}; expected one of them"
    else:
        choices = " or ".join(", ".join(shape.required()) for shape in kind.shapes)
        problem = f"the {what} are {found}; expected {choices}"
        if _fitting_shapes(names, QRELS if kind is RUN else RUN):
            problem += f" (this looks like {'qrels' if kind is RUN else 'a run'})"
    raise FormatError(problem, path=place)


def _fitting_shapes(names: Sequence[Any], kind: Kind) -> list[Shape]:
    return [shape for shape in kind.shapes if set(shape.required()) <= set(names)]


def _numbers(
    values: list[Any], topics: list[str], documents: list[str], kind: Kind, place: str
) -> Floats:
    """Return values as numbers; text that looks like one, or a boolean, is none."""
    for other in dict.fromkeys(map(type, values)):
        if not issubclass(other, Real | Decimal) or issubclass(other, bool):
            i = next(i for i, value in enumerate(values) if type(value) is other)
            raise FormatError(
                f"{kind.value} of document {documents[i]!r} in topic {topics[i]!r} is "
                f"{_describe(values[i])}; expected a number",
                path=place,
            )
    try:
        return np.array(values, np.float64)
    except (OverflowError, ValueError):
        raise FormatError(f"a {kind.value} is not a finite number", path=place) from None


def _describe(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    return f"{reprlib.repr(value)} of type {type(value).__qualname__}"
