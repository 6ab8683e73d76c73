"""What do the cells of a table mean? Named columns, and one rule for their ids and numbers.

Every table reader of confir goes through `InputTable.ids` and `InputTable.numbers`, so that a cell means the
same in CSV, JSON, Parquet and frames, in a table of scores and in one of effects.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.text_numbers import parse_number
from confir.errors import (
    FormatError,
    ReadingWarning,
    enumerate_names,
    enumerate_numbers,
    warn_caller,
)

# what a column of topics may be called, the preferred name first
TOPIC_NAMES = ("topic", "topic_id", "query_id", "qid", "q_id", "query")

_MISSING = {"", "na", "nan", "-nan", "–"}
_SUMMARIES = {"all", "mean", "average", "amean", "total"}

# Arrays of more cells are made only where so many of them, at most, come to one number.
_LARGEST_SPARSE = 1 << 24
_MOST_CELLS_PER_NUMBER = 64

# what a spreadsheet would take for the beginning of a formula
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class Ids(NamedTuple):
    """A column of ids: the distinct ones in the order of their first row, and each row's."""

    names: Sequence[str]
    codes: Integers

    def in_order(self) -> Ids:
        """Return the same ids, the distinct ones in bytewise order."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return Ids([self.names[code] for code in order], places[self.codes])


def encode_ids(column: Sequence[str]) -> Ids:
    """Return a column of text by its distinct ids."""
    places = {name: code for code, name in enumerate(dict.fromkeys(column))}
    return Ids(list(places), np.fromiter(map(places.__getitem__, column), np.int64, len(column)))


@dataclass(frozen=True, slots=True, eq=False)
class InputTable:
    """Columns under a header.

    Attributes
    ----------
    source
        The file, or a name for the frame.
    header, columns
        Names of the columns; their cells, as lists or as arrays of Arrow.
    lines, unit
        Lines on which the rows start; where there are none, as in Parquet, ``unit`` is "row" and
        ``lines`` numbers the rows.
    header_line
        Line of the header, where it has one.
    separator
        What separates the cells of CSV and TSV; None in other formats.
    """

    source: str
    header: Sequence[str]
    columns: Sequence[Any]
    lines: Sequence[int] | Integers
    unit: Literal["line", "row"] = "line"
    header_line: int | None = None
    separator: str | None = None

    def __len__(self) -> int:
        return len(self.lines)

    def place(self, row: int) -> str:
        """Return where a row stands, in words."""
        return f"{self.unit} {self.lines[row]}"

    def error(self, problem: str, row: int) -> FormatError:
        """Return the error that names the place of a row."""
        if self.unit == "line":
            return FormatError(problem, path=self.source, line=int(self.lines[row]))
        return FormatError(f"{self.place(row)}: {problem}", path=self.source)

    def header_error(self, problem: str) -> FormatError:
        """Return the error that names the place of the header."""
        return FormatError(problem, path=self.source, line=self.header_line)

    def find(self, names: Sequence[str]) -> int | None:
        """Return the place of the first of some names that is a column; case does not matter."""
        folded = [fold(name) for name in self.header]
        for name in names:
            if folded.count(name) > 1:
                raise self.header_error(f"two columns are named {name!r}; expected one")
            if name in folded:
                return folded.index(name)
        return None

    def where(self, kept: Booleans) -> InputTable:
        """Return the rows that are kept."""
        columns = [
            column.filter(kept) if _is_arrow(column) else list(compress(column, kept))
            for column in self.columns
        ]
        return replace(self, columns=columns, lines=np.asarray(self.lines)[kept])

    def ids(self, place: int, *, optional: bool = False) -> Ids:
        """Return a column of ids as text; whole numbers are ids, too.

        A missing id is an error, or "" where ids are optional.
        """
        ids = self._arrow_ids(place) or self._listed_ids(place, optional=optional)
        if "" in ids.names and not optional:
            row = int(np.argmax(ids.codes == list(ids.names).index("")))
            raise self.error(f"{self.header[place]} '' is not an id; expected text", row)
        if not is_unicode("".join(ids.names)):
            code = next(code for code, name in enumerate(ids.names) if not is_unicode(name))
            row = int(np.argmax(ids.codes == code))
            raise self.error(f"the {self.header[place]} is not Unicode text", row)
        return ids if self.separator is None else _without_escapes(ids)

    def numbers(self, places: Sequence[int], *, expected: str = "") -> Floats:
        """Return columns of numbers, a row of the array each; NaN where one is missing.

        Raises where a number is not finite, in other digits than ASCII's, or where decimal points
        and commas are mixed. Commas are read where semicolons separate the cells.
        """
        commas = self.separator == ";" and self._has_decimal_commas(places)
        numbers = np.empty((len(places), len(self)))
        for i, place in enumerate(places):
            column = self.columns[place]
            values = _arrow_numbers(column) if _is_arrow(column) else None
            numbers[i] = (
                self._listed_numbers(place, expected, commas=commas) if values is None else values
            )
        return numbers

    def _arrow_ids(self, place: int) -> Ids | None:
        """Return ids without an object per row; None where each cell must be looked at."""
        column = self.columns[place]
        if not _is_arrow(column) or column.null_count:
            return None
        from pyarrow import large_string, types

        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
            return None
        try:
            encoded = column.cast(kind).cast(large_string()).combine_chunks().dictionary_encode()
            names = encoded.dictionary.to_pylist()
        except ValueError as error:
            raise self._unreadable(place, error) from None
        return Ids(names, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))

    def _listed_ids(self, place: int, *, optional: bool) -> Ids:
        cells = self.cells(place)
        if optional:
            cells = ["" if cell is None else cell for cell in cells]
        if not set(map(type, cells)) <= {str, int}:
            row = next(i for i, cell in enumerate(cells) if type(cell) not in (str, int))
            raise self.error(
                f"{self.header[place]} {reprlib.repr(cells[row])} is not an id; expected text", row
            )
        return encode_ids(list(map(str, cells)))

    def cells(self, place: int) -> list[Any]:
        """Return the cells of a column, as objects of Python."""
        column = self.columns[place]
        try:
            return list(column.to_pylist() if _is_arrow(column) else column)
        except (ValueError, OverflowError) as error:
            raise self._unreadable(place, error) from None

    def _unreadable(self, place: int, error: Exception) -> FormatError:
        return self.header_error(f"column {self.header[place]!r} cannot be read ({error})")

    def _has_decimal_commas(self, places: Sequence[int]) -> bool:
        """Whether numbers have decimal commas; raise where others have decimal points."""
        comma = self._first_with(",", places)
        point = self._first_with(".", places)
        if comma and point:
            row, place = max(comma, point)
            raise self.error(
                f"{reprlib.repr(self.columns[place][row])} under {self.header[place]!r}: decimal "
                f"points and decimal commas are mixed (the first of the other kind: "
                f"{self.place(min(comma, point)[0])}); expected one kind",
                row,
            )
        return comma is not None

    def _first_with(self, sign: str, places: Sequence[int]) -> tuple[int, int] | None:
        """Return row and place of the first cell that holds a sign."""
        found = (
            (next(row for row, cell in enumerate(self.columns[place]) if sign in cell), place)
            for place in places
            if sign in "".join(self.columns[place])
        )
        return min(found, default=None)

    def _listed_numbers(self, place: int, expected: str, *, commas: bool) -> list[float]:
        cells = self.cells(place)
        texts = [cell.replace(",", ".") for cell in cells] if commas else cells
        plain = _plain_numbers(texts)
        if plain is not None:
            return plain
        numbers = list(map(as_number, texts))
        if None in numbers:
            row = numbers.index(None)
            raise self.error(
                f"{reprlib.repr(cells[row])} under {self.header[place]!r} is not a finite "
                f"number{expected}",
                row,
            )
        return [number for number in numbers if number is not None]


def drop_summaries(table: InputTable, place: int) -> tuple[InputTable, Ids]:
    """Return a table without its summaries, and its ids at a place; a warning names their rows."""
    ids = table.ids(place)
    together = "\n".join(ids.names).casefold()
    if not any(summary in together for summary in _SUMMARIES):
        return table, ids  # a fast check, however many ids there are
    codes = [code for code, name in enumerate(ids.names) if is_summary(name)]
    if not codes:
        return table, ids
    names = enumerate_names(repr(ids.names[code]) for code in codes)
    summaries = np.isin(ids.codes, codes)
    kept = drop_rows(table, ~summaries, f"{table.header[place]} {names}")
    lines = np.asarray(table.lines)[summaries].tolist()
    warn_caller(
        f"{table.source}: summaries are left out: {table.header[place]} {names} "
        f"({enumerate_numbers(table.unit, lines)})",
        ReadingWarning,
    )
    return kept, kept.ids(place)


def drop_rows(table: InputTable, kept: Booleans, summaries: str) -> InputTable:
    """Return the rows of a table that are kept; raise where there are summaries only."""
    if not kept.any():
        raise FormatError(
            f"only summaries ({summaries}); expected a row per topic, as with the option -q of "
            "trec_eval and ir_measures",
            path=table.source,
        )
    return table.where(kept)


def check_filled(sizes: Mapping[str, int], numbers: int, source: str, *, arrays: int = 1) -> None:
    """Raise where numbers would fill almost nothing of a large array.

    Parameters
    ----------
    sizes
        The axes of the array, by the plural of what they hold.
    numbers, source
        How many numbers there are; the table, for messages.
    arrays
        How many such arrays are made.
    """
    cells = arrays * math.prod(sizes.values())
    if cells > _LARGEST_SPARSE and cells > _MOST_CELLS_PER_NUMBER * numbers:
        axes = " × ".join(f"{size:,} {name}" for name, size in sizes.items())
        raise FormatError(
            f"{numbers:,} numbers for {axes}, of which almost all would be missing; expected names "
            "that come in many rows, such as topics on which all runs have a score",
            path=source,
        )


def is_summary(name: str) -> bool:
    """Whether a row of that name sums up the others."""
    return fold(name) in _SUMMARIES


def fold(name: str) -> str:
    """Return the name of a column as it is compared: without outer blanks and case."""
    return name.strip().casefold()


def is_unicode(text: str) -> bool:
    """Whether a text can be written: half of a surrogate pair, as JSON can spell it, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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


