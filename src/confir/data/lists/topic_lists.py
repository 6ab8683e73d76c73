"""Whole lists by topic, in memory or on disk, and the blocks of topics that are worked on at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.lists.held_lists import HeldLists
from confir.data.lists.rankings import Rankings
from confir.data.qrels import Qrels

# Listed documents of a run that are worked on at a time: what is computed of them stays in the cache.
_BLOCK = 1 << 16
# All runs together: at most this many times as many documents.
_RUNS_AT_ONCE = 48


class TopicLists(Protocol):
    """Whole lists that are looked at some topics at a time: held in memory, or stored on disk.

    What it names is explained in `HeldLists`.
    """

    @property
    def qrels(self) -> Qrels:
        """The judgements; their topics are the topics of the lists."""

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""

    @property
    def unknown(self) -> tuple[tuple[str, ...], ...]:
        """Topics of each run that the qrels lack."""

    @property
    def mentioned(self) -> int:
        """Number of distinct docids in qrels and runs, lists of unknown topics included."""

    @property
    def depth(self) -> Integers:
        """Length of each list: runs × topics."""

    def rankings(self) -> list[Rankings]:
        """Return where the judged documents stand in the lists of each run."""

    def of_topics(self, start: int, stop: int, depth: Integers | None = None) -> HeldLists:
        """Return the lists of some consecutive topics, to be held.

        Whole, or so many of their documents from the top: runs × these topics.
        """

    def scores_of_topics(self, start: int, stop: int) -> Floats:
        """Return the retrieval scores in these lists."""


def topic_blocks(depth: Integers) -> list[tuple[int, int]]:
    """Return consecutive topics to work on at a time: the first ones, and the ends.

    Parameters
    ----------
    depth
        Number of documents in each list: runs × topics.
    """
    sizes = np.maximum(depth.max(axis=0, initial=0), depth.sum(axis=0) // _RUNS_AT_ONCE)
    return split_by_size(sizes, _BLOCK)


def split_by_size(sizes: Integers, most: int) -> list[tuple[int, int]]:
    """Return parts of consecutive entries that have a certain size, or little more, together."""
    starts = np.flatnonzero(np.diff(np.cumsum(sizes) // most, prepend=-1)).tolist()
    return list(pairwise([*starts, len(sizes)]))
