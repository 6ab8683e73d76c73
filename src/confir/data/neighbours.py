"""How do the objects of neighbouring libraries become runs and qrels, and ours frames and JSON?

Dicts (pytrec_eval, ranx), data frames (ir_measures, PyTerrier, ranx, confir), named tuples
(ir_measures), and the objects of ranx. None of these libraries is imported for it.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import reprlib
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from confir.arrays import Floats
from confir.data.files import (
    COMPRESSION_ENDINGS,
    STDIN,
    PathLike,
    open_bytes,
    read_bytes,
    write_whole,
)
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run, build_run
from confir.data.trec_files import (
    HIGHEST_GAIN,
    RunSource,
    find_runs,
    name_from_path,
    read_intents,
    read_qrels,
    read_run,
    text_bytes,
)
from confir.errors import (
    FormatError,
    InvalidValueError,
    MissingDependencyError,
    TopicWarning,
    UnknownNameError,
    enumerate_names,
)

Backend = Literal["pandas", "polars", "pyarrow"]

BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")

_NO_SUBTOPIC = "0"

# Iterable, but no iterables of entries or of runs.
_SINGLE = (str, bytes, bytearray, os.PathLike, Mapping, Run, Qrels, RunSource)

_JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*["}]')


class _Shape(NamedTuple):
    """The columns or fields in which a library keeps runs or qrels; the subtopic may lack."""

    topic: str
    document: str
    value: str
    subtopic: str | None = None

    def required(self) -> tuple[str, str, str]:
        return self[:3]


class _Kind(NamedTuple):
    """What is wanted: its name, the name of its numbers, and the shapes that it comes in.

    PyTerrier's frames have a ``docid`` beside the ``docno`` that is meant, so columns are found by
    shape, never one by one.
    """

    name: str
    value: str
    shapes: tuple[_Shape, ...]

    def accepted(self) -> str:
        return (
            f"a path, a mapping topic → docid → {self.value}, a pandas, polars or Arrow frame, "
            f"the {self.name.capitalize()} of confir or ranx, or (topic, docid, {self.value}) tuples"
        )


_RUN = _Kind(
    "run",
    "score",
    (
        _Shape("topic", "docid", "score"),
        _Shape("topic", "document", "score"),
        _Shape("query_id", "doc_id", "score"),
        _Shape("qid", "docno", "score"),
        _Shape("q_id", "doc_id", "score"),
    ),
)
_QRELS = _Kind(
    "qrels",
    "gain",
    (
        _Shape("topic", "docid", "gain", "subtopic"),
        _Shape("topic", "document", "gain", "subtopic"),
        _Shape("query_id", "doc_id", "relevance", "iteration"),
        _Shape("qid", "docno", "label", "iteration"),
        _Shape("q_id", "doc_id", "score"),
    ),
)


class _Entries(NamedTuple):
    """Retrieved documents or judgements, one per position."""

    topics: list[str]
    subtopics: list[str]
    documents: list[str]
    values: Floats


def as_run(source: Any, *, name: str | None = None) -> Run:
    """Return the run that an object or a file holds.

    Parameters
    ----------
    source
        A path (TREC or JSON), a mapping topic → docid → score, a pandas, polars or Arrow frame, a
        run of confir or ranx, or an iterable of (topic, docid, score) tuples, plain or named. Ids
        are text; integers become text, and nothing else does.
    name
        The run's name; by default the one it has, that of its file, or "run".
    """
    return _to_run(source, name, "run")


def as_qrels(source: Any, *, intents: PathLike | Intents | None = None) -> Qrels:
    """Return the qrels that an object or a file holds.

    Parameters
    ----------
    source
        A path (TREC or JSON), a mapping topic → docid → gain, a pandas, polars or Arrow frame,
        qrels of confir or ranx, or an iterable of tuples: (topic, docid, gain), or named ones,
        which may have a subtopic ("iteration").
    intents
        Intent probabilities: a file, or a mapping topic → subtopic → probability.
    """
    if isinstance(intents, str | os.PathLike):
        intents = read_intents(intents)
    if isinstance(source, Qrels):
        if intents is None:
            return source
        return build_qrels(*_judgements(source), source.subtopic_gains, intents=intents)
    if isinstance(source, str | os.PathLike):
        if not _is_json(source):
            return read_qrels(source, intents=intents)
        return _build_qrels(_read_json(source, _QRELS), os.fspath(source), intents)
    return _build_qrels(source, "qrels", intents)


def as_runs(source: Any) -> list[Run | RunSource]:
    """Return the runs that paths and objects stand for, each with a name of its own.

    Files stay files, to be read when needed; those that hold JSON are read here.

    Parameters
    ----------
    source
        One path (a file, a glob, a directory, or ``NAME=PATH``), one object that `as_run` takes,
        an iterable of these, or a mapping name → path or object. Objects without a name are
        called "run", or "run1", "run2", … by their place where there are several.
    """
    if isinstance(source, Mapping) and not _is_one_run(source):
        runs = _named_runs(source)
    elif _is_listing(source):
        runs = _listed_runs(list(source))
    else:
        runs = [*_expand(source, "run")]
    _check_names(runs)
    return [
        read_json_run(run.path, name=run.name)
        if isinstance(run, RunSource) and _is_json(run.path)
        else run
        for run in runs
    ]


def read_json_run(path: PathLike, *, name: str | None = None) -> Run:
    """Return the run in a JSON file, {topic: {docid: score}}, plain or compressed."""
    source = os.fspath(path)
    entries = _from_mapping(_read_json(path, _RUN), _RUN, source)
    run_name = name or name_from_path(source)
    return build_run(run_name, entries.topics, entries.documents, entries.values, path=source)


def read_json_qrels(path: PathLike) -> Qrels:
    """Return the judgements in a JSON file, {topic: {docid: gain}}, plain or compressed."""
    return _build_qrels(_read_json(path, _QRELS), os.fspath(path), None)


def write_json_run(run: Run, path: PathLike) -> None:
    """Write a run as JSON, {topic: {docid: score}}, compressed as the ending says."""
    _write_json(run.to_dict(), path)


def write_json_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write qrels as JSON, {topic: {docid: gain}}, compressed as the ending says.

    Qrels that judge a document for several subtopics do not fit, and are an error.
    """
    if len(qrels.judged_documents) > len(qrels.documents):
        raise InvalidValueError(
            f"{os.fspath(path)}: documents are judged for several subtopics, and JSON holds one "
            "gain per document; write them as a TREC file"
        )
    _write_json(qrels.to_dict(), path)


