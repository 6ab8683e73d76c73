"""What several studies draw alike is drawn once: the weights of replicates, from equal generators.

So are the largest t* of all pairs of runs, which the best run, ranks and pairs have in common.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from confir.arrays import Floats

Drawn = TypeVar("Drawn")

_shared: ContextVar[_SharedDraws | None] = ContextVar("shared draws", default=None)


class _SharedDraws:
    """Weights by what they were drawn from, with the state of the generator afterwards."""

    def __init__(self) -> None:
        self._drawing = threading.Lock()
        self._drawn: dict[tuple[bytes, tuple[int, ...]], tuple[Any, Any]] = {}
        self.maxima: dict[tuple[object, ...], Floats] = {}

    def once(
        self, rng: np.random.Generator, size: tuple[int, ...], draw: Callable[[], Drawn]
    ) -> Drawn:
        key = pickle.dumps(rng.bit_generator.state), size
        with self._drawing:
            if key not in self._drawn:
                self._drawn[key] = draw(), rng.bit_generator.state
            drawn: Drawn
            drawn, rng.bit_generator.state = self._drawn[key]
        return drawn


@contextmanager
def shared_draws() -> Iterator[None]:
    """Keep drawn weights for whoever draws the same again, in threads as well, until the end.

    What is kept already by a caller stays so.
    """
    if _shared.get() is not None:
        yield
        return
    token = _shared.set(_SharedDraws())
    try:
        yield
    finally:
        _shared.reset(token)


def draw_once(rng: np.random.Generator, size: tuple[int, ...], draw: Callable[[], Drawn]) -> Drawn:
    """Return drawn weights, those of an equal generator and size if they are kept.

    The generator is afterwards in the state in which drawing leaves it.
    """
    shared = _shared.get()
    return draw() if shared is None else shared.once(rng, size, draw)


class KeptMaxima:
    """The largest |t*| of all pairs of runs in each replicate, kept for whoever needs the same.

    Parameters
    ----------
    pairs
        The differences between runs in replicates: equal ones have equal maxima.
    borrowed
        What their variances borrow: a number of comparisons, and a variance, which sums in another
        order may round otherwise.
    """

    def __init__(self, pairs: object, borrowed: tuple[int, float]) -> None:
        shared = _shared.get()
        self._kept = None if shared is None else shared.maxima
        self._key = () if shared is None else (_digest(pairs), borrowed[0], f"{borrowed[1]:.12g}")

    def keep(self, largest: Floats) -> None:
        """Keep the maxima."""
        if self._kept is not None:
            self._kept[self._key] = largest

    def find(self, compute: Callable[[], Floats]) -> Floats:
        """Return the maxima: those that are kept, else what a function computes."""
        found = None if self._kept is None else self._kept.get(self._key)
        return compute() if found is None else found


def _digest(pairs: object) -> bytes:
    """Return what equal objects have in common and others have not; arrays are not copied."""
    buffers: list[pickle.PickleBuffer] = []
    import hashlib

    digest = hashlib.blake2b(pickle.dumps(pairs, protocol=5, buffer_callback=buffers.append))
    for buffer in buffers:
        digest.update(buffer.raw())
    return digest.digest()
