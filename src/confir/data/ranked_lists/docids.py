"""Docids as bytes and as numbers: there may be millions, of which few are asked for as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from confir.arrays import Booleans, Bytes, Integers, Numbers


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

    def take(self, places: Integers | Numbers) -> Docids:
        """Return the docids at some places."""
        return Docids(self.content, self.starts[places], self.sizes[places])

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
    def __getitem__(self, place: slice) -> Docids: ...

    def __getitem__(self, place: int | slice) -> str | Docids:
        """Return the text of one docid, or some of the docids."""
        if isinstance(place, slice):
            return Docids(self.content, self.starts[place], self.sizes[place])
        return self.encoded(place).decode()


class DocumentNumbers:
    """Gives each docid a number, by a dictionary."""

    def __init__(self, docids: Iterable[str] = ()) -> None:
        self._numbers = {docid: number for number, docid in enumerate(docids)}

    def number(self, docids: Sequence[str]) -> Integers:
        """Return the number of each docid, a new one where it has none."""
        numbers = self._numbers
        find = numbers.setdefault
        return np.array([find(docid, len(numbers)) for docid in docids], np.int64)

    def docids(self) -> Docids:
        """Return the docids in the order of their numbers."""
        return Docids.of(self._numbers)
