"""Tables as text: columns under a header, separated by commas, semicolons or tabs.

One rule for every kind of table. Blank lines and lines that begin with # are left out; so are blanks
around cells, unless they are quoted. Quotes are those of RFC 4180.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, chain

from confir.data.files import BYTE_ORDER_MARK, format_ending
from confir.data.tables.input_table import InputTable
from confir.data.tables.table_kind import TableKind, fold
from confir.errors import FormatError, counted, enumerate_numbers, warn_caller

SEPARATORS = {".csv": ",", ".tsv": "\t"}

# What a spreadsheet would take for the beginning of a formula.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")

# Blank lines and comments at the beginning.
# Nothing is given back, or millions of such lines would be remembered at some hundred bytes each.
_LEAD = re.compile(rb"\A(?:[ \t\f\v]*+(?:#[^\r\n]*+)?+(?:[\r\n]|\Z))*+")
# So much of a file holds its header.
_START = 1 << 12
_LONGEST_HEADER = 1 << 16
_FIRST_LINE = re.compile(rb"[^\r\n]{0,%d}+" % _LONGEST_HEADER)
# A line of more separators is no row of any table.
_MOST_COLUMNS = 1_000_000


def without_lead(content: bytes) -> bytes:
    """Return text without the blank lines and comments at its beginning."""
    return _LEAD.sub(b"", content)


def first_line(text: bytes) -> bytes:
    """Return the first line of text in UTF-8; only the beginning of one longer than any header."""
    found = _FIRST_LINE.match(text)
    line = found[0] if found else b""
    return line if len(line) < _LONGEST_HEADER else line.decode(errors="ignore").encode()


def header_names(content: bytes, source: str, names: Collection[str]) -> list[str]:
    """Return the names in the header that a file seems to have, in small letters; none if it is no text.

    Some of ``names`` are expected there, by which the separator is found.
    """
    start = without_lead(content[:_START].removeprefix(BYTE_ORDER_MARK))
    try:
        line = first_line(start).decode()
    except UnicodeDecodeError:
        return []
    # a line without a separator is one cell
    return folded_cells(line, find_separator(line, source, names) or "\n")


def find_separator(line: str, source: str, names: Collection[str]) -> str | None:
    """Return the separator of columns: one that splits the first line into known names, if any does."""
    ending = format_ending(source)
    order = (",", ";", "\t") if ending == ".csv" else ("\t", ",", ";")
    present = [separator for separator in order if separator in line]
    for separator in present:
        if not set(names).isdisjoint(folded_cells(line, separator)):
            return separator
    return present[0] if present else SEPARATORS.get(ending)


def folded_cells(line: str, separator: str | None) -> list[str]:
    """Return the cells of a header in small letters; without a separator, those between blanks."""
    return [fold(cell.strip('" ')) for cell in line.split(separator)]


def check_marks(content: bytes, source: str) -> None:
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


def separated_table(
    text: bytes, separator: str, source: str, kind: TableKind, header: Sequence[str] = ()
) -> InputTable:
    """Return the table of text, whose first line is the header unless one is given."""
    cells, widths, lines = _split_rows(text, separator, source, kind, header)
    width = widths[0]
    header_line = None if header else lines[0]
    if len(widths) == 1:
        raise FormatError(f"a header without rows; {kind.expected}", path=source, line=header_line)
    if set(widths) != {width}:
        _check_ragged(cells[:width], widths, lines, source, kind)
        ends = accumulate(widths)
        rows = [
            cells[end - width : end] for end, own in zip(ends, widths, strict=True) if own == width
        ]
        cells = list(chain.from_iterable(rows))
        lines = [line for line, own in zip(lines, widths, strict=True) if own == width]
    if b"'" in text:
        cells = [without_escape(cell) for cell in cells]
    columns = [cells[width + place :: width] for place in range(width)]
    return InputTable(
        source, cells[:width], columns, lines[1:], "line", header_line, separator, kind
    )


def _split_rows(
    text: bytes, separator: str, source: str, kind: TableKind, header: Sequence[str]
) -> tuple[list[str], list[int], list[int]]:
    """Return all cells one after the other, and the width and first line of every row.

    A header that is given comes first, on line 0. Raises at the first row that is of no use, whatever the others are.
    """
    number = first = 0
    within = False
    stripped = _strip_blanks(separator) if b" " in text else None

    def content_lines() -> Iterator[str]:
        nonlocal number, first, within
        # decoded line by line: the text as a stream of its own would take four bytes per letter
        for line in io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline=""):
            number += 1
            if len(line) > _MOST_COLUMNS and line.count(separator) >= _MOST_COLUMNS:
                raise FormatError(
                    f"more than {_MOST_COLUMNS:,} columns; {kind.expected}",
                    path=source,
                    line=number,
                )
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

    cells = list(header)
    widths = [len(header)] if header else []
    lines = [0] if header else []
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
    """Return a function that strips the blanks after cells; the reader of csv skips those before.

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
    header: Sequence[str], widths: Sequence[int], lines: Sequence[int], source: str, kind: TableKind
) -> None:
    """Warn of a few short rows where they may be left out; other uneven rows are an error."""
    width = widths[0]
    uneven = [line for line, own in zip(lines, widths, strict=True) if own != width]
    few = 2 * len(uneven) < len(lines) - 1
    if max(widths) > width or not few or not kind.drops_short_rows(header):
        raise FormatError(
            f"{counted(widths[lines.index(uneven[0])], 'column')}; expected {width}"
            + (" as in the header" if lines[0] else f": {', '.join(header)}"),
            path=source,
            line=uneven[0],
        )
    warn_caller(
        f"{source}: rows with fewer columns than the header are left out, because it is unknown "
        f"which runs lack a score ({enumerate_numbers('line', uneven)})"
    )


def is_escaped(cell: str) -> bool:
    """Whether a cell begins with the quote that keeps spreadsheets from taking it for a formula.

    Text that begins with quotes itself has one more.
    """
    return cell.startswith("'") and is_formula(cell)


def is_formula(text: str) -> bool:
    """Whether text, without quotes before it, is what spreadsheets take for a formula."""
    return text.lstrip("'").startswith(_FORMULA_SIGNS)


def without_escape(cell: str) -> str:
    """Return a cell of CSV or TSV without the quote before what would be a formula."""
    return cell[1:] if is_escaped(cell) else cell


def quoted_cell(text: str) -> str:
    """Return text as a cell of CSV or TSV, quoted where it could be taken for something else.

    That is a separator, one of another kind too, a comment, or blanks that are no part of it.
    """
    special = text != text.strip() or text[:1] in ("#", "\ufeff")
    if special or any(sign in text for sign in ',;"\t\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
