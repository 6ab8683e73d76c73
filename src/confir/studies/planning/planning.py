"""How many topics are needed? Planning by Student's t, from the variance of pilot scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np

from confir.arguments import as_integer, as_level, as_power, as_real
from confir.arrays import Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import ALL_PAIRS, BEST, DEFAULT_POWER, LEVEL, NO_FAMILY, OBSERVED
from confir.errors import InvalidValueError
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.pairs.power import whole_numbers
from confir.resampling.kinds import as_sample, needs
from confir.resampling.sample import Knowledge
from confir.studies.planning.goals import (
    ACHIEVED_POWER,
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    GoalRule,
    Terms,
    at_topics,
    choose_goal,
)
from confir.studies.planning.pilot import (
    measure_pilot,
    planned_criterion,
    planned_differences,
    planned_family,
    sd_range,
)
from confir.studies.planning.sentences import answer_text, plan_note, plan_sentence, range_text
from confir.studies.planning.usual_goals import PLAN_COLUMNS, PlanOverview, plan_usual_goals

# Numbers of topics at which the curve is drawn.
_CURVE_POINTS = 60


@result
class Plan(Result):
    """Topics that a goal needs, or what a number of topics gives: runs × measures.

    Attributes
    ----------
    runs, measures, baseline
        Runs to be measured; with a baseline, their differences from it.
    goal
        What topics are needed for: "half width" of an interval, or "power" of a paired t test; or
        what topics give: "detectable difference", "achieved power", "achieved half width".
    topics
        Number of topics, needed or given. NaN where none is enough.
    difference
        Half width or difference, given or the answer; in the family "best" the largest distance
        limit. NaN where no difference that the measure allows is large enough.
    low, high
        Range of the answer, as the pilot's standard deviation may be off by its sampling error; NaN
        for fewer than 5 topics, and where the measure allows no such difference. For the observed
        difference its interval (simultaneous in a family) gives the range; NaN as its end where
        that contains 0.
    sd, planned_sd, pilot
        The pilot's standard deviation over topics, the one planned with, and its topics.
    half_width, achieved_power
        Half width of the interval, and power at the difference (NaN for a half width), at `topics`.
    power, level
        Power of the test (NaN for a half width); confidence level.
    family, pairs, assurance
        Differences for which the level is simultaneous, and their number; probability that the plan
        holds.
    observed
        Whether the plan is for the difference observed in the pilot.
    judgements_per_topic
        Judgements that a topic takes, where given.
    curve_topics, curve
        Numbers of topics, and for each the half width, the power or the detectable difference.
    model_topics
        Topics that a model judges alone, for each that humans judge, as in the pilot; or 0.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str | None = constant()
    goal: str = constant()
    topics: Floats = over("run", "measure")
    difference: Floats = over("run", "measure")
    low: Floats = over("run", "measure")
    high: Floats = over("run", "measure")
    sd: Floats = over("run", "measure")
    planned_sd: Floats = over("run", "measure")
    pilot: Integers = over("run", "measure")
    half_width: Floats = over("run", "measure")
    achieved_power: Floats = over("run", "measure")
    power: float = constant()
    level: float = constant()
    family: str
    pairs: int
    assurance: float | None
    observed: bool
    judgements_per_topic: int | None
    curve_topics: Integers
    curve: Floats = over("", "run", "measure")
    model_topics: float = 0.0

    record_columns = ("measure", "run", *PLAN_COLUMNS)
    optional_columns = ("judgements",)
    row_order = ("measure", "run")

    def __repr__(self) -> str:
        return f"Plan({self.sentences()[0]})" if self.topics.size == 1 else Result.__repr__(self)

    def derived(self) -> Iterator[Variable]:
        """Yield topics and judgements as whole numbers, and what the plan holds for."""
        along = ("run", "measure")
        topics = whole_numbers(self.topics)
        yield Variable("topics", along, topics)
        if self.goal == ACHIEVED_POWER:
            yield Variable("power", along, self.achieved_power)
        yield Variable("family", (), self.family)
        yield Variable("assurance", (), self.assurance)
        if self.judgements_per_topic is not None:
            yield Variable("judgements", along, topics * self.judgements_per_topic)

    def table_columns(self) -> TableColumns:
        """Return how the columns read: the answer, what it comes with, and the pilot."""
        name, score = TableColumn(Role.NAME), TableColumn(Role.SCORE)
        answers = {ACHIEVED_POWER: "power", DETECTABLE: "detectable difference"}
        answers[ACHIEVED_WIDTH] = "largest distance" if self.family == BEST else "half width"
        columns = {
            "measure": name,
            "run": name,
            "topics": TableColumn(
                Role.NUMBER, answers.get(self.goal, "topics needed"), text=answer_text
            ),
            "low": TableColumn(Role.RANGE, "range", text=range_text),
        }
        if self.judgements_per_topic is not None:
            columns["judgements"] = TableColumn(Role.COUNT)
        if self.observed:
            columns["difference"] = score._replace(title="observed |difference|")
        if self.goal in (DETECTABLE, ACHIEVED_POWER):
            columns["half_width"] = score
        columns["sd"] = score._replace(title="sd in the pilot")
        if self.assurance is not None:
            columns["planned_sd"] = score._replace(title="sd planned with")
        return columns | {"pilot": TableColumn(Role.COUNT, "topics in the pilot")}

    def table_records(self) -> list[Record]:
        """Return the records with the numbers of the pilot."""
        arrays = {"sd": self.sd, "planned_sd": self.planned_sd, "pilot": self.pilot}
        rows = np.stack([array.T.reshape(-1) for array in arrays.values()], axis=1).tolist()
        pairs = zip(self.to_records(), rows, strict=True)
        return [record | dict(zip(arrays, row, strict=True)) for record, row in pairs]

    def note(self) -> str:
        """Return what the plan is for, and how far it can be trusted."""
        return plan_note(self)

    def curve_records(self) -> list[Record]:
        """Return a record (measure, run, topics, value) per point of the curve."""
        return [
            {"measure": measure, "run": run, "topics": topics, "value": value}
            for m, measure in enumerate(self.measures)
            for r, run in enumerate(self.runs)
            for topics, value in zip(
                self.curve_topics.tolist(), self.curve[:, r, m].tolist(), strict=True
            )
            if not math.isnan(value)
        ]

    def sentences(self) -> list[str]:
        """Return a sentence per measure and run, in the order of the records."""
        return [
            plan_sentence(record, level=self.level, asked=self.power, observed=self.observed)
            for record in self.table_records()
        ]