def run_to_frame(run: Run, backend: str | None = None) -> Any:
    """Return a data frame with the columns topic, docid, rank, score, best document first."""
    sizes = np.diff(run.offsets)
    first = np.repeat(run.offsets[:-1], sizes)
    columns = {
        "topic": np.repeat(np.array(run.topics, object), sizes).tolist(),
        "docid": list(run.documents),
        "rank": (np.arange(len(first)) - first + 1).tolist(),
        "score": run.scores.tolist(),
    }
    return _build_frame(columns, backend)


def qrels_to_frame(qrels: Qrels, backend: str | None = None) -> Any:
    """Return a data frame with the columns topic, subtopic, docid, gain: a row a judgement."""
    topics, subtopics, documents = _judgements(qrels)
    columns = {
        "topic": topics,
        "subtopic": subtopics,
        "docid": documents,
        "gain": qrels.subtopic_gains.tolist(),
    }
    return _build_frame(columns, backend)


def frame_from_records(
    records: Sequence[Mapping[str, Any]],
    backend: str | None = None,
    *,
    columns: Sequence[str] | None = None,
) -> Any:
    """Return a data frame with one row per record.

    Parameters
    ----------
    records
        The rows; what a record lacks is missing in the frame.
    backend
        "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
    columns
        The columns; by default the names in the first record.
    """
    if columns is None:
        columns = list(records[0]) if records else []
    return _build_frame(
        {
            column: _one_number_type([record.get(column) for record in records])
            for column in columns
        },
        backend,
    )


