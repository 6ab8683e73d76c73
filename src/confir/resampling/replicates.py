"""Replicates of the bootstrap over topics: their seeds, the topics that they draw, and means over them.

What several studies draw alike is drawn once: the weights of replicates, from equal generators.
"""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from confir.arrays import Floats, Integers
from confir.defaults import LEVELS
from confir.errors import InvalidValueError

Rng: TypeAlias = "int | np.random.Generator | None"  # as text: numpy.random takes time to load

# Where a decision is borderline, so many times as many replicates are drawn.
FURTHER = 10

# Products of scores and weights that further replicates may take: seconds on two cores.
MOST_PRODUCTS = 20_000_000_000

# Counts of at most this are kept in bytes; more than 255 draws of a topic need more.
_Counts: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]

# Topics drawn at once, and weights that a product takes at once: these stay in the cache.
_DRAWN_AT_ONCE = 1 << 20
_WEIGHTS_AT_ONCE = 1 << 18

# Up to so many weights are kept, for further products: 16 MB.
_WEIGHTS_KEPT = 1 << 21

# The largest number of weights: a byte each, and eight where a statistic needs them all at once.
_MOST_WEIGHTS = 1 << 30


def own_seed(rng: np.random.Generator) -> int:
    """Return a seed for methods that draw their own random numbers; the generator is unchanged."""
    return int(rng.spawn(1)[0].integers(2**63))


def levels_to_settle(level: float) -> tuple[float, ...]:
    """Return the levels at which decisions must be settled: the one asked for, and the usual ones.

    So a comparison at one of these levels agrees with comparisons at the others, and with the report.
    """
    return tuple(sorted({*LEVELS, level}))


def can_draw_further(pairs: int, topics: float, replicates: int) -> bool:
    """Whether ten times as many replicates of pairs of runs take seconds, not minutes.

    Units without number are documents, whose replicates are drawn already.
    """
    return pairs > 1 and pairs * topics * FURTHER * replicates <= MOST_PRODUCTS


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
    def by_topic(self) -> Floats:
        """All weights, topics × replicates; kept, because every measure multiplies them."""
        made = np.empty(self.counts.shape[::-1])
        np.divide(self.counts.T, np.float64(self.draws), out=made)
        return made

    @cached_property
    def few_shares(self) -> Floats | None:
        """All weights where they are few, kept for further products."""
        return self.shares() if self.counts.size <= _WEIGHTS_KEPT else None


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
    means: Floats
    if not isinstance(weights, TopicWeights):
        means = values.T @ weights.T
    elif weights.few_shares is not None:
        means = values.T @ weights.few_shares.T
    else:
        turned = np.ascontiguousarray(values.T)
        means = np.empty((len(turned), len(weights.counts)))
        rows = max(1, _WEIGHTS_AT_ONCE // len(values))
        for start in range(0, len(weights.counts), rows):
            block = slice(start, start + rows)
            shares = weights.counts[block] / np.float64(weights.draws)
            means[:, block] = turned @ shares.T
    return means


@dataclass(eq=False)
class SharedDraws:
    """What several studies draw alike, and compute from it, kept until the last of them is done.

    Attributes
    ----------
    drawing
        One thread draws at a time, so that no other draws the same.
    weights
        Weights, and the state of the generator afterwards, by its state before and their size.
    maxima
        The largest t* of all pairs of runs, by what they are computed from.
    """

    drawing: threading.Lock = field(init=False, default_factory=threading.Lock)
    weights: dict[tuple[bytes, tuple[int, ...]], tuple[TopicWeights, Any]] = field(
        init=False, default_factory=dict
    )
    maxima: dict[tuple[object, ...], Floats] = field(init=False, default_factory=dict)
    digests: dict[int, tuple[Any, bytes]] = field(init=False, default_factory=dict)


SHARED: ContextVar[SharedDraws | None] = ContextVar("shared draws", default=None)


@contextmanager
def shared_draws() -> Iterator[None]:
    """Share the weights of equal draws between all studies that are called, in threads as well.

    Within a caller that shares already, they are shared with the caller's other studies.
    """
    if SHARED.get() is not None:
        yield
        return
    token = SHARED.set(SharedDraws())
    try:
        yield
    finally:
        SHARED.reset(token)


def draw_topics(
    topics: int, replicates: int, rng: np.random.Generator, draws: int | None = None
) -> TopicWeights:
    """Return replicate weights; as many topics are drawn as there are, or another number.

    Weights of an equal generator and size that are kept are not drawn again; the generator is
    afterwards in the state in which drawing leaves it.
    """
    if replicates * topics > _MOST_WEIGHTS:
        raise InvalidValueError(
            f"{replicates:,} replicates of {topics:,} topics are {replicates * topics:,} weights; "
            f"expected at most {_MOST_WEIGHTS:,}: fewer replicates (or, for intervals of means, a "
            "method that draws none, such as t)"
        )
    size = replicates, topics, topics if draws is None else draws
    return _draw_once(size, rng, lambda: _draw(*size, rng))


def draw_rows(count: Integers, replicates: int, rng: np.random.Generator) -> TopicWeights:
    """Return replicate weights of rows that stand for several units each; as many units are drawn.

    Weights of an equal generator, of the same rows, are kept as in `draw_topics`.
    """
    units = int(count.sum())

    def draw() -> TopicWeights:
        drawn = rng.multinomial(units, count / units, replicates)
        return TopicWeights(drawn.astype(np.min_scalar_type(drawn.max(initial=0))), units)

    return _draw_once((replicates, units, *count.tolist()), rng, draw)


def _draw_once(
    size: tuple[int, ...], rng: np.random.Generator, draw: Callable[[], TopicWeights]
) -> TopicWeights:
    """Return weights that studies share; the generator's state is then the one after drawing."""
    shared = SHARED.get()
    if shared is None:
        return draw()
    key = pickle.dumps(rng.bit_generator.state), size
    with shared.drawing:
        if key not in shared.weights:
            shared.weights[key] = draw(), rng.bit_generator.state
        drawn, rng.bit_generator.state = shared.weights[key]
    return drawn


def _draw(replicates: int, topics: int, draws: int, rng: np.random.Generator) -> TopicWeights:
    """Return the weights of topics, of which some replicates at a time are drawn."""
    rows = max(1, _DRAWN_AT_ONCE // topics)
    counts: _Counts = np.empty((replicates, topics), np.uint8)
    for start in range(0, replicates, rows):
        size = min(rows, replicates - start), draws
        drawn = rng.integers(0, topics, size, dtype=np.int64)
        drawn += np.arange(len(drawn))[:, None] * topics
        found = np.bincount(drawn.reshape(-1), minlength=len(drawn) * topics)
        if found.max(initial=0) > np.iinfo(counts.dtype).max:
            counts = counts.astype(np.int64)
        counts[start : start + len(drawn)] = found.reshape(len(drawn), topics)
    counts.flags.writeable = False
    return TopicWeights(counts, draws)