@on_its_scheduler
@needs(Knowledge.TOPIC_VARIANCE, "a plan")
def plan_topics(
    scores: ScoresSource,
    *,
    baseline: str | None = None,
    half_width: float | None = None,
    difference: float | Literal["observed"] | None = None,
    topics: int | None = None,
    judgements: int | None = None,
    judgements_per_topic: int | None = None,
    power: float = DEFAULT_POWER,
    level: float = LEVEL,
    family: str | None = None,
    assurance: float | None = None,
) -> Plan | PlanOverview:
    """Return the topics that a goal needs, or what a budget of topics or judgements gives.

    Judging too few topics leaves a difference inconclusive, judging too many wastes money: both can be
    known before, from the variance of a small pilot. The plan is for the test that `compare_runs` will
    make, its correction for several runs included, and says how uncertain it is itself.

    Without a goal and a budget: topics for the usual half widths and differences, and what the
    topics of the pilot can detect, for a typical run and a typical pair of runs.

    Parameters
    ----------
    scores
        Pilot scores of the runs, or of runs like them; anything that `as_scores` takes. Of
        `JudgedScores`, topics are those that humans judge, with as many more by the model for each
        as in the pilot.
    baseline
        The run that the others are compared with; needed for power.
    half_width
        Goal: an interval no wider than ± this, of the mean or, with a baseline, the difference; in
        the family "best", no run in the confidence set of the best may lie further below it.
    difference
        Goal: a true difference of this size is detected with the given power; "observed" is the
        pilot's, whose interval gives the range.
    topics
        Budget: the smallest difference that this many topics detect; the power at a given
        difference; without a baseline, the half width.
    judgements, judgements_per_topic
        Budget in judgements, and how many a topic takes.
    power, level
        Power of the test; confidence level, of the range too.
    family
        Differences with a simultaneous level: "baseline", "all-pairs", "best" or "none". By default as in
        `compare_runs` where several runs are compared: with one, or without a goal all pairs.
    assurance
        Probability that the goal is reached though the pilot's sd is an estimate, such as 0.8; it
        is planned with an upper limit of the sd. By default with the sd itself.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.plan_topics(scores, baseline="b", difference=0.1)
    Plan(a against b by score: 20 topics to detect a true difference of 0.1 with power 0.8)
    """
    topics = topics_of_budget(topics, judgements, judgements_per_topic)
    level = as_level(level)
    if assurance is not None:
        as_real("assurance", assurance, above=0.0, below=1.0, like=", such as 0.8")
    best = isinstance(family, str) and family == BEST
    usual = half_width is None and difference is None and topics is None and not best
    as_power(power, 1.0 - level if half_width is None else 0.0)
    if usual and family is None and baseline is None and len(scores.runs) > 2:
        family = ALL_PAIRS
    family = planned_family(family, baseline, len(scores.runs), difference)
    terms = Terms(baseline, family, power, level, assurance, judgements_per_topic)
    if usual:
        return plan_usual_goals(scores, terms)
    goal = choose_goal(scores, terms, half_width, difference, topics)
    return _plan_goal(scores, terms, goal, half_width, difference, topics)


