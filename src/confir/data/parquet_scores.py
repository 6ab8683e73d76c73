"""How are large Parquet tables of scores read and written? Without a Python object for each row.

A regular table, a row per score with text and finite numbers, becomes `Scores` at once; any other
is left to the general reader, which knows every rule and names the row of an error.
"""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.score_columns import COLUMN_NAMES, SUMMARY_TOPIC, column_places
from confir.data.score_tables import import_pyarrow
from confir.data.scores import Scores


def read_regular_parquet(content: bytes, source: str) -> Scores | None:
    """Return the scores in a regular Parquet table; None where it is for the general reader."""
    arrow, parquet = import_pyarrow(f"{source}: reading Parquet")
    try:
        found = parquet.read_table(io.BytesIO(content))
        places = column_places(found.column_names)
        if set(places) != set(COLUMN_NAMES) or found.num_columns > len(COLUMN_NAMES):
            return None
        columns = {name: found.column(place) for name, place in places.items()}
        scores = _numbers(arrow, columns.pop("score"))
        ids = {name: _encode(arrow, column) for name, column in columns.items()}
    except (arrow.ArrowException, OSError, ValueError):
        return None
    return None if scores is None else _scores(scores, ids["topic"], ids["run"], ids["measure"])


def parquet_bytes(scores: Scores) -> bytes:
    """Return scores as the content of a Parquet file, a row per score that there is."""
    arrow, parquet = import_pyarrow("writing Parquet")
    by_run = scores.values.transpose(1, 2, 0)
    rows = np.nonzero(~np.isnan(by_run))
    names = (scores.runs, scores.measures, scores.topics)
    columns = [
        arrow.DictionaryArray.from_arrays(places, list(known)).cast(arrow.string())
        for places, known in zip(rows, names, strict=True)
    ]
    table = arrow.table([*columns, by_run[rows]], names=list(COLUMN_NAMES))
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


class _Ids(NamedTuple):
    """A column of ids: the distinct ones in the order of their first row, and each row's."""

    names: list[str]
    codes: Integers


def _encode(arrow: Any, column: Any) -> _Ids:
    """Return a column of text by its distinct values; raise where it is no such column."""
    if column.null_count or not (
        arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type)
    ):
        raise ValueError("not a column of ids")
    encoded = column.cast(arrow.large_string()).combine_chunks().dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return _Ids(encoded.dictionary.to_pylist(), codes)


def _numbers(arrow: Any, column: Any) -> Floats | None:
    """Return a column of numbers, NaN where there is none; None where one is not finite."""
    if not (arrow.types.is_floating(column.type) or arrow.types.is_integer(column.type)):
        return None
    numbers: Floats = column.cast(arrow.float64()).combine_chunks().to_numpy(zero_copy_only=False)
    return None if np.isinf(numbers).any() else numbers


def _scores(scores: Floats, topics: _Ids, runs: _Ids, measures: _Ids) -> Scores | None:
    """Return the table of all entries; None where one stands twice, or none has a score."""
    if not np.isfinite(scores).any() or SUMMARY_TOPIC in topics.names:
        return None
    if any("" in ids.names for ids in (topics, runs, measures)):
        return None
    order = sorted(range(len(topics.names)), key=topics.names.__getitem__)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    shape = (len(topics.names), len(runs.names), len(measures.names))
    cells = np.ravel_multi_index((place[topics.codes], runs.codes, measures.codes), shape)
    taken = np.zeros(np.prod(shape), bool)
    taken[cells] = True
    if np.count_nonzero(taken) < len(cells):
        return None
    values = np.full(shape, np.nan)
    values.reshape(-1)[cells] = scores
    names = tuple(topics.names[number] for number in order)
    return Scores(names, tuple(runs.names), tuple(measures.names), values)
