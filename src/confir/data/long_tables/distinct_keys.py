"""How many different keys are there? In memory that does not grow with them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from typing import IO, TypeVar

import numpy as np

from confir.data.long_tables.hashed_ids import Words
from confir.data.long_tables.spill_folder import SpillFolder, close_unneeded
from confir.parallel import run_in_threads

Found = TypeVar("Found")

# Keys that are sorted together, about: small arrays are sorted faster.
_AT_ONCE = 1 << 15


class DistinctKeys:
    """Keys put aside on disk in parts, to count those that differ; ``count`` is their number.

    Parameters
    ----------
    most
        How many there are at most.
    """

    def __init__(self, most: int) -> None:
        self.count = 0
        self._most = most
        self._adding = threading.Lock()
        self._opened = ExitStack()
        weakref.finalize(self, close_unneeded, self._opened)

    @cached_property
    def _folder(self) -> SpillFolder:
        return SpillFolder(self._most, _AT_ONCE)

    @cached_property
    def _files(self) -> list[IO[bytes]]:
        paths = map(self._folder.path, range(self._folder.parts))
        return [self._opened.enter_context(open(path, "wb")) for path in paths]

    def add(self, keys: Words) -> None:
        """Put keys aside; several threads may do so."""
        with self._adding:
            folder = self._folder
        with folder.writing(8 * self._most):
            order, ends = folder.sort(keys)
            ordered = keys[order]
            with self._adding:
                self.count += len(keys)
                for file, start, end in zip(self._files, [0, *ends], ends, strict=False):
                    file.write(ordered[start:end].data)

    def find_repeated(self) -> int | None:
        """Return the smallest key that was added twice, or None; no more can be added."""

        def find(keys: Words) -> int | None:
            repeated = np.flatnonzero(keys[1:] == keys[:-1])
            return int(keys[repeated[0]]) if len(repeated) else None

        found = self._of_parts(find)
        return min((key for key in found if key is not None), default=None)

    def count_distinct(self) -> int:
        """Return the number of different keys; no more can be added."""

        def count(keys: Words) -> int:
            return int(np.count_nonzero(np.diff(keys))) + (len(keys) > 0)

        return sum(self._of_parts(count))

    def _of_parts(self, find: Callable[[Words], Found]) -> list[Found]:
        """Return what is found in each part of the keys, which are in ascending order there."""
        if not self.count:
            return []
        with self._folder.writing(8 * self._most):
            self._opened.close()

        def find_in(part: int) -> Found:
            keys = np.fromfile(self._folder.path(part), np.uint64)
            keys.sort()
            return find(keys)

        return run_in_threads(find_in, range(self._folder.parts))
