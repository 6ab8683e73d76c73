"""Whole lists by topic, in memory or on disk, and the blocks of topics that are worked on at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from confir.arrays import Integers

if TYPE_CHECKING:
    from confir.data.lists.held_lists import HeldLists
    from confir.data.scanning.stored_lists import StoredLists

# Whole lists that are looked at some topics at a time; `HeldLists` says what both have.
TopicLists: TypeAlias = "HeldLists | StoredLists"

# Listed documents of a run that are worked on at a time: what is computed of them stays in the cache.
_BLOCK = 1 << 16
# All runs together: at most this many times as many documents.
_RUNS_AT_ONCE = 48


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
