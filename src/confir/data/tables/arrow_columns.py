"""Columns of Arrow tables as ids and numbers, whatever types they have."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.data.tables.parquet_files import import_pyarrow
from confir.data.text_numbers import cell_number
from confir.errors import FormatError


def arrow_ids(column: Any) -> Any | None:
    """Return a column of ids as text; None where some are missing or are neither text nor numbers."""
    ids = None if column.null_count else _as_text(column)
    if ids is None:
        return None
    return ids.cast(_plain_type(ids)).cast(import_pyarrow().large_string())


def arrow_numbers(column: Any) -> Floats | None:
    """Return a column of numbers, NaN where one is missing; None where it needs a look at each cell."""
    numbers = _as_numbers(column)
    return None if numbers is None or np.isinf(numbers).any() else numbers


def id_column(column: Any, name: str, source: str) -> Any:
    """Return a column of ids as text; raise where one is missing or is none."""
    if column.null_count:
        raise FormatError(f"{name} is missing in a row; expected an id", path=source)
    ids = _as_text(column)
    if ids is None:
        raise FormatError(f"column {name!r} is {_plain_type(column)}; expected ids", path=source)
    if _has_empty(ids if _is_text(ids.type) else ids.unique().dictionary_decode()):
        raise FormatError(f"{name} '' is not an id; expected text", path=source)
    return ids


def number_column(
    column: Any, name: str, source: str, expected: str = "expected numbers"
) -> Floats:
    """Return a column of numbers, which text may spell, NaN where one is missing; raise where it holds none."""
    column = column.cast(_plain_type(column))
    if _is_text(column.type):
        return _numbers_in_text(column, name, source)
    numbers = _as_numbers(column)
    if numbers is None:
        raise FormatError(f"column {name!r} is {column.type}, not numbers; {expected}", path=source)
    return numbers


def _as_text(column: Any) -> Any | None:
    """Return a column of text as it is, and one of whole numbers as text; None for any other."""
    arrow, kind = import_pyarrow(), _plain_type(column)
    if arrow.types.is_integer(kind):
        return column.cast(kind).cast(arrow.large_string())
    return column if _is_text(kind) else None


def _plain_type(column: Any) -> Any:
    """Return the type of a column's values, be they in a dictionary."""
    return (
        column.type.value_type if import_pyarrow().types.is_dictionary(column.type) else column.type
    )


def _is_text(kind: Any) -> bool:
    types = import_pyarrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _has_empty(texts: Any) -> bool:
    """Whether a text is empty; lengths of strings are known without reading them."""
    arrow = import_pyarrow()
    plain = texts.cast(arrow.string()) if arrow.types.is_string_view(texts.type) else texts
    shortest = arrow.compute.min(arrow.compute.binary_length(plain))
    return bool(shortest.as_py() == 0)


def _as_numbers(column: Any) -> Floats | None:
    arrow = import_pyarrow()
    if arrow.types.is_decimal(column.type):
        column = column.cast(arrow.string())  # whose numbers are rounded correctly
    elif not (arrow.types.is_floating(column.type) or arrow.types.is_integer(column.type)):
        return None
    return np.asarray(column.cast(arrow.float64(), safe=False), np.float64)


def _numbers_in_text(column: Any, name: str, source: str) -> Floats:
    """Return the numbers that texts spell, by the rule of all tables; NaN where one is missing."""
    cells = column.to_pylist()
    numbers = list(map(cell_number, cells))
    if None in numbers:
        wrong = cells[numbers.index(None)]
        raise FormatError(
            f"{reprlib.repr(wrong)} under {name!r} is not a finite number", path=source
        )
    return np.array(numbers, np.float64)
