"""The lowest and the highest score over all judgements of unjudged documents.

Each rule gives the exact bounds over all completions of the judgements for the lists of one run,
as topics. The lists are cut at the measure's cutoff: documents below it count as not
retrieved. Where a score is a ratio, both of its parts grow with the relevant documents, and neither
"nothing relevant" nor "all relevant" need be the extreme.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from confir.arrays import TIE
from confir.errors import InvalidValueError
from confir.measures.binary import share
from confir.measures.graded import dcg_gain, mapped_gain

if TYPE_CHECKING:
    from confir.arrays import Booleans, Floats, Integers
    from confir.data.ranked_lists.unjudged_documents import UnjudgedDocuments
    from confir.measures.measure import Measure

# Dinkelbach's iteration takes few steps; each one improves the ratio, by more than rounding does.
_MOST_STEPS = 60
_ROUNDING = 1e-13

# Each gain takes a table of lists × documents.
_MOST_GRADES = 100


class ScoreBounds(NamedTuple):
    """Lowest and highest scores of one run: topics."""

    lowest: Floats
    highest: Floats


Rule: TypeAlias = "Callable[[UnjudgedDocuments, Measure], ScoreBounds]"
RunPair: TypeAlias = "tuple[UnjudgedDocuments, UnjudgedDocuments]"
DifferenceRule: TypeAlias = "Callable[[RunPair, Measure], ScoreBounds]"


def monotone_bounds(unjudged: UnjudgedDocuments, measure: Measure) -> ScoreBounds:
    """Return the scores with nothing more relevant, and with all at the best gain."""
    best = best_grade(unjudged, measure)
    everything = np.full((len(unjudged.pool.topics), 1), best)
    completions = unjudged.pool.completions(everything, unjudged.rankings.qrels)
    highest = measure(unjudged.complete(completions))[0, :, 0]
    return ScoreBounds(measure(unjudged.rankings)[0, :, 0], highest)


def residual_bounds(unjudged: UnjudgedDocuments, measure: Measure) -> ScoreBounds:
    """Return RBP, and RBP with its residual (Moffat & Zobel 2008).

    Unjudged documents may have the best gain, and so may all documents below the end of a list that
    neither a cutoff nor the depth of the pool ends: ``p^depth``.
    """
    bounds = monotone_bounds(unjudged, measure)
    return ScoreBounds(bounds.lowest, bounds.highest + unlisted_share(unjudged, measure))


def unlisted_share(unjudged: UnjudgedDocuments, measure: Measure) -> Floats:
    """Return what documents below the end of each list could add to RBP: topics."""
    depth = unjudged.rankings.depth[0, :, 0]
    if measure.cutoff is not None or unjudged.pool.depth is not None:
        return np.zeros(len(depth))
    credit = 1.0
    if measure.value("rel") is None:
        best = np.array([best_grade(unjudged, measure)])
        credit = float(mapped_gain(best, measure.gain_map)[0])
    return np.where(depth > 0, credit * np.power(float(measure.value("p")), depth), 0.0)


def recall_bounds(unjudged: UnjudgedDocuments, measure: Measure) -> ScoreBounds:
    """Return recall with only documents outside the first k relevant, and with only those inside."""
    rel = measure.lowest_gain
    relevant = unjudged.rankings.at_least(rel)
    found = relevant.total(relevant.copies)[0, :, 0]
    total = unjudged.rankings.count_at_least(rel)[:, 0]
    if unjudged.pool.grades[-1] < rel:
        return _unmoved(share(found, total))
    inside = np.diff(unjudged.offsets)
    return ScoreBounds(
        share(found, total + unjudged.outside), share(found + inside, total + inside)
    )


def average_precision_bounds(unjudged: UnjudgedDocuments, measure: Measure) -> ScoreBounds:
    """Return AP's bounds: the best of "the first j relevant", the worst of "the last j, and all outside".

    For any number of relevant documents in a list, the best places are the first ones, and the
    worst the last; documents outside only add to the denominator.
    """
    rel = measure.lowest_gain
    relevant = unjudged.rankings.at_least(rel)
    rank = relevant.before + 1
    precisions = relevant.total((relevant.copies_above() + 1) / rank)[0, :, 0]
    total = unjudged.rankings.count_at_least(rel)[:, 0]
    score = measure(unjudged.rankings)[0, :, 0]
    if unjudged.pool.grades[-1] < rel:
        return _unmoved(score)
    topic, own = unjudged.topics, 1.0 / (unjudged.before + 1)
    # the number of relevant documents above each one, and the sum of 1/rank of those below
    at, starts = relevant.before[:, 0], np.searchsorted(relevant.topic, np.arange(len(total) + 1))
    width = int(max(at.max(initial=0), unjudged.before.max(initial=0))) + 1
    passed = np.searchsorted(relevant.topic * width + at, topic * width + unjudged.before)
    sums = np.concatenate(([0.0], np.cumsum(1.0 / (at + 1))))
    above, below = passed - starts[topic], sums[starts[topic + 1]] - sums[passed]
    place = np.arange(len(topic)) - unjudged.offsets[topic]
    first = _sums_down((above + place + 1) * own + below, unjudged.offsets)
    highest = share(precisions[topic] + first, total[topic] + place + 1)
    chosen_below = _sums_up(own, unjudged.offsets) - own
    last = _sums_up((above + 1) * own + below + chosen_below, unjudged.offsets)
    chosen = np.diff(unjudged.offsets)[topic] - place
    least = total + unjudged.outside
    lowest = share(precisions[topic] + last, least[topic] + chosen)
    return _around(
        score,
        extreme_by_list(np.minimum, lowest, unjudged.offsets, share(precisions, least)),
        extreme_by_list(np.maximum, highest, unjudged.offsets, score),
    )


def ndcg_bounds(unjudged: UnjudgedDocuments, measure: Measure) -> ScoreBounds:
    """Return nDCG's bounds.

    The lowest is that of the last j documents of a list and all others outside at the best gain.
    The highest is found over nested counts ``j_1 >= j_2 >= …``: the first j_v documents have the
    v-th gain or a higher one.
    """
    ideal = IdealLists(unjudged, measure)
    gained = ideal.gained(unjudged)
    topics = np.arange(len(gained))
    score = measure(unjudged.rankings)[0, :, 0]
    topic, discount = unjudged.topics, 1.0 / np.log2(unjudged.before + 2)
    chosen = np.diff(unjudged.offsets)[topic] - (np.arange(len(topic)) - unjudged.offsets[topic])
    last = gained[topic] + ideal.steps.sum() * _sums_up(discount, unjudged.offsets)
    outside = unjudged.outside
    lowest = share(last, ideal.best(topic, outside[topic] + chosen))
    none = share(gained, ideal.best(topics, outside))
    sums = padded_sums(discount, unjudged.offsets)
    return _around(
        score,
        extreme_by_list(np.minimum, lowest, unjudged.offsets, none),
        ideal.highest_ratio(gained, sums, np.diff(unjudged.offsets), score),
    )


class IdealLists:
    """The ideal lists of each topic, with some documents more at each gain."""

    def __init__(self, unjudged: UnjudgedDocuments, measure: Measure) -> None:
        rankings, pool = unjudged.rankings, unjudged.pool
        if len(pool.grades) > _MOST_GRADES:
            raise InvalidValueError(
                f"the qrels have {len(pool.grades)} positive gains; expected at most "
                f"{_MOST_GRADES} for bounds of {measure}, which try each"
            )
        self._gain_of = partial(dcg_gain, dcg=measure.value("dcg"), gains=measure.gain_map)
        gain = self._gain_of(rankings.levels[rankings.levels >= 1])
        offered = self._gain_of(pool.grades)
        values = np.unique(np.concatenate((gain, offered)))
        values = values[values > 0]
        # What each value adds to the one below it, and the judged documents that have it or more.
        self.steps = np.diff(values, prepend=0.0)
        counts = rankings.counts[:, rankings.levels >= 1, 0]
        self.counts = counts @ (gain[:, None] >= values).astype(np.int64)
        longest = int(self.counts.max(initial=0) + pool.sizes.max(initial=0))
        ranks = np.arange(longest if measure.cutoff is None else min(longest, measure.cutoff))
        self.discounts = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(ranks + 2))))

    def gained(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return the discounted gain of the judged documents of a run: topics."""
        judged = unjudged.rankings
        gain = self._gain_of(judged.gain)[:, None]
        gained: Floats = judged.total(gain / np.log2(judged.before + 2))[0, :, 0]
        return gained

    def discounted(self, documents: Integers) -> Floats:
        """Return the sum of the discounts of the first documents."""
        return self.discounts[np.minimum(documents, len(self.discounts) - 1)]

    def best(self, topics: Integers, more: Integers) -> Floats:
        """Return the gain of ideal lists of topics, with some documents of the best gain more."""
        gained: Floats = np.zeros(len(topics))
        for step, count in zip(self.steps, self.counts.T, strict=True):
            gained += step * self.discounted(count[topics] + more)
        return gained

    def highest_ratio(self, gained: Floats, sums: Floats, most: Integers, score: Floats) -> Floats:
        """Return the highest ratio of gain to the ideal's, by Dinkelbach's iteration.

        Parameters
        ----------
        gained
            Gain of the judged documents, by topic.
        sums
            Sum of the discounts of the best 0, 1, … documents: topics × documents, padded.
        most
            Number of documents of each topic.
        score
            The ratio to begin with.
        """
        ratio = score.copy()
        allowed = np.arange(sums.shape[1]) <= most[:, None]
        ideal = [
            step * self.discounted(count[:, None] + np.arange(sums.shape[1]))
            for step, count in zip(self.steps, self.counts.T, strict=True)
        ]
        for _ in range(_MOST_STEPS):
            more, best = self._best_counts(ratio, sums, ideal, allowed)
            gain = gained + more - ratio * best > _ROUNDING * best
            if not gain.any():
                break
            ratio = np.where(gain, share(gained + more, best), ratio)
        return ratio

    def _best_counts(
        self, ratio: Floats, sums: Floats, ideal: list[Floats], allowed: Booleans
    ) -> tuple[Floats, Floats]:
        """Return gain and ideal gain of the nested counts with the highest ``gain - ratio·ideal``."""
        more, best = np.zeros(sums.shape), np.zeros(sums.shape)
        place = np.arange(sums.shape[1])
        for step, part in zip(self.steps[::-1], ideal[::-1], strict=True):
            # A higher gain goes to as many documents or fewer.
            value = more - ratio[:, None] * best
            highest = np.maximum.accumulate(value, axis=1)
            at = np.maximum.accumulate(np.where(value >= highest, place, 0), axis=1)
            more = np.take_along_axis(more, at, axis=1) + step * sums
            best = np.take_along_axis(best, at, axis=1) + part
        value = np.where(allowed, more - ratio[:, None] * best, -np.inf)
        at = value.argmax(axis=1)[:, None]
        return (
            np.take_along_axis(more, at, axis=1)[:, 0],
            np.take_along_axis(best, at, axis=1)[:, 0],
        )