def _to_run(source: Any, name: str | None, default: str) -> Run:
    if isinstance(source, Run):
        return source if name is None else replace(source, name=name)
    if isinstance(source, RunSource):
        return _to_run(source.path, name or source.name, default)
    if isinstance(source, str | os.PathLike):
        read = read_json_run if _is_json(source) else read_run
        return read(source, name=name)
    own_name = source.name if _is_from_ranx(source) and hasattr(source, "name") else None
    run_name = name or own_name or default
    entries = _read_entries(source, _RUN, run_name)
    return build_run(run_name, entries.topics, entries.documents, entries.values)


def _build_qrels(source: Any, place: str, intents: Intents | None) -> Qrels:
    topics, subtopics, documents, values = _read_entries(source, _QRELS, place)
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


def _read_entries(source: Any, kind: _Kind, place: str) -> _Entries:
    if _is_from_ranx(source) and hasattr(source, kind.name):
        return _from_mapping(source.to_dict(), kind, place)
    if isinstance(source, Mapping):
        return _from_mapping(source, kind, place)
    if _has_columns(source):
        frame = _as_frame(source, place)
        if frame is not None:
            return _from_frame(frame, kind, place)
    elif isinstance(source, Iterable) and not isinstance(source, _SINGLE):
        return _from_tuples(list(source), kind, place)
    raise FormatError(
        f"an object of type {_type_name(source)}; expected {kind.accepted()}", path=place
    )


def _is_from_ranx(source: Any) -> bool:
    """Tell an object of ranx, or of a class made from its, without importing ranx."""
    modules = (base.__module__ for base in type(source).__mro__)
    return any(module.partition(".")[0] == "ranx" for module in modules)


def _has_columns(source: Any) -> bool:
    """Tell what may be a frame; asking the class spares a lazy frame the work."""
    return hasattr(type(source), "columns")


def _from_mapping(mapping: Mapping[Any, Any], kind: _Kind, place: str) -> _Entries:
    names = _ids(list(mapping), "topic id", place)
    if len(set(names)) < len(names):
        raise FormatError(
            f"topic {_most_frequent(names)!r} stands twice, as text and as number", path=place
        )
    topics: list[str] = []
    documents: list[str] = []
    values: list[Any] = []
    for topic, held in zip(names, mapping.values(), strict=True):
        if not isinstance(held, Mapping):
            raise FormatError(
                f"topic {topic!r} holds an object of type {_type_name(held)}; expected a mapping "
                f"docid → {kind.value}",
                path=place,
            )
        topics.extend([topic] * len(held))
        documents.extend(_ids(list(held), "docid", place, within=f"topic {topic!r}"))
        values.extend(held.values())
    empty = [topic for topic, held in zip(names, mapping.values(), strict=True) if not held]
    if kind is _QRELS and topics and empty:
        warnings.warn(
            f"{place}: topics without a judgement are left out: {enumerate_names(empty)}",
            TopicWarning,
            stacklevel=5,
        )
    numbers = _numbers(values, topics, documents, kind, place)
    return _Entries(topics, [_NO_SUBTOPIC] * len(topics), documents, numbers)


