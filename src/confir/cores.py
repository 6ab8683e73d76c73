"""The cores at work: threads within threads take idle ones only, and products of matrices one each.

More threads than cores would evict each other's arrays from the processor's caches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any


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
        with self._counting:
            self._taken += cores - before
        self._own.taken = cores
        try:
            yield
        finally:
            with self._counting:
                self._taken += before - cores
            self._own.taken = before


class _SingleProducts:
    """Limits matrix products to one thread each while any thread is inside.

    The limit is global to the process: the first to enter sets it, and the last to leave restores it.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._changing:
            if self._inside == 0:
                self._limit = _matrix_libraries().limit(limits=1)
                _let_any_thread_change_limits()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._changing:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()
                self._limit = None
                _let_any_thread_change_limits()


_limit = _SingleProducts()


def _let_any_thread_change_limits() -> None:
    """Let other threads change limits, which threadpoolctl 3.8 allows only the first thread."""
    from threadpoolctl import OpenBLASController

    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@cache
def single_products() -> AbstractContextManager[None]:
    """Return a context in which each matrix product has one thread.

    The last bits of a product depend on the number of threads. Products of numpy have one anyway
    where the command line has seen to it.
    """
    import numpy as np

    blas = np.__config__.CONFIG["Build Dependencies"]["blas"]["name"]
    return nullcontext() if Products.single and "openblas" in blas else _limit


@cache
def _matrix_libraries() -> Any:
    """Return the controller of the BLAS libraries; creating it is slow."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
