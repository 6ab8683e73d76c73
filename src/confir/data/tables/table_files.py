"""Which table does a file or a frame hold? From bytes to named columns with line numbers.

One reader for every table, of scores and of effects. Parquet is recognised by its first bytes,
text by how it begins: JSON, or columns under a header, separated by commas, semicolons or tabs.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any

from confir.data.compression import COMPRESSION_ENDINGS
from confir.data.files import BYTE_ORDER_MARK, PathLike, read_bytes, text_bytes
from confir.data.formats.entries import as_frame, type_name
from confir.data.formats.json_files import parse_json
from confir.data.tables.columns import InputTable, fold, is_unicode, without_escape
from confir.data.tables.parquet_files import (
    is_parquet,
    read_parquet_content,
    read_parquet_folder,
)
from confir.data.text_numbers import warn_of_cut_number
from confir.errors import (
    ConfirError,
    FormatError,
    collect_warnings,
    enumerate_numbers,
    warn_caller,
)

SEPARATORS = {".csv": ",", ".tsv": "\t"}
FRAME = "frame"

# blank lines and comments at the beginning
_LEAD = re.compile(rb"\A(?:[ \t\f\v]*(?:#[^\r\n]*)?(?:[\r\n]|\Z))*")
# Tables of more bytes are looked at first as far as this many: a fault there need not wait for all.
_LARGE = 1 << 22
_START_SIZE = 1 << 16


@dataclass(frozen=True, slots=True)
class TableKind:
    """What a table is read for, and what its reader must know for that.

    Attributes
    ----------
    expected
        What was expected, for messages.
    names
        Names of columns, in small letters, by which a header is recognised.
    levels, order_levels
        Columns that the levels of nested JSON objects stand for; none where they are not read. What
        tells their order, given the objects and the source.
    read_lines
        Reader of lines without a header, given the content, its first line, what seems to separate
        it and the source; it returns None where a header is there.
    drops_short_rows
        Whether a few rows that are shorter than a header may be left out.
    read_format
        Reader of a format of its own, given the content and the source; None where it is none.
    """

    expected: str
    names: frozenset[str]
    levels: tuple[str, ...] = ()
    order_levels: Callable[[Sequence[Any], str], tuple[str, ...]] | None = None
    read_lines: Callable[[bytes, bytes, str | None, str], InputTable | None] | None = None
    drops_short_rows: Callable[[Sequence[str]], bool] = lambda _: False
    read_format: Callable[[bytes, str], InputTable | None] = lambda _, __: None


def read_table(
    source: PathLike | Any, kind: TableKind, use: Callable[[InputTable], Any] | None = None
) -> InputTable:
    """Return the table in a file, plain or compressed, in standard input ("-") or in a frame.

    What the table is for, if given, is tried on the first rows of a large text.
    """
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        if os.path.isdir(name) and is_parquet(name):
            table = _arrow_table(read_parquet_folder(name), name, kind)
            check_header(table)
            return table
        content = read_bytes(name)
        of_format = kind.read_format(content, name)
        if of_format is not None:
            table = of_format
        elif content.startswith(b"PAR1") or (content and format_ending(name) == ".parquet"):
            table = _arrow_table(read_parquet_content(content, name), name, kind)
        else:
            text = text_bytes(content, name)
            if use is not None and len(text) > _LARGE:
                _try_start(text, name, kind, use)
            table = _text_table(text, name, kind)
    else:
        table = _frame_table(source, kind)
    check_header(table)
    return table


def _try_start(text: bytes, source: str, kind: TableKind, use: Callable[[InputTable], Any]) -> None:
    """Raise where the first rows of a table hold a fault that the other rows cannot mend.

    Such are the errors that name a line; others, as of scores that are all missing, are of the whole.
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
            if error.line is not None:
                raise
        except ConfirError:  # which the whole table will raise
            return


