"""Columns of Arrow tables as ids and numbers, whatever types they have."""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.arrays import Floats
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
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
        raise FormatError(f"column {name!r} is {kind}; expected ids", path=source)
    return column


def number_column(
    column: Any, name: str, source: str, expected: str = "expected numbers"
) -> Floats:
    """Return a column of numbers, NaN where one is missing; raise where it holds none."""
    arrow, _ = import_pyarrow(f"{source}: Arrow columns")
    types = arrow.types
    known = (types.is_floating, types.is_integer, types.is_decimal)
    if not any(check(column.type) for check in known):
        raise FormatError(f"column {name!r} is {column.type}, not numbers; {expected}", path=source)
    numbers = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64)
