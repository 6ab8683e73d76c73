"""Which runs are worth their cost? Dominated runs, runs on the frontier, and those undecided.

Quality and cost of all pairs of runs form one family of comparisons, whose topics are shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np

from confir.arguments import as_generator, as_level, check_replicates
from confir.arrays import Booleans, Floats
from confir.data.experiment import on_its_scheduler
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.data.tables.cost_files import CostSource, read_costs
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import InvalidValueError, counted, enumerate_names
from confir.intervals.confidence_intervals import confidence_interval
from confir.measures.score_sources import as_scores
from confir.number_text import percent
from confir.pairs.decisions import Words
from confir.pairs.differences import check_differences
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng, own_seed
from confir.resampling.sample import Knowledge
from confir.studies.tradeoff.frontier import (
    DOMINATED,
    FRONTIER,
    UNDECIDED,
    compare_with_costs,
    run_costs,
)

_SAID = {
    FRONTIER: "on the frontier",
    DOMINATED: "dominated by a better run that costs no more",
    UNDECIDED: "undecided on these topics",
}


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
        Whether another seed might change the status.
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
            note += "; borderline: another seed might change the verdict"
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
    held = [run_costs(one, table, level) for one in found]
    parts = [
        [
            compare_with_costs(table.select(measure=name), cost, level, replicates, seed)
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