def format_ending(source: str) -> str:
    """Return the ending that names the format, in small letters, a compression's left out."""
    name = os.path.basename(source).lower()
    for compression in COMPRESSION_ENDINGS:
        name = name.removesuffix(compression)
    return os.path.splitext(name)[1].replace(".ndjson", ".jsonl")


def check_header(table: InputTable) -> None:
    """Raise where a column has no name, another's name, or one that is not text."""
    counts = Counter(table.header)
    for place, name in enumerate(table.header, start=1):
        if counts[name] > 1:
            raise table.header_error(f"two columns are named {name!r}; expected one")
        if not is_unicode(name) or (not name and place > 1):
            raise table.header_error(f"the name of column {place} is {name!r}; expected text")


def _frame_table(source: Any, kind: TableKind) -> InputTable:
    """Return the table in a frame of pandas, polars or Arrow; an index of pandas is a column."""
    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns"):
        source = _with_index(source)
    frame = as_frame(source, FRAME) if hasattr(type(source), "columns") else None
    if frame is None:
        raise FormatError(
            f"an object of type {type_name(source)}; expected a path, or a frame of pandas, polars "
            "or Arrow",
            path=FRAME,
        )
    if not len(frame):
        raise FormatError(f"a table without rows; {kind.expected}", path=FRAME)
    header = [str(name) if type(name) is int else name for name in frame.columns]
    for name in header:
        if not isinstance(name, str):
            raise FormatError(f"a column is named {name!r}; expected text", path=FRAME)
    columns = []
    for column in frame.iter_columns():
        cells = zip(column.to_list(), column.is_null().to_list(), strict=True)
        columns.append([None if missing else cell for cell, missing in cells])
    return InputTable(FRAME, header, columns, range(1, len(frame) + 1), "row")


def _with_index(frame: Any) -> Any:
    """Return a frame of pandas with its index as columns, unless that only numbers the rows."""
    if type(frame.index).__name__ == "RangeIndex":
        return frame
    try:
        return frame.reset_index()
    except ValueError as error:
        raise FormatError(f"two columns have one name ({error})", path=FRAME) from None


def _arrow_table(found: Any, source: str, kind: TableKind) -> InputTable:
    if not found.num_rows or not found.num_columns:
        raise FormatError(f"a table without rows; {kind.expected}", path=source)
    rows = range(1, found.num_rows + 1)
    return InputTable(source, found.column_names, found.columns, rows, "row")


def _text_table(content: bytes, source: str, kind: TableKind) -> InputTable:
    start = _LEAD.sub(b"", content)
    if not start:
        raise FormatError(f"the file is empty; {kind.expected}", path=source)
    ending = format_ending(source)
    is_json = start.lstrip()[:1] in (b"[", b"{") and ending not in SEPARATORS
    if ending in (".json", ".jsonl") or is_json:
        _check_marks(content, source)
        return _json_table(content, start, source, kind)
    first = re.split(rb"[\r\n]", start, maxsplit=1)[0]
    separator = _separator(first.decode(), ending, kind.names)
    if separator != "," and kind.read_lines:
        table = kind.read_lines(content, first, separator, source)
        if table is not None:
            _check_marks(content, source)
            warn_of_cut_number(content, source)
            return table
    if separator is None:
        line = content.count(b"\n", 0, len(content) - len(start)) + 1
        raise FormatError(f"no columns; {kind.expected}", path=source, line=line)
    table = _separated_table(content.decode(), separator, source, kind)
    warn_of_cut_number(content, source)
    return table


def _check_marks(content: bytes, source: str) -> None:
    """Raise where a line in mid-file begins with a byte order mark."""
    mark = re.search(rb"[\r\n]" + BYTE_ORDER_MARK, content)
    if mark:
        raise _joined_files(source, content.count(b"\n", 0, mark.end()) + 1)


def _joined_files(source: str, line: int) -> FormatError:
    return FormatError(
        "a byte order mark in the middle, as in concatenated files; expected one table",
        path=source,
        line=line,
    )