def _as_frame(source: Any, place: str) -> Any:
    """Return a frame of narwhals, or None where the object is none, or a lazy one."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        problem = " ".join(str(error).split())
        raise FormatError(f"two columns have one name ({problem})", path=place) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_frame(frame: Any, kind: _Kind, place: str) -> _Entries:
    shape = _find_shape(frame.columns, kind, "columns", place)
    columns = {name: frame[name].to_list() for name in shape if name is not None}
    return _from_columns(shape, columns, kind, place)


def _from_tuples(entries: list[Any], kind: _Kind, place: str) -> _Entries:
    types = dict.fromkeys(map(type, entries))
    expected = f"expected (topic, docid, {kind.value}) tuples, or named ones"
    for other in types:
        if not issubclass(other, tuple):
            raise FormatError(f"an entry of type {other.__qualname__}; {expected}", path=place)
    if len(types) > 1:
        listed = enumerate_names(other.__qualname__ for other in types)
        raise FormatError(f"entries of several types: {listed}; expected one", path=place)
    shape = _Shape("topic", "docid", kind.value)
    fields: Sequence[str] = shape.required()
    named = next((getattr(other, "_fields", None) for other in types), None)
    if named is not None:
        fields = named
        shape = _find_shape(fields, kind, "fields", place)
    for number, entry in enumerate(entries, start=1):
        if len(entry) != len(fields):
            raise FormatError(f"entry {number} has {len(entry)} fields; {expected}", path=place)
    columns = {name: [entry[i] for entry in entries] for i, name in enumerate(fields)}
    return _from_columns(shape, columns, kind, place)


def _from_columns(
    shape: _Shape, columns: Mapping[str, list[Any]], kind: _Kind, place: str
) -> _Entries:
    topics = _ids(columns[shape.topic], "topic id", place)
    documents = _ids(columns[shape.document], "docid", place)
    subtopics = [_NO_SUBTOPIC] * len(topics)
    if shape.subtopic is not None:
        subtopics = _ids(columns[shape.subtopic], "subtopic", place)
    numbers = _numbers(columns[shape.value], topics, documents, kind, place)
    return _Entries(topics, subtopics, documents, numbers)


def _find_shape(names: Sequence[Any], kind: _Kind, what: str, place: str) -> _Shape:
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
        if _fitting_shapes(names, _QRELS if kind is _RUN else _RUN):
            problem += f" (this looks like {'qrels' if kind is _RUN else 'a run'})"
    raise FormatError(problem, path=place)


def _fitting_shapes(names: Sequence[Any], kind: _Kind) -> list[_Shape]:
    return [shape for shape in kind.shapes if set(shape.required()) <= set(names)]


def _numbers(
    values: list[Any], topics: list[str], documents: list[str], kind: _Kind, place: str
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


def _ids(values: list[Any], what: str, place: str, *, within: str | None = None) -> list[str]:
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


def _describe(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    return f"{reprlib.repr(value)} of type {type(value).__qualname__}"


def _type_name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _most_frequent(names: Iterable[str]) -> str:
    return Counter(names).most_common(1)[0][0]


def _is_one_run(mapping: Mapping[Any, Any]) -> bool:
    """Tell topic → docid → score from name → run, by what the values hold."""
    return all(
        isinstance(held, Mapping) and not isinstance(next(iter(held.values()), None), Mapping)
        for held in mapping.values()
    )


def _is_listing(source: Any) -> bool:
    """Tell an iterable, of runs or of a run's entries, from one object."""
    return (
        isinstance(source, Iterable)
        and not isinstance(source, _SINGLE)
        and not _has_columns(source)
    )


def _is_entry(item: Any) -> bool:
    """Tell an entry of a run from a run, which may be a tuple too, but one of entries."""
    return (
        isinstance(item, tuple)
        and not isinstance(item, RunSource)
        and not any(isinstance(field, tuple) for field in item[:1])
    )


def _named_runs(mapping: Mapping[Any, Any]) -> list[Run | RunSource]:
    names = _ids(list(mapping), "run name", "runs")
    runs: list[Run | RunSource] = []
    for name, source in zip(names, mapping.values(), strict=True):
        files = _find_files(source)
        if files is None:
            runs.append(_to_run(source, name, name))
        elif len(files) == 1:
            runs.append(RunSource(files[0].path, name))
        else:
            raise InvalidValueError(
                f"{source} stands for {len(files)} files; expected one for the run named {name!r}"
            )
    return runs


def _listed_runs(items: list[Any]) -> list[Run | RunSource]:
    if not items:
        raise FormatError("no runs; expected at least one", path="runs")
    if _is_entry(items[0]):
        return [_to_run(items, None, "run")]
    runs: list[Run | RunSource] = []
    for number, item in enumerate(items, start=1):
        runs.extend(_expand(item, "run" if len(items) == 1 else f"run{number}"))
    return runs


