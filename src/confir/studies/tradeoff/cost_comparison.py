"""Which runs are worth their cost? Dominated runs, runs on the frontier, and those undecided.

Quality and cost of all pairs of runs form one family of comparisons, whose topics are shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_generator, as_level
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.tables.cost_files import Cost, CostSource, read_costs
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import (
    InvalidValueError,
    UnsupportedMethodError,
    collect_warnings,
    enumerate_names,
)
from confir.intervals.interval import Limits
from confir.intervals.method_list import confidence_interval
from confir.intervals.simultaneous import ComparisonFamily
from confir.measures.evaluation import as_listed_scores
from confir.order import TIE
from confir.resampling.borrowed_variance import BorrowedVariance, median_variance
from confir.resampling.further_replicates import FURTHER, can_draw_further
from confir.resampling.kinds import as_sample, needs
from confir.resampling.sample import Knowledge, Sample
from confir.resampling.studentised_maxima import largest_statistics
from confir.resampling.topic_bootstrap import Rng, check_replicates, own_seed
from confir.studies.comparison.comparability import check_topics
from confir.studies.comparison.decisions import count_tested, decide
from confir.studies.comparison.families import Families
from confir.studies.comparison.mean_differences import (
    MeanDifferences,
    find_difference_method,
    mean_differences,
)
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.pairs import check_differences, pair_runs
from confir.studies.comparison.verdicts import BETTER, WORSE, Words

DOMINATED, FRONTIER, UNDECIDED = STATUSES = ("dominated", "frontier", "undecided")

# Means compared at once: replicates × runs × runs.
_NUMBERS_AT_ONCE = 1 << 22


@result
class CostComparison(Result):
    """Which runs are worth their cost; arrays are costs × runs × measures unless stated.

    Attributes
    ----------
    costs, runs, measures
        Names of the costs, of the runs and of the measures.
    quality, quality_low, quality_high
        Mean score with its interval: runs × measures.
    cost, cost_low, cost_high
        Mean cost with its interval, NaN of constant costs: costs × runs.
    status
        "dominated" where another run is significantly better and significantly cheaper, "frontier"
        where the run is significantly better or significantly cheaper than every other one, else
        "undecided".
    borderline
        Whether other replicates might change the status.
    dominated_by
        The runs that dominate it, the best one first; empty where none does.
    efficient
        Whether no other run has a mean that is at least as good, and a cost that is no higher.
    share_frontier
        Share of bootstrap samples of the topics in which the run is efficient: a description.
    topics, level, replicates
        Number of topics, confidence level, and number of replicates.
    """

    costs: tuple[str, ...] = axis("cost")
    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    quality: Floats = over("run", "measure")
    quality_low: Floats = over("run", "measure")
    quality_high: Floats = over("run", "measure")
    cost: Floats = over("cost", "run", column="mean_cost")
    cost_low: Floats = over("cost", "run")
    cost_high: Floats = over("cost", "run")
    status: Words = over("cost", "run", "measure")
    borderline: Booleans = over("cost", "run", "measure")
    dominated_by: tuple[Any, ...] = over("cost", "run", "measure")
    efficient: Booleans = over("cost", "run", "measure")
    share_frontier: Floats = over("cost", "run", "measure")
    topics: int = constant()
    level: float = constant()
    replicates: int

    row_order = ("cost", "measure", "run")

    def derived(self) -> Iterator[Variable]:
        """Yield the runs that dominate each as a text."""
        texts = [
            [[", ".join(names) for names in by_measure] for by_measure in by_run]
            for by_run in self.dominated_by
        ]
        yield Variable("dominated_by", ("cost", "run", "measure"), np.array(texts, object))

    def order(self, cost: int) -> list[int]:
        """Return the runs by their cost, the cheapest first."""
        places: list[int] = np.argsort(self.cost[cost], kind="stable").tolist()
        return places

    def sentences(self) -> list[str]:
        """Return one sentence per cost and measure: which runs are worth their cost."""
        return [
            self._sentence(cost, measure)
            for cost in range(len(self.costs))
            for measure in range(len(self.measures))
        ]

    def _sentence(self, cost: int, measure: int) -> str:
        found = {
            status: [
                self.runs[run]
                for run in self.order(cost)
                if self.status[cost, run, measure] == status
            ]
            for status in (FRONTIER, DOMINATED, UNDECIDED)
        }
        on, below, unclear = found.values()
        parts = [
            f"on the frontier: {enumerate_names(on, 10)}"
            if on
            else "no run is significantly on the frontier",
            f"dominated by a better run that costs no more: {enumerate_names(below, 10)}"
            if below
            else "",
            f"undecided on these topics: {enumerate_names(unclear, 10)}" if unclear else "",
        ]
        return f"{self.measures[measure]} against {self.costs[cost]}: " + "; ".join(
            part for part in parts if part
        )


class _Quantity(NamedTuple):
    """One measure, or one cost that varies over topics, of all pairs of runs."""

    sample: Sample
    means: MeanDifferences
    own: Limits


@on_its_scheduler
@needs(Knowledge.TOPICS, "the comparison of costs")
def compare_costs(
    scores: ScoresSource,
    costs: CostSource,
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> CostComparison:
    """Return which runs are worth their cost: dominated, on the frontier, or undecided.

    Quality and cost of all pairs are one family, by the rule of `compare_runs` with K(K - 1)
    comparisons of K runs; costs that do not vary over topics are compared as they are, and are not
    in the family. Costs and measures are looked at one after the other.

    Parameters
    ----------
    scores
        Scores of two runs or more, or what `as_scores` makes them of.
    costs
        A table with columns run, topic (where costs vary by topic) and one per cost: a file, a
        frame, or several; or run → cost. Lower is better.
    level, replicates, rng
        Confidence level; number of replicates; seed or generator.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.compare_costs(scores, {"a": 9.0, "b": 1.0}).to_records()[0]["status"]
    'undecided'
    """
    table = as_listed_scores(scores)
    level = as_level(level)
    check_replicates(replicates)
    found = read_costs(costs)
    if len(table.runs) < 2:
        raise InvalidValueError("there is one run; a comparison of costs needs at least 2")
    check_differences(len(table.runs), len(table.measures), 2)
    seed = own_seed(as_generator(rng))
    held = [_cost_of_runs(one, table) for one in found]
    parts = [
        [
            _compare(table.select(measure=name), cost, level, replicates, seed)
            for name in table.measures
        ]
        for cost in held
    ]
    quality = confidence_interval(table, level=level, replicates=replicates, rng=seed)
    mean, low, high = (
        np.stack(part) for part in zip(*(cost.limits(level) for cost in held), strict=True)
    )
    return CostComparison(
        costs=tuple(one.name for one in found),
        runs=table.runs,
        measures=table.measures,
        quality=quality.estimate,
        quality_low=quality.low,
        quality_high=quality.high,
        cost=mean,
        cost_low=low,
        cost_high=high,
        status=np.stack([np.stack([one.status for one in row], axis=1) for row in parts]),
        borderline=np.stack([np.stack([one.borderline for one in row], axis=1) for row in parts]),
        dominated_by=tuple(
            tuple(zip(*(one.dominated_by for one in row), strict=True)) for row in parts
        ),
        efficient=np.stack([np.stack([one.efficient for one in row], axis=1) for row in parts]),
        share_frontier=np.stack([np.stack([one.share for one in row], axis=1) for row in parts]),
        topics=len(table.topics),
        level=level,
        replicates=replicates,
    )


class _Standing(NamedTuple):
    """What is said of all runs by one measure and one cost."""

    status: Words
    borderline: Booleans
    dominated_by: list[tuple[str, ...]]
    efficient: Booleans
    share: Floats


class _Ordered(NamedTuple):
    """How the costs of runs compare, the row's with the column's, and what runs cost on average."""

    cheaper: Booleans
    no_dearer: Booleans
    mean: Floats


class _ConstantCost(NamedTuple):
    """Costs of runs that are known: they need no topics, and are in no family."""

    values: Floats

    def limits(self, _: float) -> tuple[Floats, Floats, Floats]:
        """Return the costs, which have no limits."""
        nothing = np.full(self.values.shape, np.nan)
        return self.values, nothing, nothing

    def quantities(self, _: float) -> list[_Quantity]:
        """Return what is estimated: nothing."""
        return []

    def ordered(self, *_: object) -> _Ordered:
        """Return how the costs compare."""
        cost = self.values
        return _Ordered(np.less.outer(cost, cost), np.less_equal.outer(cost, cost), cost)

    def replicates(self, shape: tuple[int, ...], _: int) -> Floats:
        """Return the costs in replicates: replicates × runs."""
        return np.broadcast_to(self.values, shape)


class _VaryingCost(NamedTuple):
    """Costs by topic, as scores of the same topics and design."""

    scores: Scores

    def limits(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return mean costs with their limits."""
        with collect_warnings():  # of costs that are equal on all topics, which need no interval
            interval = confidence_interval(self.scores, level=level)
        return interval.estimate[:, 0], interval.low[:, 0], interval.high[:, 0]

    def quantities(self, level: float) -> list[_Quantity]:
        """Return what is estimated: the differences of mean costs."""
        return [_quantity(self.scores, level)]

    def ordered(self, quantities: list[_Quantity], signs: list[Integers]) -> _Ordered:
        """Return how the costs compare, from their differences and the significant ones."""
        runs, (quantity,) = len(self.scores.runs), quantities
        dearer = _as_matrix(signs[0], runs)
        equal = _as_matrix(quantity.means.identical[:, 0].astype(int), runs) != 0
        mean = quantity.sample.distribution(slice(None), None, ("se",)).estimate
        return _Ordered(dearer < 0, (dearer < 0) | equal, mean)

    def replicates(self, shape: tuple[int, ...], seed: int) -> Floats:
        """Return mean costs in replicates of the topics: replicates × runs."""
        own = as_sample(self.scores).of_measure(0)
        return own.replicate_means(shape[0], np.random.default_rng(seed))


