"""What plans for human judgements share: their result, their costs, and the family planned for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arguments import as_level, as_real
from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.table_columns import Role, TableColumn
from confir.defaults import BEST
from confir.errors import InvalidValueError
from confir.pairs.power import whole_numbers
from confir.resampling.pair_draws import BorrowedVariance
from confir.studies.planning.pilot import family_level, family_size, planned_family


@result
class JudgementPlan(Result):
    """What humans must judge for a half width, and what it costs: arrays are runs × measures.

    Attributes
    ----------
    runs, measures, baseline, family
        What is planned for, as in `Plan`.
    half_width
        The goal: of the interval of a mean or difference; in the family "best", the largest distance.
    cost, cost_alone
        What the judgements cost, with the model and by human judgements alone; NaN without costs.
    counts
        The fields that are numbers of topics or documents.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str | None = constant()
    family: str = constant()
    half_width: float = constant()
    cost: Floats = over("run", "measure")
    cost_alone: Floats = over("run", "measure")

    counts: ClassVar[tuple[str, ...]] = ()
    row_order = ("measure", "run")

    def derived(self) -> Iterator[Variable]:
        """Yield numbers of topics and documents as whole numbers."""
        for name in self.counts:
            yield Variable(name, ("run", "measure"), whole_numbers(getattr(self, name)))

    def cost_columns(self) -> dict[str, TableColumn]:
        """Return how the costs read, where they are known."""
        cost = TableColumn(Role.NUMBER, format=",.6g")
        columns = {"cost": cost, "cost_alone": cost._replace(title="cost without")}
        return columns if np.isfinite(self.cost).any() else {}


class PlannedFamily(NamedTuple):
    """The family that human judgements are planned for, and its goal.

    Of the pilot the variance of each column, run × measure, is known, but not their correlations:
    critical values are Bonferroni's.

    Attributes
    ----------
    name
        Family of means or differences, as in `Plan`.
    goal
        The half width that intervals may have. A run in the confidence set of the best is at most
        two half widths below the best: for the best set, half of its largest distance.
    level
        Two-sided level of the t quantile that is Bonferroni's critical value.
    comparisons, measures
        Number of comparisons by one measure, and number of measures.
    """

    name: str
    goal: float
    level: float
    comparisons: int
    measures: int

    @staticmethod
    def of(
        scores: Any, baseline: str | None, family: str | None, half_width: float, level: float
    ) -> PlannedFamily:
        """Return the family planned for, checked; arguments as in `plan_topics`."""
        goal, level = as_real("half_width", half_width, above=0.0), as_level(level)
        runs, name = len(scores.runs), planned_family(family, baseline, len(scores.runs))
        return PlannedFamily(
            name,
            goal / 2.0 if name == BEST else goal,
            family_level(level, name, runs),
            family_size(name, runs),
            len(scores.measures),
        )

    def total(self, variance: Floats, units: Any) -> Floats:
        """Return variances, … × columns, with what they borrow from the median of their measure."""
        by_run = variance.reshape(*variance.shape[:-1], -1, self.measures)
        median = np.nanmedian(by_run, axis=-2, keepdims=True)
        median = np.broadcast_to(median, by_run.shape).reshape(variance.shape)
        total: Floats = variance + BorrowedVariance(self.comparisons, 1.0).of(units) * median
        return total

    def half_width(self, sd: Floats, topics: Integers) -> Floats:
        """Return the half width of the interval of each column with a number of topics."""
        from scipy.special import stdtrit

        critical = -stdtrit(np.maximum(topics - 1.0, 1.0), (1.0 - self.level) / 2.0)
        if self.comparisons < 2:
            return np.asarray(critical * sd / np.sqrt(topics))
        return np.asarray(critical * np.sqrt(self.total(np.square(sd), topics) / topics))


def check_costs(human: float | None, model: float | None) -> tuple[float, float] | None:
    """Return the costs of a human judgement and of the model's, None where none is given."""
    if human is None and model is None:
        return None
    named = {"human_cost": human, "model_cost": model}
    costs = [as_real(name, cost, above=0.0) for name, cost in named.items() if cost is not None]
    if len(costs) == 1:
        raise InvalidValueError(
            "one cost is given; expected that of human judgements and that of the model"
        )
    return costs[0], costs[1]
