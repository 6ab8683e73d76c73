"""The distinct documents of several lists of a topic."""

from __future__ import annotations

import numpy as np

from confir.arrays import Integers, Numbers

# A table of all numbers is faster than sorting, up to this multiple of the documents.
_TABLE_SHARE = 32


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
