"""Tables as data frames of pandas, polars and Arrow, read by narwhals."""

from __future__ import annotations

from typing import Any

from confir.data.tables.input_table import InputTable, TableKind
from confir.errors import FormatError


def has_columns(source: Any) -> bool:
    """Whether an object may be a frame; checking its class does not evaluate a lazy frame."""
    return hasattr(type(source), "columns")


def frame_table(source: Any, name: str, kind: TableKind) -> InputTable | None:
    """Return the table in a frame; None where an object is none.

    An index of pandas is a column, unless it only numbers the rows or repeats a column.

    Parameters
    ----------
    source
        A frame; a lazy one is collected.
    name
        What it is called in messages.
    kind
        What it is read for.
    """
    if not has_columns(source):
        return None
    if type(source).__module__.partition(".")[0] == "pandas":
        source = _with_index(source)
    frame = _as_frame(source, name)
    if frame is None:
        return None
    if not len(frame):
        raise FormatError(f"a table without rows; {kind.expected}", path=name)
    header = [str(column) if type(column) is int else column for column in frame.columns]
    for column in header:
        if not isinstance(column, str):
            raise FormatError(f"a column is named {column!r}; expected text", path=name)
    rows = range(1, len(frame) + 1)
    return InputTable(name, header, list(frame.iter_columns()), rows, "row", kind=kind)


def _as_frame(source: Any, name: str) -> Any:
    """Return a frame of narwhals, a lazy one collected; None where the object is none."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except nw.exceptions.DuplicateError as error:
        problem = " ".join(str(error).split())
        raise FormatError(f"two columns have one name ({problem})", path=name) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _with_index(frame: Any) -> Any:
    """Return a frame of pandas with its index as columns, where it says more than the columns do."""
    index = getattr(frame, "index", None)
    if index is None or type(index).__name__ == "RangeIndex":
        return frame
    if not set(index.names).isdisjoint(frame.columns):
        return frame
    return frame.reset_index()