def topics_of_budget(
    topics: int | None, judgements: int | None, judgements_per_topic: int | None
) -> int | None:
    """Return the topics of a budget that is given in topics, or in judgements."""
    if judgements_per_topic is not None:
        as_integer("judgements per topic", judgements_per_topic)
    if topics is not None:
        as_integer("topics", topics, lowest=2)
    if judgements is None:
        return topics
    as_integer("judgements", judgements)
    if topics is not None or judgements_per_topic is None:
        raise InvalidValueError(
            "judgements are a budget in place of topics, and need judgements per topic"
        )
    if judgements < 2 * judgements_per_topic:
        raise InvalidValueError(
            f"judgements is {judgements}, fewer than 2 topics with {judgements_per_topic} each take"
        )
    return judgements // judgements_per_topic


def _plan_goal(
    scores: Scores | ScoreSummary,
    terms: Terms,
    goal: str,
    half_width: float | None,
    difference: float | str | None,
    topics: int | None,
) -> Plan:
    """Return the plan for a goal."""
    runs = as_sample(scores)
    by_partner = terms.baseline is None and terms.family != NO_FAMILY
    sample = planned_differences(runs, terms.baseline, by_partner=by_partner)
    pilot = measure_pilot(sample)
    given = math.nan if difference is None or difference == OBSERVED else float(difference)
    step = np.abs(pilot.mean) if difference == OBSERVED else np.full(len(sample.labels), given)
    rule = GoalRule(
        goal=goal,
        size=step if half_width is None else np.full(len(sample.labels), half_width),
        power=terms.power,
        criterion=planned_criterion(runs, pilot, terms.family, terms.baseline, terms.level),
        largest=np.where(np.tile(bounded_measures(scores), sample.shape[0]), 1.0, np.inf),
        factor=2.0 if terms.family == BEST else 1.0,
    )
    at_hand = pilot.topics if topics is None else np.full_like(pilot.topics, topics)
    sd = pilot.sd if terms.assurance is None else pilot.upper_sd(terms.assurance)
    if difference == OBSERVED:
        reach = rule.criterion.half_width(pilot.sd, np.maximum(pilot.topics, 2))
        found = rule.answer(sd, at_hand, (), reach)
    else:
        found = rule.answer(sd, at_hand, sd_range(sample, pilot, terms.level))
    needed, power_at = found["topics"], rule.criterion.power_function
    found["achieved_power"] = at_topics(needed, lambda n: power_at(sd, n)(step))
    found |= {"sd": pilot.sd, "planned_sd": sd, "pilot": pilot.topics}
    found = {name: values.reshape(sample.shape) for name, values in found.items()}
    around = np.append(needed[np.isfinite(needed)], pilot.topics)
    ends = max(3.0, around.min() / 8.0), max(6.0, around.max() * 2.0)
    grid = np.unique(np.rint(np.geomspace(*ends, _CURVE_POINTS)).astype(np.int64))
    tested = goal not in (HALF_WIDTH, ACHIEVED_WIDTH)
    found |= terms._replace(power=terms.power if tested else math.nan)._asdict()
    return Plan(
        runs=tuple(run for run in scores.runs if run != terms.baseline),
        measures=scores.measures,
        goal=goal,
        **found,
        pairs=rule.criterion.comparisons,
        observed=difference == OBSERVED,
        curve_topics=grid,
        curve=rule.value(sd, grid[:, None]).reshape(len(grid), *sample.shape),
        model_topics=scores.model_topics / len(scores.topics),
    )
