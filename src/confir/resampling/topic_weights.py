"""The topics that each replicate of the bootstrap draws, and means over them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import InvalidValueError
from confir.resampling.shared_draws import draw_once

# Counts of at most this are kept in bytes; more than 255 draws of a topic need more.
_Counts: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]

# Topics drawn at once, and weights that a product takes at once: these stay in the cache.
_DRAWN_AT_ONCE = 1 << 20
_WEIGHTS_AT_ONCE = 1 << 18

# Up to so many weights are kept, for further products: 16 MB.
_WEIGHTS_KEPT = 1 << 21

# The largest number of weights: a byte each, and eight where a statistic needs them all at once.
_MOST_WEIGHTS = 1 << 30


@dataclass(frozen=True, eq=False)
class TopicWeights:
    """Replicate weights of topics: the share of the draws that each has.

    They are kept as counts, which take an eighth of the memory.

    Attributes
    ----------
    counts
        How often each topic is drawn: replicates × topics.
    draws
        Number of draws of a replicate.
    """

    counts: _Counts
    draws: int

    def __len__(self) -> int:
        """Return the number of replicates."""
        return len(self.counts)

    def shares(self) -> Floats:
        """Return all weights: replicates × topics."""
        return self.counts / np.float64(self.draws)

    @cached_property
    def _kept(self) -> Floats | None:
        return self.shares() if self.counts.size <= _WEIGHTS_KEPT else None

    def means(self, values: Floats) -> Floats:
        """Return the weighted means of values, topics × columns: columns × replicates."""
        if self._kept is not None:
            return resampled_means(values, self._kept)
        turned = np.ascontiguousarray(values.T)
        means = np.empty((len(turned), len(self)))
        rows = max(1, _WEIGHTS_AT_ONCE // len(values))
        for start in range(0, len(self), rows):
            block = slice(start, start + rows)
            means[:, block] = turned @ (self.counts[block] / np.float64(self.draws)).T
        return means


Weights = TypeVar("Weights")


class DrawnWeights(Generic[Weights]):
    """Weights from a generator; pickled as the generator in its state before they were drawn.

    Other processes draw them again, as they may be too large to send.

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


def resampled_means(values: Floats, weights: Floats | TopicWeights) -> Floats:
    """Return the means of values, topics × columns, on each replicate: columns × replicates.

    Weights may also be an array, replicates × topics.
    """
    if isinstance(weights, TopicWeights):
        return weights.means(values)
    means: Floats = values.T @ weights.T
    return means


def draw_topics(
    topics: int, replicates: int, rng: np.random.Generator, draws: int | None = None
) -> TopicWeights:
    """Return replicate weights; as many topics are drawn as there are, or another number."""
    if replicates * topics > _MOST_WEIGHTS:
        raise InvalidValueError(
            f"{replicates:,} replicates of {topics:,} topics are {replicates * topics:,} weights; "
            f"expected at most {_MOST_WEIGHTS:,}: fewer replicates (or, for intervals of means, a "
            "method that draws none, such as t)"
        )
    size = replicates, topics, topics if draws is None else draws
    return draw_once(rng, size, lambda: _draw(*size, rng))


def topic_weights(topics: int, replicates: int, rng: np.random.Generator) -> Floats:
    """Return the weights that `draw_topics` draws, all at once: B × topics."""
    return draw_topics(topics, replicates, rng).shares()


def _draw(replicates: int, topics: int, draws: int, rng: np.random.Generator) -> TopicWeights:
    rows = max(1, _DRAWN_AT_ONCE // topics)
    counts: _Counts = np.empty((replicates, topics), np.uint8)
    for start in range(0, replicates, rows):
        drawn = topic_draws(topics, min(rows, replicates - start), rng, draws)
        drawn += np.arange(len(drawn))[:, None] * topics
        found = np.bincount(drawn.reshape(-1), minlength=len(drawn) * topics)
        if found.max(initial=0) > np.iinfo(counts.dtype).max:
            counts = counts.astype(np.int64)
        counts[start : start + len(drawn)] = found.reshape(len(drawn), topics)
    counts.flags.writeable = False
    return TopicWeights(counts, draws)


def topic_draws(
    topics: int, replicates: int, rng: np.random.Generator, draws: int | None = None
) -> Integers:
    """Return the topics drawn in each replicate: B × topics, or × another number of draws."""
    size = (replicates, topics if draws is None else draws)
    return rng.integers(0, topics, size, dtype=np.int64)
