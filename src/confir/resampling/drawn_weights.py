"""Replicate weights that other processes draw again, as they may be too large to send."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

Weights = TypeVar("Weights")


class DrawnWeights(Generic[Weights]):
    """Weights from a generator; pickled as the generator in its state before they were drawn.

    Parameters
    ----------
    draw
        From a generator to weights.
    rng
        The generator, which has drawn them afterwards.
    """

    def __init__(
        self, draw: Callable[[np.random.Generator], Weights], rng: np.random.Generator
    ) -> None:
        self._draw = draw
        self._before = copy.deepcopy(rng)
        self.weights = draw(rng)

    def __reduce__(self) -> tuple[Any, ...]:
        return DrawnWeights, (self._draw, self._before)