def _expand(source: Any, default: str) -> Sequence[Run | RunSource]:
    files = _find_files(source)
    return [_to_run(source, None, default)] if files is None else files


def _find_files(source: Any) -> list[RunSource] | None:
    """Return the files that a path stands for, or None where it is no path."""
    if isinstance(source, RunSource):
        return [source]
    return find_runs([source]) if isinstance(source, str | os.PathLike) else None


def _check_names(runs: Sequence[Run | RunSource]) -> None:
    first: dict[str, Run | RunSource] = {}
    for run in runs:
        name = run.name if isinstance(run, Run) else run.label()
        if name in first:
            places = [repr(one) if isinstance(one, Run) else one.path for one in (first[name], run)]
            hint = f", as in other={run.path}" if isinstance(run, RunSource) else ""
            raise InvalidValueError(
                f"two runs are named {name!r}: {places[0]} and {places[1]}; give one of them "
                f"another name{hint}"
            )
        first[name] = run


def _is_json(path: PathLike) -> bool:
    """Tell JSON by its ending or its start; pipes are not looked into, since that empties them."""
    name = os.fspath(path)
    ending = next((end for end in COMPRESSION_ENDINGS if name.lower().endswith(end)), "")
    if name.lower().removesuffix(ending).endswith(".json"):
        return True
    if name == STDIN or not os.path.isfile(name):
        return False
    with open_bytes(name) as stream:
        return _JSON_START.match(stream.read(256)) is not None


def _read_json(path: PathLike, kind: _Kind) -> Mapping[str, Any]:
    source = os.fspath(path)
    expected = f"expected JSON of the shape {{topic: {{docid: {kind.value}}}}}"

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            twice = _most_frequent(key for key, _ in pairs)
            raise FormatError(
                f"{twice!r} stands twice in one JSON object; expected it once", path=source
            )
        return held

    def reject(constant: str) -> NoReturn:
        raise FormatError(f"{constant} stands where a finite number was expected", path=source)

    content = text_bytes(read_bytes(path), source)
    try:
        held = json.loads(content, object_pairs_hook=distinct, parse_constant=reject)
    except FormatError:
        raise
    except json.JSONDecodeError as error:
        raise FormatError(
            f"not JSON ({error.msg}); {expected}", path=source, line=error.lineno
        ) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not readable as JSON ({error}); {expected}", path=source) from None
    if not isinstance(held, dict):
        raise FormatError(f"a JSON value of type {_type_name(held)}; {expected}", path=source)
    return held


def _write_json(held: Mapping[str, Mapping[str, float]], path: PathLike) -> None:
    write_whole(path, json.dumps(held, allow_nan=False).encode() + b"\n")


def _judgements(qrels: Qrels) -> tuple[list[str], list[str], list[str]]:
    """Return topic, subtopic and docid of each judgement."""
    judged = qrels.judged_documents
    topics = [qrels.topics[topic] for topic in qrels.document_topics[judged].tolist()]
    documents = [qrels.documents[document] for document in judged.tolist()]
    return topics, list(qrels.subtopics), documents


def _one_number_type(column: list[Any]) -> list[Any]:
    """Return a column whose integers are floats where it has floats too; polars takes one type."""
    types = set(map(type, column)) - {type(None)}
    numeric = all(issubclass(kind, Real) for kind in types)
    if numeric and not all(issubclass(kind, Integral) for kind in types):
        return [None if value is None else float(value) for value in column]
    return column


def _build_frame(columns: Mapping[str, list[Any]], backend: str | None) -> Any:
    wanted = [name for name in BACKENDS if backend in (None, name)]
    if not wanted:
        raise UnknownNameError("backend", str(backend), BACKENDS)
    installed = next((name for name in wanted if importlib.util.find_spec(name)), None)
    if installed is None:
        package: str = wanted[0]
        if package != "pyarrow":
            package = f"{package} (pip install {package}), or else pyarrow"
        raise MissingDependencyError(package, "a data frame", "parquet")
    import narwhals as nw

    return nw.from_dict(columns, backend=installed).to_native()
