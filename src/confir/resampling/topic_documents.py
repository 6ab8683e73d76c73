"""Scores of the lists of one topic on resampled collections."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeGuard

import numpy as np

from confir.arrays import Booleans, Bytes, Floats, Integers
from confir.data.lists.ranked_lists import RankedLists
from confir.data.lists.rankings import Rankings
from confir.measures.catalogue import MEASURES
from confir.measures.measure import ListMeasure, Measure
from confir.resampling.document_kernels import MOST_COPIES, DocumentKernels

# Replicates processed together: the counts of a topic's documents fit the processor's cache.
BLOCK = 512

# Judged documents × replicates that numpy processes at once.
_CELLS = 400_000

# A table of all documents is faster than sorting, up to this multiple of a topic's documents.
_TABLE_SHARE = 8


def count_relevant(lists: RankedLists, lowest_gains: Sequence[int]) -> tuple[Integers, Integers]:
    """Return the numbers of relevant documents by topic, and retrieved by run and topic."""
    qrels, depth = lists.qrels, lists.depth
    levels, counts = qrels.count_by_gain()
    judged = np.flatnonzero(lists.judgements >= 0)
    gains = qrels.gains[lists.judgements[judged]]
    places = np.searchsorted(lists.offsets, judged, side="right") - 1
    relevant = np.stack([counts[:, levels >= gain].sum(axis=1) for gain in lowest_gains])
    retrieved = np.stack(
        [
            np.bincount(places[gains >= gain], minlength=depth.size).reshape(depth.shape)
            for gain in lowest_gains
        ]
    )
    return relevant, retrieved


def is_average_precision(measure: Measure | ListMeasure) -> TypeGuard[Measure]:
    """Whether a measure is AP, which has a kernel of its own."""
    return isinstance(measure, Measure) and measure.definition == MEASURES["AP"]


@cache
def _harmonic_numbers(bits: int) -> Floats:
    """Return the sums of 1/1, 1/2, … for all numbers of terms of so many bits, 0 included."""
    return np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, 1 << bits))))


class TopicDocuments:
    """The lists of one topic, ready to be resampled.

    Parameters
    ----------
    lists
        The lists of all topics.
    number
        Which topic.
    levels
        The distinct gains of all topics, ascending.
    kernels
        Compiled, or in numpy.
    """

    def __init__(
        self, lists: RankedLists, number: int, levels: Integers, kernels: DocumentKernels
    ) -> None:
        topics = len(lists.qrels.topics)
        spans = [
            lists.documents[lists.offsets[place] : lists.offsets[place + 1]]
            for place in range(number, len(lists.runs) * topics, topics)
        ]
        start, stop = lists.qrels.offsets[number : number + 2].tolist()
        judged = lists.judged[start:stop]
        self.pool, places = _pool(np.concatenate([judged, *spans]), len(lists.docids))
        self.judged = places[: len(judged)]
        self.documents = np.ascontiguousarray(places[len(judged) :])
        self.offsets = np.concatenate(([0], np.cumsum([len(span) for span in spans])))
        self.qrels = lists.qrels.of_topics(number, number + 1)
        self.levels = levels
        self.position = np.full(len(self.pool), -1)
        self.position[self.judged] = np.arange(len(judged))
        self.runs = lists.runs
        self.kernels = kernels

    def scores(self, measures: Sequence[Measure | ListMeasure], counts: Bytes) -> Floats:
        """Return the score of each list on each replicate: measures × runs × replicates.

        Parameters
        ----------
        measures
            The measures.
        counts
            Number of copies of each document of the pool in each replicate.
        """
        held = counts[self.judged].astype(np.int64)
        scores = np.empty((len(measures), len(self.runs), counts.shape[1]))
        others: list[tuple[int, Measure | ListMeasure]] = []
        for number, measure in enumerate(measures):
            if is_average_precision(measure):
                self._average_precision(measure, counts, held, scores[number])
            else:
                others.append((number, measure))
        for needs_judged in (False, True):
            group = [entry for entry in others if entry[1].looks_at_judged == needs_judged]
            if group:
                self._measure(group, counts, held, scores, lowest=None if needs_judged else 1)
        for number, measure in enumerate(measures):
            total = held[self.qrels.gains >= measure.lowest_gain].sum(axis=0)
            scores[number][:, total == 0] = np.nan
        return scores

    def _average_precision(
        self, measure: Measure, counts: Bytes, held: Integers, scores: Floats
    ) -> None:
        relevant = np.zeros(len(self.pool), bool)
        is_relevant = self.qrels.gains >= measure.lowest_gain
        relevant[self.judged[is_relevant]] = True
        total = held[is_relevant].sum(axis=0)
        cutoff = measure.cutoff or MOST_COPIES * max(len(self.documents), 1)
        longest = int(np.diff(self.offsets).max(initial=0))
        harmonic = _harmonic_numbers((MOST_COPIES * longest).bit_length())
        self.kernels.average_precisions(
            counts, self.offsets, self.documents, relevant, total, cutoff, harmonic, scores
        )

    def _measure(
        self,
        measures: Sequence[tuple[int, Measure | ListMeasure]],
        counts: Bytes,
        held: Integers,
        scores: Floats,
        *,
        lowest: int | None,
    ) -> None:
        """Fill in the scores by measures of documents with some gain, a few lists at a time."""
        recorded = np.zeros(len(self.pool), bool)
        recorded[self.judged if lowest is None else self.judged[self.qrels.gains >= lowest]] = True
        rows = np.concatenate(([0], np.cumsum(recorded[self.documents])))[self.offsets]
        most = max(_CELLS // counts.shape[1], 1)
        gains = self.qrels.gains
        at_levels = np.stack([held[gains == level].sum(axis=0) for level in self.levels])
        start = 0
        while start < len(self.runs):
            stop = max(int(np.searchsorted(rows, rows[start] + most, side="right")) - 1, start + 1)
            rankings = self._rankings(counts, held, at_levels, recorded, slice(start, stop))
            for number, measure in measures:
                scores[number, start:stop] = measure(rankings)[:, 0]
            start = stop

    def _rankings(
        self,
        counts: Bytes,
        held: Integers,
        at_levels: Integers,
        recorded: Booleans,
        runs: slice,
    ) -> Rankings:
        """Return the positions of the recorded documents of some runs in each replicate."""
        offsets = self.offsets[runs.start : runs.stop + 1]
        documents = self.documents[offsets[0] : offsets[-1]]
        offsets = offsets - offsets[0]
        kept = recorded[documents]
        position = self.position[documents[kept]]
        before, copies = np.empty((2, len(position), counts.shape[1]), np.int64)
        depth = np.empty((len(offsets) - 1, counts.shape[1]), np.int64)
        self.kernels.place_documents(counts, offsets, documents, recorded, before, copies, depth)
        return Rankings(
            qrels=self.qrels,
            runs=self.runs[runs],
            present=(np.diff(offsets) > 0)[:, None],
            depth=depth[:, None],
            offsets=np.concatenate(([0], np.cumsum(kept)))[offsets],
            documents=position,
            gain=self.qrels.gains[position],
            before=before,
            copies=copies,
            levels=self.levels,
            counts=at_levels[None],
            judged_copies=held,
        )

    def acceleration(self, measures: Sequence[Measure | ListMeasure], estimate: Floats) -> Floats:
        """Return the acceleration of BCa, measures × runs, by the jackknife over documents.

        ``Σ d³ / (6 (Σ d²)^{3/2})`` with d from the score itself, not from the jackknife's mean;
        NaN if leaving out a document leaves no relevant one.
        """
        squares, cubes = np.zeros((2, *estimate.shape))
        for first in range(0, len(self.pool), BLOCK):
            left_out = np.arange(first, min(first + BLOCK, len(self.pool)))
            counts = np.ones((len(self.pool), len(left_out)), np.uint8)
            counts[left_out, left_out - first] = 0
            d = estimate[:, :, None] - self.scores(measures, counts)
            squares += np.square(d).sum(axis=2)
            cubes += (d**3).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            acceleration: Floats = cubes / (6.0 * squares**1.5)
        return acceleration


def _pool(documents: Integers, size: int) -> tuple[Integers, Integers]:
    """Return the distinct documents, ascending, and the index of each document among them."""
    if size > _TABLE_SHARE * len(documents):
        pool, places = np.unique(documents, return_inverse=True)
        return pool, places
    table = np.zeros(size, np.int64)
    table[documents] = 1
    pool = np.flatnonzero(table)
    table[pool] = np.arange(len(pool))
    return pool, table[documents]
