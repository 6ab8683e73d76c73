"""The files of `confir judges`, qrels and runs, recognised by their content."""

from __future__ import annotations

import os
from collections.abc import Sequence

from confir.data.files import STDIN, open_bytes
from confir.data.formats.format import DATASET, RunSource
from confir.data.formats.json_files import has_json_ending
from confir.data.formats.sources import find_runs, recognise
from confir.data.trec_lines import QRELS_COLUMNS, RUN_COLUMNS, first_fields
from confir.errors import FormatError, InvalidValueError, enumerate_names
from confir.studies.judgements.judges import GradeMap

# Bytes at the start of a file by which it is recognised.
_START = 1 << 16


def sort_files(
    files: Sequence[str], judges: Sequence[str], example: str
) -> tuple[list[RunSource], list[RunSource]]:
    """Return the qrels and the runs among files.

    Parameters
    ----------
    files
        Paths, directories and ``NAME=PATH``.
    judges
        The qrels where they are named: all files are then runs.
    example
        A call of the command, for messages.
    """
    sources = [source for one in files for source in find_runs([one])]
    if judges:
        qrels = [source for one in judges for source in find_runs([one])]
        runs = sources
    else:
        held = [holds_qrels(source.path) for source in sources]
        qrels = [source for source, is_qrels in zip(sources, held, strict=True) if is_qrels]
        runs = [source for source, is_qrels in zip(sources, held, strict=True) if not is_qrels]
    book = len(qrels) == 1 and has_json_ending(qrels[0].path)  # which may hold several judges
    if len(qrels) < 2 and not book:
        found = f" ({qrels[0].path})" if qrels else ""
        raise InvalidValueError(
            f"{len(qrels) or 'none'} of the files {'is' if len(qrels) == 1 else 'are'} qrels{found}"
            f"; expected those of two judges or more, four columns each: {QRELS_COLUMNS}; for "
            f"example: {example}"
        )
    return qrels, runs


def holds_qrels(path: str) -> bool:
    """Whether a file holds qrels, rather than a run, by the columns of its first line."""
    if path.startswith(DATASET):
        return True
    if path == STDIN or not os.path.isfile(path):
        raise InvalidValueError(
            f"{path}: what a pipe holds is not known before it is read; expected --judge for each "
            "judge's qrels"
        )
    with open_bytes(path) as stream:
        start = stream.read(_START)
    held = recognise(path, start)
    if (held.read_qrels is None) != (held.read_runs is None):
        return held.read_qrels is not None
    if not held.scanned:
        raise InvalidValueError(
            f"{path}: {held.name} holds qrels and runs alike; expected --judge for each judge's "
            "qrels"
        )
    number, fields = first_fields(start, path)
    if len(fields) not in (4, 5, 6):
        raise FormatError(
            f"{len(fields)} columns; expected 4 of qrels ({QRELS_COLUMNS}), or 6 of a run "
            f"({RUN_COLUMNS})",
            path=path,
            line=number,
        )
    return len(fields) == 4


def parse_grades(texts: Sequence[str]) -> tuple[list[int] | None, dict[str, GradeMap]]:
    """Return the common scale, and the maps of judges, that ``--grades`` states.

    Parameters
    ----------
    texts
        ``0,1,2,3`` for the scale, ``NAME=0:0,1:2`` for the map of a judge.
    """
    scale: list[int] | None = None
    maps: dict[str, GradeMap] = {}
    for text in texts:
        name, equals, listed = text.rpartition("=")
        try:
            if not equals:
                if scale is not None:
                    raise InvalidValueError("--grades names a scale twice; expected one")
                scale = [int(grade) for grade in listed.split(",")]
                continue
            pairs = [entry.split(":") for entry in listed.split(",")]
            mapped = {int(old): int(new) for old, new in pairs}
        except ValueError as error:
            if isinstance(error, InvalidValueError):
                raise
            raise InvalidValueError(
                f"--grades is {text!r}; expected a scale such as 0,1,2,3, or the map of a judge "
                "such as NAME=0:0,1:2"
            ) from None
        if len(mapped) < len(pairs) or name in maps:
            twice = name if name in maps else enumerate_names(sorted(old for old, _ in pairs))
            raise InvalidValueError(f"--grades {text!r} maps {twice} twice; expected each once")
        maps[name] = mapped
    return scale, maps
