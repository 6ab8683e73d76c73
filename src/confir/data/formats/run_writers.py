"""Runs and qrels written to files, as TREC lines or as JSON."""

from __future__ import annotations

from typing import Any

from confir.arguments import as_path
from confir.data.files import PathLike
from confir.data.formats.format_list import format_named_by
from confir.data.formats.objects import as_qrels, as_run


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
