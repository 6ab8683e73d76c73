"""Plans for human topics where a model judges many, from a pilot of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arguments import as_integer
from confir.arrays import Floats
from confir.data.result import constant, over, result
from confir.data.sampling_designs.judged_scores import as_judged
from confir.data.sampling_designs.prediction_powered import centre
from confir.data.score_objects import ScoresSource
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import LEVEL, NO_FAMILY
from confir.errors import InvalidValueError, counted
from confir.intervals.quantiles import t_quantile
from confir.measures.score_sources import as_scores
from confir.pairs.power import fewest_topics
from confir.resampling.judged_sample import JudgedSample
from confir.studies.planning.human_plans import JudgementPlan, PlannedFamily, check_costs
from confir.studies.planning.pilot import planned_differences
from confir.studies.planning.sentences import human_goal

# The mean and the weight of the model take two degrees of freedom.
_FEWEST = 3

# Numbers of human topics that are tried: all up to this, beyond it steps of a hundredth.
_EVERY = 200
_MOST = 1_000_000


@result
class HumanPlan(JudgementPlan):
    """Topics to be judged by humans for a half width, if a model judges more: runs × measures.

    Attributes
    ----------
    runs, measures, baseline, family, half_width, cost, cost_alone
        As in `JudgementPlan`.
    human_topics
        Topics to be judged by humans; NaN where even all of the model's are too few.
    model_topics
        Topics that the model judges, human-judged ones among them.
    human_alone
        Topics to be judged by humans without a model.
    weight, agreement
        Weight of the model in the plan, and its correlation with human judgements over topics in the pilot.
    level, pilot
        Confidence level; human topics of the pilot.
    """

    human_topics: Floats = over("run", "measure")
    model_topics: Floats = over("run", "measure")
    human_alone: Floats = over("run", "measure")
    weight: Floats = over("run", "measure")
    agreement: Floats = over("run", "measure")
    level: float = constant()
    pilot: int = constant()

    counts = ("human_topics", "model_topics", "human_alone")
    record_columns = (
        *("measure", "run", "baseline", "family", "half_width", "human_topics", "model_topics"),
        *("human_alone", "cost", "cost_alone", "weight", "agreement", "level", "pilot"),
    )

    def table_columns(self) -> TableColumns:
        """Return how the columns read; costs are there where they are known."""
        name, count = TableColumn(Role.NAME), TableColumn(Role.COUNT)
        return {
            "measure": name,
            "run": name,
            "human_topics": count,
            "model_topics": count,
            "human_alone": TableColumn(Role.COUNT, "without a model"),
            **self.cost_columns(),
            **dict.fromkeys(("weight", "agreement"), TableColumn(Role.NUMBER, format=".2f")),
        }

    def note(self) -> str:
        """Return what is planned for, and what the columns are."""
        note = (
            f"topics to be judged by humans for {human_goal(self)}, from a pilot of "
            f"{counted(self.pilot, 'human topic')}; model topics: all that the model judges; without a "
            "model: what human judgements alone would need; weight of the model; agreement: correlation of the two "
            "over topics"
        )
        if np.isnan(self.human_topics).any():
            note += "; –: even all topics of the model are too few, the model must judge more"
        return note


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
    """Return how many topics humans must judge to reach a half width, if a model judges more.

    A model judges cheaply, but with a bias that only human judgements reveal. The more the two agree
    over topics, the fewer topics humans need to judge for an interval of the same width.

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
    planned = PlannedFamily.of(judged, baseline, family, half_width, level)
    costs = check_costs(human_cost, model_cost)
    total = len(judged.model.topics)
    if model_topics is not None:
        if costs is not None:
            raise InvalidValueError(
                "the number of model topics follows from the costs; leave out model_topics (--model-topics), or "
                "the costs"
            )
        total = as_integer("model_topics", model_topics, lowest=_FEWEST + 2)
    by_partner = baseline is None and planned.name != NO_FAMILY
    sample = planned_differences(JudgedSample.of(judged), baseline, by_partner=by_partner)
    pilot = _Agreement.of(sample)
    alone = fewest_topics(lambda n: planned.half_width(pilot.sd, n) <= planned.goal, len(pilot.sd))
    if costs is None:
        people, both = pilot.within(total, planned)
    else:
        people, both = pilot.cheapest(planned, *costs)
    human, model = costs or (np.nan, np.nan)
    found = {
        "human_topics": people,
        "model_topics": both,
        "human_alone": alone,
        "cost": human * people + model * both,
        "cost_alone": human * alone,
        "weight": pilot.weight(people, np.maximum(both - people, 0.0)),
        "agreement": pilot.correlation,
    }
    return HumanPlan(
        runs=tuple(run for run in judged.runs if run != baseline),
        measures=judged.measures,
        baseline=baseline,
        family=planned.name,
        half_width=float(half_width),
        **{name: values.reshape(sample.shape) for name, values in found.items()},
        level=float(level),
        pilot=len(judged.topics),
    )


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

    def half_width(self, human: Floats, more: Floats, family: PlannedFamily) -> Floats:
        """Return the half width of n human and N further topics."""
        weight = self.weight(human, more)
        rest = self.people - 2.0 * weight * self.covariance + np.square(weight) * self.model
        variance = np.square(weight) * self.model / np.maximum(more, 1.0) + rest / human
        df = np.where(weight > 0, human - 2.0, human - 1.0)
        total = family.total(np.maximum(variance, 0.0), human)
        return np.asarray(t_quantile(df, family.level) * np.sqrt(total))

    def within(self, total: int, family: PlannedFamily) -> tuple[Floats, Floats]:
        """Return the fewest human topics, of a number that the model judges; NaN where none do."""
        human = np.arange(_FEWEST, total + 1.0)[:, None]
        reached = self.half_width(human, total - human, family) <= family.goal
        fewest = np.where(reached.any(axis=0), human[reached.argmax(axis=0), 0], np.nan)
        return fewest, np.full(fewest.shape, float(total))

    def cheapest(
        self, family: PlannedFamily, human_cost: float, model_cost: float
    ) -> tuple[Floats, Floats]:
        """Return the cheapest numbers of human and of all topics that reach the goal.

        Without a bound, ``V = (var y - N/(n+N) cov²/var f)/n``, which N solves; the weight is at most
        1, and then ``V = var f/N + var(y - f)/n``.
        """
        beyond = np.geomspace(_EVERY, _MOST, 1000)
        human = np.unique(np.concatenate([np.arange(_FEWEST, _EVERY), np.rint(beyond)]))[:, None]
        borrowed = family.total(self.people / human, human) - self.people / human
        wanted = np.square(family.goal / t_quantile(human - 2.0, family.level)) - borrowed
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (self.people - wanted * human) * self.model / np.square(self.covariance)
            more = np.where(share < 1.0, human * share / (1.0 - share), np.inf)
            apart = self.people - 2.0 * self.covariance + self.model
            bound = self.model / (wanted - apart / human)
            over = self.weight(human, more) >= 1.0
        more = np.where(over, np.where(bound > 0, bound, np.inf), more)
        more = np.ceil(np.where(self.covariance > 0, more, np.inf))
        alone = self.half_width(human, np.zeros_like(human), family) <= family.goal
        more = np.where(alone, 0.0, np.maximum(more, 2.0))
        # the model is not needed without further topics
        every = np.where(more > 0, human + more, 0.0)
        cost = human_cost * human + model_cost * every
        best = np.argmin(np.where(np.isfinite(cost), cost, np.inf), axis=0)
        columns = np.arange(len(best))
        known = np.isfinite(cost[best, columns])
        people = np.where(known, human[best, 0], np.nan)
        return people, np.where(known, every[best, columns], np.nan)
