"""Data frames of pandas, polars or pyarrow, and labelled arrays of xarray."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from confir.arguments import as_choice
from confir.errors import FormatError, MissingDependencyError, enumerate_names

Backend = Literal["pandas", "polars", "pyarrow"]

BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")

# What the dimensions of an array of scores are called; a measure is not needed.
_DIMENSIONS = ("run", "measure", "topic")
_MEASURE = "score"


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


def is_labelled_array(source: Any) -> bool:
    """Whether an object is an array or a dataset of xarray."""
    return type(source).__module__.partition(".")[0] == "xarray" and hasattr(source, "dims")


def labelled_columns(source: Any, name: str) -> dict[str, Any]:
    """Return run, measure, topic and score of every entry; variables of a dataset are measures.

    Parameters
    ----------
    source
        A DataArray over topic and run, and measure if it has several; or a Dataset of these.
    name
        The parameter's name, for messages.
    """
    array = source.to_array("measure") if hasattr(source, "data_vars") else source
    missing = {"run", "topic"} - {*array.dims}
    if missing or not {*array.dims} <= {*_DIMENSIONS}:
        dims = ", ".join(map(str, array.dims))
        raise FormatError(f"dimensions {dims}; expected topic, run and measure", path=name)
    without = [dim for dim in array.dims if dim not in array.coords]
    if without:
        raise FormatError(f"no names along {enumerate_names(without)}", path=name)
    if "measure" not in array.dims:
        array = array.expand_dims(measure=[str(array.name or _MEASURE)])
    array = array.transpose(*_DIMENSIONS)
    labels = np.meshgrid(*([str(x) for x in array[d].values] for d in _DIMENSIONS), indexing="ij")
    columns = {dim: part.ravel().tolist() for dim, part in zip(_DIMENSIONS, labels, strict=True)}
    return {**columns, "score": array.values.ravel().tolist()}


def build_dataset(columns: Mapping[str, list[Any]], labels: Sequence[str]) -> Any:
    """Return records as a dataset of xarray, along the dimensions that name them.

    Parameters
    ----------
    columns
        Name → values.
    labels
        Columns of labels: the dimensions. Where they do not name each record, further columns of text
        do; where these do not either, records are along one dimension, "record".
    """
    try:
        import pandas as pd
        import xarray  # noqa: F401 - pandas calls it
    except ImportError:
        raise MissingDependencyError("xarray", "a labelled array", None) from None
    frame = pd.DataFrame(columns)
    names = [name for name in labels if None not in columns[name]]
    texts = [c for c in columns if c not in names and all(isinstance(x, str) for x in columns[c])]
    while texts and (not names or frame.duplicated(names).any()):
        names.append(texts.pop(0))
    if not names or frame.duplicated(names).any():
        return frame.rename_axis("record").to_xarray()
    return frame.set_index(names).to_xarray()
