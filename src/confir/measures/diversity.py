"""Measures of how many of a topic's intents a list covers.

Every function maps `Rankings` to scores, runs × topics × replicates. alpha_nDCG, ERR_IA and nERR_IA
are those of ndeval: binary, equal weight for all subtopics, with a greedy ideal list. A greedy list
is not always the best one, so alpha_nDCG and nERR_IA may exceed 1, as in ndeval. D_nDCG, DS_nDCG
and StRecall are those of NTCIR's INTENT tasks: over all intents of a topic, with their
probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.qrels import subtopic_judgements
from confir.data.ranked_lists.rankings import Rankings
from confir.errors import InvalidValueError
from confir.measures.binary import relevant_within, share, share_of_best
from confir.measures.graded import discounted, mapped_gain, over_copies

Discount = Callable[[Integers], Any]


def alpha_ndcg(
    rankings: Rankings, *, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> Floats:
    """Discounted novelty over that of a greedy ideal list (Clarke et al. 2008).

    A document contributes ``Σ_i (1-α)^{c_i}`` over its subtopics, ``c_i`` being the number of
    documents above it that cover subtopic i.
    """
    return _Novelty(rankings, alpha, rel).normalised(cutoff, lambda rank: np.log2(rank + 1.0))


def err_ia(
    rankings: Rankings, *, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> Floats:
    """Intent-aware ERR over its maximum on any collection, as ndeval defines it.

    ``Σ_r (1/r) Σ_i rel_i(r) (1-α)^{c_i} / (S Σ_{r<=k} (1-α)^{r-1}/r)`` with S the subtopics that
    have a relevant document. Without k, the whole list counts.
    """
    novelty = _Novelty(rankings, alpha, rel)
    length = rankings.depth if cutoff is None else np.full((1, 1, 1), cutoff)
    length = np.minimum(length, _last_rank(alpha)).astype(np.int64)
    ranks = np.arange(1, length.max(initial=1) + 1)
    subtopics = novelty.count_subtopics()
    # For each number of subtopics and each length: every document covers all of them.
    new = np.arange(subtopics.max(initial=0) + 1)[:, None] * np.power(1.0 - alpha, ranks - 1)
    best = np.pad(np.cumsum(new / ranks, axis=1), ((0, 0), (1, 0)))
    return share_of_best(novelty.total(cutoff, _by_rank), best[subtopics, length])


def _last_rank(alpha: float) -> float:
    """Return the rank after which ``(1-α)^{r-1}`` no longer changes a sum that begins with 1."""
    if alpha <= 0.0:
        return np.inf
    return 1.0 if alpha >= 1.0 else 1.0 + np.ceil(np.log(1e-20) / np.log1p(-alpha))


def normalised_err_ia(
    rankings: Rankings, *, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> Floats:
    """Intent-aware ERR over that of a greedy ideal list, as ndeval defines it."""
    return _Novelty(rankings, alpha, rel).normalised(cutoff, _by_rank)


def subtopic_recall(rankings: Rankings, *, cutoff: int | None = None, rel: int = 1) -> Floats:
    """Share of a topic's intents that the first k documents cover (Zhai et al. 2003)."""
    novelty = _Novelty(rankings, 1.0, rel)
    intents = np.diff(novelty.judgements.offsets)[:, None]
    return share(novelty.total(cutoff, np.ones_like), intents)


def d_ndcg(rankings: Rankings, *, cutoff: int | None = None, gains: str | None = None) -> Floats:
    """NDCG over the global gain ``Σ_i Pr(i|topic) g_i(d)`` (Sakai & Song 2011)."""
    gain = _global_gain(rankings, gains)
    relevant, ideal = relevant_within(rankings, cutoff), _ideal_by_gain(rankings, gain)
    best = discounted(ideal, gain[ideal.documents], cutoff)
    return share_of_best(discounted(relevant, gain[relevant.documents], cutoff), best[0])


