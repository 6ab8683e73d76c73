"""Unjudged documents of the lists, and lists in which some of them are judged.

A completion gives every document of a pool, the unjudged documents that any of the runs retrieves
to some depth, a gain; all other unjudged documents stay non-relevant. One completion serves all
runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from confir.arrays import Integers
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists, index_distinct
from confir.data.ranked_lists.rankings import Rankings


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The documents that a completion judges.

    Attributes
    ----------
    topics
        Topic of each document, ascending: a document that is retrieved for two topics stands twice.
    best_rank
        Its best rank in any of the runs.
    sizes
        Number of documents of each topic.
    grades
        The gains that a relevant document may get, ascending: those of the qrels, else 1.
    depth
        The rank down to which runs were looked at; None for their whole lists.
    """

    topics: Integers
    best_rank: Integers
    sizes: Integers
    grades: Integers
    depth: int | None

    def within(self, depth: int | None, gains: Integers) -> Integers:
        """Return the gains with those of documents that all runs rank below a depth set to 0."""
        return gains if depth is None else np.where((self.best_rank <= depth)[:, None], gains, 0)

    def completions(self, gains: Integers, qrels: Qrels) -> Completions:
        """Return completions of the judgements: a gain for each document in each replicate.

        Parameters
        ----------
        gains
            Documents × replicates; gains that are no grades count as 0.
        qrels
            The judgements.
        """
        given, counted = qrels.count_by_gain()
        levels = np.unique(np.concatenate((given, self.grades)))
        counts = np.zeros((len(self.sizes), len(levels), gains.shape[1]), np.int64)
        counts[:, np.searchsorted(levels, given)] = counted[:, :, None]
        starts = np.concatenate(([0], np.cumsum(self.sizes)))
        for level in self.grades.tolist():
            sums = np.zeros((len(gains) + 1, gains.shape[1]), np.int64)
            np.cumsum(gains == level, axis=0, out=sums[1:])
            counts[:, np.searchsorted(levels, level)] += np.diff(sums[starts], axis=0)
        return Completions(gains, levels, counts)


class Completions(NamedTuple):
    """Gains of the documents of a pool, drawn or chosen, and how many documents have each gain.

    Attributes
    ----------
    gains
        Documents of the pool × replicates.
    levels, counts
        The distinct gains, and the documents at each, judged ones included: topics × levels ×
        replicates.
    """

    gains: Integers
    levels: Integers
    counts: Integers


@dataclass(frozen=True, slots=True, eq=False)
class UnjudgedDocuments:
    """The documents of a pool in the lists of one run.

    Attributes
    ----------
    pool
        All documents that may be judged, retrieved by the run or not.
    rankings
        The relevant documents in the lists of the run.
    offsets
        The documents of topic t are ``offsets[t]:offsets[t + 1]``.
    numbers, before
        Place in the pool, and number of documents above, of each document in rank order.
    """

    pool: Pool
    rankings: Rankings
    offsets: Integers
    numbers: Integers
    before: Integers

    @property
    def topics(self) -> Integers:
        """The topic of each document of the lists."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def outside(self) -> Integers:
        """Number of documents of the pool that the lists lack, by topic."""
        return self.pool.sizes - np.diff(self.offsets)

    def cut(self, depth: int | None) -> UnjudgedDocuments:
        """Return the lists cut after ``depth`` documents; the pool stays."""
        if depth is None:
            return self
        kept = np.flatnonzero(self.before < depth)
        return replace(
            self,
            rankings=self.rankings.cut(depth),
            offsets=np.searchsorted(kept, self.offsets),
            numbers=self.numbers[kept],
            before=self.before[kept],
        )

    def complete(self, completions: Completions) -> Rankings:
        """Return the relevant documents of the lists after each completion."""
        base, drawn = self.rankings, completions.gains[self.numbers]
        replicates = drawn.shape[1]
        found, gain, copies = [np.zeros(0, np.int64)], [base.gain], []
        for level in self.pool.grades.tolist():
            here = drawn == level
            listed = np.flatnonzero(here.any(axis=1))
            found.append(listed)
            gain.append(np.full(len(listed), level))
            copies.append(here[listed])
        places = np.concatenate(found)
        before = np.concatenate((base.before[:, 0], self.before[places]))
        topics = np.concatenate((base.topic, self.topics[places]))
        once = np.ones((len(base.gain), replicates), np.int64)
        # Each part is in order, which this sort makes use of.
        order = np.argsort(topics * (before.max(initial=0) + 1) + before, kind="stable")
        return replace(
            base,
            depth=np.repeat(base.depth, replicates, axis=2),
            offsets=np.searchsorted(topics[order], np.arange(len(base.qrels.topics) + 1)),
            documents=np.full(len(order), -1),
            gain=np.concatenate(gain)[order],
            before=np.repeat(before[order, None], replicates, axis=1),
            copies=np.concatenate((once, *copies))[order],
            levels=completions.levels,
            counts=completions.counts,
        )


def possible_grades(qrels: Qrels) -> Integers:
    """Return the gains that unjudged documents may turn out to have: those of the qrels, else 1."""
    grades: Integers = np.unique(qrels.gains[qrels.gains >= 1])
    return grades if len(grades) else np.array([1])


def find_unjudged(
    lists: HeldLists, depth: int | None = None, grades: Integers | None = None
) -> list[UnjudgedDocuments]:
    """Return the unjudged documents of each run that a completion may judge.

    Parameters
    ----------
    lists
        The whole lists of all runs.
    depth
        A completion may judge what any run retrieves among its first documents, up to this rank;
        by default everything that is retrieved.
    grades
        The gains that a relevant document may get; by default those of the qrels.
    """
    topics = len(lists.qrels.topics)
    places = np.flatnonzero(lists.judgements < 0)
    list_of = np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.offsets))[places]
    before = places - lists.offsets[list_of]
    found, numbers = index_distinct(list_of % topics, lists.documents[places], len(lists.docids))
    best = np.full(len(found), np.iinfo(np.int64).max)
    np.minimum.at(best, numbers, before + 1)
    if depth is not None:  # only what a run has among its first documents
        inside = best <= depth
        kept = np.flatnonzero(inside[numbers])
        numbers, before, list_of = (
            (np.cumsum(inside) - 1)[numbers[kept]],
            before[kept],
            list_of[kept],
        )
        found, best = found[inside], best[inside]
    topic = found // max(len(lists.docids), 1)
    pool = Pool(
        topic,
        best,
        np.bincount(topic, minlength=topics),
        possible_grades(lists.qrels) if grades is None else grades,
        depth,
    )
    bounds = np.searchsorted(list_of, np.arange(len(lists.offsets)))
    return list(_by_run(lists, pool, bounds, numbers, before))


def _by_run(
    lists: HeldLists, pool: Pool, bounds: Integers, numbers: Integers, before: Integers
) -> Iterator[UnjudgedDocuments]:
    """Yield the part of each run."""
    topics = len(lists.qrels.topics)
    starts = bounds[::topics].tolist()
    for run, (rankings, (start, stop)) in enumerate(
        zip(lists.rankings(), pairwise(starts), strict=True)
    ):
        yield UnjudgedDocuments(
            pool,
            rankings.at_least(1),
            bounds[run * topics : (run + 1) * topics + 1] - start,
            numbers[start:stop],
            before[start:stop],
        )