def _separator(line: str, ending: str, names: frozenset[str]) -> str | None:
    """Return what separates the columns: what parts known names in the first line, if any does."""
    if ending == ".tsv":
        return "\t"
    order = (",", ";", "\t") if ending == ".csv" else ("\t", ",", ";")
    present = [separator for separator in order if separator in line]
    for separator in present:
        if not names.isdisjoint(fold(cell.strip('" ')) for cell in line.split(separator)):
            return separator
    if present:
        return present[0]
    return "," if ending == ".csv" else None


def _separated_table(text: str, separator: str, source: str, kind: TableKind) -> InputTable:
    cells, widths, lines = _split_rows(text, separator, source, kind)
    width = widths[0]
    if len(widths) == 1:
        raise FormatError(f"a header without rows; {kind.expected}", path=source, line=lines[0])
    if set(widths) != {width}:
        _check_ragged(cells[:width], widths, lines, source, kind)
        ends = accumulate(widths)
        rows = [
            cells[end - width : end] for end, own in zip(ends, widths, strict=True) if own == width
        ]
        cells = list(chain.from_iterable(rows))
        lines = [line for line, own in zip(lines, widths, strict=True) if own == width]
    header = [without_escape(name) for name in cells[:width]]
    columns = [cells[width + place :: width] for place in range(width)]
    return InputTable(source, header, columns, lines[1:], header_line=lines[0], separator=separator)