def d_sharp_ndcg(
    rankings: Rankings, *, cutoff: int | None = None, gamma: float = 0.5, gains: str | None = None
) -> Floats:
    """``γ · StRecall + (1-γ) · D_nDCG``, written D♯-nDCG (Sakai & Song 2011)."""
    if not 0 <= gamma <= 1:
        raise InvalidValueError(f"DS_nDCG's gamma is {gamma}; expected a number from 0 to 1")
    recall = subtopic_recall(rankings, cutoff=cutoff)
    blend: Floats = gamma * recall + (1.0 - gamma) * d_ndcg(rankings, cutoff=cutoff, gains=gains)
    return blend


def _by_rank(rank: Integers) -> Floats:
    return rank.astype(np.float64)


def _global_gain(rankings: Rankings, gains: str | None) -> Floats:
    """Return the gain of each judged document over all intents, always added in the same order."""
    judgements = subtopic_judgements(rankings.qrels)
    weighted = judgements.probabilities[judgements.subtopic] * mapped_gain(judgements.gain, gains)
    order = np.argsort(judgements.subtopic, kind="stable")
    size = len(rankings.qrels.documents)
    return np.bincount(judgements.document[order], weighted[order], size).astype(np.float64)


class _Novelty:
    """Which subtopics documents cover, and how novel that is at their rank.

    There is one pair of document and subtopic per judgement of gain ``rel`` or more.
    """

    def __init__(self, rankings: Rankings, alpha: float, rel: int) -> None:
        if not 0 <= alpha <= 1:
            raise InvalidValueError(f"alpha is {alpha}; expected a number from 0 to 1")
        judgements = subtopic_judgements(rankings.qrels)
        kept = judgements.gain >= rel
        order = np.lexsort((judgements.subtopic[kept], judgements.document[kept]))
        self.rankings = rankings
        self.judgements = judgements
        self.repeated = 1.0 - alpha
        self.rel = rel
        self.document = judgements.document[kept][order]
        self.subtopic = judgements.subtopic[kept][order]
        self.subtopics = int(judgements.offsets[-1])

    def count_subtopics(self) -> Integers:
        """Return the subtopics that have a relevant document: topics × replicates."""
        copies = self.rankings.judged_copies
        found = np.zeros((self.subtopics, copies.shape[1]), np.int64)
        np.add.at(found, self.subtopic, copies[self.document])
        running = np.zeros((len(found) + 1, copies.shape[1]), np.int64)
        np.cumsum(found > 0, axis=0, out=running[1:])
        counts: Integers = np.diff(running[self.judgements.offsets], axis=0)
        return counts

    def normalised(self, cutoff: int | None, discount: Discount) -> Floats:
        """Return the discounted novelty of the lists over that of greedy ideal ones."""
        return share(self.total(cutoff, discount), self.ideal(cutoff, discount))

    def total(self, cutoff: int | None, discount: Discount) -> Floats:
        """Return the discounted novelty of the lists: runs × topics × replicates."""
        relevant = relevant_within(self.rankings, cutoff, self.rel)
        row, subtopic = self._pairs(relevant.documents)
        group = relevant.lists[row] * self.subtopics + subtopic
        covered = _above_in_group(group, relevant.copies[row])
        new = _sum_by_row(row, self._novelty(covered), len(relevant.documents))
        kept = relevant.copies_within(cutoff)
        value = np.zeros(kept.shape)
        for copy, cells in over_copies(kept):
            here = new.ravel()[cells] * self.repeated ** (copy - 1)
            value.ravel()[cells] += here / discount(relevant.before.ravel()[cells] + copy)
        return relevant.total(value)

    def ideal(self, cutoff: int | None, discount: Discount) -> Floats:
        """Return the discounted novelty of greedy lists, topics × replicates.

        Of equally novel documents the last by docid is taken, as in ndeval.
        """
        candidates, topics, starts = self._candidates()
        row, subtopic = self._pairs(candidates)
        pairs = np.searchsorted(row, np.arange(len(candidates) + 1))
        left = self.rankings.judged_copies[candidates]
        covered = np.zeros((self.subtopics, left.shape[1]), np.int64)
        value = np.zeros((len(self.rankings.qrels.topics), left.shape[1]))
        longest = int(left.sum(axis=0).max(initial=0)) if cutoff is None else cutoff
        for rank in range(1, longest + 1):
            new = _sum_by_row(row, self._novelty(covered[subtopic]), len(candidates))
            new[left == 0] = 0.0
            newest, chosen = _first_highest(new, starts)
            if newest.max(initial=0.0) == 0.0:
                break
            value[topics] += newest / discount(np.array(rank))
            taken, replicate = chosen[newest > 0], np.nonzero(newest > 0)[1]
            left[taken, replicate] -= 1
            place, column = _spread(pairs[taken], pairs[taken + 1], replicate)
            # No pair occurs twice in a replicate: each topic takes one document.
            covered[subtopic[place], column] += 1
        return value

    def _candidates(self) -> tuple[Integers, Integers, Integers]:
        """Return the relevant documents by topic and docid descending, the topics, their starts."""
        qrels = self.rankings.qrels
        relevant = np.unique(self.document).tolist()
        by_docid = np.array(sorted(relevant, key=qrels.documents.__getitem__)[::-1], np.int64)
        candidates = by_docid[np.argsort(qrels.document_topics[by_docid], kind="stable")]
        return candidates, *np.unique(qrels.document_topics[candidates], return_index=True)

    def _pairs(self, documents: Integers) -> tuple[Integers, Integers]:
        """Return (row, subtopic) for every subtopic that each of the documents covers."""
        start = np.searchsorted(self.document, documents)
        stop = np.searchsorted(self.document, documents, side="right")
        place, row = _spread(start, stop, np.arange(len(documents)))
        return row, self.subtopic[place]

    def _novelty(self, covered: Integers) -> Floats:
        """Return (1-α)^covered, multiplied out as in ndeval, to have the same ties."""
        factors = np.full(int(covered.max(initial=0)) + 1, self.repeated)
        factors[0] = 1.0
        novelty: Floats = np.cumprod(factors, dtype=np.float64)[covered]
        return novelty