def best_grade(unjudged: UnjudgedDocuments, measure: Measure) -> int:
    """Return the grade that a measure values most."""
    grades = unjudged.pool.grades
    return int(grades[mapped_gain(grades, measure.gain_map).argmax()])


def _sums_down(values: Floats, offsets: Integers) -> Floats:
    """Return the sums of each list's values down to each one."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    down: Floats = sums[1:] - np.repeat(sums[offsets[:-1]], np.diff(offsets))
    return down


def _sums_up(values: Floats, offsets: Integers) -> Floats:
    """Return the sums of each list's values from each one to the last."""
    turned = len(values) - offsets[::-1]
    return _sums_down(values[::-1], turned)[::-1]


def padded_sums(values: Floats, offsets: Integers) -> Floats:
    """Return the sums of each list's first 0, 1, … values: lists × values, the last one repeated."""
    sizes = np.diff(offsets)
    place = np.arange(int(sizes.max(initial=0)))
    held = place < sizes[:, None]
    padded = np.zeros((len(sizes), len(place) + 1))
    padded[:, 1:][held] = values
    sums: Floats = np.cumsum(padded, axis=1)
    return sums


def extreme_by_list(ufunc: np.ufunc, values: Floats, offsets: Integers, initial: Floats) -> Floats:
    """Return the least or the greatest of each list's values and an initial one."""
    extreme = initial.copy()
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        extreme[filled] = ufunc(extreme[filled], ufunc.reduceat(values, offsets[filled]))
    return extreme


def _unmoved(score: Floats) -> ScoreBounds:
    return ScoreBounds(score, score)


def _around(score: Floats, lowest: Floats, highest: Floats) -> ScoreBounds:
    """Return bounds that contain the score itself, which is that of a completion, despite rounding."""
    return ScoreBounds(
        np.where(lowest < score - TIE, lowest, score),
        np.where(highest > score + TIE, np.minimum(highest, 1.0), score),
    )
