"""Scores per topic, written to files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from confir.arguments import as_choice, as_path
from confir.data.files import PathLike, format_ending, write_whole
from confir.data.score_objects import make_scores
from confir.data.scores import Scores
from confir.data.tables.column_names import CORE_NAMES, is_reserved
from confir.data.tables.input_table import is_unicode
from confir.data.tables.measure_names import find_measures
from confir.data.tables.parquet_files import import_pyarrow, parquet_bytes
from confir.data.tables.score_columns import Layout
from confir.data.tables.separated_text import SEPARATORS, is_escaped, quoted_cell
from confir.data.tables.summary_rows import is_summary
from confir.errors import InvalidValueError


def write_scores(scores: Any, path: PathLike, *, layout: Layout = "long") -> None:
    """Write scores in the format that the ending says, whole or not at all.

    Missing scores are left out of a long table, and so is what has no score at all.

    Parameters
    ----------
    scores
        The scores, or what `as_scores` makes them of.
    path
        A file ending in .csv, .tsv, .json, .jsonl or .parquet; the text formats may have a
        compression's ending after it.
    layout
        "long" writes a row per score; "wide", for CSV and TSV of one measure, a row per topic and
        a column per run. A wide table does not hold the measure's name.

    Examples
    --------
    >>> confir.write_scores({"a": [0.3, 0.5], "b": [0.2, 0.5]}, "scores.csv")
    """
    source = as_path("path", path)
    scores = make_scores(scores, "scores")
    ending = format_ending(source)
    if ending not in _WRITERS:
        raise InvalidValueError(
            f"{source}: the ending does not say how to write scores; expected one of "
            f"{', '.join(_WRITERS)}"
        )
    if ending == ".parquet" and not source.lower().endswith(ending):
        raise InvalidValueError(f"{source}: Parquet is compressed within; expected .parquet")
    as_choice("layout", layout, get_args(Layout))
    _check_writable(scores, source)
    if layout == "wide":
        _check_wide(scores, source, ending)
        write_whole(path, _wide_text(scores, SEPARATORS[ending]).encode())
    else:
        write_whole(path, _WRITERS[ending](scores))


def _check_writable(scores: Scores, source: str) -> None:
    """Raise where what is written could not be read back."""
    for kind in ("run", "measure", "topic"):
        for name in getattr(scores, f"{kind}s"):
            if not name or "\0" in name or not is_unicode(name):
                raise InvalidValueError(f"{source}: {kind} {name!r} cannot be written as text")
    for topic in filter(is_summary, scores.topics):
        raise InvalidValueError(f"{source}: topic {topic!r} would be read as a summary")
    if np.isinf(scores.values).any():
        raise InvalidValueError(f"{source}: a score is infinite; expected finite numbers")
    if np.isnan(scores.values).all():
        raise InvalidValueError(f"{source}: there is no score to write; all are missing")


def _check_wide(scores: Scores, source: str, ending: str) -> None:
    if ending not in SEPARATORS:
        raise InvalidValueError(f"{source}: a wide table is written as .csv or .tsv only")
    if len(scores.measures) != 1:
        raise InvalidValueError(
            f"{source}: a wide table holds one measure, not {len(scores.measures)}; select one, "
            "or write a long table"
        )
    for run in filter(is_reserved, scores.runs):
        raise InvalidValueError(
            f"{source}: run {run!r} would be read as a column's name; write a long table"
        )
    for run in find_measures(scores.runs)[:1]:
        raise InvalidValueError(
            f"{source}: run {run!r} would be read as a measure; write a long table"
        )


def _quoted(name: str) -> str:
    return quoted_cell(f"'{name}" if is_escaped(name) else name)


def _long_text(scores: Scores, separator: str) -> str:
    topics = [_quoted(name) for name in scores.topics]
    lines = [separator.join(CORE_NAMES)]
    for r, run in enumerate(scores.runs):
        for m, measure in enumerate(scores.measures):
            start = f"{_quoted(run)}{separator}{_quoted(measure)}{separator}"
            lines.extend(
                f"{start}{topic}{separator}{score!r}"
                for topic, score in zip(topics, scores.values[:, r, m].tolist(), strict=True)
                if not math.isnan(score)
            )
    return "\n".join(lines) + "\n"


def _wide_text(scores: Scores, separator: str) -> str:
    lines = [separator.join(["topic", *map(_quoted, scores.runs)])]
    for topic, row in zip(scores.topics, scores.values[:, :, 0].tolist(), strict=True):
        cells = ["" if math.isnan(score) else repr(score) for score in row]
        lines.append(separator.join([_quoted(topic), *cells]))
    return "\n".join(lines) + "\n"


def _record_texts(scores: Scores) -> list[str]:
    return [json.dumps(record, ensure_ascii=False) for record in scores.to_records()]


def _parquet_bytes(scores: Scores) -> bytes:
    """Return scores as the content of a Parquet file, without an object for each row."""
    arrow = import_pyarrow("writing Parquet")
    by_run = scores.values.transpose(1, 2, 0)
    rows = np.nonzero(~np.isnan(by_run))
    names = (scores.runs, scores.measures, scores.topics)
    columns = [
        arrow.DictionaryArray.from_arrays(places, list(known)).cast(arrow.string())
        for places, known in zip(rows, names, strict=True)
    ]
    return parquet_bytes(arrow.table([*columns, by_run[rows]], names=list(CORE_NAMES)))


_WRITERS: dict[str, Callable[[Scores], bytes]] = {
    ".csv": lambda scores: _long_text(scores, ",").encode(),
    ".tsv": lambda scores: _long_text(scores, "\t").encode(),
    ".json": lambda scores: ("[\n" + ",\n".join(_record_texts(scores)) + "\n]\n").encode(),
    ".jsonl": lambda scores: "".join(f"{text}\n" for text in _record_texts(scores)).encode(),
    ".parquet": _parquet_bytes,
}