def _spread(starts: Integers, stops: Integers, labels: Integers) -> tuple[Integers, Integers]:
    """Return all positions of the spans in order, each with the label of its span."""
    sizes = stops - starts
    shift = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return np.arange(len(shift)) + shift, np.repeat(labels, sizes)


def _first_highest(values: Floats, starts: Integers) -> tuple[Floats, Integers]:
    """Return the highest value of each group of rows, and the first row that has it."""
    if len(starts) == 0:
        return values, np.zeros(values.shape, np.int64)
    highest = np.maximum.reduceat(values, starts, axis=0)
    sizes = np.diff(np.append(starts, len(values)))
    row = np.arange(len(values))[:, None]
    reached = np.where(values == np.repeat(highest, sizes, axis=0), row, len(values))
    return highest, np.minimum.reduceat(reached, starts, axis=0)


def _above_in_group(group: Integers, copies: Integers) -> Integers:
    """Return the sum of copies over the earlier rows of the same group."""
    order = np.argsort(group, kind="stable")
    running = np.zeros((len(group) + 1, copies.shape[1]), np.int64)
    np.cumsum(copies[order], axis=0, out=running[1:])
    start = np.searchsorted(group[order], group[order])
    above = np.empty_like(copies)
    above[order] = running[:-1] - running[start]
    return above


def _sum_by_row(row: Integers, values: Floats, rows: int) -> Floats:
    """Return the sums of the values that belong to each row; rows ascend."""
    if values.shape[1] == 1:
        return np.bincount(row, values[:, 0], rows).astype(np.float64)[:, None]
    sums = np.zeros((rows, values.shape[1]))
    filled, starts = np.unique(row, return_index=True)
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts, axis=0)
    return sums


def _ideal_by_gain(rankings: Rankings, gain: Floats) -> Rankings:
    """Return lists of all judged documents of positive gain, by gain descending."""
    qrels = rankings.qrels
    documents = np.lexsort((-gain, qrels.document_topics))
    documents = documents[gain[documents] > 0]
    topic = qrels.document_topics[documents]
    lists = replace(
        rankings,
        runs=("ideal",),
        offsets=np.searchsorted(topic, np.arange(len(qrels.topics) + 1)),
        documents=documents,
        gain=qrels.gains[documents],
        copies=rankings.judged_copies[documents],
    )
    return replace(lists, before=lists.copies_above())
