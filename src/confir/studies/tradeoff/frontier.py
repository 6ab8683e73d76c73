"""The frontier of runs by a measure and a cost: which runs are on it, which are dominated.

Quality and cost of all pairs of runs form one family of comparisons, whose topics are shared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers, best_first
from confir.data.scores import Scores
from confir.data.tables.cost_files import Cost
from confir.errors import UnsupportedMethodError, collect_warnings
from confir.intervals.confidence_intervals import confidence_interval
from confir.pairs.decisions import (
    BETTER,
    WORSE,
    Estimates,
    Words,
    check_topics,
    decide,
    warn_of_few_clusters,
)
from confir.pairs.differences import (
    MeanDifferences,
    find_difference_method,
    mean_differences,
    pair_runs,
)
from confir.pairs.families import Families
from confir.pairs.paired_tests import find_test
from confir.pairs.simultaneous import ComparisonFamily
from confir.resampling.kinds import as_sample
from confir.resampling.pair_draws import BorrowedVariance, median_variance
from confir.resampling.replicates import FURTHER, can_draw_further
from confir.resampling.sample import Sample
from confir.resampling.studentised_maxima import largest_statistics

DOMINATED, FRONTIER, UNDECIDED = STATUSES = ("dominated", "frontier", "undecided")

# Means compared at once: replicates × runs × runs.
_NUMBERS_AT_ONCE = 1 << 22


class _Quantity(NamedTuple):
    """One measure, or one cost that varies over topics, of all pairs of runs."""

    sample: Sample
    means: MeanDifferences


class RunStatuses(NamedTuple):
    """What is said of all runs by one measure and one cost."""

    status: Words
    borderline: Booleans
    dominated_by: list[tuple[str, ...]]
    efficient: Booleans
    share: Floats


class RunCosts(NamedTuple):
    """What runs cost on average, with limits, and by topic where costs vary.

    Costs that are known need no topics, have no limits, and are in no family.
    """

    mean: Floats
    low: Floats
    high: Floats
    by_topic: Scores | None


def run_costs(cost: Cost, scores: Scores, level: float) -> RunCosts:
    """Return costs as they are known: by run, or by the topics and the design of the scores."""
    values = cost.table(scores.runs, scores.topics)
    if cost.constant:
        nothing = np.full(values.shape, np.nan)
        return RunCosts(values, nothing, nothing, None)
    if scores.all_topics != scores.topics:
        raise UnsupportedMethodError(
            "costs that vary by topic need topics of one judge; expected one cost per run with "
            "human and model judgements"
        )
    table = values[:, :, None]
    spent = Scores(scores.topics, scores.runs, (cost.name,), table, False, design=scores.design)
    with collect_warnings():  # of costs that are equal on all topics, which need no interval
        found = confidence_interval(spent, level=level)
    return RunCosts(found.estimate[:, 0], found.low[:, 0], found.high[:, 0], spent)


def compare_with_costs(
    scores: Scores, cost: RunCosts, level: float, replicates: int, seed: int
) -> RunStatuses:
    """Return what quality and cost say of all runs, by one measure."""
    compared = [scores] if cost.by_topic is None else [scores, cost.by_topic]
    quantities = [_quantity(one, level) for one in compared]
    directions = _directions(quantities, level, replicates, seed)
    least, (status, dominates), most = (
        _statuses(signs, cost, quantities) for signs in zip(*directions, strict=True)
    )
    sample = quantities[0].sample
    mean = sample.distribution(slice(None), None, ("se",)).estimate
    order = best_first(mean)
    by = [
        tuple(scores.runs[one] for one in order if dominates[one, run])
        for run in range(len(scores.runs))
    ]
    efficient = _efficient(mean[None], cost.mean[None])[0]
    share = _shares(sample, cost, replicates, seed)
    return RunStatuses(status, least[0] != most[0], by, efficient, share)


def _statuses(
    signs: tuple[Integers, ...], cost: RunCosts, quantities: list[_Quantity]
) -> tuple[Words, Booleans]:
    """Return the status of each run, and which run (row) dominates which (column).

    Parameters
    ----------
    signs
        Significant directions of all pairs in quality and, where it varies over topics, in cost.
    cost, quantities
        The costs, and the differences in quality and cost.
    """
    runs = len(cost.mean)
    better = _as_matrix(signs[0], runs)
    if cost.by_topic is None:
        cheaper = np.less.outer(cost.mean, cost.mean)
        no_dearer = np.less_equal.outer(cost.mean, cost.mean)
    else:
        cheaper = _as_matrix(signs[1], runs) < 0
        equal = quantities[1].means.identical[:, 0].astype(int)
        no_dearer = cheaper | (_as_matrix(equal, runs) != 0)
    own = np.eye(runs, dtype=bool)
    dominates = (better > 0) & no_dearer & ~own
    safe = (better > 0) | cheaper | own
    undominated = np.where(safe.all(axis=1), FRONTIER, UNDECIDED)
    return np.where(dominates.any(axis=0), DOMINATED, undominated), dominates


def _quantity(scores: Scores, level: float) -> _Quantity:
    """Return the differences of all pairs by one measure, or in one cost."""
    sample = as_sample(scores)
    pairs = pair_runs(sample, None)
    method = find_difference_method("t")
    means, _ = mean_differences(pairs, method, level, 1, np.random.default_rng(0))
    check_topics(pairs, means)
    return _Quantity(sample, means)


class _Directions(NamedTuple):
    """Significant directions of all pairs in one quantity: 1 where the second run's mean is larger.

    Attributes
    ----------
    least, found, most
        Without the directions that another seed might change, those found, and with all that
        another seed might find.
    """

    least: Integers
    found: Integers
    most: Integers


def _directions(
    quantities: list[_Quantity], level: float, replicates: int, seed: int
) -> list[_Directions]:
    """Return the significant directions of all pairs in each quantity.

    One family holds all of them: m counts the pairs of all quantities, M is of each by itself, and
    the largest t* is taken over both, on the same topics. Where a decision is borderline, ten times as
    many replicates are drawn.
    """
    m = int(sum(one.means.tested[0] for one in quantities))
    warn_of_few_clusters(quantities[0].sample, level, comparisons=m)
    found = _drawn_directions(quantities, m, level, replicates, seed)
    unclear = any((one.least != one.most).any() for one in found)
    if unclear and can_draw_further(m, int(quantities[0].means.topics.max()), replicates):
        return _drawn_directions(quantities, m, level, FURTHER * replicates, seed)
    return found


def _drawn_directions(
    quantities: list[_Quantity], m: int, level: float, replicates: int, seed: int
) -> list[_Directions]:
    borrowed = [
        BorrowedVariance(m, median_variance(np.square(one.means.se[:, 0]) * one.means.units[:, 0]))
        for one in quantities
    ]
    maxima, flips = np.empty(0), quantities[0].sample.scheme.flips
    if m > 1 and not flips:
        drawn = [
            largest_statistics(
                one.sample.of_measure(0), replicates, np.random.default_rng(seed), added
            )
            for one, added in zip(quantities, borrowed, strict=True)
        ]
        length = min(map(len, drawn))  # none where topics are too many to resample
        maxima = np.max([part[:length] for part in drawn], axis=0)
    test = find_test("t")
    found = []
    for one, added in zip(quantities, borrowed, strict=True):
        ordered = np.sort(maxima)
        family = Families((ComparisonFamily(m, ordered, borrowed=added, by_flips=flips),))
        outcome = test.compute(None, one.means, replicates, seed)
        limits = family.limits(one.means, level)
        estimates = Estimates(one.means.difference, *limits.limits, one.means.constant, limits.open)
        decided = decide([(test, outcome)], one.means, estimates, family, margin=None, level=level)
        verdict, unclear = decided.verdict[0, :, 0], decided.borderline[0, :, 0]
        sign = np.where(verdict == BETTER, 1, np.where(verdict == WORSE, -1, 0))
        possible = np.sign(one.means.difference[:, 0]).astype(np.int64)
        found.append(
            _Directions(np.where(unclear, 0, sign), sign, np.where(unclear, possible, sign))
        )
    return found


def _as_matrix(values: Integers, runs: int) -> Integers:
    """Return values of pairs as runs × runs: the row's run less the column's."""
    first, second = np.triu_indices(runs, 1)
    matrix = np.zeros((runs, runs), np.int64)
    matrix[second, first], matrix[first, second] = values, -values
    return matrix


def _shares(quality: Sample, cost: RunCosts, replicates: int, seed: int) -> Floats:
    """Return the share of replicates in which each run is efficient."""

    def drawn(sample: Sample) -> Floats:
        return sample.of_measure(0).replicate_means(replicates, np.random.default_rng(seed))

    means = drawn(quality)
    spent = np.broadcast_to(cost.mean, means.shape)
    if cost.by_topic is not None:
        spent = drawn(as_sample(cost.by_topic))
    count, runs = min(len(means), len(spent)), means.shape[1]
    block = max(1, _NUMBERS_AT_ONCE // runs**2)
    total = np.zeros(runs)
    for start in range(0, count, block):
        stop = min(start + block, count)
        total += _efficient(means[start:stop], spent[start:stop]).sum(axis=0)
    share: Floats = total / count
    return share


def _efficient(quality: Floats, cost: Floats) -> Booleans:
    """Return which runs no other one beats in one and reaches in the other: … × runs."""
    better = quality[:, :, None] - quality[:, None, :]
    dearer = cost[:, :, None] - cost[:, None, :]
    scale = TIE * np.maximum(1.0, np.abs(cost).max(axis=1, initial=0.0))[:, None, None]
    reaches = (better >= -TIE) & (dearer <= scale)
    beats = reaches & ((better > TIE) | (dearer < -scale))
    efficient: Booleans = ~np.any(beats, axis=1)
    return efficient