def _cost_of_runs(cost: Cost, scores: Scores) -> _ConstantCost | _VaryingCost:
    """Return costs as they are known: by run, or by the topics of the scores."""
    values = cost.table(scores.runs, scores.topics)
    if cost.constant:
        return _ConstantCost(values)
    if scores.all_topics != scores.topics:
        raise UnsupportedMethodError(
            "costs that vary by topic need topics of one judge; expected one cost per run beside "
            "human and model judgements"
        )
    table = values[:, :, None]
    return _VaryingCost(
        Scores(scores.topics, scores.runs, (cost.name,), table, False, design=scores.design)
    )


def _compare(
    scores: Scores, cost: _ConstantCost | _VaryingCost, level: float, replicates: int, seed: int
) -> _Standing:
    """Return what quality and cost say of all runs, by one measure."""
    quality, varying = _quantity(scores, level), cost.quantities(level)
    directions = _directions([quality, *varying], level, replicates, seed)
    mean_cost = cost.ordered(varying, [one.found for one in directions[1:]]).mean
    least, (status, dominates), most = (
        _statuses(_as_matrix(moved[0], len(scores.runs)), cost.ordered(varying, list(moved[1:])))
        for moved in zip(*directions, strict=True)
    )
    mean = quality.sample.distribution(slice(None), None, ("se",)).estimate
    order = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    by = [
        tuple(scores.runs[one] for one in order.tolist() if dominates[one, run])
        for run in range(len(scores.runs))
    ]
    efficient = _efficient(mean[None], mean_cost[None])[0]
    share = _shares(quality.sample, cost, replicates, seed)
    return _Standing(status, least[0] != most[0], by, efficient, share)