def _split_rows(
    text: str, separator: str, source: str, kind: TableKind
) -> tuple[list[str], list[int], list[int]]:
    """Return all cells one after the other, and the width and first line of every row.

    Raises at the first row that is of no use, whatever the others are.
    """
    number = first = 0
    within = False
    stripped = _strip_blanks(separator) if " " in text else None

    def content_lines() -> Iterator[str]:
        nonlocal number, first, within
        for line in io.StringIO(text, newline=""):
            number += 1
            if not within:
                # a quoted cell goes on over blank lines and signs, so only rows are looked at
                start = line.lstrip(" ")
                if start[:1] in "#\r\n":
                    continue
                if start[0] == "\ufeff":
                    raise _joined_files(source, number)
                first, within = number, True
                if stripped is not None:
                    yield stripped(line)
                    continue
            yield line

    cells: list[str] = []
    widths: list[int] = []
    lines: list[int] = []
    reader = csv.reader(content_lines(), delimiter=separator, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            cells += row
            widths.append(len(row))
            lines.append(first)
            within = False
            if len(row) != widths[0] and (
                len(row) > widths[0] or not kind.drops_short_rows(cells[: widths[0]])
            ):
                break
    except csv.Error as error:
        raise FormatError(
            f"the columns cannot be read ({error})", path=source, line=first
        ) from None
    return cells, widths, lines


def _strip_blanks(separator: str) -> Callable[[str], str]:
    """Return what takes the blanks after cells from a line; the reader skips those before.

    Blanks within quotes are part of a cell. A cell may go on in the next line, as an odd number of
    quotes shows: such a line stays as it is.
    """
    pattern = re.compile(rf'("(?:[^"]|"")*+")|[ ]++(?=[{separator}\r\n]|\Z)')

    def stripped(line: str) -> str:
        if " " not in line or line.count('"') % 2:
            return line
        return pattern.sub(lambda found: found[1] or "", line)

    return stripped


def _check_ragged(
    header: Sequence[str],
    widths: Sequence[int],
    lines: Sequence[int],
    source: str,
    kind: TableKind,
) -> None:
    """Warn of a few short rows where they may be left out; other uneven rows are an error."""
    width = widths[0]
    uneven = [line for line, own in zip(lines, widths, strict=True) if own != width]
    few = 2 * len(uneven) < len(lines) - 1
    if max(widths) > width or not few or not kind.drops_short_rows(header):
        raise FormatError(
            f"{widths[lines.index(uneven[0])]} columns; expected {width} as in the header",
            path=source,
            line=uneven[0],
        )
    warn_caller(
        f"{source}: rows with fewer columns than the header are left out, because it is unknown "
        f"which runs lack a score ({enumerate_numbers('line', uneven)})"
    )


def _json_table(content: bytes, start: bytes, source: str, kind: TableKind) -> InputTable:
    """Return the table of records, one per line or in a list, or of nested objects."""
    before = content.count(b"\n", 0, len(content) - len(start))
    if _is_json_lines(start, source):
        texts = {
            number: line
            for number, line in enumerate(start.decode().split("\n"), start=before + 1)
            if line.strip() and not line.lstrip().startswith("#")
        }
        return _record_table(_load_lines(texts, source, kind), source, list(texts), kind)
    document = parse_json(start.decode(), source, expected=kind.expected, before=before)
    if isinstance(document, dict) and any(isinstance(cell, dict) for cell in document.values()):
        return _nested_table(document, source, kind)
    records = document if isinstance(document, list) else [document]
    return _record_table(records, source, None, kind)


def _is_json_lines(start: bytes, source: str) -> bool:
    """Whether every line is a record: the ending says so, or the first line is one."""
    if format_ending(source) == ".jsonl":
        return True
    if not start.lstrip().startswith(b"{"):
        return False
    try:
        first = json.loads(start.lstrip().split(b"\n", maxsplit=1)[0])
    except (ValueError, RecursionError):
        return False
    return not any(isinstance(cell, dict) for cell in first.values())


def _load_lines(texts: dict[int, str], source: str, kind: TableKind) -> list[Any]:
    """Return the records, all loaded at once; line by line where that fails, to name the line."""
    try:
        together = "[" + ",".join(texts.values()) + "]"
        records = parse_json(together, source, expected=kind.expected)
    except FormatError:
        records = []
    if len(records) == len(texts):
        return list(records)
    return [
        parse_json(text, source, expected=kind.expected, before=line - 1)
        for line, text in texts.items()
    ]


def _record_table(
    records: Sequence[Any], source: str, lines: Sequence[int] | None, kind: TableKind
) -> InputTable:
    """Return the table of records, which all have the same keys."""
    if not records:
        raise FormatError(f"no records; {kind.expected}", path=source)
    blank = InputTable(source, [], [], range(1, len(records) + 1), "row")
    if lines is not None:
        blank = replace(blank, lines=lines, unit="line", header_line=lines[0])
    for row, record in enumerate(records):
        if not isinstance(record, dict) or not record:
            raise blank.error(f"not a record; {kind.expected}", row)
        if record.keys() != records[0].keys():
            raise blank.error(
                f"a record of {', '.join(record)}; expected {', '.join(records[0])} as in the first",
                row,
            )
    columns = [[record[name] for record in records] for name in records[0]]
    return replace(blank, header=list(records[0]), columns=columns)


def _nested_table(document: dict[str, Any], source: str, kind: TableKind) -> InputTable:
    """Return the table of nested objects, such as run → measure → topic → score."""
    rows: list[tuple[Any, ...]] = [((), document)]
    for _ in kind.levels[:-1]:
        deeper = []
        for path, found in rows:
            if not isinstance(found, dict):
                raise FormatError(
                    f"no object at {' → '.join(path)}; expected {' → '.join(kind.levels)}",
                    path=source,
                )
            deeper += [((*path, key), cell) for key, cell in found.items()]
        rows = deeper
    if not kind.levels or not rows:
        raise FormatError(f"no records; {kind.expected}", path=source)
    levels = kind.levels
    if kind.order_levels is not None:
        levels = kind.order_levels(list(document.values()), source)
    columns = list(zip(*((*path, cell) for path, cell in rows), strict=True))
    return InputTable(source, list(levels), columns, range(1, len(rows) + 1), "row")
