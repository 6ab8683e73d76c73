"""Runs and qrels read from files, made of objects of other libraries, and written to files."""

from __future__ import annotations

import os
from typing import Any

from confir.arguments import as_choice, as_flag, as_path, as_text, invalid
from confir.data.files import PathLike
from confir.data.formats.entries import single_run
from confir.data.formats.format import NAMINGS, NameBy, Reading, RunSource
from confir.data.formats.sources import (
    format_named_by,
    qrels_called,
    read_judgements,
    read_source,
    runs_from,
)
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.trec_lines import as_intents


def read_run(
    path: PathLike,
    *,
    name: str | None = None,
    name_by: NameBy = "file",
    subset: str | None = None,
    split: str | None = None,
    download: bool = False,
) -> Run:
    """Return the run in a file, plain or compressed, in any format of FORMATS.

    Parameters
    ----------
    path
        The file: lines of topic, Q0, docid, rank, score, tag; JSON, {topic: {docid: score}}; or
        another format, recognised by its content. "-" is standard input, TREC lines only.
    name
        The run's name; by default that of the file without its endings.
    name_by
        "tag" takes the run's tag, the last column of its first line, as its name; JSON has none.
    subset, split, download
        As in `read_qrels`.

    Examples
    --------
    >>> confir.read_run("sample/runs/bm25.txt")
    Run('bm25', 50 topics, 50000 documents)
    """
    chosen = None if name is None else as_text("name", name)
    as_choice("name_by", name_by, NAMINGS)
    source = RunSource(as_path("path", path), chosen, _as_reading(subset, split, download))
    return read_source(source, name_by)


def read_qrels(
    path: PathLike,
    *,
    intents: PathLike | Intents | None = None,
    subset: str | None = None,
    split: str | None = None,
    download: bool = False,
) -> Qrels:
    """Return the judgements in a file, plain or compressed, in any format of FORMATS.

    Parameters
    ----------
    path
        The file: lines of topic, subtopic (or anything), docid, gain; JSON,
        {topic: {docid: gain}}; or another format, recognised by its content. "-" is standard
        input, TREC lines only. ``irds:ID`` is a dataset of ir_datasets.
    intents
        Intent probabilities: a file with lines of topic, subtopic, probability, or a mapping
        topic → subtopic → probability. Without them, a topic's subtopics count alike.
    subset, split
        The part of a file that holds several.
    download
        Whether what is not on this machine may be fetched: ``https://…``, or a dataset.

    Examples
    --------
    >>> confir.read_qrels("sample/qrels.txt")
    Qrels(50 topics, 10079 judged documents)
    """
    reading = _as_reading(subset, split, download)
    return read_judgements(RunSource(as_path("path", path), None, reading), as_intents(intents))


def _as_reading(subset: str | None, split: str | None, download: bool) -> Reading:
    for name, value in (("subset", subset), ("split", split)):
        if value is not None:
            as_text(name, value)
    return Reading(subset, split, as_flag("download", download))


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
    runs = runs_from(source, None if name is None else as_text("name", name), "run")
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
