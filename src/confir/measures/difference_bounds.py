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
from confir.measures.score_bounds import (
    DifferenceRule,
    IdealLists,
    Rule,
    RunPair,
    ScoreBounds,
    best_grade,
    extreme_by_list,
    padded_sums,
    unlisted_share,
)

if TYPE_CHECKING:
    from confir.arrays import Booleans, Floats, Integers
    from confir.data.ranked_lists.unjudged_documents import UnjudgedDocuments
    from confir.measures.measure import Measure

_NOWHERE = np.iinfo(np.int64).max


def bounds_of_difference(
    first: UnjudgedDocuments, second: UnjudgedDocuments, measure: Measure
) -> ScoreBounds:
    """Return the lowest and highest difference of two runs: topics."""
    rule: DifferenceRule = measure.definition.differences or outer_differences
    return rule((first.cut(measure.cutoff), second.cut(measure.cutoff)), measure)


def outer_differences(runs: RunPair, measure: Measure) -> ScoreBounds:
    """Return bounds that contain all differences, from the bounds of the two scores."""
    rule = cast("Rule", measure.definition.bounds)
    one, other = (rule(run, measure) for run in runs)
    return ScoreBounds(one.lowest - other.highest, one.highest - other.lowest)


def linear_differences(runs: RunPair, measure: Measure) -> ScoreBounds:
    """Return the differences with just those documents relevant that one run ranks higher.

    For measures that add up gains with weights that fall with the rank.
    """
    first, second = (_ranks(run) for run in runs)
    best, pool = best_grade(runs[0], measure), runs[0].pool

    def difference(chosen: Booleans) -> Floats:
        made = pool.completions(np.where(chosen, best, 0)[:, None], runs[0].rankings.qrels)
        one, other = (measure(run.complete(made))[0, :, 0] for run in runs)
        return one - other

    return ScoreBounds(difference(second < first), difference(first < second))


def residual_differences(runs: RunPair, measure: Measure) -> ScoreBounds:
    """Return the differences of RBP, documents below the end of lists included."""
    lowest, highest = linear_differences(runs, measure)
    first, second = (unlisted_share(run, measure) for run in runs)
    return ScoreBounds(lowest - second, highest + first)


def reciprocal_differences(runs: RunPair, measure: Measure) -> ScoreBounds:
    """Return the differences of RR."""
    return _first_relevant_differences(runs, measure, lambda rank: 1.0 / rank)


def success_differences(runs: RunPair, measure: Measure) -> ScoreBounds:
    """Return the differences of Success."""
    return _first_relevant_differences(runs, measure, np.ones_like)


def _first_relevant_differences(
    runs: RunPair, measure: Measure, weigh: Callable[[Floats], Floats]
) -> ScoreBounds:
    """Return the extremes of the differences with one document more relevant, or none.

    For measures of the first relevant document: a second one could only help the other run.
    """
    pool = runs[0].pool
    scores = [measure(run.rankings)[0, :, 0] for run in runs]
    difference = scores[0] - scores[1]
    if pool.grades[-1] < measure.lowest_gain:
        return ScoreBounds(difference, difference)
    # the score of a list in which one document of the pool is the only relevant one
    alone = np.zeros((2, len(pool.topics)))
    for own, run in zip(alone, runs, strict=True):
        own[run.numbers] = weigh((run.before + 1).astype(np.float64))
    first, second = (np.maximum(s[pool.topics], a) for s, a in zip(scores, alone, strict=True))
    moved = first - second
    starts = np.concatenate(([0], np.cumsum(pool.sizes)))
    return ScoreBounds(
        extreme_by_list(np.minimum, moved, starts, difference),
        extreme_by_list(np.maximum, moved, starts, difference),
    )


def recall_differences(runs: RunPair, measure: Measure) -> ScoreBounds:
    """Return the differences of recall.

    The highest has all relevant that the first run alone has; and if that is still negative, all
    that neither or both have, which shrinks it.
    """
    highest = _highest_recall_difference(runs, measure)
    return ScoreBounds(-_highest_recall_difference(runs[::-1], measure), highest)


def ndcg_differences(runs: RunPair, measure: Measure) -> ScoreBounds:
    """Return the differences of nDCG, whose ideal list is the same for both runs.

    As `ndcg_bounds`, with documents in the order of how much more the first run gains by them.
    """
    highest = _highest_ndcg_difference(runs, measure)
    return ScoreBounds(-_highest_ndcg_difference(runs[::-1], measure), highest)


def _highest_recall_difference(runs: RunPair, measure: Measure) -> Floats:
    rel, pool = measure.lowest_gain, runs[0].pool
    relevant = [run.rankings.at_least(rel) for run in runs]
    found = [part.total(part.copies)[0, :, 0] for part in relevant]
    total = runs[0].rankings.count_at_least(rel)[:, 0]
    base = found[0] - found[1]
    if pool.grades[-1] < rel:
        return share(base, total)
    first, second = (_ranks(run) < _NOWHERE for run in runs)
    only, others = (
        np.bincount(pool.topics[which], minlength=len(total))
        for which in (first & ~second, first == second)
    )
    best = base + only
    return share(best.astype(np.float64), total + only + np.where(best < 0, others, 0))


def _highest_ndcg_difference(runs: RunPair, measure: Measure) -> Floats:
    pool, ideal = runs[0].pool, IdealLists(runs[0], measure)
    gained, other_gained = (ideal.gained(run) for run in runs)
    score, other_score = (measure(run.rankings)[0, :, 0] for run in runs)
    discounts, other_discounts = (_discounts(_ranks(run)) for run in runs)
    more, difference = discounts - other_discounts, score - other_score
    order = np.lexsort((-more, pool.topics))
    sums = padded_sums(more[order], np.concatenate(([0], np.cumsum(pool.sizes))))
    highest = ideal.highest_ratio(gained - other_gained, sums, pool.sizes, difference)
    return np.maximum(highest, difference)


def _ranks(run: UnjudgedDocuments) -> Integers:
    """Return the rank of each document of the pool in the lists of a run."""
    ranks = np.full(len(run.pool.topics), _NOWHERE)
    ranks[run.numbers] = run.before + 1
    return ranks


def _discounts(ranks: Integers) -> Floats:
    listed = ranks < _NOWHERE
    return np.where(listed, 1.0 / np.log2(np.where(listed, ranks, 1) + 1.0), 0.0)
