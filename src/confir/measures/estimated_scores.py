"""Scores of lists by human judgements of a random sample of documents, and their variance.

P and RBP are sums of the estimates of documents: their variance over draws has a closed form. R, AP
and nDCG are ratios: theirs is that of replicates of the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.ranked_lists.held_lists import HeldLists
from confir.defaults import DRAW_REPLICATES
from confir.errors import UnsupportedMethodError
from confir.measures.estimated_judgements import DocumentSample, Estimated, Redrawn
from confir.measures.graded import dcg_gain, mapped_gain
from confir.measures.measure import Measure

# Replicates that are computed at once. As many serve at other rates than that of the sample: plans take
# means over topics.
_AT_ONCE = 40


class Listed(NamedTuple):
    """The documents in all lists that the model judged.

    Attributes
    ----------
    lists, topics
        Number of the list of each, and topic of each list.
    rank
        Rank in the list, from 0.
    document
        Position among the model's documents.
    """

    lists: Integers
    topics: Integers
    rank: Integers
    document: Integers

    @staticmethod
    def of(lists: HeldLists) -> Listed:
        """Return the ranks of the documents that the model judged."""
        sizes = np.diff(lists.offsets)
        number = np.repeat(np.arange(len(sizes)), sizes)
        rank = np.arange(len(number)) - lists.offsets[:-1][number]
        kept = lists.judgements >= 0
        topics = np.tile(np.arange(len(lists.qrels.topics)), len(lists.runs))
        return Listed(number[kept], topics, rank[kept], lists.judgements[kept].astype(np.int64))

    def within(self, cutoff: int | None) -> Listed:
        """Return what is ranked above a cutoff."""
        kept = self.rank < (np.inf if cutoff is None else cutoff)
        return Listed(self.lists[kept], self.topics, self.rank[kept], self.document[kept])

    def weigh(self, weight: Floats, documents: int) -> Any:
        """Return the matrix, lists × documents, with the weight of each rank."""
        from scipy.sparse import csr_array

        entries = (weight[self.rank], (self.lists, self.document))
        return csr_array(entries, shape=(len(self.topics), documents))


class Scored(NamedTuple):
    """Estimated scores, and how they vary over draws of the documents.

    Attributes
    ----------
    value, variance
        Of each list: runs × topics.
    covariance
        Of the lists of a topic, its mean over topics, at each rate of drawing: rates × runs × runs.
    """

    value: Floats
    variance: Floats
    covariance: Floats


class Sum(NamedTuple):
    """A score that is a sum over documents.

    Attributes
    ----------
    weights
        Of documents in lists: lists × documents.
    estimated
        What is summed.
    """

    weights: Any
    estimated: Estimated


# The scores of lists, lists × replicates, from replicates of the draw.
Ratio = Callable[[Redrawn], Floats]


def score_sampled_lists(
    measures: Sequence[Measure],
    sample: DocumentSample,
    listed: Listed,
    rates: Floats,
    rng: np.random.Generator,
) -> list[Scored]:
    """Return estimated scores by each measure, and how they vary over draws of the documents.

    Parameters
    ----------
    measures, sample, listed
        What is scored: sums and ratios of sums.
    rates
        Factors of the probabilities of being drawn, the second 1.
    rng
        Draws the replicates, for ratios: the same ones for all measures and runs.
    """
    topics = int(sample.topics[-1]) + 1
    ratios = [ratio_of(one, sample, listed) for one in measures if not is_sum(one)]
    found = iter(_score_ratios(ratios, sample, topics, rates, rng) if ratios else ())
    return [
        _score_sum(_SUMS[one.definition.name](one, sample, listed), sample, topics, rates)
        if is_sum(one)
        else next(found)
        for one in measures
    ]


def _score_sum(part: Sum, sample: DocumentSample, topics: int, rates: Floats) -> Scored:
    """Return a sum, and its variance ``Σ π(1/min(rπ, 1) - 1)·d²`` at each rate r, without bias.

    d is what the draw of a document adds to the sum; at rate 1 the factor is 1 - π.
    """
    from scipy.sparse import csr_array

    added = part.weights * part.estimated.drawn
    variance = (added * added) @ sample.variance_at(1.0)
    lists = np.arange(added.shape[0])
    runs = csr_array((np.ones(len(lists)), (lists // topics, lists))) @ added  # of all topics
    shared = [((runs * sample.variance_at(rate)) @ runs.T).toarray() for rate in rates.tolist()]
    value = part.weights @ part.estimated.value
    return Scored(
        value.reshape(-1, topics), variance.reshape(-1, topics), np.stack(shared) / topics
    )


def _score_ratios(
    ratios: Sequence[Ratio],
    sample: DocumentSample,
    topics: int,
    rates: Floats,
    rng: np.random.Generator,
) -> list[Scored]:
    """Return ratios, and their variance over replicates of the draw."""
    values = [ratio(sample.as_drawn()).reshape(-1, topics) for ratio in ratios]
    spreads = [[_Spread.around(value) for _ in rates] for value in values]
    for number, rate in enumerate(rates.tolist()):
        if not sample.variance_at(rate)[sample.drawn].any():
            continue  # all are certain to be drawn
        for _ in range(0, DRAW_REPLICATES if rate == 1.0 else _AT_ONCE, _AT_ONCE):
            redrawn = sample.redraw(rate, _AT_ONCE, rng)
            for ratio, spread in zip(ratios, spreads, strict=True):
                spread[number] = spread[number].add(ratio(redrawn))
    return [
        Scored(value, spread[1].variance(), np.stack([one.covariance() for one in spread]))
        for value, spread in zip(values, spreads, strict=True)
    ]


class _Spread(NamedTuple):
    """Sums over replicates of centred scores: runs × topics, and runs × runs."""

    replicates: int
    centre: Floats
    first: Floats
    second: Floats
    shared: Floats

    @staticmethod
    def around(centre: Floats) -> _Spread:
        """Return sums over no replicates yet, for scores that are centred by these."""
        zero = np.zeros_like(centre)
        return _Spread(0, centre, zero, zero, np.zeros((len(centre), len(centre))))

    def add(self, scores: Floats) -> _Spread:
        """Return the sums with further replicates: lists × replicates."""
        centred = scores.reshape(*self.centre.shape, -1) - self.centre[:, :, None]
        flat = centred.reshape(len(centred), -1)
        return _Spread(
            self.replicates + centred.shape[2],
            self.centre,
            self.first + centred.sum(axis=2),
            self.second + np.square(centred).sum(axis=2),
            self.shared + flat @ flat.T,
        )

    def variance(self) -> Floats:
        """Return the variance of each score."""
        squares = self.second - np.square(self.first) / max(self.replicates, 1)
        return np.asarray(np.maximum(squares, 0.0) / max(self.replicates - 1.0, 1.0))

    def covariance(self) -> Floats:
        """Return the covariance of runs, its mean over topics."""
        products = self.shared - self.first @ self.first.T / max(self.replicates, 1)
        return np.asarray(products / max(self.replicates - 1.0, 1.0) / self.centre.shape[1])


def _precision(measure: Measure, sample: DocumentSample, listed: Listed) -> Sum:
    cutoff = measure.value("cutoff")
    weights = listed.within(cutoff).weigh(np.full(cutoff, 1.0 / cutoff), len(sample.topics))
    return Sum(weights, sample.has_gain(measure.lowest_gain))


def _rank_biased(measure: Measure, sample: DocumentSample, listed: Listed) -> Sum:
    p, rel, inside = measure.value("p"), measure.value("rel"), listed.within(measure.cutoff)
    ranks = np.arange(inside.rank.max(initial=0) + 1)
    weights = inside.weigh((1.0 - p) * p**ranks, len(sample.topics))
    levels = sample.levels
    gain = sample.gain(levels, mapped_gain(levels, measure.gain_map))
    return Sum(weights, gain if rel is None else sample.has_gain(rel))


def _recall(measure: Measure, sample: DocumentSample, listed: Listed) -> Ratio:
    """Relevant documents found over all, cut to [0, 1]."""
    cutoff = measure.value("cutoff")
    found = listed.within(cutoff).weigh(np.ones(cutoff), len(sample.topics))
    return _over_relevant(measure, sample, listed, lambda held: found @ held)


def _average_precision(measure: Measure, sample: DocumentSample, listed: Listed) -> Ratio:
    """The sum of precisions at relevant documents over the number of these, cut to [0, 1]."""
    return _over_relevant(measure, sample, listed, precision_sums(listed.within(measure.cutoff)))


def _over_relevant(
    measure: Measure,
    sample: DocumentSample,
    listed: Listed,
    add_up: Callable[[Floats], Floats],
) -> Ratio:
    """Return what divides a sum over relevant documents of lists by the number of these."""
    relevant, by_topic = sample.has_gain(measure.lowest_gain), sample.by_topic()

    def compute(redrawn: Redrawn) -> Floats:
        total = np.maximum(_count(relevant, redrawn, by_topic), 1.0)
        scores = add_up(relevant.redrawn(redrawn)) / total[listed.topics]
        return np.asarray(np.clip(scores, 0.0, 1.0))

    return compute


def precision_sums(inside: Listed) -> Callable[[Floats], Floats]:
    """Return what sums ``(g_i/i)(1 + Σ_{j<i} g_j)`` over the ranks i of lists.

    It takes estimates of whether documents are relevant, documents × replicates. The sums are unbiased
    if documents are drawn independently of each other.
    """
    first = np.searchsorted(inside.lists, inside.lists)
    ones = inside._replace(document=np.arange(len(inside.rank)))
    added = ones.weigh(1.0 / (1.0 + np.arange(inside.rank.max(initial=0) + 1)), len(inside.rank))

    def add_up(relevant: Floats) -> Floats:
        gained = relevant[inside.document]
        above = np.cumsum(gained, axis=0) - gained
        above -= above[first] if len(first) else 0.0
        return np.asarray(added @ (gained * (1.0 + above)))

    return add_up


def _ndcg(measure: Measure, sample: DocumentSample, listed: Listed) -> Ratio:
    """DCG over that of the ideal list, whose documents of each grade are estimated numbers."""
    inside, levels = listed.within(measure.cutoff), sample.levels
    gains = dcg_gain(levels, str(measure.value("dcg")), measure.gain_map)
    rises = np.diff(gains, prepend=0.0)
    if (rises < 0).any():
        raise UnsupportedMethodError(f"{measure}: gains must rise with the grades of the qrels")
    ranks = np.arange(inside.rank.max(initial=0) + 1)
    weights = inside.weigh(1.0 / np.log2(ranks + 2.0), len(sample.topics))
    gain, by_topic = sample.gain(levels, gains), sample.by_topic()
    grades = [sample.has_gain(level) for level in levels.tolist()]
    most = int(np.bincount(sample.topics).max())
    prefix = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(most) + 2.0)))
    cutoff = most if measure.cutoff is None else min(measure.cutoff, most)

    def compute(redrawn: Redrawn) -> Floats:
        if not grades:  # no relevant document is known: the ideal list has no gain either
            return np.zeros_like(np.asarray(weights @ gain.redrawn(redrawn)))
        counts = np.stack([_count(grade, redrawn, by_topic) for grade in grades])
        counts[0] = np.maximum(counts[0], 1.0)
        falling = np.maximum.accumulate(counts[::-1], axis=0)[::-1]  # higher grades are fewer
        held = np.interp(np.clip(falling, 0.0, cutoff), np.arange(most + 1), prefix)
        ideal = np.tensordot(rises, held, axes=1)
        return np.asarray(weights @ gain.redrawn(redrawn) / ideal[listed.topics])

    return compute


def _count(has: Estimated, redrawn: Redrawn, by_topic: Any) -> Floats:
    """Return how many documents of each topic have a gain: an estimate, at least those drawn."""
    return np.asarray(np.maximum(by_topic @ has.redrawn(redrawn), by_topic @ has.seen(redrawn)))


_SUMS = {"P": _precision, "RBP": _rank_biased}
_RATIOS = {"R": _recall, "AP": _average_precision, "nDCG": _ndcg}

SAMPLED_MEASURES = (*_SUMS, *_RATIOS)


def is_sum(measure: Measure) -> bool:
    """Return whether scores are sums over documents, whose variance needs no replicates."""
    return measure.definition.name in _SUMS


def ratio_of(measure: Measure, sample: DocumentSample, listed: Listed) -> Ratio:
    """Return what scores lists, in replicates of the draw, by a measure that is a ratio."""
    return _RATIOS[measure.definition.name](measure, sample, listed)
