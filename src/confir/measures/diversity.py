"""Measures that ask how many of a topic's intents a list serves.

Every function maps `Rankings` to scores, runs × topics × replicates. alpha_nDCG, ERR_IA and nERR_IA
are those of ndeval: binary, all subtopics alike, with a greedy ideal list. D_nDCG, DS_nDCG and
StRecall are those of NTCIR's INTENT tasks: over all intents of a topic, with their probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.qrels import SubtopicJudgements, subtopic_judgements
from confir.data.rankings import Rankings, sum_by_index
from confir.errors import InvalidValueError
from confir.measures.binary import share
from confir.measures.graded import discounted, mapped_gain

Weight = Callable[[Integers], Floats]


def alpha_ndcg(
    rankings: Rankings, *, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> Floats:
    """Discounted novelty over that of a greedy ideal list (Clarke et al. 2008).

    A document counts ``Σ_i (1-α)^{c_i}`` over its subtopics, ``c_i`` documents above having
    served subtopic i already.
    """
    judgements = subtopic_judgements(rankings.qrels)
    return _Novelty(rankings, judgements, alpha, rel).normalised(cutoff, _log_discount)


def err_ia(
    rankings: Rankings, *, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> Floats:
    """Intent-aware ERR, over the best that any collection allows, as ndeval defines it.

    ``Σ_r (1/r) Σ_i rel_i(r) (1-α)^{c_i} / (S Σ_{r<=k} (1-α)^{r-1}/r)`` with S the subtopics that
    have a relevant document. Without k, the list is as long as it is.
    """
    novelty = _Novelty(rankings, subtopic_judgements(rankings.qrels), alpha, rel)
    length = rankings.depth if cutoff is None else np.full((1, 1, 1), cutoff)
    ranks = np.arange(1, length.max(initial=1) + 1)
    best = np.concatenate(([0.0], np.cumsum((1.0 - alpha) ** (ranks - 1) / ranks)))
    return share(novelty.total(cutoff, _reciprocal), novelty.count_subtopics() * best[length])


def normalised_err_ia(
    rankings: Rankings, *, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> Floats:
    """Intent-aware ERR over that of a greedy ideal list, as ndeval defines it."""
    judgements = subtopic_judgements(rankings.qrels)
    return _Novelty(rankings, judgements, alpha, rel).normalised(cutoff, _reciprocal)


def subtopic_recall(rankings: Rankings, *, cutoff: int | None = None, rel: int = 1) -> Floats:
    """Share of a topic's intents that the first k documents serve (Zhai et al. 2003)."""
    judgements = subtopic_judgements(rankings.qrels)
    served = _Novelty(rankings, judgements, 1.0, rel).total(cutoff, _unweighted)
    return share(served, np.diff(judgements.offsets)[:, None])


def d_ndcg(rankings: Rankings, *, cutoff: int | None = None, gains: str | None = None) -> Floats:
    """NDCG over the global gain ``Σ_i Pr(i|topic) g_i(d)`` (Sakai & Song 2011)."""
    judgements = subtopic_judgements(rankings.qrels)
    weighted = judgements.probabilities[judgements.subtopic] * mapped_gain(judgements.gain, gains)
    size = len(rankings.qrels.documents)
    global_gain = sum_by_index(judgements.document, weighted[:, None], size)[:, 0]
    ideal = _ideal_by_gain(rankings, global_gain)
    gained = discounted(rankings, global_gain[rankings.documents], cutoff)
    return share(gained, discounted(ideal, global_gain[ideal.documents], cutoff)[0])


def d_sharp_ndcg(
    rankings: Rankings, *, cutoff: int | None = None, gamma: float = 0.5, gains: str | None = None
) -> Floats:
    """``γ · StRecall + (1-γ) · D_nDCG``, written D♯-nDCG (Sakai & Song 2011)."""
    if not 0 <= gamma <= 1:
        raise InvalidValueError(f"DS_nDCG's gamma is {gamma}; expected a number from 0 to 1")
    recall = subtopic_recall(rankings, cutoff=cutoff)
    blend: Floats = gamma * recall + (1.0 - gamma) * d_ndcg(rankings, cutoff=cutoff, gains=gains)
    return blend


def _log_discount(rank: Integers) -> Floats:
    discount: Floats = 1.0 / np.log2(rank + 1.0)
    return discount


def _reciprocal(rank: Integers) -> Floats:
    return 1.0 / rank


def _unweighted(rank: Integers) -> Floats:
    return np.ones(rank.shape)


