"""Whole lists by topic: blocks of topics that are worked on at a time, and the distinct documents of each."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from confir.arrays import Integers, Numbers

if TYPE_CHECKING:
    from confir.data.ranked_lists.held_lists import HeldLists
    from confir.data.scanning.stored_lists import StoredLists

# Whole lists that are looked at some topics at a time; `HeldLists` says what both have.
TopicLists: TypeAlias = "HeldLists | StoredLists"

# Listed documents of a run that are worked on at a time: what is computed of them stays in the cache.
_BLOCK = 1 << 16
# All runs together: at most this many times as many documents.
_RUNS_AT_ONCE = 48
# A table of all numbers is faster than sorting, up to this multiple of the documents.
_TABLE_SHARE = 32


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


def index_distinct(
    topics: Integers, documents: Integers | Numbers, size: int
) -> tuple[Integers, Integers]:
    """Return the distinct documents of each topic, and the index of each document among them.

    Documents of a topic have the numbers ``topic * size + document``, ascending.

    Parameters
    ----------
    topics, documents
        Topic and number of each document of the lists.
    size
        Documents have numbers below this.
    """
    entries = topics * size + documents
    first = int(entries.min(initial=0))
    span = int(entries.max(initial=0)) - first + 1
    if span > _TABLE_SHARE * len(entries):
        return _sort_distinct(entries)
    entries -= first
    table = np.zeros(span, np.int32)
    table[entries] = 1
    distinct = np.flatnonzero(table)
    table[distinct] = np.arange(len(distinct), dtype=np.int32)
    return first + distinct, table[entries].astype(np.int64)


def _sort_distinct(entries: Integers) -> tuple[Integers, Integers]:
    """Return what `numpy.unique` does, faster where entries of each run are in order already."""
    order = np.argsort(entries, kind="stable")
    ordered = entries[order]
    new = np.ones(len(entries), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    index = np.empty(len(entries), np.int64)
    index[order] = np.cumsum(new) - 1
    return ordered[new], index
