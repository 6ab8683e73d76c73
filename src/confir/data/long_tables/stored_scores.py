"""Scores of any number of topics, stored on disk as they are computed."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from confir.data.long_tables.id_hashes import Words, mix_words
from confir.data.long_tables.score_blocks import (
    Known,
    ScoreBlocks,
    TopicBlock,
    describe_blocks,
    merge_all,
)
from confir.data.long_tables.spill_folder import close_unneeded, needing_room

# Topics whose ids are kept: those of a sample.
NAMED_TOPICS = 2_000


class StoredScores(ScoreBlocks):
    """Blocks of scores in a file without a name, which goes away with this object."""

    def __init__(self, runs: tuple[str, ...], measures: tuple[str, ...], source: str) -> None:
        self.source = source
        self._axes = runs, measures
        self._sizes: list[int] = []
        self._named = NamedTopics()
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
        self._named.add(block.keys, ids)

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return what is known of all blocks."""
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
        return self._named.find(keys)


class NamedTopics:
    """The ids of the topics whose mixed keys are the smallest, by their keys."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self._largest = np.uint64(2**64 - 1)

    def add(self, keys: Words, ids: Any, rows_per_topic: int = 1) -> None:
        """Keep the ids, in an Arrow array, of those that are among the smallest so far."""
        mixed = mix_words(keys)
        places = np.flatnonzero(mixed <= self._largest)
        if not len(places):
            return
        places = places[np.argsort(mixed[places], kind="stable")[: rows_per_topic * NAMED_TOPICS]]
        self._keep(dict(zip(keys[places].tolist(), ids.take(places).to_pylist(), strict=True)))

    def merge(self, other: NamedTopics) -> None:
        """Keep the ids that another has, of those that are among the smallest of both."""
        self._keep(other._ids)

    def _keep(self, ids: dict[int, str]) -> None:
        if not ids:
            return
        self._ids |= ids
        kept = np.array(list(self._ids), np.uint64)
        order = np.argsort(mix_words(kept), kind="stable")[:NAMED_TOPICS]
        self._ids = {key: self._ids[key] for key in kept[order].tolist()}
        if len(order) == NAMED_TOPICS:
            self._largest = mix_words(kept[order[-1:]])[0]

    def find(self, keys: Words) -> list[str]:
        """Return the ids of topics by their keys."""
        return [self._ids[key] for key in keys.tolist()]
