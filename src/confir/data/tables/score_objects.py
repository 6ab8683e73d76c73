"""How do paths and objects become scores? Tables in files and frames, dicts, arrays by run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from confir.arguments import as_path, as_reals, invalid
from confir.data.formats.entries import has_columns
from confir.data.scores import Scores
from confir.data.tables.columns import InputTable
from confir.data.tables.score_columns import COLUMN_NAMES
from confir.data.tables.score_files import read_scores, scores_from_table
from confir.errors import FormatError, InvalidValueError

_ACCEPTED = (
    "Scores, a path to a table of scores or several, a frame with the columns of one, or a mapping "
    "run → topic → score, run → measure → topic → score, or run → array, or the columns of a table"
)

# What `as_scores` takes.
ScoresSource: TypeAlias = Any

# The measure of scores whose measure has no name.
_UNNAMED = "score"


def make_scores(source: Any, name: str) -> Scores:
    """Return the scores that an object or a file holds; ``name`` is the parameter's in messages."""
    scores = source if isinstance(source, Scores) else _from_source(source, name)
    if scores.values.size == 0:
        raise InvalidValueError(
            f"{name} hold {len(scores.topics)} topics, {len(scores.runs)} runs and "
            f"{len(scores.measures)} measures; expected at least one of each"
        )
    return scores


def is_score_source(source: Any) -> bool:
    """Whether an object is something that `as_scores` takes, rather than a plain array."""
    paths = isinstance(source, list | tuple) and bool(source) and all(map(_is_path, source))
    return paths or isinstance(source, Scores | Mapping) or _is_path(source) or has_columns(source)


def _from_source(source: Any, name: str) -> Scores:
    if isinstance(source, Mapping):
        return _from_mapping(source, name)
    if is_score_source(source):
        return read_scores(as_path(name, source) if _is_path(source) else source)
    raise invalid(name, source, _ACCEPTED)


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _from_mapping(mapping: Mapping[Any, Any], name: str) -> Scores:
    names = list(COLUMN_NAMES)
    if set(mapping) == set(names) and not any(isinstance(x, Mapping) for x in mapping.values()):
        columns = [list(mapping[column]) for column in names]
    else:
        columns = [list(column) for column in zip(*_rows(mapping, name), strict=True)]
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        raise FormatError("columns of different lengths; expected one entry per score", path=name)
    if not sizes or sizes == {0}:
        raise FormatError("no scores; expected one per run and topic", path=name)
    return scores_from_table(InputTable(name, names, columns, range(1, sizes.pop() + 1), "row"))


def _rows(mapping: Mapping[Any, Any], name: str) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield run, measure, topic and score of each score that a mapping of runs holds."""
    sizes = set()
    for run, held in mapping.items():
        if not isinstance(held, Mapping):
            values = as_reals(f"run {run!r} of {name}", held)
            sizes.add(values.shape)
            if values.ndim != 1 or len(sizes) > 1:
                raise InvalidValueError(
                    f"{name} map runs to arrays of the shapes {sorted(sizes)}; expected one score "
                    "per topic, of the same topics for every run"
                )
            width = len(str(len(values)))
            for number, score in enumerate(values.tolist(), start=1):
                yield run, _UNNAMED, f"{number:0{width}}", score
            continue
        by_measure = all(isinstance(part, Mapping) for part in held.values())
        for measure, topics in held.items() if by_measure else [(_UNNAMED, held)]:
            yield from ((run, measure, topic, score) for topic, score in topics.items())
