"""Temporary folders in which rows and keys are spilled: a file per part of them, by their hashes."""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, TypeVar

import numpy as np

from confir.arrays import Integers
from confir.data.ids import Words
from confir.errors import UnreadableError
from confir.parallel import run_in_threads

Found = TypeVar("Found")

# Keys that are sorted together, about: small arrays are sorted faster.
_KEYS_AT_ONCE = 1 << 15
# Files that are open at the same time, at most: macOS allows a process 256 of all kinds.
_MOST_PARTS = 128


@contextmanager
def needing_room(folder: str, size: int) -> Iterator[None]:
    """Say where something could not be spilled, and how many bytes it needs."""
    try:
        yield
    except UnreadableError:  # of what is spilled
        raise
    except OSError as error:
        raise UnreadableError(
            f"{folder}: topics cannot be put into order there ({error.strerror or error}); expected "
            f"room for {size / 2**20:,.0f} MB, or a folder with more in TMPDIR"
        ) from None


def close_unneeded(files: IO[bytes] | ExitStack) -> None:
    """Close files whose content is not needed, even if the disk is full."""
    with suppress(OSError):
        files.close()


def count_parts(rows: int, rows_at_once: int) -> int:
    """Return into how many parts so many rows are put."""
    return min(_MOST_PARTS, max(1, -(-rows // rows_at_once)))


class SpillFolder:
    """A folder of parts, which goes away with this object."""

    def __init__(self, rows: int, rows_at_once: int) -> None:
        import tempfile

        self.parts = count_parts(rows, rows_at_once)
        self._folder = Path(tempfile.mkdtemp(prefix="confir-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def path(self, part: int, name: str = "rows") -> Path:
        """Return the file of a part."""
        return self._folder / f"{name}-{part:03d}"

    def sort(self, keys: Words) -> tuple[Integers, list[int]]:
        """Return the order of topics by their parts, which keys decide, and where each part ends."""
        high = (keys >> np.uint64(32)).astype(np.int64)
        part = ((high * self.parts) >> 32).astype(np.uint8)
        ends = np.cumsum(np.bincount(part, minlength=self.parts))
        return np.argsort(part, kind="stable"), ends.tolist()

    def open_parts(self, opened: ExitStack) -> list[IO[bytes]]:
        """Return the files of all parts, to be written and closed with ``opened``."""
        return [opened.enter_context(open(self.path(part), "wb")) for part in range(self.parts)]

    @contextmanager
    def writing(self, size: int) -> Iterator[None]:
        """Remove the folder where it cannot be written, and say how many bytes it needs."""
        try:
            with needing_room(str(self._folder), size):
                yield
        except BaseException:
            self._remove()
            raise


class DistinctKeys:
    """Keys spilled to disk in parts, to count those that differ; ``count`` is their number.

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
        return SpillFolder(self._most, _KEYS_AT_ONCE)

    @cached_property
    def _files(self) -> list[IO[bytes]]:
        return self._folder.open_parts(self._opened)

    def add(self, keys: Words) -> None:
        """Spill keys; several threads may do so."""
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
