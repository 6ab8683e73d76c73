"""Numbers in text, spelt as C and JSON spell them: the one parser of all readers of text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.errors import warn_caller

_SEPARATORS = re.compile(rb'[\s,;"]')
# What stands for a missing number in a table.
_MISSING = {"", "na", "nan", "-nan", "–"}
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


def warn_of_cut_number(content: bytes, source: str) -> None:
    """Warn where a table ends in a number without a line end: its last digits may be missing."""
    last = _SEPARATORS.split(content[-_END:])[-1]
    if last and parse_number(last) is not None:
        warn_caller(
            f"{source}: the file ends in {last.decode()} without a line end; the number may have "
            "been cut off, and rows after it may be missing"
        )
