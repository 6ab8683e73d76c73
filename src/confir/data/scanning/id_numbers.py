"""Numbers of the docids in a block, by a compiled hash table that grows."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from confir.arrays import Bytes, Integers
from confir.data.ids import Docids
from confir.data.scanning.block_scanner import Column
from confir.data.scanning.scan_kernels import WORD, IdTable, ScanKernels


class IdNumbers:
    """Gives each docid a number, in the order in which they come; for several threads.

    Docids whose hashes collide too often for a table, as those do that were made for it, get their
    numbers by a dictionary of Python: the same ones, in time that grows with the docids alone.
    """

    def __init__(self, kernels: ScanKernels) -> None:
        self._kernels = kernels
        self._entering = threading.Lock()
        self._count = 0
        self._with_blanks: dict[bytes, int] = {}
        self._colliding: dict[bytes, int] | None = None
        self._table = IdTable(
            np.zeros(WORD, np.uint8),
            np.zeros(1, np.int64),
            np.zeros(2, np.uint64),
            np.array([0, 2]),
        )

    def number(self, docids: Sequence[str]) -> Integers:
        """Return the number of each docid, a new one where it has none."""
        given = docids if isinstance(docids, Docids) else Docids.of(docids)
        whole = ~given.have_blanks()
        numbers = np.empty(len(given), np.int64)
        numbers[whole] = self.number_in(given.content, given.starts[whole])
        for place in np.flatnonzero(~whole).tolist():
            with self._entering:
                numbers[place] = self._number_text(given[place].encode(), self._with_blanks)
        return numbers

    def number_in(self, block: Bytes, starts: Integers) -> Integers:
        """Return the numbers of the docids that start at some positions of a block."""
        tags, ends = self._kernels.hash_ids(block, starts)
        with self._entering:
            if self._colliding is None:
                self._make_room(len(starts), int((ends - starts + 1).sum()))
                numbers, count = self._kernels.number_ids(
                    block, starts, tags, ends, self._table, self._count
                )
                if count >= 0:
                    self._count = count
                    return numbers
                self._count = -1 - count
                entered = self.docids()
                self._colliding = {entered.encoded(n): n for n in range(len(entered))}
            known = self._colliding
            content = block.tobytes()
            spans = zip(starts.tolist(), ends.tolist(), strict=True)
            return np.array([self._number_text(content[a:b], known) for a, b in spans], np.int64)

    def docids(self) -> Docids:
        """Return the docids in the order of their numbers."""
        starts = self._table.starts[: self._count + 1]
        return Docids(self._table.text, starts[:-1], (np.diff(starts) - 1).astype(np.int32))

    def _number_text(self, docid: bytes, known: dict[bytes, int]) -> int:
        """Return the number of a docid by a dictionary, a new one where it has none."""
        if docid not in known:
            text = np.frombuffer(docid + b"\n", np.uint8)
            self._make_room(1, len(text))
            start = self._table.starts[self._count]
            self._table.text[start : start + len(text)] = text
            known[docid] = self._count
            self._count += 1
            self._table.starts[self._count] = start + len(text)
        return known[docid]

    def _make_room(self, ids: int, size: int) -> None:
        """Let the table grow until a number of further ids, of a number of bytes, fit into it."""
        count, table = self._count, self._table
        used = int(table.starts[count])
        if used + size + WORD > len(table.text):
            table = table._replace(text=_extended(table.text, used, 2 * (used + size + WORD)))
        if count + ids + 1 > len(table.starts):
            table = table._replace(starts=_extended(table.starts, count + 1, 2 * (count + ids + 1)))
        if self._colliding is None and 2 * (count + ids) > len(table.slots):
            capacity = 1 << (2 * (count + ids)).bit_length()
            slots = np.zeros(capacity, np.uint64)
            self._kernels.move_slots(table.slots, slots)
            table = table._replace(slots=slots, bounds=np.array([0, capacity]))
        self._table = table


def _extended(array: Column, used: int, size: int) -> Column:
    """Return a longer array that begins with what is used of another."""
    longer = np.zeros(size, array.dtype)
    longer[:used] = array[:used]
    return longer
