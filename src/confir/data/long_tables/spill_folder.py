"""Temporary folders in which rows are spilled: a file per part of the topics."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import numpy as np

from confir.arrays import Integers
from confir.data.long_tables.hashed_ids import Words
from confir.errors import UnreadableError

# Files that are open at the same time, at most: macOS allows a process 256 of all kinds.
_MOST_PARTS = 128


class SupportsClose(Protocol):
    """Something that can be closed."""

    def close(self) -> None:
        """Close it."""


@contextmanager
def needing_room(folder: str, size: int) -> Iterator[None]:
    """Say where something could not be put aside, and how many bytes it needs."""
    try:
        yield
    except UnreadableError:  # of what is put aside
        raise
    except OSError as error:
        raise UnreadableError(
            f"{folder}: topics cannot be put into order there ({error.strerror or error}); expected "
            f"room for {size / 2**20:,.0f} MB, or a folder with more in TMPDIR"
        ) from None


def close_unneeded(files: SupportsClose) -> None:
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

    @contextmanager
    def writing(self, size: int) -> Iterator[None]:
        """Remove the folder where it cannot be written, and say how many bytes it needs."""
        try:
            with needing_room(str(self._folder), size):
                yield
        except BaseException:
            self._remove()
            raise
