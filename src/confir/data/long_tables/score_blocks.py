"""Blocks of topics, with the scores of all runs and measures on each: in memory, or stored on disk."""

from __future__ import annotations

import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import IO, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.ids import Words, hash_names, mix_words
from confir.data.long_tables.spill_folder import close_unneeded, needing_room
from confir.data.scores import Scores
from confir.parallel import CURRENT_SCHEDULER, in_order, iterate_blocks, run_ahead

# Topics of a block, at most: enough to spread the cost of a numpy call.
TOPICS_AT_ONCE = 1 << 16
# Topics whose ids are kept of scores on disk: those of a sample.
NAMED_TOPICS = 2_000


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
    """Summary statistics of some blocks, which can be merged with those of others."""

    def merge(self, other: Self, /) -> Self:
        """Return the summary statistics of both."""


Known = TypeVar("Known", bound=Part)
Block = TypeVar("Block")
Found = TypeVar("Found")


class ScoreBlocks(ABC):
    """Scores that are summed up in blocks, as often as asked for; columns are runs × measures.

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
    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return the summary statistics of all blocks, in one pass; the data alone decide the blocks."""

    @abstractmethod
    def name_topics(self, keys: Words) -> list[str]:
        """Return the ids of topics that are among those of the smallest keys, by their keys."""


class HeldScores(ScoreBlocks):
    """Scores in memory as blocks."""

    def __init__(self, scores: Scores) -> None:
        self.source = "scores"
        self._axes = scores.runs, scores.measures
        self._scores = scores
        self._keys = hash_names(scores.topics)

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return the summary statistics of all blocks."""
        return merge_all(describe_blocks(self._blocks(), describe))

    def _blocks(self) -> Iterator[TopicBlock]:
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


class StoredScores(ScoreBlocks):
    """Blocks of scores in a file without a name, which goes away with this object."""

    def __init__(self, runs: tuple[str, ...], measures: tuple[str, ...], source: str) -> None:
        self.source = source
        self._axes = runs, measures
        self._sizes: list[int] = []
        self._ids: dict[int, str] = {}
        self._largest = np.uint64(2**64 - 1)
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="confir-")  # noqa: SIM115 - kept open
        weakref.finalize(self, close_unneeded, self._file)

    @property
    def topics(self) -> int:
        """Number of topics."""
        return sum(self._sizes)

    def add(self, block: TopicBlock, ids: Any) -> None:
        """Store a block, and the ids of its topics, in an Arrow array, as far as needed."""
        self._sizes.append(len(block.keys))
        size = 8 * self.topics * (1 + len(block.values))
        with needing_room(tempfile.gettempdir(), size):
            self._file.write(block.keys.tobytes())
            self._file.write(block.values.tobytes())
            self._file.flush()
        self._keep_ids(block.keys, ids)

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return the summary statistics of all blocks."""
        return merge_all(describe_blocks(self.blocks(), describe))

    def blocks(self) -> Iterator[TopicBlock]:
        """Yield the blocks in the order in which they came."""
        columns, place = len(self.runs) * len(self.measures), 0
        for size in self._sizes:
            self._file.seek(place)
            keys = np.frombuffer(self._file.read(8 * size), np.uint64)
            values = np.frombuffer(self._file.read(8 * size * columns))
            place = self._file.tell()
            yield TopicBlock(keys, values.reshape(columns, size))

    def name_topics(self, keys: Words) -> list[str]:
        """Return the ids of topics that are among those of the smallest keys, by their keys."""
        return [self._ids[key] for key in keys.tolist()]

    def _keep_ids(self, keys: Words, ids: Any) -> None:
        """Keep the ids of the topics whose mixed keys are among the smallest so far."""
        mixed = mix_words(keys)
        places = np.flatnonzero(mixed <= self._largest)
        if not len(places):
            return
        places = places[np.argsort(mixed[places], kind="stable")[:NAMED_TOPICS]]
        self._ids |= zip(keys[places].tolist(), ids.take(places).to_pylist(), strict=True)
        kept = np.array(list(self._ids), np.uint64)
        order = np.argsort(mix_words(kept), kind="stable")[:NAMED_TOPICS]
        self._ids = {key: self._ids[key] for key in kept[order].tolist()}
        if len(order) == NAMED_TOPICS:
            self._largest = mix_words(kept[order[-1:]])[0]


def merge_all(known: Iterable[Known]) -> Known:
    """Return the summary statistics of some blocks, one at least, merged in their order."""
    return reduce(lambda found, part: found.merge(part), known)


def describe_blocks(blocks: Iterable[Block], describe: Callable[[Block], Found]) -> Iterator[Found]:
    """Yield what is found in each block, in their order: in threads, or on workers, to which they go."""
    if CURRENT_SCHEDULER.get() is None:
        return run_ahead(describe, blocks)
    return in_order(iterate_blocks(describe, blocks))


def smallest_keys(keys: Words, count: int) -> Integers:
    """Return the places of the keys that come first when mixed once more, at most so many.

    A sample of the topics that does not depend on their order; its own order means nothing.
    """
    mixed = mix_words(keys)
    if len(keys) <= count:
        return np.arange(len(keys))
    return np.argpartition(mixed, count - 1)[:count]
