"""Simulated judgements of unjudged documents, drawn like those of the pool.

A document is drawn the judgement of one that was judged for the same topic and that the runs rank
alike: the pool's own rate of each gain at that rank (Fröbe et al. 2023). Where few documents are
judged, those were chosen for a reason, and say little about the others: no judgements are drawn.
"""

from __future__ import annotations

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.unjudged_documents import Pool

# Bands of ranks: two for each doubling, so that each holds some judged documents.
_BANDS_PER_DOUBLING = 2

# The rate of all topics counts as much as this many documents of the topic: where a topic has
# none judged in a band, it decides.
_PRIOR = 1.0


# Judgements are drawn down to the rank at which fewer documents are judged than this share.
_JUDGED_ENOUGH = 0.5


def drawing_depth(lists: HeldLists) -> int:
    """Return the rank down to which most documents are judged, at least half of each band; or 0."""
    bands = _bands(int(lists.depth.max(initial=1)))
    starts = np.repeat(lists.offsets[:-1], np.diff(lists.offsets))
    band = bands[np.arange(len(starts)) - starts + 1]
    size = int(bands[-1]) + 1
    judged = np.bincount(band, lists.judgements >= 0, size)
    enough = judged >= _JUDGED_ENOUGH * np.bincount(band, minlength=size)
    last = size if enough.all() else int(enough.argmin())
    return int(np.searchsorted(bands[1:], last))


def draw_judgements(
    lists: HeldLists, pool: Pool, replicates: int, generator: np.random.Generator
) -> Integers:
    """Return gains of unjudged documents: documents × replicates.

    Parameters
    ----------
    lists
        The lists of all runs.
    pool
        The documents to judge.
    replicates, generator
        How many judgements of each are drawn, and from what.
    """
    bands = _bands(int(lists.depth.max(initial=1)))
    below = np.cumsum(gain_rates(lists, pool.grades), axis=2)[:, :, :-1]
    limits = below[pool.topics, bands[pool.best_rank]]
    gains = np.append(0, pool.grades)
    drawn = np.empty((replicates, len(pool.topics)), np.int64)
    for row in drawn:
        row[:] = gains[(generator.random(len(row))[:, None] >= limits).sum(axis=1)]
    return np.ascontiguousarray(drawn.T)


def gain_rates(lists: HeldLists, grades: Integers) -> Floats:
    """Return the shares of judged documents with gain 0 and each grade: topics × bands × gains.

    A document's rank is the best that any run gives it. A band without judged documents has the
    rates of the next one above that has some.
    """
    bands = _bands(int(lists.depth.max(initial=1)))
    counts = _count_judged(lists, bands, grades)
    overall = counts.sum(axis=0)
    filled = np.flatnonzero(overall.sum(axis=1))
    rates = np.zeros(overall.shape)
    rates[:, 0] = 1.0
    if len(filled):
        above = np.searchsorted(filled, np.arange(len(overall)), side="right") - 1
        nearest = overall[filled[np.maximum(above, 0)]]
        rates = nearest / nearest.sum(axis=1, keepdims=True)
    mixed: Floats = (counts + _PRIOR * rates) / (counts.sum(axis=2, keepdims=True) + _PRIOR)
    return mixed


def _bands(longest: int) -> Integers:
    """Return the band of each rank, from 0 on."""
    ranks = np.maximum(np.arange(longest + 1), 1)
    _, bands = np.unique(np.floor(_BANDS_PER_DOUBLING * np.log2(ranks)), return_inverse=True)
    return bands.astype(np.int64)


def _count_judged(lists: HeldLists, bands: Integers, grades: Integers) -> Integers:
    """Return how many judged documents that runs retrieve have each gain: topics × bands × gains."""
    places = np.flatnonzero(lists.judgements >= 0)
    starts = np.repeat(lists.offsets[:-1], np.diff(lists.offsets))[places]
    best = np.full(len(lists.qrels.documents), np.iinfo(np.int64).max)
    np.minimum.at(best, lists.judgements[places], places - starts + 1)
    found = np.flatnonzero(best < np.iinfo(np.int64).max)
    gain = np.searchsorted(grades, lists.qrels.gains[found], side="right")
    shape = (len(lists.qrels.topics), int(bands.max()) + 1, len(grades) + 1)
    cells = np.ravel_multi_index(
        (lists.qrels.document_topics[found], bands[best[found]], gain), shape
    )
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
