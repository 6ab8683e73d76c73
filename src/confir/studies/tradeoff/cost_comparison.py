"""Which runs are worth their cost? Dominated runs, runs on the frontier, and those undecided.

Quality and cost of all pairs of runs form one family of comparisons, whose topics are shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_generator, as_level
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.data.tables.cost_files import Cost, CostSource, read_costs
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import (
    InvalidValueError,
    UnsupportedMethodError,
    collect_warnings,
    counted,
    enumerate_names,
)
from confir.intervals.method_list import confidence_interval
from confir.intervals.simultaneous import ComparisonFamily
from confir.measures.score_sources import as_scores
from confir.number_text import percent
from confir.order import TIE
from confir.resampling.borrowed_variance import BorrowedVariance, median_variance
from confir.resampling.further_replicates import FURTHER, can_draw_further
from confir.resampling.kinds import as_sample, needs
from confir.resampling.sample import Knowledge, Sample
from confir.resampling.studentised_maxima import largest_statistics
from confir.resampling.topic_bootstrap import Rng, check_replicates, own_seed
from confir.studies.comparison.compare import check_topics
from confir.studies.comparison.families import Families
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.pairs import (
    MeanDifferences,
    check_differences,
    find_difference_method,
    mean_differences,
    pair_runs,
)
from confir.studies.comparison.verdicts import (
    BETTER,
    WORSE,
    Estimates,
    Words,
    count_tested,
    decide,
)

DOMINATED, FRONTIER, UNDECIDED = STATUSES = ("dominated", "frontier", "undecided")
_SAID = {
    FRONTIER: "on the frontier",
    DOMINATED: "dominated by a better run that costs no more",
    UNDECIDED: "undecided on these topics",
}

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
        "dominated" where another run is significantly better, and significantly cheaper or equal in
        cost; "frontier" where the run is significantly better or significantly cheaper than every
        other one; else "undecided".
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

    def table_columns(self) -> TableColumns:
        """Return how the columns read; runs on the frontier are bold."""
        columns = {
            **{name: TableColumn(Role.NAME) for name in ("cost", "measure", "run")},
            "status": TableColumn(Role.VERDICT, "verdict", ("borderline",)),
            "mean_cost": TableColumn(Role.SCORE, others=("cost_low", "cost_high")),
            "quality": TableColumn(Role.SCORE, "mean", ("quality_low", "quality_high")),
            "dominated_by": TableColumn(Role.NUMBER, text=itemgetter("dominated_by")),
            "share_frontier": TableColumn(Role.FREQUENCY, "efficient"),
        }
        return {
            name: column._replace(bold=lambda record: record["status"] == FRONTIER)
            for name, column in columns.items()
        }

    def table_records(self) -> list[Record]:
        """Return the records by cost and measure, the cheapest run first, with one that dominates it."""
        records, (costs, runs, measures) = self.to_records(), self.status.shape
        found = []
        for cost, measure in np.ndindex(costs, measures):
            for run in self.order(cost):
                by = self.dominated_by[cost][run][measure]
                more = f" and {len(by) - 1} more" if len(by) > 1 else ""
                record = records[(cost * measures + measure) * runs + run]
                found.append({**record, "dominated_by": f"{by[0]}{more}" if by else ""})
        return found

    def note(self, seed: int | None = None) -> str:
        """Return the answers in words, and what the columns are, with the seed if there is one."""
        note = (
            f"means with {percent(self.level)} intervals of each run, over "
            f"{counted(self.topics, 'topic')}; dominated: another run is significantly better, and "
            "significantly cheaper or equal in cost; frontier: significantly better or significantly cheaper than every "
            "other run; simultaneous over all pairs in quality and in cost, for one measure and one cost; "
            "efficient: share of bootstrap samples of the topics in which no run is better and no dearer"
        )
        if self.borderline.any():
            note += "; borderline: other replicates might change the verdict"
        note += "" if seed is None else f"; seed {seed}"
        return "\n".join([*(f"{sentence}." for sentence in self.sentences()), note])

    def order(self, cost: int) -> list[int]:
        """Return the runs by their cost, the cheapest first."""
        places: list[int] = np.argsort(self.cost[cost], kind="stable").tolist()
        return places

    def sentences(self) -> list[str]:
        """Return one sentence per cost and measure: which runs are worth their cost."""
        found = []
        for cost, measure in np.ndindex(len(self.costs), len(self.measures)):
            parts = []
            for status, said in _SAID.items():
                there = self.status[cost, :, measure] == status
                runs = [self.runs[run] for run in self.order(cost) if there[run]]
                if runs:
                    parts.append(f"{said}: {enumerate_names(runs, 10)}")
                elif status == FRONTIER:
                    parts.append("no run is significantly on the frontier")
            about = f"{self.measures[measure]} against {self.costs[cost]}"
            found.append(f"{about}: {'; '.join(parts)}")
        return found


class _Quantity(NamedTuple):
    """One measure, or one cost that varies over topics, of all pairs of runs."""

    sample: Sample
    means: MeanDifferences


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

    A frontier drawn through means changes with every sample of topics. Here a run is called dominated,
    or on the frontier, only where the differences that this rests on are significant.

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
    table = as_scores(scores, human=True)
    level = as_level(level)
    check_replicates(replicates)
    found = read_costs(costs)
    if len(table.runs) < 2:
        raise InvalidValueError("there is one run; a comparison of costs needs at least 2")
    check_differences(len(table.runs), len(table.measures), 2)
    seed = own_seed(as_generator(rng))
    held = [_run_costs(one, table, level) for one in found]
    parts = [
        [
            _compare(table.select(measure=name), cost, level, replicates, seed)
            for name in table.measures
        ]
        for cost in held
    ]
    quality = confidence_interval(table, level=level, replicates=replicates, rng=seed)

    def stacked(name: str) -> Any:
        return np.stack([np.stack([getattr(one, name) for one in row], axis=1) for row in parts])

    return CostComparison(
        costs=tuple(one.name for one in found),
        runs=table.runs,
        measures=table.measures,
        quality=quality.estimate,
        quality_low=quality.low,
        quality_high=quality.high,
        cost=np.stack([one.mean for one in held]),
        cost_low=np.stack([one.low for one in held]),
        cost_high=np.stack([one.high for one in held]),
        status=stacked("status"),
        borderline=stacked("borderline"),
        dominated_by=tuple(
            tuple(zip(*(one.dominated_by for one in row), strict=True)) for row in parts
        ),
        efficient=stacked("efficient"),
        share_frontier=stacked("share"),
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


class _RunCosts(NamedTuple):
    """What runs cost on average, with limits, and by topic where costs vary.

    Costs that are known need no topics, have no limits, and are in no family.
    """

    mean: Floats
    low: Floats
    high: Floats
    by_topic: Scores | None


def _run_costs(cost: Cost, scores: Scores, level: float) -> _RunCosts:
    """Return costs as they are known: by run, or by the topics and the design of the scores."""
    values = cost.table(scores.runs, scores.topics)
    if cost.constant:
        nothing = np.full(values.shape, np.nan)
        return _RunCosts(values, nothing, nothing, None)
    if scores.all_topics != scores.topics:
        raise UnsupportedMethodError(
            "costs that vary by topic need topics of one judge; expected one cost per run beside "
            "human and model judgements"
        )
    table = values[:, :, None]
    spent = Scores(scores.topics, scores.runs, (cost.name,), table, False, design=scores.design)
    with collect_warnings():  # of costs that are equal on all topics, which need no interval
        found = confidence_interval(spent, level=level)
    return _RunCosts(found.estimate[:, 0], found.low[:, 0], found.high[:, 0], spent)


def _compare(
    scores: Scores, cost: _RunCosts, level: float, replicates: int, seed: int
) -> _Standing:
    """Return what quality and cost say of all runs, by one measure."""
    compared = [scores] if cost.by_topic is None else [scores, cost.by_topic]
    quantities = [_quantity(one, level) for one in compared]
    directions = _directions(quantities, level, replicates, seed)
    least, (status, dominates), most = (
        _statuses(signs, cost, quantities) for signs in zip(*directions, strict=True)
    )
    sample = quantities[0].sample
    mean = sample.distribution(slice(None), None, ("se",)).estimate
    order = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    by = [
        tuple(scores.runs[one] for one in order.tolist() if dominates[one, run])
        for run in range(len(scores.runs))
    ]
    efficient = _efficient(mean[None], cost.mean[None])[0]
    share = _shares(sample, cost, replicates, seed)
    return _Standing(status, least[0] != most[0], by, efficient, share)


def _statuses(
    signs: tuple[Integers, ...], cost: _RunCosts, quantities: list[_Quantity]
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
    """Return what is known of pairs as runs × runs: the row's run less the column's."""
    first, second = np.triu_indices(runs, 1)
    matrix = np.zeros((runs, runs), np.int64)
    matrix[second, first], matrix[first, second] = values, -values
    return matrix


def _shares(quality: Sample, cost: _RunCosts, replicates: int, seed: int) -> Floats:
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
