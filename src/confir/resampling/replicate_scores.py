"""Scores of the lists of some topics on resampled collections."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeGuard

import numpy as np

from confir.arrays import Booleans, Bytes, Floats, Integers
from confir.data.ranked_lists.held_lists import HeldLists, index_distinct
from confir.data.ranked_lists.rankings import Rankings
from confir.measures.measure import ListMeasure, Measure
from confir.measures.measure_list import MEASURES
from confir.resampling.document_kernels import MOST_COPIES, DocumentKernels

# Replicates processed together: the counts of a topic's documents fit the processor's cache.
BLOCK = 512

# Judged documents × replicates that numpy processes at once.
_CELLS = 400_000


def is_average_precision(measure: Measure | ListMeasure) -> TypeGuard[Measure]:
    """Whether a measure is AP, which has a kernel of its own."""
    return isinstance(measure, Measure) and measure.definition == MEASURES["AP"]


@cache
def _harmonic_numbers(bits: int) -> Floats:
    """Return the sums of 1/1, 1/2, … for all numbers of terms of so many bits, 0 included."""
    return np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, 1 << bits))))


class ReplicateScorer:
    """Scores the lists of some topics on resampled collections.

    Parameters
    ----------
    lists
        The lists of these topics.
    levels
        The distinct gains of all topics, ascending.
    kernels
        Compiled, or in numpy.
    """

    def __init__(self, lists: HeldLists, levels: Integers, kernels: DocumentKernels) -> None:
        topics = len(lists.qrels.topics)
        list_topics = np.repeat(np.tile(np.arange(topics), len(lists.runs)), np.diff(lists.offsets))
        entries, places = index_distinct(
            np.concatenate((lists.qrels.document_topics, list_topics)),
            np.concatenate((lists.judged, lists.documents), dtype=np.int64),
            len(lists.docids),
        )
        self.pool = entries % len(lists.docids)
        self.judged = places[: len(lists.judged)]
        self.documents = np.ascontiguousarray(places[len(lists.judged) :])
        self.offsets = lists.offsets
        self.qrels = lists.qrels
        self.levels = levels
        self.position = np.full(len(self.pool), -1)
        self.position[self.judged] = np.arange(len(self.judged))
        self.runs = lists.runs
        self.kernels = kernels

    def scores(self, measures: Sequence[Measure | ListMeasure], counts: Bytes) -> Floats:
        """Return the score of each list on each replicate: measures × runs × topics × replicates.

        Parameters
        ----------
        measures
            The measures.
        counts
            Number of copies of each document of the pool in each replicate.
        """
        shape = len(self.runs), len(self.qrels.topics), counts.shape[1]
        scores = np.empty((len(measures), *shape))
        others: list[tuple[int, Measure | ListMeasure]] = []
        for number, measure in enumerate(measures):
            if is_average_precision(measure):
                self._average_precision(measure, counts, scores[number])
            else:
                others.append((number, measure))
        for needs_judged in (False, True):
            group = [entry for entry in others if entry[1].looks_at_judged == needs_judged]
            if group:
                self._measure(group, counts, scores, lowest=None if needs_judged else 1)
        for number, measure in others:
            total = self._by_topic(counts, self.qrels.gains >= measure.lowest_gain)
            scores[number][:, total == 0] = np.nan
        return scores

    def _by_topic(self, counts: Bytes, counted: Booleans) -> Integers:
        """Return how many copies of judged documents that count there are: topics × replicates."""
        places = np.flatnonzero(counted)
        bounds = np.searchsorted(places, self.qrels.offsets)
        present = np.flatnonzero(np.diff(bounds))
        copies = np.zeros((len(self.qrels.topics), counts.shape[1]), np.int64)
        if len(present):
            found, starts = counts[self.judged[places]], bounds[present]
            copies[present] = np.add.reduceat(found, starts, axis=0, dtype=np.int64)
        return copies

    def _average_precision(self, measure: Measure, counts: Bytes, scores: Floats) -> None:
        relevant = np.zeros(len(self.pool), bool)
        is_relevant = self.qrels.gains >= measure.lowest_gain
        relevant[self.judged[is_relevant]] = True
        cutoff = measure.cutoff or MOST_COPIES * max(len(self.documents), 1)
        longest = int(np.diff(self.offsets).max(initial=0))
        self.kernels.average_precisions(
            counts,
            self.offsets,
            self.documents,
            relevant,
            self._by_topic(counts, is_relevant),
            cutoff,
            _harmonic_numbers((MOST_COPIES * longest).bit_length()),
            scores.reshape(-1, counts.shape[1]),
        )

    def _measure(
        self,
        measures: Sequence[tuple[int, Measure | ListMeasure]],
        counts: Bytes,
        scores: Floats,
        *,
        lowest: int | None,
    ) -> None:
        """Fill in the scores by measures of documents with some gain, a few runs at a time."""
        recorded = np.zeros(len(self.pool), bool)
        recorded[self.judged if lowest is None else self.judged[self.qrels.gains >= lowest]] = True
        bounds = self.offsets[:: len(self.qrels.topics)]
        rows = np.concatenate(([0], np.cumsum(recorded[self.documents])))[bounds]
        most = max(_CELLS // counts.shape[1], 1)
        gains = self.qrels.gains
        at_levels = np.stack(
            [self._by_topic(counts, gains == level) for level in self.levels], axis=1
        )
        held = counts[self.judged].astype(np.int64)
        start = 0
        while start < len(self.runs):
            stop = max(int(np.searchsorted(rows, rows[start] + most, side="right")) - 1, start + 1)
            rankings = self._rankings(counts, held, at_levels, recorded, slice(start, stop))
            for number, measure in measures:
                scores[number, start:stop] = measure(rankings)
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
        topics = len(self.qrels.topics)
        offsets = self.offsets[runs.start * topics : runs.stop * topics + 1]
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
            present=(np.diff(offsets) > 0).reshape(-1, topics),
            depth=depth.reshape(-1, topics, counts.shape[1]),
            offsets=np.concatenate(([0], np.cumsum(kept)))[offsets],
            documents=position,
            gain=self.qrels.gains[position],
            before=before,
            copies=copies,
            levels=self.levels,
            counts=at_levels,
            judged_copies=held,
        )

    def acceleration(self, measures: Sequence[Measure | ListMeasure], estimate: Floats) -> Floats:
        """Return the acceleration of BCa, measures × runs × topics, by the jackknife over documents.

        ``Σ d³ / (6 (Σ d²)^{3/2})`` with d from the score itself, not from the jackknife's mean;
        NaN if leaving out a document leaves no relevant one.
        """
        squares, cubes = np.zeros((2, *estimate.shape))
        for first in range(0, len(self.pool), BLOCK):
            left_out = np.arange(first, min(first + BLOCK, len(self.pool)))
            counts = np.ones((len(self.pool), len(left_out)), np.uint8)
            counts[left_out, left_out - first] = 0
            d = estimate[..., None] - self.scores(measures, counts)
            squares += np.square(d).sum(axis=3)
            cubes += (d**3).sum(axis=3)
        with np.errstate(divide="ignore", invalid="ignore"):
            acceleration: Floats = cubes / (6.0 * squares**1.5)
        return acceleration
