"""Bounds of the difference of two runs over all judgements of unjudged documents.

One completion serves both runs, so that the bounds are narrower than those of the two scores
together. Each rule gives the bounds of the first run's score minus the second's, topic by topic, for
lists that are cut at the measure's cutoff. They are exact but for `outer_differences`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from confir.measures.binary import share
from confir.measures.completions import (
    DifferenceRule,
    IdealLists,
    Rule,
    ScoreBounds,
    best_grade,
    extreme_by_list,
    padded_sums,
    unlisted_share,
)
from confir.measures.graded import dcg_gain

if TYPE_CHECKING:
    from confir.arrays import Booleans, Floats, Integers
    from confir.data.lists.unjudged_documents import UnjudgedDocuments
    from confir.measures.measure import Measure

_NOWHERE = np.iinfo(np.int64).max


def difference_bounds(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the lowest and highest difference of two runs: topics."""
    rule: DifferenceRule = measure.definition.differences or outer_differences
    return rule(first.cut(measure.cutoff), second.cut(measure.cutoff), measure)


def outer_differences(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return bounds that hold all differences, from the bounds of the two scores."""
    rule = cast("Rule", measure.definition.completions)
    one, other = rule(first, measure), rule(second, measure)
    return ScoreBounds(one.lowest - other.highest, one.highest - other.lowest)


def linear_differences(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the differences with just those documents relevant that one run ranks higher.

    For measures that add up gains with weights that fall with the rank.
    """
    ranks = _ranks(first), _ranks(second)
    best = best_grade(first, measure)

    def difference(chosen: Booleans) -> Floats:
        gains = np.where(chosen, best, 0)[:, None]
        made = first.pool.completions(gains, first.rankings.qrels)
        one, other = (measure(run.complete(made))[0, :, 0] for run in (first, second))
        return one - other

    return ScoreBounds(difference(ranks[1] < ranks[0]), difference(ranks[0] < ranks[1]))


def residual_differences(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the differences of RBP, documents below the end of lists included."""
    bounds = linear_differences(first, second, measure)
    return ScoreBounds(
        bounds.lowest - unlisted_share(second, measure),
        bounds.highest + unlisted_share(first, measure),
    )


def reciprocal_differences(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the differences of RR."""
    return _first_relevant_differences(first, second, measure, lambda rank: 1.0 / rank)


def success_differences(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the differences of Success."""
    return _first_relevant_differences(first, second, measure, np.ones_like)


def _first_relevant_differences(
    first: UnjudgedDocuments,
    second: UnjudgedDocuments,
    measure: Measure,
    weigh: Callable[[Floats], Floats],
) -> ScoreBounds:
    """Return the extremes of the differences with one document more relevant, or none.

    For measures of the first relevant document: a second one could only help the other run.
    """
    scores = [measure(run.rankings)[0, :, 0] for run in (first, second)]
    difference = scores[0] - scores[1]
    if first.pool.grades[-1] < measure.lowest_gain:
        return ScoreBounds(difference, difference)
    alone = [_scores_alone(run, weigh) for run in (first, second)]
    topic = first.pool.topics
    moved = np.maximum(scores[0][topic], alone[0]) - np.maximum(scores[1][topic], alone[1])
    starts = np.concatenate(([0], np.cumsum(first.pool.sizes)))
    return ScoreBounds(
        extreme_by_list(np.minimum, moved, starts, difference),
        extreme_by_list(np.maximum, moved, starts, difference),
    )


def recall_differences(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the differences of recall.

    The highest has all relevant that the first run alone has; and if that is still negative, all
    that neither or both have, which shrinks it.
    """
    highest = _highest_recall_difference(first, second, measure)
    return ScoreBounds(-_highest_recall_difference(second, first, measure), highest)


def ndcg_differences(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the differences of nDCG, whose ideal list is the same for both runs.

    As `ndcg_bounds`, with documents in the order of how much more the first run gains by them.
    """
    return ScoreBounds(
        -_highest_ndcg_difference(second, first, measure),
        _highest_ndcg_difference(first, second, measure),
    )


def _highest_recall_difference(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> Floats:
    rel = measure.lowest_gain
    relevant = [run.rankings.at_least(rel) for run in (first, second)]
    found = [part.total(part.copies)[0, :, 0] for part in relevant]
    total = first.rankings.count_at_least(rel)[:, 0]
    base = found[0] - found[1]
    if first.pool.grades[-1] < rel:
        return share(base, total)
    listed = [_ranks(run) < _NOWHERE for run in (first, second)]
    topics = len(total)
    only = np.bincount(first.pool.topics[listed[0] & ~listed[1]], minlength=topics)
    others = np.bincount(first.pool.topics[listed[0] == listed[1]], minlength=topics)
    best = base + only
    return share(best.astype(np.float64), total + only + np.where(best < 0, others, 0))


def _highest_ndcg_difference(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> Floats:
    ideal = IdealLists(first, measure)
    gained = [_discounted_gain(run, ideal, measure) for run in (first, second)]
    scores = [measure(run.rankings)[0, :, 0] for run in (first, second)]
    more = _discounts(_ranks(first)) - _discounts(_ranks(second))
    order = np.lexsort((-more, first.pool.topics))
    starts = np.concatenate(([0], np.cumsum(first.pool.sizes)))
    sums = padded_sums(more[order], starts)
    difference = scores[0] - scores[1]
    highest = ideal.highest_ratio(gained[0] - gained[1], sums, first.pool.sizes, difference)
    return np.maximum(highest, difference)


def _discounted_gain(run: UnjudgedDocuments, ideal: IdealLists, measure: Measure) -> Floats:
    gain = dcg_gain(run.rankings.gain, ideal.dcg, measure.gain_map)
    gained: Floats = run.rankings.total(gain[:, None] / np.log2(run.rankings.before + 2))[0, :, 0]
    return gained


def _ranks(run: UnjudgedDocuments) -> Integers:
    """Return the rank of each document of the pool in the lists of a run."""
    ranks = np.full(len(run.pool.topics), _NOWHERE)
    ranks[run.numbers] = run.before + 1
    return ranks


def _discounts(ranks: Integers) -> Floats:
    listed = ranks < _NOWHERE
    return np.where(listed, 1.0 / np.log2(np.where(listed, ranks, 1) + 1.0), 0.0)


def _scores_alone(run: UnjudgedDocuments, weigh: Callable[[Floats], Floats]) -> Floats:
    """Return the score of a list in which one document of the pool is the only relevant one."""
    scores = np.zeros(len(run.pool.topics))
    scores[run.numbers] = weigh((run.before + 1).astype(np.float64))
    return scores
