"""The ranks of judged documents, which are all of ranked lists that measures need.

Measures are functions of `Rankings` alone, for plain evaluation and for resampled collections: a
replicate of the collection repeats documents and so moves the others down, which ``before`` and
``copies`` say in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.qrels import Qrels
from confir.data.run import Run, break_ties

Values = TypeVar("Values", Floats, Integers)

# Rows of so few columns are summed all at once; longer ones each on its own, in the cache.
_FEW_REPLICATES = 32

# The fields of Rankings that have an entry for each judged document in the lists.
_BY_DOCUMENT = ("documents", "gain", "before", "copies")


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """The judged documents of many ranked lists: a list for every run and topic of the qrels.

    Attributes
    ----------
    qrels
        The judgements; their topics are the topics of the lists.
    runs
        Names of the runs.
    present
        Whether the run has the topic at all, runs × topics.
    depth
        Length of each list, runs × topics × replicates.
    offsets
        Judged documents of list ``run * topics + topic`` are ``offsets[list]:offsets[list + 1]``.
    documents
        Position of each judged document in ``qrels.documents``, in rank order within a list.
    gain
        Gain of each judged document.
    before, copies
        Judged documents × replicates: how many documents stand above, and how often the document
        itself stands there. Plain evaluation has one replicate, rank - 1 and 1.
    levels, counts
        The distinct gains of the qrels, ascending, and the judged documents at each, retrieved or
        not: topics × levels × replicates.
    judged_copies
        How often each judged document of the qrels, retrieved or not, is in the collection:
        documents × replicates; always once in plain evaluation.
    """

    qrels: Qrels
    runs: tuple[str, ...]
    present: Booleans
    depth: Integers
    offsets: Integers
    documents: Integers
    gain: Integers
    before: Integers
    copies: Integers
    levels: Integers
    counts: Integers
    judged_copies: Integers

    @property
    def lists(self) -> Integers:
        """The list to which each judged document belongs."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def topic(self) -> Integers:
        """The topic to which each judged document's list belongs."""
        sizes = np.diff(self.offsets)
        return np.repeat(np.arange(len(sizes)) % len(self.qrels.topics), sizes)

    def only(self, kept: Booleans) -> Rankings:
        """Return the same lists with only some of their judged documents recorded."""
        places = np.flatnonzero(kept)
        if len(places) == len(kept):
            return self
        kept_fields = {name: getattr(self, name).take(places, axis=0) for name in _BY_DOCUMENT}
        return replace(self, offsets=np.searchsorted(places, self.offsets), **kept_fields)

    def at_least(self, rel: int) -> Rankings:
        """Return the same lists with only the documents of gain ``rel`` or more recorded."""
        return self.only(self.gain >= rel)

    def cut(self, depth: int) -> Rankings:
        """Return the lists cut after ``depth`` documents."""
        copies = self.copies_within(depth)
        shorter = replace(self, copies=copies, depth=np.minimum(self.depth, depth))
        return shorter.only(np.any(copies > 0, axis=1))

    def condensed(self) -> Rankings:
        """Return plain lists without their unjudged documents, as trec_eval -J scores them."""
        sizes = np.diff(self.offsets)
        before = np.arange(len(self.documents)) - np.repeat(self.offsets[:-1], sizes)
        depth = sizes.reshape(*self.present.shape, 1)
        return replace(self, present=depth[:, :, 0] > 0, depth=depth, before=before[:, None])

    def filled(
        self,
        runs: tuple[str, ...],
        depth: Integers,
        lists: Integers,
        documents: Integers,
        before: Integers,
    ) -> Rankings:
        """Return the rankings of runs over the same qrels.

        Parameters
        ----------
        runs
            Their names.
        depth
            Length of each list, runs × topics of the qrels; 0 where a run lacks the topic.
        lists, documents, before
            List (``run * topics + topic``), position in ``qrels.documents`` and documents above,
            for each judged document; ordered by list, then by rank.
        """
        return replace(
            self,
            runs=runs,
            present=depth > 0,
            depth=depth[:, :, None],
            offsets=np.searchsorted(lists, np.arange(depth.size + 1)),
            documents=documents,
            gain=self.qrels.gains[documents],
            before=before[:, None],
            copies=np.ones((len(before), 1), np.int64),
        )

    def count_at_least(self, rel: int) -> Integers:
        """Return how many documents have gain ``rel`` or more, retrieved or not.

        Topics × replicates.
        """
        count: Integers = self.counts[:, self.levels >= rel].sum(axis=1)
        return count

    def copies_within(self, cutoff: int | Integers | None) -> Integers:
        """Return how many copies of each document stand among the first ``cutoff`` of its list.

        The cutoff may differ by judged document and replicate.
        """
        if cutoff is None:
            return self.copies
        return np.clip(cutoff - self.before, 0, self.copies)

    def copies_above(
        self, counted: Booleans | None = None, seen: Booleans | None = None
    ) -> Integers:
        """Return how many copies of recorded documents stand above each one in its list.

        Parameters
        ----------
        counted
            Which documents count where they stand above; by default all.
        seen
            The documents to return a row for; by default all.
        """
        copies = self.copies
        if copies.shape[1] <= _FEW_REPLICATES:
            counts = copies if counted is None else copies * counted[:, None]
            sums = np.zeros((len(copies) + 1, copies.shape[1]), np.int64)
            np.cumsum(counts, axis=0, out=sums[1:])
            above = sums[:-1] - np.repeat(sums[self.offsets[:-1]], np.diff(self.offsets), axis=0)
            return above if seen is None else above[seen]
        adds = [True] * len(copies) if counted is None else counted.tolist()
        shows = [True] * len(copies) if seen is None else seen.tolist()
        above = np.empty((sum(shows), copies.shape[1]), np.int64)
        shown = iter(above)
        running = np.zeros(copies.shape[1], np.int64)
        for start, stop in pairwise(self.offsets.tolist()):
            running[:] = 0
            for add, show, row in zip(
                adds[start:stop], shows[start:stop], copies[start:stop], strict=True
            ):
                if show:
                    next(shown)[:] = running
                if add:
                    running += row
        return above

    def total(self, values: Floats | Integers) -> Floats:
        """Return the sum of ``values`` over each list: runs × topics × replicates.

        They are added one by one from the top, as in trec_eval: equal lists have equal sums, and a
        perfect list has that of the ideal.
        """
        size = len(self.offsets) - 1
        if values.shape[1] == 1:
            # of no values, the sums are integers
            sums = np.bincount(self.lists, values[:, 0], size).astype(np.float64)
            return self.by_list(sums)
        sums = np.zeros((size, values.shape[1]))
        for place, (start, stop) in enumerate(pairwise(self.offsets.tolist())):
            values[start:stop].sum(axis=0, out=sums[place])
        return self.by_list(sums)

    def least(self, values: Integers, empty: int) -> Integers:
        """Return the least value of each list, ``empty`` of none: runs × topics × replicates."""
        least = np.full((len(self.offsets) - 1, values.shape[1]), empty)
        filled = np.flatnonzero(np.diff(self.offsets))
        if values.shape[1] == 1 and len(filled):
            least[filled] = np.minimum.reduceat(values, self.offsets[filled], axis=0)
        else:
            for place in filled.tolist():
                start, stop = self.offsets[place : place + 2]
                values[start:stop].min(axis=0, out=least[place])
        return self.by_list(least)

    def by_list(self, values: Values) -> Values:
        """Return what was found for each list, lists × replicates, by run and topic."""
        return cast(Values, values.reshape(len(self.runs), len(self.qrels.topics), -1))

    def ideal(self, rel: int = 1) -> Rankings:
        """Return the best list of each topic: its documents of gain ``rel`` or more, best first.

        One run, "ideal". With several replicates the documents of one gain are recorded as copies
        of one another, which is the same list.
        """
        kept = self.levels >= rel
        counts = self.counts[:, kept][:, ::-1]
        topics, levels, replicates = counts.shape
        before = (np.cumsum(counts, axis=1) - counts).reshape(-1, replicates)
        copies = counts.reshape(-1, replicates)
        gain = np.tile(self.levels[kept][::-1], topics)
        recorded = np.full(topics, levels)
        if replicates == 1:
            size = copies[:, 0]
            first = np.cumsum(size) - size
            place = np.arange(size.sum()) - np.repeat(first, size)
            before = (np.repeat(before[:, 0], size) + place)[:, None]
            gain = np.repeat(gain, size)
            copies = np.ones_like(before)
            recorded = counts[:, :, 0].sum(axis=1)
        return replace(
            self,
            runs=("ideal",),
            present=np.ones((1, topics), bool),
            depth=counts.sum(axis=1)[None],
            offsets=np.concatenate(([0], np.cumsum(recorded))),
            documents=np.full(len(gain), -1),
            gain=gain,
            before=before,
            copies=copies,
        )


