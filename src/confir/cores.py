"""The cores at work: threads within threads take idle cores only.

More threads than cores would push each other's arrays out of the processor's caches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Products:
    """Whether OpenBLAS was limited to one thread before numpy was loaded; asking the library takes time."""

    single = False


class _Own(threading.local):
    """Of each thread, how many cores it takes: one while it works on a task."""

    taken = 0


class Cores:
    """Counts the cores that threads of this process take for tasks."""

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self._taken = 0
        self._own = _Own()

    def free(self, cores: int) -> int:
        """Return how many of the cores may work for this thread: its own one, and idle ones."""
        with self._counting:
            return max(1, cores - self._taken + self._own.taken)

    @contextmanager
    def taking(self, cores: int) -> Iterator[None]:
        """Let this thread take one core, for a task, or none while it waits for other threads."""
        before = self._own.taken
        self._take(cores)
        try:
            yield
        finally:
            self._take(before)

    def _take(self, cores: int) -> None:
        with self._counting:
            self._taken += cores - self._own.taken
        self._own.taken = cores
