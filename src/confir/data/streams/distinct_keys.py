"""Is every topic there once? A check in memory that does not grow with the topics."""

from __future__ import annotations

import tempfile
import weakref
from typing import IO

import numpy as np

from confir.data.streams.hashed_ids import Words
from confir.data.streams.spill_folder import needing_room

# Keys that are sorted together.
_AT_ONCE = 1 << 22


class DistinctKeys:
    """Keys put aside on disk, to find one that comes twice; ``count`` is their number."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="confir-")  # noqa: SIM115 - kept open
        self.count = 0
        self._close = weakref.finalize(self, self._file.close)

    def add(self, keys: Words) -> None:
        """Put keys aside."""
        self.count += len(keys)
        with needing_room(tempfile.gettempdir(), 8 * self.count):
            self._file.write(keys.tobytes())
            self._file.flush()

    def find_repeated(self) -> int | None:
        """Return a key that was added twice, or None; nothing can be added afterwards."""
        parts = max(1, -(-self.count // _AT_ONCE))
        step = 2**64 // parts + 1
        for part in range(parts):
            kept = np.sort(np.concatenate([np.empty(0, np.uint64), *self._between(part, step)]))
            repeated = np.flatnonzero(kept[1:] == kept[:-1])
            if len(repeated):
                return int(kept[repeated[0]])
        self._close()
        return None

    def _between(self, part: int, step: int) -> list[Words]:
        """Return the keys of one of several equal ranges."""
        self._file.seek(0)
        found = []
        while content := self._file.read(8 * _AT_ONCE):
            keys = np.frombuffer(content, np.uint64)
            found.append(keys[keys // np.uint64(step) == part] if step < 2**64 else keys)
        return found