def _statuses(better: Integers, cost: _Ordered) -> tuple[Words, Booleans]:
    """Return the status of each run, and which run (row) dominates which (column)."""
    own = np.eye(len(better), dtype=bool)
    dominates = (better > 0) & cost.no_dearer & ~own
    safe = (better > 0) | cost.cheaper | own
    undominated = np.where(safe.all(axis=1), FRONTIER, UNDECIDED)
    return np.where(dominates.any(axis=0), DOMINATED, undominated), dominates


def _quantity(scores: Scores, level: float) -> _Quantity:
    """Return the differences of all pairs by one measure, or in one cost."""
    sample = as_sample(scores)
    pairs = pair_runs(sample, None)
    method = find_difference_method("t")
    means, own = mean_differences(pairs, method, level, 1, np.random.default_rng(0))
    check_topics(pairs, means)
    return _Quantity(sample, means, own)


class _Directions(NamedTuple):
    """Significant directions of all pairs in one quantity: 1 where the second run's mean is larger.

    Attributes
    ----------
    least, found, most
        Without the directions that other replicates might change, those found, and with all that
        other replicates might find.
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
    m = int(sum(count_tested(one.means)[0] for one in quantities))
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
    maxima = np.empty(0)
    if m > 1:
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
        family = Families((ComparisonFamily.of(m, maxima, borrowed=added),))
        outcome = test.compute(None, one.means, replicates, seed)
        decided = decide([(test, outcome)], one.means, one.own, family, margin=None, level=level)
        verdict, unclear = decided.verdict[0, :, 0], decided.borderline[0, :, 0]
        sign = np.where(verdict == BETTER, 1, np.where(verdict == WORSE, -1, 0))
        possible = np.sign(one.means.difference[:, 0]).astype(np.int64)
        found.append(
            _Directions(np.where(unclear, 0, sign), sign, np.where(unclear, possible, sign))
        )
    return found


def _as_matrix(values: Integers, runs: int) -> Integers:
    """Return what is known of pairs as runs × runs: the row's run less the column's."""
    first, second = np.triu_indices(runs, 1)
    matrix = np.zeros((runs, runs), np.int64)
    matrix[second, first], matrix[first, second] = values, -values
    return matrix


def _shares(
    quality: Sample, cost: _ConstantCost | _VaryingCost, replicates: int, seed: int
) -> Floats:
    """Return the share of replicates in which each run is efficient."""
    means = quality.of_measure(0).replicate_means(replicates, np.random.default_rng(seed))
    spent = cost.replicates((replicates, means.shape[1]), seed)
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
