"""The reader of every table: files of text, JSON and Parquet, frames, and mappings of columns.

What a table is read for, a `TableKind`, says what its columns may be called. Parquet is recognised by its
first bytes, text by how it begins. JSON holds records, one per line or in a list, or nested objects; frames
of pandas, polars and Arrow are read by narwhals.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from confir.arguments import is_from
from confir.data.files import PathLike, format_ending, read_bytes, text_bytes
from confir.data.tables.input_table import InputTable
from confir.data.tables.json_tables import is_json_text, json_table
from confir.data.tables.parquet_files import (
    PARQUET_MARK,
    is_parquet,
    read_parquet_content,
    read_parquet_folder,
)
from confir.data.tables.separated_text import (
    check_marks,
    find_separator,
    first_line,
    separated_table,
    without_lead,
)
from confir.data.tables.table_kind import TableKind
from confir.data.text_numbers import warn_of_cut_number
from confir.errors import ConfirError, FormatError, collect_warnings, type_name

FRAME = "frame"

# Tables of more bytes are looked at first as far as this many: a fault there need not wait for all.
_LARGE = 1 << 22
_START_SIZE = 1 << 16


def read_table(
    source: PathLike | Any, kind: TableKind, use: Callable[[InputTable], Any] | None = None
) -> InputTable:
    """Return the table in a file, plain or compressed, in standard input ("-") or in a frame.

    What the table is for, if given, is tried on the first rows of a large text.
    """
    if not isinstance(source, str | os.PathLike):
        table = frame_table(source, FRAME, kind)
        if table is None:
            raise FormatError(
                f"an object of type {type_name(source)}; expected a path, or a frame of pandas, "
                "polars or Arrow",
                path=FRAME,
            )
        table.check_header()
        return table
    name = os.fspath(source)
    if os.path.isdir(name) and is_parquet(name):
        return read_folder(name, kind)
    return read_content(read_bytes(name), name, kind, use)


def read_folder(path: str, kind: TableKind) -> InputTable:
    """Return the table in a folder of Parquet files."""
    return _arrow_table(read_parquet_folder(path), path, kind)


def read_content(
    content: bytes, source: str, kind: TableKind, use: Callable[[InputTable], Any] | None = None
) -> InputTable:
    """Return the table in the content of a file; ``use`` is that of `read_table`."""
    table = kind.read_format(content, source)
    if table is not None:
        table = replace(table, kind=kind)
    elif content.startswith(PARQUET_MARK) or (content and format_ending(source) == ".parquet"):
        return _arrow_table(read_parquet_content(content, source), source, kind)
    else:
        text = text_bytes(content, source)
        if use is not None and len(text) > _LARGE:
            _try_start(text, source, kind, use)
        table = _text_table(text, source, kind)
    table.check_header()
    return table


def column_table(columns: Mapping[str, Any], source: str, kind: TableKind) -> InputTable:
    """Return the table of a mapping, name → cells, of which all have as many."""
    cells = [
        list(column.tolist() if isinstance(column, np.ndarray) else column)
        for column in columns.values()
    ]
    sizes = {len(column) for column in cells}
    if len(sizes) > 1:
        raise FormatError(f"columns of different lengths; {kind.expected}", path=source)
    if not sizes or sizes == {0}:
        raise FormatError(f"a table without rows; {kind.expected}", path=source)
    return InputTable(source, list(columns), cells, range(1, sizes.pop() + 1), "row", kind=kind)


def _try_start(text: bytes, source: str, kind: TableKind, use: Callable[[InputTable], Any]) -> None:
    """Raise where the first rows of a table hold a fault that the other rows cannot mend.

    Such are the errors that name a row; others, as of columns whose scores are all missing, are of the whole.
    """
    end = text.find(b"\n", _START_SIZE) + 1
    with collect_warnings():
        try:
            start = _text_table(text[:end], source, kind)
        except FormatError:  # such as a row that goes on
            return
        try:
            use(start)
        except FormatError as error:
            if error.line not in (None, start.header_line):
                raise
        except ConfirError:  # which the whole table will raise
            return


def _arrow_table(found: Any, source: str, kind: TableKind) -> InputTable:
    if not found.num_rows or not found.num_columns:
        raise FormatError(f"a table without rows; {kind.expected}", path=source)
    rows = range(1, found.num_rows + 1)
    table = InputTable(source, found.column_names, found.columns, rows, "row", kind=kind)
    table.check_header()
    return table


def _text_table(content: bytes, source: str, kind: TableKind) -> InputTable:
    start = without_lead(content)
    if not start:
        raise FormatError(f"the file is empty; {kind.expected}", path=source)
    if is_json_text(start, source):
        check_marks(content, source)
        return json_table(content, start, source, kind)
    first = first_line(start)
    separator = find_separator(first.decode(), source, kind.names)
    table = None
    if kind.read_lines:
        table = kind.read_lines(content, first, separator, source)
    if table is not None:
        check_marks(content, source)
        table = replace(table, kind=kind)
    elif separator is None:
        line = content.count(b"\n", 0, len(content) - len(start)) + 1
        raise FormatError(f"no columns; {kind.expected}", path=source, line=line)
    else:
        table = separated_table(content, separator, source, kind)
    warn_of_cut_number(content, source)
    return table


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
    import narwhals as nw

    try:
        frame = nw.from_native(_with_index(source), pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except nw.exceptions.DuplicateError as error:
        problem = " ".join(str(error).split())
        raise FormatError(f"two columns have one name ({problem})", path=name) from None
    if not isinstance(frame, nw.DataFrame):
        return None
    if not len(frame):
        raise FormatError(f"a table without rows; {kind.expected}", path=name)
    names: list[Any] = frame.columns
    # measures of ir_measures name columns and are cells, too
    header = [
        str(name) if type(name) is int or is_from("ir_measures", name) else name for name in names
    ]
    for column in header:
        if not isinstance(column, str):
            raise FormatError(f"a column is named {column!r}; expected text", path=name)
    rows = range(1, len(frame) + 1)
    return InputTable(name, header, list(frame.iter_columns()), rows, "row", kind=kind)


def _with_index(frame: Any) -> Any:
    """Return a frame; one of pandas with its index as columns, where that says more than they do."""
    is_pandas = type(frame).__module__.partition(".")[0] == "pandas"
    index = getattr(frame, "index", None) if is_pandas else None
    if index is None or type(index).__name__ == "RangeIndex":
        return frame
    return frame.reset_index() if set(index.names).isdisjoint(frame.columns) else frame
