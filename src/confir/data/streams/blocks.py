"""Topics taken together: their keys, and the scores of all runs and measures on each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.scores import Scores
from confir.data.streams.hashed_ids import Words, hash_names, mix_words
from confir.parallel import in_order, iterate_blocks, single_products, usable_cores
from confir.scheduler import scheduler_in_use

# Topics of a block, at most: enough to spread the cost of a numpy call.
TOPICS_AT_ONCE = 1 << 16


class TopicBlock(NamedTuple):
    """Topics with all of their scores: no topic is in two blocks.

    Attributes
    ----------
    keys
        Hash of each topic's id.
    values
        Scores, columns (runs × measures) × topics; NaN where missing.
    """

    keys: Words
    values: Floats


class Part(Protocol):
    """What is known of some blocks, which can be merged with what is known of others."""

    def merge(self, other: Self, /) -> Self:
        """Return what is known of both."""


Known = TypeVar("Known", bound=Part)


class ScoreBlocks(ABC):
    """Scores that come in blocks, as often as they are asked for; columns are runs × measures.

    Attributes
    ----------
    source
        The file, or a name for the object.
    """

    source: str
    _axes: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self._axes[0]

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self._axes[1]

    @abstractmethod
    def blocks(self) -> Iterator[TopicBlock]:
        """Yield all topics; the blocks depend on the data alone."""

    @abstractmethod
    def name_topics(self, keys: Words) -> list[str]:
        """Return the ids of topics that are among those of the smallest keys, by their keys."""

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return what is known of all blocks, in one pass; a scheduler's workers are sent them."""
        return merge_parts([self.blocks()], describe)


class HeldScores(ScoreBlocks):
    """Scores in memory as blocks."""

    def __init__(self, scores: Scores, source: str = "scores") -> None:
        self.source = source
        self._axes = scores.runs, scores.measures
        self._scores = scores
        self._keys = hash_names(scores.topics)

    def blocks(self) -> Iterator[TopicBlock]:
        """Yield the topics in their order."""
        topics = len(self._scores.topics)
        flat = self._scores.values.reshape(topics, -1)
        for start in range(0, topics, TOPICS_AT_ONCE):
            kept = slice(start, start + TOPICS_AT_ONCE)
            yield TopicBlock(self._keys[kept], np.ascontiguousarray(flat[kept].T))

    def name_topics(self, keys: Words) -> list[str]:
        """Return the ids of topics by their keys."""
        names = dict(zip(self._keys.tolist(), self._scores.topics, strict=True))
        return [names[key] for key in keys.tolist()]


def merge_parts(
    parts: Iterable[Iterable[TopicBlock]], describe: Callable[[TopicBlock], Known]
) -> Known:
    """Return what is known of all blocks: merged in their order by part, then over the parts."""
    by_part = groupby(_described(parts, describe), key=itemgetter(0))
    return merge_all(merge_all(known for _, known in part) for _, part in by_part)


def merge_all(known: Iterable[Known]) -> Known:
    """Return what is known of some blocks, one at least, merged in their order."""
    return reduce(lambda found, part: found.merge(part), known)


def _described(
    parts: Iterable[Iterable[TopicBlock]], describe: Callable[[TopicBlock], Known]
) -> Iterator[tuple[int, Known]]:
    """Yield the number of the part and what is known of each block: from workers, or threads."""
    task = partial(_describe_numbered, describe)
    numbered = ((number, block) for number, blocks in enumerate(parts) for block in blocks)
    if scheduler_in_use() is not None:
        yield from in_order(iterate_blocks(task, numbered))
        return
    waiting: deque[Future[tuple[int, Known]]] = deque()
    with single_products, ThreadPoolExecutor(usable_cores()) as pool:
        for block in numbered:
            waiting.append(pool.submit(task, block))
            if len(waiting) > usable_cores():
                yield waiting.popleft().result()
        for one in waiting:
            yield one.result()


def _describe_numbered(
    describe: Callable[[TopicBlock], Known], numbered: tuple[int, TopicBlock]
) -> tuple[int, Known]:
    number, block = numbered
    return number, describe(block)


def smallest_keys(keys: Words, count: int) -> Integers:
    """Return the places of the keys that come first when mixed once more, at most so many.

    A sample of the topics that does not depend on their order.
    """
    mixed = mix_words(keys)
    if len(keys) <= count:
        return np.arange(len(keys))
    return np.argpartition(mixed, count - 1)[:count]
