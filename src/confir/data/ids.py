"""Ids as bytes, as numbers and as keys, for millions of ids of which few are needed as text.

Keys are 64-bit hashes, the same on every machine and for every partition of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from confir.arrays import Booleans, Bytes, Integers, Numbers

Words = npt.NDArray[np.uint64]

# SplitMix64 (Steele, Lea & Flood 2014): the step of its counter, and the factors that mix it.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = (np.uint64(shift) for shift in (27, 30, 31, 32))

_WORD = 8  # bytes
# What is kept of a word of which so many bytes belong to an id.
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(_WORD + 1)], np.uint64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Docids(Sequence[str]):
    """Docids in a certain order.

    Attributes
    ----------
    content
        The docids in UTF-8; each is followed by a byte that is no part of it, and the last one by
        at least eight: kernels read eight bytes at a time.
    starts, sizes
        Where each docid starts, and how many bytes it has.
    """

    content: Bytes
    starts: Integers
    sizes: Numbers

    @staticmethod
    def of(docids: Iterable[str]) -> Docids:
        """Return docids that are given as text."""
        encoded = [docid.encode() for docid in docids]
        sizes = np.fromiter(map(len, encoded), np.int32, len(encoded))
        content = np.frombuffer(bytearray(b"\n".join([*encoded, b"\n" * 8])), np.uint8)
        return Docids(content, np.cumsum(sizes + 1, dtype=np.int64) - (sizes + 1), sizes)

    def have_blanks(self) -> Booleans:
        """Return which docids hold blanks, as no docid of a file in TREC format does."""
        ends = self.starts + self.sizes
        first, last = self.starts.min(initial=len(self.content)), ends.max(initial=0)
        blanks = first + np.flatnonzero(self.content[first:last] <= ord(" "))
        found: Booleans = np.searchsorted(blanks, ends) > np.searchsorted(blanks, self.starts)
        return found

    def encoded(self, place: int) -> bytes:
        """Return the bytes of one docid."""
        start = int(self.starts[place])
        return self.content[start : start + int(self.sizes[place])].tobytes()

    def __len__(self) -> int:
        """Return the number of docids."""
        return len(self.sizes)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice | Integers | Numbers) -> Docids: ...

    def __getitem__(self, place: int | slice | Integers | Numbers) -> str | Docids:
        """Return the text of one docid; or those in a slice or at some places."""
        if isinstance(place, slice | np.ndarray):
            return Docids(self.content, self.starts[place], self.sizes[place])
        return self.encoded(place).decode()


@dataclass(slots=True, eq=False, repr=False)
class DocumentNumbers:
    """Numbers docids in the order in which they first occur."""

    _numbers: dict[str, int] = field(init=False, default_factory=dict)

    def number(self, docids: Sequence[str]) -> Integers:
        """Return the number of each docid, a new one where it has none."""
        numbers = self._numbers
        find = numbers.setdefault
        return np.array([find(docid, len(numbers)) for docid in docids], np.int64)

    def docids(self) -> Docids:
        """Return the docids in the order of their numbers."""
        return Docids.of(self._numbers)


def mix_words(words: Words) -> Words:
    """Return hashed words: the output function of SplitMix64."""
    mixed = (words ^ (words >> S30)) * FIRST_FACTOR
    mixed = (mixed ^ (mixed >> S27)) * SECOND_FACTOR
    result: Words = mixed ^ (mixed >> S31)
    return result


def hash_names(names: Sequence[str]) -> Words:
    """Return the key of each name."""
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return hash_bytes(b"".join(encoded), np.concatenate([[0], ends]).astype(np.int64))


def hash_column(ids: Any) -> Words:
    """Return the key of each id in an Arrow array of type large_string, without missing ones."""
    _, offsets, content = ids.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(ids) + 1, 8 * ids.offset)
    return hash_bytes(memoryview(content or b""), bounds)


def hash_bytes(content: bytes | memoryview, offsets: Integers) -> Words:
    """Return the key of each id in text that holds them one after the other.

    Parameters
    ----------
    content
        The ids in UTF-8.
    offsets
        Where each begins, and where the last one ends.
    """
    first = int(offsets[0])
    text = np.frombuffer(content, np.uint8, int(offsets[-1]) - first, first)
    padded = np.concatenate([text, np.zeros(_WORD, np.uint8)])
    words = np.ndarray((len(text) + 1,), "<u8", padded, strides=(1,))
    starts, sizes = offsets[:-1] - first, np.diff(offsets)
    keys = mix_words(sizes.astype(np.uint64) + STEP)
    for place in range(0, int(sizes.max(initial=0)), _WORD):
        rest = np.clip(sizes - place, 0, _WORD)
        word = words[np.minimum(starts + place, len(text))] & _MASKS[rest]
        keys = np.where(rest > 0, mix_words((keys ^ word) + STEP), keys)
    return keys
