"""Q for documents that occur several times, without a loop over the copies.

Copies of a document are adjacent, so the sum of their ratios is a sum of inverses over ranks, which
are accumulated once for all lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.ranked_lists.rankings import Rankings

# Maximum number of tabulated sums.
_LARGEST_TABLE = 500_000


def sums_of_ratios(relevant: Rankings, weight: Floats, ideal: Floats) -> Floats:
    """Return the sum of Q's blended ratios over each list: runs × topics × replicates.

    The copies of a document at ranks r + 1 to r + k add ``Σ_i (A + (i - r) a) / (best + i)``: a is
    the document's weight, A that of the copies above, and ``best`` the ideal list's gain so far.

    Parameters
    ----------
    relevant
        Relevant documents, with the copies within the cutoff.
    weight
        β gain + 1 of each document.
    ideal
        β times the gain of the ideal lists' first 0, 1, … documents: topics × ranks × replicates.
    """
    spans = list(pairwise(relevant.offsets.tolist()))
    sums = np.zeros((len(spans), ideal.shape[2]))
    for topic, best in enumerate(ideal):
        lists = range(topic, len(spans), len(ideal))
        inverses = _InverseSums(best, relevant, [spans[place] for place in lists])
        for place, middle in zip(lists, inverses.middles, strict=True):
            start, stop = spans[place]
            above = _weight_above(relevant.copies[start:stop], weight[start:stop])
            if start < middle:
                rows = slice(start, middle)
                # Σ_i (A + (i - r) a) / (best + i) = (A - r a) Σ_i 1/(best + i) + a Σ_i i/(best + i)
                base = relevant.before[rows].astype(np.float64)
                base *= weight[rows, None]
                np.subtract(above[: middle - start], base, out=base)
                sums[place] += _blend(base, weight[rows], inverses.within(rows))
            if middle < stop:
                rows = slice(middle, stop)
                sums[place] += _blend(above[middle - start :], weight[rows], inverses.below(rows))
    return relevant.by_list(sums)


def _weight_above(copies: Integers, weight: Floats) -> Floats:
    """Return the weight of the copies above each document of a list, added from the top."""
    running = np.empty((len(copies) + 1, copies.shape[1]))
    running[0] = 0.0
    running[1:] = copies
    running[1:] *= weight[:, None]
    accumulate(np.add, running[:-1])
    return running[:-1]


def accumulate(combine: np.ufunc, rows: Floats) -> None:
    """Combine each row with the one above it, in place, from the top."""
    for higher, lower in pairwise(rows):
        combine(higher, lower, lower)


def _blend(base: Floats, weight: Floats, inverses: Floats) -> Floats:
    """Return the sums over documents of ``base Σ_i 1/(best + i) + weight Σ_i i/(best + i)``."""
    blended: Floats = np.einsum("ij,ij->j", base, inverses[..., 0])
    blended += np.einsum("i,ij->j", weight, inverses[..., 1])
    return blended


class _InverseSums:
    """Sums of ``1/(best + i)`` and ``i/(best + i)`` over the ranks i of a document's copies.

    For the lists of one topic. The two sums are adjacent in memory, to be looked up together.

    Parameters
    ----------
    best
        The ideal list's gain after 0, 1, … documents: ranks × replicates.
    relevant
        Relevant documents, with the copies within the cutoff.
    spans
        The topic's lists: index of the first document, and one after the last.

    Attributes
    ----------
    middles
        The first document of each list below the end of the ideal list in all replicates; one after
        the last if there is none, or if ``below`` would need too large a table.
    """

    def __init__(self, best: Floats, relevant: Rankings, spans: Sequence[tuple[int, int]]) -> None:
        self.before, self.copies = relevant.before, relevant.copies
        self.replicate = np.arange(best.shape[1])
        # Documents keep their order in every replicate: the last one is the lowest.
        most, deepest = int(self.copies.max()), self._deepest(spans)
        highest = self.before.min(axis=1)
        end = len(best) - 1
        if deepest >= end and not self._tabulate(best[-1], deepest, most):
            end = deepest + 1
        self.middles = [
            start + int(np.searchsorted(highest[start:stop], end)) for start, stop in spans
        ]
        starts = [start for start, _ in spans]
        within = self._deepest(list(zip(starts, self.middles, strict=True)))
        self.from_top = _inverses_from_top(best, within + most + 1)

    def _deepest(self, spans: Sequence[tuple[int, int]]) -> int:
        """Return the largest number of documents above any of these."""
        last = [stop - 1 for start, stop in spans if start < stop]
        return int(self.before[last].max(initial=0))

    def within(self, rows: slice) -> Floats:
        """Return the two sums for documents before ``middles``: documents × replicates × 2."""
        first = self.before[rows] * len(self.replicate)
        first += self.replicate
        last = self.copies[rows] * len(self.replicate)
        last += first
        sums: Floats = self.from_top.take(last, axis=0)
        sums -= self.from_top.take(first, axis=0)
        return sums

    def below(self, rows: slice) -> Floats:
        """Return the two sums for the other documents, with i - r for i in the second numerator."""
        place = self.copies[rows] * self.ranks
        place += self.before[rows]
        place += self.shift
        sums: Floats = self.table.take(place, axis=0)
        return sums

    def _tabulate(self, best: Floats, deepest: int, most: int) -> bool:
        """Make the table for ``below``, or return False if it would be too large.

        The gain of the ideal list is constant there, so few different sums occur.
        """
        gain = np.floor(best)
        fractions, kind = np.unique(best - gain, return_inverse=True)
        ranks = gain.max() + deepest + 1
        if ranks * len(fractions) * (most + 1) > _LARGEST_TABLE:
            return False
        rank = (np.arange(ranks) + fractions[:, None]).ravel()
        table = np.zeros((most + 1, len(rank), 2))
        for copy in range(1, most + 1):
            inverse = 1.0 / (rank + copy)
            np.add(table[copy - 1, :, 0], inverse, out=table[copy, :, 0])
            np.add(table[copy - 1, :, 1], copy * inverse, out=table[copy, :, 1])
        self.table = table.reshape(-1, 2)
        self.ranks = len(rank)
        self.shift = gain.astype(np.int64) + kind * int(ranks)
        return True


def _inverses_from_top(best: Floats, ranks: int) -> Floats:
    """Return both sums over the ranks up to 0, 1, …: a row for each rank and replicate."""
    rank = np.arange(float(ranks))[:, None]
    scale = best.take(np.minimum(np.arange(ranks), len(best) - 1), axis=0)
    scale += rank
    scale[0] = np.inf
    sums = np.empty((*scale.shape, 2))
    np.divide(1.0, scale, out=sums[..., 0])
    np.multiply(sums[..., 0], rank, out=sums[..., 1])
    accumulate(np.add, sums)
    return sums.reshape(-1, 2)


def sums_over_copies(term: Callable[[int], Floats], most: int, ranks: int) -> Floats:
    """Return the sums of the terms of the first 0, 1, … copies: copies × ranks."""
    table = np.zeros((most, ranks))
    for copy in range(1, most):
        table[copy] = table[copy - 1] + term(copy)
    return table