def empty_rankings(qrels: Qrels) -> Rankings:
    """Return the rankings of one run without lists; `filled` gives it some."""
    levels, counts = qrels.count_by_gain()
    topics, none = len(qrels.topics), np.zeros(0, np.int64)
    return Rankings(
        qrels=qrels,
        runs=("",),
        present=np.zeros((1, topics), bool),
        depth=np.zeros((1, topics, 1), np.int64),
        offsets=np.zeros(topics + 1, np.int64),
        documents=none,
        gain=none,
        before=none[:, None],
        copies=none[:, None],
        levels=levels,
        counts=counts[:, :, None],
        judged_copies=np.ones((len(qrels.documents), 1), np.int64),
    )


def stack_rankings(parts: Sequence[Rankings]) -> Rankings:
    """Return the rankings of several runs over the same qrels as one."""
    if len(parts) == 1:
        return parts[0]
    shift = np.cumsum([0] + [len(part.documents) for part in parts])
    offsets = [part.offsets[:-1] + base for part, base in zip(parts, shift, strict=False)]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("present", "depth", *_BY_DOCUMENT)
    }
    runs = tuple(name for part in parts for name in part.runs)
    return replace(parts[0], runs=runs, offsets=np.concatenate([*offsets, shift[-1:]]), **joined)


def restrict_rankings(parts: Sequence[Rankings], topics: Booleans) -> list[Rankings]:
    """Return the rankings of runs, one each, over the same qrels for some of the topics only."""
    qrels = parts[0].qrels
    held = topics[qrels.document_topics]
    empty, places = empty_rankings(qrels.only(held)), np.cumsum(held) - 1
    kept = [np.flatnonzero(topics[part.topic]) for part in parts]
    return [
        empty.filled(
            part.runs,
            part.depth[:, topics, 0],
            (np.cumsum(topics) - 1)[part.topic[own]],
            places[part.documents[own]],
            part.before[own, 0],
        )
        for part, own in zip(parts, kept, strict=True)
    ]


def rank_in_single_precision(run: Run) -> list[str]:
    """Return the docids of a run, ties of scores that are equal in single precision broken."""
    documents = list(run.documents)
    lists = np.repeat(np.arange(len(run.topics)), np.diff(run.offsets))
    with np.errstate(over="ignore"):
        break_ties(documents, run.scores.astype(np.float32), lists)
    return documents
