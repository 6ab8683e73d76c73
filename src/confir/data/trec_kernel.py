"""The compiled kernel that splits large blocks of TREC runs, as `confir.data.trec` does without it.

All that numba compiles is in this one file: its cache notices that the file of a kernel has changed,
but not that another one has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from confir.arrays import Booleans, Bytes, Floats, Integers, Numbers
from confir.compilation import Compile, compile_with_numba, inline_parts
from confir.data.ids import FIRST_FACTOR, S27, S30, S31, SECOND_FACTOR, STEP, WORD, Words

TAB, NEWLINE, RETURN, SPACE = b"\t\n\r "
PLUS, MINUS, POINT, ZERO, NINE = b"+-.09"
WIDTH = 6
NOTHING, ONE = np.uint64(0), np.uint64(1)

# A float holds every whole number up to here, and every power of ten up to 10**22.
EXACT_WHOLE = 2**53
TENS = np.array([float(10**power) for power in range(23)])
MOST_DIGITS = 18  # of a number of 64 bits

FindFields = Callable[[Bytes, Integers, Numbers, Booleans, Words, Floats], bool]


def _byte(text: Bytes, at: int) -> int:
    """Return the byte at a position, which is never negative, as a signed number."""
    return int(np.int64(text[np.uint64(at)]))


def _mixed(word: np.uint64) -> np.uint64:
    """Return a hashed word, as `confir.data.ids.mix_words` does."""
    word = (word ^ (word >> S30)) * FIRST_FACTOR
    word = (word ^ (word >> S27)) * SECOND_FACTOR
    return word ^ (word >> S31)


def _key(text: Bytes, start: int, end: int) -> np.uint64:
    """Return the key of an id, as `confir.data.ids.hash_spans` does."""
    key = _mixed(np.uint64(end - start) + STEP)
    while start < end:
        word = NOTHING
        for place in range(WORD):  # compiled, this is one step
            word |= np.uint64(text[np.uint64(start + place)]) << np.uint64(8 * place)
        if end - start < WORD:
            word &= (ONE << np.uint64(8 * (end - start))) - ONE
        key = _mixed((key ^ word) + STEP)
        start += WORD
    return key


def _number(text: Bytes, start: int, end: int) -> float:
    """Return the number in a field, to the last bit; NaN where that takes more than one division."""
    lead = _byte(text, start)
    at = start + (lead == MINUS) + (lead == PLUS)
    mantissa, digits, point = 0, 0, end
    while at < end:
        byte = _byte(text, at)
        if ZERO <= byte <= NINE:
            mantissa = 10 * mantissa + (byte - ZERO)
            digits += 1
        elif byte == POINT and point == end:
            point = at
        else:
            return math.nan
        at += 1
    fraction = max(end - 1 - point, 0)
    if not 0 < digits <= MOST_DIGITS or mantissa > EXACT_WHOLE:
        return math.nan
    value: float = mantissa / TENS[fraction]
    return -value if lead == MINUS else value


def _find_fields(
    text: Bytes, starts: Integers, sizes: Numbers, new: Booleans, keys: Words, scores: Floats
) -> bool:
    """Fill in, for each line, where topic, docid, score and tag start, and their sizes.

    And whether its topic is another than that of the line before, its docid's key, and its score.
    Return whether all lines have six columns.
    """
    at = 0
    for line in range(len(keys)):
        for column in range(WIDTH + 1):
            byte = _byte(text, at)
            while byte == SPACE or (TAB <= byte <= RETURN and byte != NEWLINE):
                at += 1
                byte = _byte(text, at)
            if column == WIDTH:
                break
            start = at
            while byte > SPACE:
                at += 1
                byte = _byte(text, at)
            if at == start:
                return False
            place = (column + 1) // 2  # the next field takes the place of one that is not needed
            starts[place, line], sizes[place, line] = start, at - start
        if _byte(text, at) != NEWLINE:
            return False
        at += 1
        start, size = starts[0, line], sizes[0, line]
        new[line] = line == 0 or size != sizes[0, line - 1]
        shift = 0 if new[line] else start - starts[0, line - 1]
        while shift and size and not new[line]:
            size -= 1
            new[line] = _byte(text, start + size) != _byte(text, start + size - shift)
        start = starts[1, line]
        keys[line] = _key(text, start, start + sizes[1, line])
        start = starts[2, line]
        scores[line] = _number(text, start, start + sizes[2, line])
    return True


@cache
def load_kernel() -> FindFields | None:
    """Return the compiled kernel, or None where numba is not installed or switched off."""
    return compile_with_numba(_build)


def _build(numba: Any, compiled: Compile) -> FindFields:
    inline_parts(_byte, _mixed, _key, _number)
    text = numba.types.Array(numba.uint8, 1, "C", readonly=True)
    places = numba.int64[:, ::1], numba.int32[:, ::1]
    values = numba.boolean[::1], numba.uint64[::1], numba.float64[::1]
    kernel: FindFields = compiled(_find_fields, text, *places, *values)
    return kernel
