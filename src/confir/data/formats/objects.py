"""Runs and qrels from paths and from the objects of neighbouring libraries, and written to files.

The content of a path or an object decides what it is; a run without a name is given one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from confir.arguments import as_path, as_text, invalid
from confir.data.files import PathLike, format_ending
from confir.data.formats.entries import (
    RUN,
    is_from_ranx,
    is_hit,
    is_iterable,
    judgements,
    qrels_from_object,
    read_entries,
    runs_from_entries,
    single_run,
)
from confir.data.formats.format_list import format_named_by
from confir.data.formats.json_files import as_id
from confir.data.formats.run_readers import read_judgements, read_runs
from confir.data.formats.run_sources import NameBy, Reading, RunSource, check_names, find_runs
from confir.data.formats.run_tables import TABLE_ENDINGS, hold_many_documents, is_table
from confir.data.formats.trec_lines import as_intents
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run
from confir.data.tables.table_reader import has_columns
from confir.errors import FormatError, InvalidValueError, UnreadableError


def as_run(source: Any, *, name: str | None = None) -> Run:
    """Return the run that an object or a file holds.

    Parameters
    ----------
    source
        A path (TREC or JSON), a mapping topic → docid → score, or topic → the documents that
        sentence-transformers found, a pandas, polars or Arrow frame, a run of confir or ranx, or an
        iterable of (topic, docid, score) tuples, plain or named. Ids are text; integers become
        text, and nothing else does.
    name
        The run's name; by default the one it has, that of its file, or "run".

    Examples
    --------
    >>> confir.as_run({"1": {"d1": 2.0, "d2": 1.0}}, name="bm25")
    Run('bm25', 1 topics, 2 documents)
    """
    runs = _to_runs(source, None if name is None else as_text("name", name), "run")
    return single_run(runs, "run" if not isinstance(source, str | os.PathLike) else str(source))


def as_qrels(
    source: Any, *, intents: PathLike | Intents | None = None, reading: Reading | None = None
) -> Qrels:
    """Return the qrels that an object or a file holds.

    Parameters
    ----------
    source
        A path (TREC or JSON), a mapping topic → docid → gain, or topic → set of relevant
        documents, a pandas, polars or Arrow frame, qrels of confir or ranx, or an iterable of tuples: (topic, docid, gain), or named ones,
        which may have a subtopic ("iteration").
    intents
        Intent probabilities: a file, or a mapping topic → subtopic → probability.
    reading
        How a file is read: which part of it, and whether it may be fetched.

    Examples
    --------
    >>> confir.as_qrels({"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}})
    Qrels(2 topics, 3 judged documents)
    """
    if reading is not None and not isinstance(reading, Reading):
        raise invalid("reading", reading, "a Reading")
    return qrels_called("qrels", source, intents, reading)


def qrels_called(
    name: str,
    source: Any,
    intents: PathLike | Intents | None = None,
    reading: Reading | None = None,
) -> Qrels:
    """Return what `as_qrels` does; messages call an object by a name of its own."""
    reading = reading or Reading()
    probabilities = None if intents is None else as_intents(intents)
    if isinstance(source, str | os.PathLike):
        file = RunSource(as_path(name, source), None, reading)
        qrels = read_judgements(file, probabilities)
    elif not isinstance(source, Qrels):
        qrels = qrels_from_object(source, name, probabilities)
    elif probabilities is None:
        qrels = source
    else:
        qrels = build_qrels(*judgements(source), intents=probabilities)
    return reading.exclusions.drop_judged(qrels) if reading.exclusions.documents else qrels


def as_runs(
    source: Any, reading: Reading | None = None, name_by: NameBy = "file"
) -> list[Run | RunSource]:
    """Return the runs that paths and objects stand for, each with a name of its own.

    Files stay files, to be read when needed, unless their ending names a format that cannot be
    scanned, or they are tables: these are read here.

    Parameters
    ----------
    source
        One path (a file, a glob, a directory, or ``NAME=PATH``), one object that `as_run` takes,
        an iterable of these, or a mapping name → path or object. Objects without a name are
        called "run", or "run1", "run2", … by their place where there are several. Frames and
        tables with a column ``run`` hold several runs, or one.
    reading, name_by
        How files are read.
    """
    runs = _runs_and_files(source)
    if reading is not None:
        runs = [one if isinstance(one, Run) else one._replace(reading=reading) for one in runs]
        if reading.exclusions.drops:
            drop = reading.exclusions.drop_retrieved
            runs = [drop(one) if isinstance(one, Run) else one for one in runs]
    read: list[Run | RunSource] = []
    places: list[tuple[str, str, bool]] = []
    for run in runs:
        held: Sequence[Run | RunSource] = [run]
        if isinstance(run, RunSource) and not _is_scanned(run.path):
            held = read_runs(run, name_by)
        place = (repr(run), False) if isinstance(run, Run) else (run.path, True)
        read += held
        names = (one.name if isinstance(one, Run) else one.label() for one in held)
        places += [(name, *place) for name in names]
    check_names(places)
    return read


def _is_scanned(path: str) -> bool:
    """Whether a file can be ranked without reading it here: it holds one run, in TREC's format."""
    if format_ending(path) in TABLE_ENDINGS and is_table(path):
        return False
    return format_named_by(path).scanned and not os.path.isdir(path)


def find_run_datasets(source: Any) -> list[RunSource]:
    """Return runs in Parquet that are too many to be read whole; none of other runs, or of fewer.

    Files are looked into by their ending alone: pipes are not read.
    """
    listed = list(source) if type(source) in (list, tuple) else [source]
    if not all(isinstance(one, str | os.PathLike | RunSource) for one in listed):
        return []
    try:
        found = [file for one in listed for file in _files_of(one) or ()]
    except UnreadableError:  # raised again where runs are read, after the qrels
        return []
    paths = [file.path for file in found]
    if not all(
        os.path.isdir(path) or (path.lower().endswith(".parquet") and os.path.isfile(path))
        for path in paths
    ):
        return []
    return found if hold_many_documents(paths) else []


def _to_runs(source: Any, name: str | None, default: str) -> list[Run]:
    """Return the runs in an object: one, or those that a column of a frame names."""
    if isinstance(source, Run):
        return [source if name is None else replace(source, name=name)]
    if isinstance(source, RunSource):
        return read_runs(source._replace(name=name or source.name), "file")
    if isinstance(source, str | os.PathLike):
        return read_runs(RunSource(as_path("run", source), name), "file")
    own_name = source.name if is_from_ranx(source) and hasattr(source, "name") else None
    entries = read_entries(source, RUN, name or own_name or default)
    return runs_from_entries(entries, name or own_name, default)


def _is_one_run(mapping: Mapping[Any, Any]) -> bool:
    """Whether a mapping is topic → docid → score, rather than name → run, by its values."""
    return all(
        (
            isinstance(held, Mapping)
            and not isinstance(next(iter(held.values()), None), Mapping | list)
        )
        or (isinstance(held, list) and bool(held) and all(map(is_hit, held)))
        for held in mapping.values()
    )


def _runs_and_files(source: Any) -> list[Run | RunSource]:
    """Return the runs that objects hold, and the files that paths stand for."""
    given: list[tuple[Any, str | None, str]] = [(source, None, "run")]  # its name, or by default
    if isinstance(source, Mapping) and not _is_one_run(source):
        names = [as_id(name, "the name of a run", "runs") for name in source]
        given = list(zip(source.values(), names, names, strict=True))
    elif type(source) in (list, tuple) or (is_iterable(source) and not has_columns(source)):
        items = list(source)
        if not items:
            raise FormatError("no runs; expected at least one", path="runs")
        first = items[0]  # an entry of a run? A run may be a tuple too, but one of entries
        is_tuple = isinstance(first, tuple) and not isinstance(first, RunSource)
        if is_tuple and not any(isinstance(field, tuple) for field in first[:1]):
            given = [(items, None, "run")]
        elif len(items) > 1:
            given = [(item, None, f"run{number}") for number, item in enumerate(items, start=1)]
        else:
            given = [(items[0], None, "run")]
    runs: list[Run | RunSource] = []
    for one, name, default in given:
        files = _files_of(one)
        if files is None:
            runs += _to_runs(one, name, default)
        elif name is None:
            runs += files
        elif len(files) == 1:
            runs.append(files[0]._replace(name=name))
        else:
            raise InvalidValueError(
                f"{one} stands for {len(files)} files; expected one for the run named {name!r}"
            )
    return runs


def _files_of(source: Any) -> list[RunSource] | None:
    """Return the files that a path stands for, or None where it is no path."""
    if isinstance(source, RunSource):
        return [source]
    return find_runs([as_path("runs", source)]) if isinstance(source, str | os.PathLike) else None


def write_run(run: Any, path: PathLike) -> None:
    """Write a run as JSON where the ending is .json, else as a TREC file.

    Parameters
    ----------
    run
        A run, or what `as_run` makes one of.
    path
        The file, compressed as its ending says.

    Examples
    --------
    >>> confir.write_run({"1": {"d1": 2.0}}, "bm25.run")
    """
    target = as_path("path", path)
    format_named_by(target).write_run(as_run(run), target)


def write_qrels(qrels: Any, path: PathLike) -> None:
    """Write qrels as JSON where the ending is .json, else as a TREC file.

    Parameters
    ----------
    qrels
        Qrels, or what `as_qrels` makes them of.
    path
        The file, compressed as its ending says. JSON has no place for subtopics: qrels that judge
        a document for several are an error there.

    Examples
    --------
    >>> confir.write_qrels({"1": {"d1": 1}}, "qrels.txt")
    """
    target = as_path("path", path)
    format_named_by(target).write_qrels(as_qrels(qrels), target)
