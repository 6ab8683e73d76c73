"""Runs and qrels read from files, in whichever format of FORMATS a file holds them."""

from __future__ import annotations

import os

from confir.arguments import as_choice, as_flag, as_path, as_text
from confir.data.files import PathLike, read_bytes
from confir.data.formats.entries import single_run
from confir.data.formats.format_list import format_named_by, recognise
from confir.data.formats.run_sources import DATASET, NAMINGS, NameBy, Reading, RunSource
from confir.data.formats.trec_lines import as_intents
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.errors import FormatError, enumerate_names


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


def read_source(source: Run | RunSource, name_by: NameBy) -> Run:
    """Return the one run in a file; a run itself, where it was read before."""
    if isinstance(source, Run):
        return source
    runs = read_runs(source, name_by)
    if len(runs) == 1:
        return runs[0]
    if runs and source.name is None and format_named_by(source.path).scanned:
        names = enumerate_names([run.name for run in runs], 5)
        raise FormatError(
            f"holds {len(runs)} runs ({names}); expected one here: several are read from files that "
            "end in .csv, .tsv, .jsonl or .parquet",
            path=source.path,
        )
    return single_run(runs, source.path)


def read_runs(source: RunSource, name_by: NameBy) -> list[Run]:
    """Return the runs in a file, without documents that do not count.

    It is opened once: its content tells its format.
    """
    content = _content_of(source)
    held = recognise(source.path, content)
    if held.read_runs is None:
        problem = f"{held.name}: {held.shape}; expected a run"
        raise _with_folder(FormatError(problem, path=source.path), source.folder)
    try:
        found = held.read_runs(content, source, name_by)
    except FormatError as error:
        raise _with_folder(error, source.folder) from None
    excluded = source.reading.exclusions
    return [excluded.drop_retrieved(run) for run in found] if excluded.drops else list(found)


def _with_folder(error: FormatError, folder: str | None) -> FormatError:
    """Return an error that says why a file is read at all, where a folder was named in its place."""
    if folder is None:
        return error
    problem = (
        f"{error.problem} (each file of {folder} is taken for a run; if this is none, name the runs, "
        "or move it elsewhere)"
    )
    return FormatError(problem, path=error.path, line=error.line)


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


def read_judgements(
    source: RunSource, intents: Intents | None, content: bytes | None = None
) -> Qrels:
    """Return the judgements in a file, or in a folder of Parquet files.

    It is opened once, or not at all where its ``content`` is given, which tells its format.
    """
    content = _content_of(source) if content is None else content
    held = recognise(source.path, content)
    if held.read_qrels is None:
        raise FormatError(f"{held.name}: {held.shape}; expected qrels", path=source.path)
    return held.read_qrels(content, source, intents)


def _content_of(source: RunSource) -> bytes:
    """Return the content of a file; none of a folder, nor of a dataset."""
    path = source.path
    if path.startswith(DATASET) or os.path.isdir(path):
        return b""
    return read_bytes(path, download=source.reading.download)


def _as_reading(subset: str | None, split: str | None, download: bool) -> Reading:
    for name, value in (("subset", subset), ("split", split)):
        if value is not None:
            as_text(name, value)
    return Reading(subset, split, as_flag("download", download))
