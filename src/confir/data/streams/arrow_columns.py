"""Columns of Arrow tables as ids and numbers, whatever types they have."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.data.tables.columns import as_number
from confir.data.tables.parquet_files import import_pyarrow
from confir.errors import FormatError


def id_column(column: Any, name: str, source: str) -> Any:
    """Return a column of ids as text; raise where one is missing or is none."""
    arrow, _ = import_pyarrow(f"{source}: Arrow columns")
    types = arrow.types
    if column.null_count:
        raise FormatError(f"{name} is missing in a row; expected an id", path=source)
    by_value = types.is_dictionary(column.type)
    kind = column.type.value_type if by_value else column.type
    if types.is_integer(kind):
        return column.cast(kind).cast(arrow.large_string())
    if not _is_text(kind):
        raise FormatError(f"column {name!r} is {kind}; expected ids", path=source)
    if _has_empty(column.unique().dictionary_decode() if by_value else column):
        raise FormatError(f"{name} '' is not an id; expected text", path=source)
    return column


def _is_text(kind: Any) -> bool:
    types = import_pyarrow("Arrow columns")[0].types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _has_empty(texts: Any) -> bool:
    """Whether a text is empty; lengths of strings are known without reading them."""
    import pyarrow.compute as pc

    arrow, _ = import_pyarrow("Arrow columns")
    plain = texts.cast(arrow.string()) if arrow.types.is_string_view(texts.type) else texts
    return bool(pc.min(pc.binary_length(plain)).as_py() == 0)


def number_column(
    column: Any,
    name: str,
    source: str,
    expected: str = "expected numbers",
    *,
    in_text: bool = False,
) -> Floats:
    """Return a column of numbers, NaN where one is missing; raise where it holds none.

    ``in_text`` also takes numbers that text spells, as in tables of scores.
    """
    arrow, _ = import_pyarrow(f"{source}: Arrow columns")
    types = arrow.types
    known = (types.is_floating, types.is_integer, types.is_decimal)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if in_text and _is_text(column.type):
        return _numbers_in_text(column, name, source)
    if not any(check(column.type) for check in known):
        raise FormatError(f"column {name!r} is {column.type}, not numbers; {expected}", path=source)
    numbers = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64)


def _numbers_in_text(column: Any, name: str, source: str) -> Floats:
    """Return the numbers that texts spell, by the rule of all tables; NaN where one is missing."""
    cells = column.to_pylist()
    numbers = list(map(as_number, cells))
    if None in numbers:
        wrong = cells[numbers.index(None)]
        raise FormatError(
            f"{reprlib.repr(wrong)} under {name!r} is not a finite number", path=source
        )
    return np.array(numbers, np.float64)
