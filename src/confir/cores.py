"""The cores at work: threads within threads take idle cores only.

More threads than cores would push each other's arrays out of the processor's caches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Products:
    """Whether OpenBLAS was told to use one thread before numpy was loaded; to ask it takes time."""

    single = False


class Cores:
    """Counts the threads of this process that work on tasks."""

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self._busy = 0
        self._own = threading.local()

    def free(self, cores: int) -> int:
        """Return how many of the cores may work for this thread: its own one, and idle ones."""
        with self._counting:
            return max(1, cores - self._busy + self._works())

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count the core of this thread, which works on a task."""
        with self._counted(1):
            yield

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Leave the core of this thread to others, for which it waits."""
        with self._counted(-self._works()):
            yield

    def _works(self) -> int:
        works: int = getattr(self._own, "works", 0)
        return works

    @contextmanager
    def _counted(self, change: int) -> Iterator[None]:
        self._change(change)
        try:
            yield
        finally:
            self._change(-change)

    def _change(self, change: int) -> None:
        with self._counting:
            self._busy += change
        self._own.works = self._works() + change