class _Novelty:
    """Which subtopics documents serve, and how new that is where they stand.

    Documents and subtopics meet in pairs, one for each judgement of gain ``rel`` or more.
    """

    def __init__(
        self, rankings: Rankings, judgements: SubtopicJudgements, alpha: float, rel: int
    ) -> None:
        if not 0 <= alpha <= 1:
            raise InvalidValueError(f"alpha is {alpha}; expected a number from 0 to 1")
        kept = judgements.gain >= rel
        order = np.lexsort((judgements.subtopic[kept], judgements.document[kept]))
        self.rankings = rankings
        self.repeated = 1.0 - alpha
        self.document = judgements.document[kept][order]
        self.subtopic = judgements.subtopic[kept][order]
        self.offsets = judgements.offsets

    def count_subtopics(self) -> Integers:
        """Return the subtopics that have a relevant document: topics × replicates."""
        copies = self.rankings.judged_copies
        found = np.zeros((int(self.offsets[-1]), copies.shape[1]), np.int64)
        np.add.at(found, self.subtopic, copies[self.document])
        running = np.zeros((len(found) + 1, copies.shape[1]), np.int64)
        np.cumsum(found > 0, axis=0, out=running[1:])
        return running[self.offsets[1:]] - running[self.offsets[:-1]]

    def normalised(self, cutoff: int | None, weight: Weight) -> Floats:
        """Return the weighted novelty of the lists over that of greedy ideal ones."""
        return share(self.total(cutoff, weight), self.ideal(cutoff, weight))

    def total(self, cutoff: int | None, weight: Weight) -> Floats:
        """Return the weighted novelty of the lists: runs × topics × replicates."""
        rankings = self.rankings
        row, subtopic = self._pairs(rankings.documents)
        group = rankings.lists[row] * int(self.offsets[-1]) + subtopic
        served = _above_in_group(group, rankings.copies[row])
        kept = rankings.copies_within(cutoff)
        value = np.zeros(kept.shape)
        for copy in range(1, kept.max(initial=0) + 1):
            new = _sum_by_row(row, np.power(self.repeated, served + copy - 1), len(kept))
            value += np.where(kept >= copy, new * weight(rankings.before + copy), 0.0)
        return rankings.total(value)

    def ideal(self, cutoff: int | None, weight: Weight) -> Floats:
        """Return the weighted novelty of lists that always take the newest document next.

        Of equally new documents the last by docid is taken, as in ndeval: topics × replicates.
        """
        qrels = self.rankings.qrels
        relevant = np.unique(self.document).tolist()
        by_docid = sorted(relevant, key=qrels.documents.__getitem__, reverse=True)
        candidates = np.array(by_docid, np.int64)
        candidates = candidates[np.argsort(qrels.document_topics[candidates], kind="stable")]
        topics, starts, sizes = np.unique(
            qrels.document_topics[candidates], return_index=True, return_counts=True
        )
        row, subtopic = self._pairs(candidates)
        left = self.rankings.judged_copies[candidates]
        served = np.zeros((int(self.offsets[-1]), left.shape[1]), np.int64)
        value = np.zeros((len(qrels.topics), left.shape[1]))
        ranks = int(left.sum(axis=0).max(initial=0)) if cutoff is None else cutoff
        for rank in range(1, ranks + 1):
            new = _sum_by_row(row, np.power(self.repeated, served[subtopic]), len(left))
            new = np.where(left > 0, new, -1.0)
            newest = np.maximum.reduceat(new, starts, axis=0) if len(starts) else new
            if newest.max(initial=0.0) <= 0:
                break
            value[topics] += np.maximum(newest, 0.0) * weight(np.array([[rank]]))
            tied = (new == np.repeat(newest, sizes, axis=0)) & (left > 0)
            group = np.repeat(np.arange(len(topics)), sizes)
            chosen = tied & (_above_in_group(group, tied.astype(np.int64)) == 0)
            left = left - chosen
            np.add.at(served, subtopic, chosen[row].astype(np.int64))
        return value

    def _pairs(self, documents: Integers) -> tuple[Integers, Integers]:
        """Return (row, subtopic) for every subtopic that each of the documents serves."""
        start = np.searchsorted(self.document, documents)
        size = np.searchsorted(self.document, documents, side="right") - start
        row = np.repeat(np.arange(len(documents)), size)
        place = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
        return row, self.subtopic[start[row] + place]


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
    """Return the sums of the values that belong to each row."""
    if values.shape[1] == 1:
        return sum_by_index(row, values, rows)
    sums = np.zeros((rows, values.shape[1]))
    np.add.at(sums, row, values)
    return sums


def _ideal_by_gain(rankings: Rankings, gain: Floats) -> Rankings:
    """Return lists of all judged documents of positive gain, by gain descending."""
    qrels = rankings.qrels
    documents = np.lexsort((-gain, qrels.document_topics))
    documents = documents[gain[documents] > 0]
    topic = qrels.document_topics[documents]
    offsets = np.searchsorted(topic, np.arange(len(qrels.topics) + 1))
    lists = replace(
        rankings,
        runs=("ideal",),
        offsets=offsets,
        documents=documents,
        gain=qrels.gains[documents],
        copies=rankings.judged_copies[documents],
    )
    return replace(lists, before=lists.above(lists.copies))
