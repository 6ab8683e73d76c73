"""Labelled arrays of xarray: read as columns of scores, and built from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confir.errors import FormatError, MissingDependencyError, enumerate_names

# What the dimensions of an array of scores are called; a measure is not needed.
_DIMENSIONS = ("run", "measure", "topic")


_MEASURE = "score"


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
