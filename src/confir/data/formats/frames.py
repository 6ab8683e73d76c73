"""Data frames of pandas, polars or pyarrow, and labelled arrays of xarray."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal

from confir.arguments import as_choice
from confir.errors import MissingDependencyError

Backend = Literal["pandas", "polars", "pyarrow"]

BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")


def build_frame(columns: Mapping[str, list[Any]], backend: str | None) -> Any:
    """Return a data frame of columns.

    Parameters
    ----------
    columns
        Name → values.
    backend
        "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
    """
    wanted = BACKENDS if backend is None else (as_choice("backend", backend, BACKENDS),)
    installed = next((name for name in wanted if importlib.util.find_spec(name)), None)
    if installed is None:
        extra = "parquet" if wanted[0] == "pyarrow" else None
        raise MissingDependencyError(wanted[0], "a data frame", extra)
    import narwhals as nw

    whole = {name: _one_number_type(column) for name, column in columns.items()}
    return nw.from_dict(whole, backend=installed).to_native()


def _one_number_type(column: list[Any]) -> list[Any]:
    """Return a column whose integers are floats where it has floats too; polars takes one type."""
    types = set(map(type, column)) - {type(None)}
    numeric = all(issubclass(kind, Real) for kind in types)
    if numeric and not all(issubclass(kind, Integral) for kind in types):
        return [None if value is None else float(value) for value in column]
    return column
