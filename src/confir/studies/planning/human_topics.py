"""Plans for human topics where a model judges many, from a pilot of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from confir.arguments import as_integer, as_level, as_real
from confir.arrays import Floats
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.sampling.judged_scores import as_judged
from confir.data.sampling.prediction_powered import centre
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import BEST, LEVEL, NO_FAMILY
from confir.errors import InvalidValueError, counted
from confir.intervals.quantiles import t_quantile
from confir.measures.score_sources import as_scores
from confir.resampling.human_judgements import JudgedSample, judged_sample
from confir.studies.planning.goals import planned_family, whole_numbers
from confir.studies.planning.pilot import planned_differences
from confir.studies.planning.power import BonferroniFamily, fewest_topics
from confir.studies.planning.sentences import human_goal

# The mean and the weight of the model take two degrees of freedom.
_FEWEST = 3

# Numbers of human topics that are tried: all up to this, beyond it steps of a hundredth.
_EVERY = 200
_MOST = 1_000_000


@result
class HumanPlan(Result):
    """Topics that people must judge for a half width, beside those of a model: runs × measures.

    Attributes
    ----------
    runs, measures, baseline, family
        What is planned for, as in `Plan`.
    half_width
        The goal: of the interval of a mean or difference; in the family "best", the largest distance.
    human_topics
        Topics that people must judge; NaN where even all of the model's are too few.
    model_topics
        Topics that the model judges, human-judged ones among them.
    human_alone
        Topics that people would have to judge without a model.
    cost, cost_alone
        What the judgements cost, with and without the model; NaN where costs are not given.
    weight, agreement
        Weight of the model in the plan, and its correlation with people over topics in the pilot.
    level, pilot
        Confidence level; human topics of the pilot.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str | None = constant()
    family: str = constant()
    half_width: float = constant()
    human_topics: Floats = over("run", "measure")
    model_topics: Floats = over("run", "measure")
    human_alone: Floats = over("run", "measure")
    cost: Floats = over("run", "measure")
    cost_alone: Floats = over("run", "measure")
    weight: Floats = over("run", "measure")
    agreement: Floats = over("run", "measure")
    level: float = constant()
    pilot: int = constant()

    row_order = ("measure", "run")
    record_columns = (
        *("measure", "run", "baseline", "family", "half_width", "human_topics", "model_topics"),
        *("human_alone", "cost", "cost_alone", "weight", "agreement", "level", "pilot"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield numbers of topics as whole numbers."""
        for name in ("human_topics", "model_topics", "human_alone"):
            yield Variable(name, ("run", "measure"), whole_numbers(getattr(self, name)))

    def table_columns(self) -> TableColumns:
        """Return how the columns read; costs are there where they are known."""
        name, count = TableColumn(Role.NAME), TableColumn(Role.COUNT)
        return {
            "measure": name,
            "run": name,
            "human_topics": count,
            "model_topics": count,
            "human_alone": TableColumn(Role.COUNT, "without a model"),
            **(cost_columns() if np.isfinite(self.cost).any() else {}),
            **dict.fromkeys(("weight", "agreement"), TableColumn(Role.NUMBER, format=".2f")),
        }

    def note(self) -> str:
        """Return what is planned for, and what the columns are."""
        note = (
            f"topics that people must judge for {human_goal(self)}, from a pilot of "
            f"{counted(self.pilot, 'human topic')}; model topics: all that the model judges; without a "
            "model: what human judgements alone would need; weight of the model; agreement: correlation of the two "
            "over topics"
        )
        if np.isnan(self.human_topics).any():
            note += "; –: even all topics of the model are too few, the model must judge more"
        return note


def cost_columns() -> dict[str, TableColumn]:
    """Return how the costs of a plan read, with the model and by human judgements alone."""
    cost = TableColumn(Role.NUMBER, format=",.6g")
    return {"cost": cost, "cost_alone": cost._replace(title="cost without")}


def plan_human_topics(
    scores: ScoresSource,
    *,
    half_width: float,
    baseline: str | None = None,
    family: str | None = None,
    model_topics: int | None = None,
    human_cost: float | None = None,
    model_cost: float | None = None,
    level: float = LEVEL,
) -> HumanPlan:
    """Return how many topics people must judge, beside a model, to reach a half width.

    A model judges cheaply, but with a bias that only human judgements reveal. The more the two agree
    over topics, the fewer topics people need to judge for an interval of the same width.

    The variances and the covariance of scores by human and model judgements are those of the pilot.

    Parameters
    ----------
    scores
        The pilot, by human and model judgements: what `evaluate` returns with ``human``.
    half_width, baseline, family, level
        As in `plan_topics`.
    model_topics
        Topics that the model judges, human-judged ones among them; by default those of the pilot.
        With costs it is chosen, too.
    human_cost, model_cost
        Cost of human and of model judgements of a topic: the cheapest mix is returned.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> people = dict(list(sample.qrels.to_dict().items())[:20])
    >>> sampled = {"human": people, "human_sample": "random-topics"}
    >>> scores = confir.evaluate(sample.qrels, sample.runs[:1], "AP", **sampled)
    >>> confir.plan_human_topics(scores, half_width=0.05)
    HumanPlan(run: 1, measure: 1, baseline=None, family='none', half_width=0.05, level=0.95, pilot=20)
    """
    judged = as_judged(as_scores(scores, human=True))
    goal, level = as_real("half_width", half_width, above=0.0), as_level(level)
    costs = check_costs(human_cost, model_cost)
    total = len(judged.model.topics)
    if model_topics is not None:
        if costs is not None:
            raise InvalidValueError(
                "model topics are given with costs, which choose their number; expected one or the other"
            )
        total = as_integer("model_topics", model_topics, lowest=_FEWEST + 2)
    family = planned_family(family, baseline, len(judged.runs))
    by_partner = baseline is None and family != NO_FAMILY
    sample = planned_differences(judged_sample(judged), baseline, by_partner=by_partner)
    pilot = _Agreement.of(sample)
    single = BonferroniFamily.of(level, family, len(judged.runs), len(judged.measures))
    goal /= 2.0 if family == BEST else 1.0
    alone = fewest_topics(lambda n: single.half_width(pilot.sd, n) <= goal, len(pilot.sd))
    if costs is None:
        people, both = pilot.within(total, goal, single)
    else:
        people, both = pilot.cheapest(goal, single, *costs)
    human, model = costs or (np.nan, np.nan)
    weight = pilot.weight(people, np.maximum(both - people, 0.0))

    def shaped(values: Floats) -> Floats:
        return values.reshape(sample.shape)

    return HumanPlan(
        runs=tuple(run for run in judged.runs if run != baseline),
        measures=judged.measures,
        baseline=baseline,
        family=family,
        half_width=float(half_width),
        human_topics=shaped(people),
        model_topics=shaped(both),
        human_alone=shaped(alone),
        cost=shaped(human * people + model * both),
        cost_alone=shaped(human * alone),
        weight=shaped(weight),
        agreement=shaped(pilot.correlation),
        level=level,
        pilot=len(judged.topics),
    )


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


@dataclass(frozen=True, slots=True, eq=False)
class _Agreement:
    """Variances and covariance of scores by human and by model judgements, of each column of a pilot."""

    people: Floats
    model: Floats
    covariance: Floats

    @staticmethod
    def of(sample: JudgedSample) -> _Agreement:
        human, model, rest = sample.values
        y, f = centre(human).deviations, centre(model).deviations
        sizes = np.sqrt(np.square(y).sum(axis=0) * np.square(f).sum(axis=0))
        varies = sizes > 0
        product = (y * f).sum(axis=0)
        correlation = np.divide(product, sizes, out=np.zeros(len(sizes)), where=varies)
        people = human.var(axis=0, ddof=1)
        by_model = np.concatenate([model, rest]).var(axis=0, ddof=1)
        # that of all topics, as the variance is: the pilot's few may vary more, or less
        return _Agreement(people, by_model, correlation * np.sqrt(people * by_model))

    @property
    def sd(self) -> Floats:
        """Standard deviation of scores by human judgements."""
        return np.where(self.people > 0, np.sqrt(self.people), np.nan)

    @property
    def correlation(self) -> Floats:
        """Correlation of the two over topics."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.clip(self.covariance / np.sqrt(self.people * self.model), -1, 1))

    def weight(self, human: Floats, more: Floats) -> Floats:
        """Return the weight of the model that n human and N further topics give it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = more / (human + more) * self.covariance / self.model
        return np.clip(np.where(np.isnan(human), np.nan, np.nan_to_num(slope)), 0.0, 1.0)

    def half_width(self, human: Floats, more: Floats, family: BonferroniFamily) -> Floats:
        """Return the half width of n human and N further topics."""
        weight = self.weight(human, more)
        rest = self.people - 2.0 * weight * self.covariance + np.square(weight) * self.model
        variance = np.square(weight) * self.model / np.maximum(more, 1.0) + rest / human
        df = np.where(weight > 0, human - 2.0, human - 1.0)
        total = family.total(np.maximum(variance, 0.0), human)
        return np.asarray(t_quantile(df, family.level) * np.sqrt(total))

    def within(self, total: int, goal: float, family: BonferroniFamily) -> tuple[Floats, Floats]:
        """Return the fewest human topics, of a number that the model judges; NaN where none do."""
        human = np.arange(_FEWEST, total + 1.0)[:, None]
        reached = self.half_width(human, total - human, family) <= goal
        fewest = np.where(reached.any(axis=0), human[reached.argmax(axis=0), 0], np.nan)
        return fewest, np.full(fewest.shape, float(total))

    def cheapest(
        self, goal: float, family: BonferroniFamily, human_cost: float, model_cost: float
    ) -> tuple[Floats, Floats]:
        """Return the cheapest numbers of human and of all topics that reach the goal.

        Without a bound, ``V = (var y - N/(n+N) cov²/var f)/n``, which N solves; the weight is at most
        1, and then ``V = var f/N + var(y - f)/n``.
        """
        beyond = np.geomspace(_EVERY, _MOST, 1000)
        human = np.unique(np.concatenate([np.arange(_FEWEST, _EVERY), np.rint(beyond)]))[:, None]
        borrowed = family.total(self.people / human, human) - self.people / human
        wanted = np.square(goal / t_quantile(human - 2.0, family.level)) - borrowed
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (self.people - wanted * human) * self.model / np.square(self.covariance)
            more = np.where(share < 1.0, human * share / (1.0 - share), np.inf)
            apart = self.people - 2.0 * self.covariance + self.model
            bound = self.model / (wanted - apart / human)
            over = self.weight(human, more) >= 1.0
        more = np.where(over, np.where(bound > 0, bound, np.inf), more)
        more = np.ceil(np.where(self.covariance > 0, more, np.inf))
        alone = self.half_width(human, np.zeros_like(human), family) <= goal
        more = np.where(alone, 0.0, np.maximum(more, 2.0))
        # the model is not needed without further topics
        every = np.where(more > 0, human + more, 0.0)
        cost = human_cost * human + model_cost * every
        best = np.argmin(np.where(np.isfinite(cost), cost, np.inf), axis=0)
        columns = np.arange(len(best))
        known = np.isfinite(cost[best, columns])
        people = np.where(known, human[best, 0], np.nan)
        return people, np.where(known, every[best, columns], np.nan)
