"""What several studies draw alike is drawn once: the weights of replicates, from equal generators."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

Drawn = TypeVar("Drawn")

_shared: ContextVar[_SharedDraws | None] = ContextVar("shared draws", default=None)


class _SharedDraws:
    """Weights by what they were drawn from, with the state of the generator afterwards."""

    def __init__(self) -> None:
        self._drawing = threading.Lock()
        self._drawn: dict[tuple[bytes, tuple[int, ...]], tuple[Any, Any]] = {}

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