def _without_escapes(ids: Ids) -> Ids:
    if not any(map(is_escaped, ids.names)):
        return ids
    names = encode_ids([without_escape(name) for name in ids.names])
    return Ids(names.names, names.codes[ids.codes])


def _is_arrow(column: Any) -> bool:
    return hasattr(column, "to_pylist")


def _arrow_numbers(column: Any) -> Floats | None:
    """Return a column of Arrow as numbers; None where it needs a look at each cell."""
    from pyarrow import float64, types

    if not (types.is_floating(column.type) or types.is_integer(column.type)):
        return None
    numbers: Floats = column.cast(float64(), safe=False).to_numpy()
    return None if np.isinf(numbers).any() else numbers


def _plain_numbers(column: Sequence[Any]) -> list[float] | None:
    """Return a column's numbers at once where all are finite and nothing needs a closer look."""
    kinds = set(map(type, column))
    if kinds == {str}:
        text = "".join(column)
        kinds = {float} if text.isascii() and "_" not in text else kinds
    if not kinds <= {float, int}:
        return None
    try:
        values = list(map(float, column))
    except (ValueError, OverflowError):
        return None
    return None if np.isinf(values).any() else values


def as_number(cell: Any) -> float | None:
    """Return the number in a cell: NaN where it is missing, None where it is not finite."""
    if cell is None or (isinstance(cell, str) and fold(cell) in _MISSING):
        return math.nan
    if isinstance(cell, bool):
        return None
    try:
        value = parse_number(cell) if isinstance(cell, str) else float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if value is None or math.isinf(value) else value
