"""Tables as they are read: named columns, and one rule for ids and numbers in their cells.

Every kind of table goes through `InputTable.texts`, `InputTable.ids` and `InputTable.numbers`, so that a
cell means the same in CSV, JSON, Parquet and frames, in a run, in scores and in effects.
"""

from __future__ import annotations

import math
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.tables.arrow_columns import arrow_ids, arrow_numbers
from confir.data.tables.table_kind import TableKind, fold
from confir.data.text_numbers import cell_number, plain_numbers
from confir.errors import FormatError

# Arrays of more cells are made only where so many of them, at most, come to one number.
_LARGEST_SPARSE = 1 << 24
_MOST_CELLS_PER_NUMBER = 64

# of tables of which nothing is asked by role
_ANY = TableKind()


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
        The file, or a name for the object.
    header, columns
        Names of the columns; their cells, as lists, arrays of Arrow or series of narwhals.
    lines, unit
        Lines on which the rows start; where there are none, as in Parquet, ``lines`` numbers the rows
        and ``unit`` is "row"; or "topic", where messages name topic and document, the first columns.
    header_line
        Line of the header, where it has one.
    separator
        What separates the cells of CSV and TSV; None in other formats.
    kind
        What the table is read for.
    """

    source: str
    header: Sequence[str]
    columns: Sequence[Any]
    lines: Sequence[int] | Integers
    unit: Literal["line", "row", "topic"] = "line"
    header_line: int | None = None
    separator: str | None = None
    kind: TableKind = _ANY

    def __len__(self) -> int:
        return len(self.lines)

    def describe_row(self, row: int) -> str:
        """Return where a row stands, in words."""
        if self.unit == "topic":
            topic, document = (column[row] for column in self.columns[:2])
            return f"topic {topic!r}, document {document!r}"
        return f"{self.unit} {self.lines[row]}"

    def error(self, problem: str, row: int) -> FormatError:
        """Return the error that names the place of a row."""
        if self.unit == "line":
            return FormatError(problem, path=self.source, line=int(self.lines[row]))
        return FormatError(f"{self.describe_row(row)}: {problem}", path=self.source)

    def header_error(self, problem: str) -> FormatError:
        """Return the error that names the place of the header."""
        return FormatError(problem, path=self.source, line=self.header_line)

    def check_header(self) -> None:
        """Raise where a column has no name, another's name, or one that is not text."""
        counts = Counter(self.header)
        for place, name in enumerate(self.header, start=1):
            if counts[name] > 1:
                raise self._repeated(name)
            if not is_unicode(name) or (not name and place > 1):
                raise self.header_error(f"the name of column {place} is {name!r}; expected text")

    def _repeated(self, name: str) -> FormatError:
        return self.header_error(f"two columns are named {name!r}; expected one")

    def find(self, role: str) -> int | None:
        """Return the place of the column of a role; None where there is none."""
        return self.find_named(self.kind.roles[role])

    def need(self, role: str) -> int:
        """Return the place of the column of a role; raise where there is none."""
        place = self.find(role)
        if place is None:
            raise self.header_error(f"no column of {role}s; {self.kind.expected}")
        return place

    def find_named(self, names: Sequence[str]) -> int | None:
        """Return the place of the first of some names that is a column; case does not matter."""
        folded = [fold(name) for name in self.header]
        for name in names:
            if folded.count(name) > 1:
                raise self._repeated(name)
            if name in folded:
                return folded.index(name)
        return None

    def named(self, name: str) -> int | None:
        """Return the place of a column that the user names; case matters if columns differ by it."""
        header = list(self.header)
        folded = [place for place, other in enumerate(header) if fold(other) == fold(name)]
        if name in header:
            return header.index(name)
        return folded[0] if len(folded) == 1 else None

    def where(self, kept: Booleans) -> InputTable:
        """Return the rows that are kept."""
        chosen = kept.tolist()
        columns = [
            list(compress(column, chosen))
            if isinstance(column, Sequence)
            else column.filter(chosen)
            for column in self.columns
        ]
        return replace(self, columns=columns, lines=np.asarray(self.lines)[kept])

    def cells(self, place: int) -> list[Any]:
        """Return the cells of a column, as objects of Python; None where one is missing."""
        column = self.columns[place]
        if isinstance(column, Sequence):
            return list(column)
        with self._reading(place):
            if _is_arrow(column):
                return list(column.to_pylist())
            cells: list[Any] = column.to_list()
        if not column.null_count():
            return cells
        nulls = column.is_null().to_list()
        return [None if null else cell for cell, null in zip(cells, nulls, strict=True)]

    def texts(self, place: int, *, optional: bool = False) -> list[str]:
        """Return a column of ids, of each row, as text; whole numbers are ids, too.

        A missing id is an error, or "" where ids are optional.
        """
        return list(self._read_ids(place, optional=optional, distinct=False).names)

    def ids(self, place: int, *, optional: bool = False) -> Ids:
        """Return what `texts` does by the distinct ids."""
        return self._read_ids(place, optional=optional, distinct=True)

    def numbers(self, places: Sequence[int], *, expected: str = "") -> Floats:
        """Return columns of numbers, a row of the array each; NaN where one is missing.

        Raises where a number is not finite, in other digits than ASCII's, or where decimal points
        and commas are mixed. Commas are read where semicolons separate the cells.
        """
        commas = self.separator == ";" and self._has_decimal_commas(places)
        numbers = np.empty((len(places), len(self)))
        for i, place in enumerate(places):
            column = self.columns[place]
            values = arrow_numbers(column) if _is_arrow(column) else None
            numbers[i] = (
                self._listed_numbers(place, expected, commas=commas) if values is None else values
            )
        return numbers

    def check_numbers(
        self, fits: Booleans, numbers: Floats, what: str | Callable[[int], str], expected: str
    ) -> None:
        """Raise at the first row whose number does not fit; ``what`` names it, perhaps by the row."""
        for row in np.flatnonzero(~fits)[:1].tolist():
            name = what if isinstance(what, str) else what(row)
            found = "missing" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
            raise self.error(f"the {name} is {found}; expected {expected}", row)

    def _read_ids(self, place: int, *, optional: bool, distinct: bool) -> Ids:
        """Return a column of ids by the distinct ones, or by those of each row."""
        column = self.columns[place]
        with self._reading(place):
            held = arrow_ids(column) if _is_arrow(column) else None
        if held is None:
            names = self._listed(place, optional=optional)
            ids = encode_ids(names) if distinct else Ids(names, np.arange(len(names)))
        elif distinct:
            with self._reading(place):
                encoded = held.combine_chunks().dictionary_encode()
                ids = Ids(encoded.dictionary.to_pylist(), np.asarray(encoded.indices, np.int64))
        else:
            with self._reading(place):
                ids = Ids(held.to_pylist(), np.arange(len(held)))
        if not optional and "" in ids.names:
            row = int(np.argmax(ids.codes == list(ids.names).index("")))
            raise self._no_id(place, "''", row)
        if not is_unicode("".join(ids.names)):
            code = next(code for code, name in enumerate(ids.names) if not is_unicode(name))
            row = int(np.argmax(ids.codes == code))
            raise self.error(f"the {self.header[place]} is not Unicode text", row)
        return ids

    def _listed(self, place: int, *, optional: bool) -> list[str]:
        cells = self.cells(place)
        if optional:
            cells = ["" if cell is None else cell for cell in cells]
        kinds = dict.fromkeys(map(type, cells))
        if kinds.keys() == {str}:
            return cells
        foreign = {kind for kind in kinds if kind.__module__.partition(".")[0] == "ir_measures"}
        if foreign:  # its frames have measures as cells
            cells = [str(cell) if type(cell) in foreign else cell for cell in cells]
            kinds = dict.fromkeys(map(type, cells))
        for wrong in kinds:
            if not issubclass(wrong, str | Integral) or issubclass(wrong, bool):
                row = next(row for row, cell in enumerate(cells) if type(cell) is wrong)
                raise self._no_id(place, reprlib.repr(cells[row]), row)
        return [str.__str__(cell) if isinstance(cell, str) else str(int(cell)) for cell in cells]

    def _no_id(self, place: int, cell: str, row: int) -> FormatError:
        return self.error(f"{self.header[place]} {cell} is not an id; expected text", row)

    @contextmanager
    def _reading(self, place: int) -> Iterator[None]:
        """Say which column cannot be made objects of Python."""
        try:
            yield
        except (ValueError, OverflowError) as error:
            name = self.header[place]
            raise self.header_error(f"column {name!r} cannot be read ({error})") from None

    def _has_decimal_commas(self, places: Sequence[int]) -> bool:
        """Whether numbers have decimal commas; raise where others have decimal points."""
        comma = self._first_with(",", places)
        point = self._first_with(".", places)
        if comma and point:
            row, place = max(comma, point)
            raise self.error(
                f"{reprlib.repr(self.columns[place][row])} under {self.header[place]!r}: decimal "
                f"points and decimal commas are mixed (the first of the other kind: "
                f"{self.describe_row(min(comma, point)[0])}); expected one kind",
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

    def _listed_numbers(self, place: int, expected: str, *, commas: bool) -> Floats:
        cells = self.cells(place)
        texts = [cell.replace(",", ".") for cell in cells] if commas else cells
        plain = plain_numbers(texts)
        if plain is not None:
            return plain
        numbers = list(map(cell_number, texts))
        if None in numbers:
            row = numbers.index(None)
            raise self.error(
                f"{reprlib.repr(cells[row])} under {self.header[place]!r} is not a finite number"
                + (f"; {expected}" if expected else ""),
                row,
            )
        return np.array(numbers, np.float64)


def score_table(
    rows: Sequence[tuple[Any, ...]], source: str, lines: Sequence[int] = ()
) -> InputTable:
    """Return the table of rows of run, measure, topic and score; with their lines, where known."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = InputTable(
        source, ["run", "measure", "topic", "score"], columns, range(1, len(rows) + 1), "row"
    )
    return replace(table, lines=lines, unit="line") if lines else table


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


def is_unicode(text: str) -> bool:
    """Whether a text can be written: half of a surrogate pair, as JSON can spell it, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_arrow(column: Any) -> bool:
    return hasattr(column, "to_pylist")
