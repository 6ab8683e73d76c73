"""Numbers in text, spelt as C and JSON spell them: the one parser of all readers of text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.errors import warn_caller

_SEPARATORS = re.compile(rb'[\s,;"]')
# What stands for a missing number in a table.
_MISSING = {"", "na", "nan", "-nan", "–"}
# What stands for a score that could not be given, in small letters.
_FAILED = {
    "error",
    "failed",
    "failure",
    "timeout",
    "none",
    "null",
    "n/a",
    "n.a.",
    "#n/a",
    "-",
    "—",
    "?",
}
_FLAGS = {"true": 1.0, "false": 0.0}
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
# So much of a file holds its last number.
_END = 64


def parse_number(text: str | bytes) -> float | None:
    """Return the number that text spells, be it infinite or NaN; None where it spells none.

    Python's own ``float`` takes underscores between digits and digits of other scripts as well,
    which no other tool does: such a cell is more likely damaged than meant.
    """
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    if not text.isascii() or "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def cell_number(cell: Any) -> float | None:
    """Return the number in a cell: NaN where it is missing, None where it is not finite."""
    if cell is None or (isinstance(cell, str) and cell.strip().casefold() in _MISSING):
        return math.nan
    if isinstance(cell, bool):
        return None
    try:
        value = parse_number(cell) if isinstance(cell, str) else float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if value is None or math.isinf(value) else value


def plain_numbers(column: Sequence[Any]) -> Floats | None:
    """Return a column's numbers at once where all are finite and nothing needs a closer look."""
    kinds = set(map(type, column))
    text = "".join(column) if kinds == {str} else ""
    if not kinds <= {float, int} and (not text.isascii() or "_" in text or kinds != {str}):
        return None
    try:
        values = np.array(list(map(float, column)) if text else column, np.float64)
    except (ValueError, OverflowError):
        return None
    return None if np.isinf(values).any() else values


class SpeltNumbers(NamedTuple):
    """Numbers that the cells of a column spell in another way than 0.25, and what was made of them."""

    numbers: Floats
    note: str


def spelt_numbers(cells: Sequence[Any], separator: str | None) -> SpeltNumbers | None:
    """Return numbers spelt as True and False, with percent signs, or with commas as spreadsheets write them.

    All cells but missing ones are spelt alike; None where they are not, or where a comma could stand
    for the decimal point as well as for thousands. ``separator`` is what separates the cells of text.
    """
    texts = [_cell_text(cell) for cell in cells]
    failed = sorted({text for text in texts if text in _FAILED})
    held = ["" if text in _FAILED or text in _MISSING else text for text in texts]
    present = [text for text in held if text]
    if not present:
        return None
    notes = [f"{', '.join(map(repr, failed))} is taken for a missing score"] if failed else []
    scale = 1.0
    if all(text in _FLAGS for text in present):
        held = [str(_FLAGS.get(text, text)) for text in held]
        notes.append("True is read as 1 and False as 0")
    elif all(text.endswith("%") for text in present):
        held, scale = [text.removesuffix("%").strip() for text in held], 100.0
        notes.append("percentages are read as shares")
    commas = [text for text in held if "," in text]
    if commas:
        thousands = all(_THOUSANDS.fullmatch(text) for text in commas)
        decimal = all(_DECIMAL_COMMA.fullmatch(text) for text in commas) and not any(
            "." in text for text in held
        )
        if thousands == decimal and not (decimal and separator == ";"):
            return None
        sign = "." if decimal else ""
        held = [text.replace(",", sign) for text in held]
        notes.append(
            f"commas are read as {'decimal points' if decimal else 'thousands separators'}"
        )
    numbers = list(map(cell_number, held))
    if None in numbers:
        return None
    return SpeltNumbers(np.array(numbers, np.float64) / scale, "; ".join(notes))


def label_text(cell: Any) -> str:
    """Return the text of a cell in small letters; "" where it is missing or stands for a failure."""
    text = _cell_text(cell)
    return "" if text in _MISSING or text in _FAILED else text


def _cell_text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip().casefold()


def warn_of_cut_number(content: bytes, source: str) -> None:
    """Warn where a table ends in a number without a line end: its last digits may be missing."""
    last = _SEPARATORS.split(content[-_END:])[-1]
    if last and parse_number(last) is not None:
        warn_caller(
            f"{source}: the file ends in {last.decode()} without a line end; the number may have "
            "been cut off, and rows after it may be missing"
        )
