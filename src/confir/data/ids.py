"""Ids as bytes, as numbers and as keys, for millions of ids of which few are needed as text.

Keys are 64-bit hashes, the same on every machine and for every partition of the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

WORD = 8  # bytes
_LEAST_SLOTS = 1 << 10
# What is kept of a word of which so many bytes belong to an id.
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], np.uint64)


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
        listed: Sequence[Any] = docids if isinstance(docids, Sequence) else list(docids)
        joined = "\n".join([*listed, "\n" * WORD])
        content = np.frombuffer(bytearray(joined, "utf-8", "surrogatepass"), np.uint8)
        if not joined.isascii():
            listed = [docid.encode("utf-8", "surrogatepass") for docid in listed]
        sizes = np.fromiter(map(len, listed), np.int32, len(listed))
        return Docids(content, np.cumsum(sizes + 1, dtype=np.int64) - (sizes + 1), sizes)

    def joined(self) -> Bytes:
        """Return the docids one after the other, a newline after each."""
        ends = np.cumsum(self.sizes + 1, dtype=np.int64)
        first = ends - (self.sizes + 1)
        places = np.repeat(self.starts - first, self.sizes + 1)
        places += np.arange(len(places))
        content: Bytes = self.content[places]
        content[ends - 1] = ord("\n")
        return content

    def keys(self) -> Words:
        """Return the key of each docid."""
        return hash_spans(self.content, self.starts, self.sizes)

    def equal(self, others: Docids) -> Booleans:
        """Return which docids equal those in the same place of others, byte by byte."""
        same: Booleans = self.sizes == others.sizes
        for place in range(0, int(self.sizes.max(initial=0)), WORD):
            mask = _MASKS[np.clip(self.sizes - place, 0, WORD)]
            words = (_words_at(one.content, one.starts + place) for one in (self, others))
            same &= (next(words) ^ next(words)) & mask == 0
        return same

    def differ(self) -> Booleans:
        """Return which docids differ from the one before; the first one does."""
        new = np.append(True, self.sizes[1:] != self.sizes[:-1])
        for place in range(0, int(self.sizes.max(initial=0)), WORD):
            words = words_of(self.content, self.starts, self.sizes, place)
            new[1:] |= words[1:] != words[:-1]
        return new

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


class KeyTable:
    """Finds keys in a hash table that grows; many keys at a time.

    A slot is chosen by a factor drawn anew for each table, so that no ids can be made that need many steps.

    Attributes
    ----------
    count
        Number of different keys that were entered.
    """

    def __init__(self) -> None:
        self.count = 0
        self._keys = np.zeros(1, np.uint64)
        self._slots = np.full(_LEAST_SLOTS, -1, np.int32)
        self._factor = np.uint64(int.from_bytes(os.urandom(WORD), "little") | 1)

    def find(self, keys: Words) -> Numbers:
        """Return the number of each key, -1 where it was not entered."""
        return self._search(keys)[0]

    def enter(self, keys: Words) -> tuple[Numbers, Integers]:
        """Return the number of each key, and where new ones first occur, which have the next numbers."""
        most = self.count + len(keys)
        if 2 * most > len(self._slots):
            entered, self.count = self._keys[: self.count], 0
            self._slots = np.full(2 << (2 * most).bit_length(), -1, np.int32)
            self.enter(entered)
        self._keys = with_room(self._keys, self.count, len(keys))
        self._keys[self.count : most] = keys
        numbers, places = self._search(keys, self.count)
        fresh = np.flatnonzero(numbers == np.arange(self.count, most))
        ranks = np.arange(self.count, self.count + len(fresh), dtype=np.int32)
        self._keys[ranks] = keys[fresh]
        self._slots[places[fresh]] = ranks
        later = np.flatnonzero(numbers >= self.count)
        numbers[later] = ranks[np.searchsorted(fresh, numbers[later] - self.count)]
        self.count += len(fresh)
        return numbers, fresh

    def _named(self, keys: Words) -> Integers:
        """Return the slot at which the search for each key begins."""
        shift = np.uint64(65 - len(self._slots).bit_length())
        return ((keys * self._factor) >> shift).astype(np.int64)

    def _search(self, keys: Words, first: int | None = None) -> tuple[Numbers, Integers]:
        """Return what stands in the slot where the search for each key ends, and that slot.

        With ``first``, free slots are taken: the key in place i enters its number, ``first`` + i.
        """
        slots, most = self._named(keys), len(self._slots) - 1
        numbers, left = self._slots[slots], np.arange(len(keys))
        own, place = keys, slots
        found = numbers
        while True:
            if first is not None and found.min(initial=0) < 0:
                free = np.flatnonzero(found < 0)[
                    ::-1
                ]  # the last to be written stays: the first one
                self._slots[place[free]] = left[free] + first
                numbers[left] = found = self._slots[place]
            going = np.flatnonzero(found >= 0)
            going = going[self._keys[found[going]] != own[going]]
            if not len(going):
                return numbers, slots
            left, own, place = left[going], own[going], (place[going] + 1) & most
            slots[left] = place
            numbers[left] = found = self._slots[place]


class DocumentNumbers:
    """Numbers docids in the order in which they first occur."""

    def __init__(self) -> None:
        self._table = KeyTable()
        self._content = np.zeros(WORD, np.uint8)
        self._starts, self._sizes = np.zeros(1, np.int64), np.zeros(1, np.int32)
        self._size = self._count = 0
        self._by_text: dict[bytes, int] | None = None

    def number(self, docids: Docids | Sequence[str], keys: Words | None = None) -> Integers:
        """Return the number of each docid, a new one where it has none.

        Different docids of one key, which occur only where they were made so, are told apart by their
        text from then on.
        """
        given = docids if isinstance(docids, Docids) else Docids.of(docids)
        if self._by_text is None:
            before = self._size
            numbers, fresh = self._table.enter(given.keys() if keys is None else keys)
            self._append(given[fresh])
            if given.equal(self.docids()[numbers]).all():
                return numbers.astype(np.int64)
            self._count -= len(fresh)
            self._size = before
            entered = self.docids()
            self._by_text = {entered.encoded(number): number for number in range(self._count)}
        known = self._by_text
        found: list[int] = []
        new: list[int] = []
        for place in range(len(given)):
            text = given.encoded(place)
            if text not in known:
                known[text] = len(known)
                new.append(place)
            found.append(known[text])
        self._append(given[np.array(new, np.int64)])
        return np.array(found, np.int64)

    def docids(self) -> Docids:
        """Return the docids in the order of their numbers."""
        return Docids(self._content, self._starts[: self._count], self._sizes[: self._count])

    def _append(self, docids: Docids) -> None:
        joined, count = docids.joined(), self._count + len(docids)
        self._content = with_room(self._content, self._size, len(joined) + WORD)
        self._content[self._size : self._size + len(joined)] = joined
        self._starts = with_room(self._starts, self._count, len(docids))
        self._sizes = with_room(self._sizes, self._count, len(docids))
        ends = self._size + np.cumsum(docids.sizes + 1, dtype=np.int64)
        self._starts[self._count : count] = ends - (docids.sizes + 1)
        self._sizes[self._count : count] = docids.sizes
        self._size, self._count = self._size + len(joined), count


def with_room(array: Any, used: int, more: int) -> Any:
    """Return an array with room for more entries after those in use: itself, or a longer one."""
    if used + more <= len(array):
        return array
    longer = np.empty(max(used + more, used + used // 2), array.dtype)
    longer[:used] = array[:used]
    return longer


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
    padded = np.concatenate([text, np.zeros(WORD, np.uint8)])
    return hash_spans(padded, offsets[:-1] - first, np.diff(offsets))


def hash_spans(content: Bytes, starts: Integers, sizes: Integers | Numbers) -> Words:
    """Return the key of each id in text that holds at least eight bytes after the last one."""
    keys = mix_words(sizes.astype(np.uint64) + STEP)
    for place in range(0, int(sizes.max(initial=0)), WORD):
        mixed = mix_words((keys ^ words_of(content, starts, sizes, place)) + STEP)
        keys = np.where(sizes > place, mixed, keys)
    return keys


def words_of(content: Bytes, starts: Integers, sizes: Integers | Numbers, place: int) -> Words:
    """Return the eight bytes of each id from a place on, the first one lowest, with zeros after its end.

    At least eight bytes follow the last id in ``content``.
    """
    found: Words = _words_at(content, starts + place) & _MASKS[np.clip(sizes - place, 0, WORD)]
    return found


def _words_at(content: Bytes, places: Integers) -> Words:
    """Return the eight bytes at some places; the last eight for places beyond them."""
    words = np.ndarray((len(content) - WORD + 1,), "<u8", content, strides=(1,))
    found: Words = words[np.minimum(places, len(words) - 1)]
    return found
