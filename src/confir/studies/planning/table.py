"""Tables of plans: topics needed, or what a number of topics gives."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from confir.defaults import ALL_PAIRS, BEST, NO_FAMILY
from confir.errors import counted
from confir.number_text import number_text, percent
from confir.report.tables import Cell, Table
from confir.studies.planning.goals import (
    ACHIEVED_POWER,
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    POWER,
)
from confir.studies.planning.human_documents import DocumentPlan
from confir.studies.planning.human_topics import HumanPlan
from confir.studies.planning.planning import Plan
from confir.studies.planning.usual_goals import PlanOverview

_ANSWERS = {
    DETECTABLE: "detectable difference",
    ACHIEVED_POWER: "power",
    ACHIEVED_WIDTH: "half width",
}

_AIMS = {
    HALF_WIDTH: "half width of a mean",
    ACHIEVED_WIDTH: "half width at present",
    POWER: "difference",
    DETECTABLE: "detectable at present",
}


def plan_table(plan: Plan) -> Table:
    """Return a table of the plan's answers: one row per measure and run."""
    columns: dict[str, Callable[[int, int], str]] = {
        "measure": lambda _, m: plan.measures[m],
        "run": lambda r, _: plan.runs[r],
        _answer_name(plan): lambda r, m: _answer_text(plan, r, m),
        "range": lambda r, m: _range_text(plan, r, m),
    }
    if plan.judgements_per_topic is not None:
        columns["judgements"] = lambda r, m: _count_text(
            float(plan.topics[r, m]) * (plan.judgements_per_topic or 0)
        )
    if plan.observed:
        columns["observed |difference|"] = lambda r, m: number_text(float(plan.difference[r, m]))
    if plan.goal in (DETECTABLE, ACHIEVED_POWER):
        columns["half width"] = lambda r, m: number_text(float(plan.half_width[r, m]))
    columns["sd in the pilot"] = lambda r, m: number_text(float(plan.sd[r, m]))
    if plan.assurance is not None:
        columns["sd planned with"] = lambda r, m: number_text(float(plan.planned_sd[r, m]))
    columns["topics in the pilot"] = lambda r, m: f"{plan.pilot[r, m]:,}"
    rows = tuple(
        tuple(Cell(text(r, m)) for text in columns.values())
        for m in range(len(plan.measures))
        for r in range(len(plan.runs))
    )
    return Table(tuple(columns), rows, _note(plan), names=2)


def overview_table(plan: PlanOverview) -> Table:
    """Return a table of the usual goals: one row per measure and goal."""
    columns: dict[str, Callable[[int, int], str]] = {
        "measure": lambda _, m: plan.measures[m],
        "goal": lambda a, _: _AIMS[plan.aims[a][0]],
        "size": lambda a, m: _size_text(plan, a, m),
        "topics": lambda a, m: _count_text(float(plan.topics[0, a, m])),
        "range": lambda a, m: _overview_range(plan, a, m),
    }
    if plan.judgements_per_topic is not None:
        each = plan.judgements_per_topic
        columns["judgements"] = lambda a, m: _count_text(float(plan.topics[0, a, m]) * each)
    if len(plan.spreads) > 1 and (plan.run[0] != plan.run[1]).any():
        columns["at the largest sd"] = lambda a, m: _overview_answer(plan, 1, a, m)
    rows = tuple(
        tuple(Cell(text(a, m)) for text in columns.values())
        for m in range(len(plan.measures))
        for a in range(len(plan.aims))
    )
    return Table(tuple(columns), rows, _overview_note(plan), names=2)


def _size_text(plan: PlanOverview, aim: int, measure: int) -> str:
    """Return the size of a half width or difference: as given, or as the topics at hand allow."""
    if plan.aims[aim][0] in (HALF_WIDTH, POWER):
        return f"{plan.aims[aim][1]:g}"
    return _overview_answer(plan, 0, aim, measure)


def _overview_answer(plan: PlanOverview, spread: int, aim: int, measure: int) -> str:
    """Return the topics that are needed, or the size that those at hand allow."""
    if plan.aims[aim][0] in (HALF_WIDTH, POWER):
        return _count_text(float(plan.topics[spread, aim, measure]))
    size = float(plan.difference[spread, aim, measure])
    if not math.isnan(size):
        return number_text(size)
    return "–" if math.isnan(plan.half_width[spread, aim, measure]) else "none"


def _overview_range(plan: PlanOverview, aim: int, measure: int) -> str:
    low, high = float(plan.low[0, aim, measure]), float(plan.high[0, aim, measure])
    if math.isnan(low):
        return "–"
    if plan.aims[aim][0] in (HALF_WIDTH, POWER):
        return f"{_count_text(low)} to {_count_text(high)}"
    return f"{number_text(low)} to {'none' if math.isnan(high) else number_text(high)}"


def _overview_note(plan: PlanOverview) -> str:
    """Return what the rows are for, and how far they can be trusted."""
    several = len(plan.spreads) > 1
    parts = [
        f"half width of the {percent(plan.level)} t interval of the mean"
        + (", for the run with the median sd over topics" if several else "")
    ]
    if several:
        which = "two runs" if plan.baseline is None else f"a run from {plan.baseline}"
        family = _family_words(plan.family, plan.pairs)
        parts.append(
            f"difference of {which} that a paired t test (α = {1 - plan.level:.4g}{family}) detects with "
            f"power {plan.power:g}, for the pair with the median sd of differences; at the largest sd: "
            "the same for the run or pair that varies most"
        )
    parts.append("the range reflects the sampling error of the pilot's sd")
    return "; ".join([*parts, *_assurance_and_model(plan)])


def human_plan_table(plan: HumanPlan) -> Table:
    """Return a table of the topics that people must judge: one row per measure and run."""
    priced = bool(np.isfinite(plan.cost).any())
    columns = ["measure", "run", "human topics", "model topics", "without a model"]
    columns += ["cost", "cost without"] if priced else []
    columns += ["weight", "agreement"]
    rows = tuple(
        tuple(
            map(
                Cell,
                (
                    *(record["measure"], record["run"]),
                    *(
                        _count_text(float(record[name]))
                        for name in ("human_topics", "model_topics", "human_alone")
                    ),
                    *(
                        (f"{record[name]:,.6g}" for name in ("cost", "cost_alone"))
                        if priced
                        else ()
                    ),
                    *(
                        f"{record[name]:.2f}".replace("nan", "–")
                        for name in ("weight", "agreement")
                    ),
                ),
            )
        )
        for record in plan.to_records()
    )
    return Table(tuple(columns), rows, _human_note(plan), names=2)


def document_plan_table(plan: DocumentPlan, seed: int | None = None) -> Table:
    """Return a table of the topics, and documents of each, that people must judge.

    ``seed`` is that of the replicates of the draw, where there were some.
    """
    priced = bool(np.isfinite(plan.cost).any())
    counts = {
        "topics": "topics",
        "documents": "documents per topic",
        "topics_alone": "topics, all documents",
    }
    sds = {"between": "sd between topics", "within": "sd of the draw"}
    costs = {"cost": "cost", "cost_alone": "cost without"} if priced else {}
    rows = tuple(
        (
            *(Cell(record["measure"]), Cell(record["run"])),
            *(Cell(_count_text(float(record[name]))) for name in counts),
            *(Cell(f"{record[name]:,.6g}") for name in costs),
            *(Cell(number_text(record[name])) for name in sds),
        )
        for record in plan.to_records()
    )
    heads = (*counts.values(), *costs.values(), *sds.values())
    note = (
        f"topics, and documents of each, that people must judge for {_human_goal(plan)}, from a pilot "
        f"of {counted(plan.pilot, 'topic')} with {plan.pilot_documents:.1f} of "
        f"{plan.model_documents:.1f} documents each, drawn at random; topics, all documents: what is "
        "needed if people judge all"
    )
    if priced:
        note += "; cost without: of those, without a model"
    if np.isnan(plan.documents).any():
        note += "; –: even all documents are too few, it takes more topics"
    if seed is not None:
        note += f"; sd of the draw by replicates of it, seed {seed}"
    return Table(("measure", "run", *heads), rows, note, names=2)


def _human_goal(plan: HumanPlan | DocumentPlan) -> str:
    """Return what people's judgements are planned for."""
    interval = f"a {percent(plan.level)} t interval"
    if plan.family == BEST:
        goal = f"a {percent(plan.level)} confidence set of the best run with a largest distance of "
        goal += f"{plan.half_width:g}"
    elif plan.baseline is not None:
        goal = (
            f"{interval} of the difference from {plan.baseline} no wider than ±{plan.half_width:g}"
        )
    else:
        what = "the mean" if plan.family == NO_FAMILY else "any difference of two runs"
        goal = f"{interval} of {what} no wider than ±{plan.half_width:g}"
    return goal + ("" if plan.family == NO_FAMILY else f" (family {plan.family}: Bonferroni-t)")


def _human_note(plan: HumanPlan) -> str:
    note = (
        f"topics that people must judge for {_human_goal(plan)}, from a pilot of "
        f"{counted(plan.pilot, 'human topic')}; model topics: all that the model judges; without a "
        "model: what people alone would need; weight of the model; agreement: correlation of the two "
        "over topics"
    )
    if np.isnan(plan.human_topics).any():
        note += "; –: even all topics of the model are too few, the model must judge more"
    return note


def _answer_name(plan: Plan) -> str:
    if plan.goal == ACHIEVED_WIDTH and plan.family == BEST:
        return "largest distance"
    return _ANSWERS.get(plan.goal, "topics needed")


def _note(plan: Plan) -> str:
    """Return one line that says what the plan is for, and how far it can be trusted."""
    parts = [_goal_text(plan)]
    if plan.observed:
        parts.append(
            f"the range is that of the {_together(plan)}{percent(plan.level)} interval of the observed "
            "difference (– as its end: the interval contains 0, and no number of topics is enough)"
        )
    else:
        parts.append("the range reflects the sampling error of the pilot's sd")
    if plan.baseline is None and plan.family != NO_FAMILY:
        parts.append("sd: of the difference from the run for which it is largest")
    parts += _assurance_and_model(plan)
    if plan.family == NO_FAMILY and plan.goal in (POWER, DETECTABLE, ACHIEVED_POWER):
        parts.append("correcting for several runs or measures takes more topics")
    return "; ".join(parts)


def _assurance_and_model(plan: Plan | PlanOverview) -> list[str]:
    """Return what the plan takes into account: its assurance, and topics that a model judges."""
    parts = []
    if plan.assurance is not None:
        parts.append(
            f"planned with an upper confidence limit of the sd, so that the goal is reached with probability "
            f"{plan.assurance:g} (assurance)"
        )
    if plan.model_topics:
        parts.append(
            f"topics are those that people judge; for each, the model judges {plan.model_topics:.2g} "
            "more, as in the pilot"
        )
    return parts


def _goal_text(plan: Plan) -> str:
    """Return what the plan is for."""
    test = f"a paired t test (α = {1 - plan.level:.4g}{_family_text(plan)})"
    if plan.goal == HALF_WIDTH:
        reach = f"{plan.difference.flat[0]:g}"
        limit = f"in which no run is expected further below the best than {reach}"
        return f"for {_width_text(plan)} " + (
            limit if plan.family == BEST else f"no wider than ±{reach}"
        )
    if plan.goal == ACHIEVED_WIDTH:
        what = "largest distance from the best run" if plan.family == BEST else "half width"
        return (
            f"{what} {'in' if plan.family == BEST else 'of'} {_width_text(plan)}{_given_text(plan)}"
        )
    if plan.goal == POWER:
        return f"for {test} to detect {_difference_text(plan)} with power {plan.power:g}"
    if plan.goal == ACHIEVED_POWER:
        return f"power of {test} to detect {_difference_text(plan)}{_given_text(plan)}"
    goal = (
        f"the smallest true difference from {plan.baseline} that {test} detects with power "
        f"{plan.power:g}{_given_text(plan)}"
    )
    missing = np.isnan(plan.difference) & ~np.isnan(plan.sd)
    if (missing | (np.isnan(plan.high) & ~np.isnan(plan.low))).any():
        goal += " (none: it would exceed 1, on a measure in [0, 1])"
    return goal


def _difference_text(plan: Plan) -> str:
    if plan.observed:
        return f"the observed difference from {plan.baseline}, if it is the true one,"
    return f"a true difference of {plan.difference.flat[0]:g} from {plan.baseline}"


def _width_text(plan: Plan) -> str:
    """Return which interval is planned."""
    level = percent(plan.level)
    if plan.family == BEST:
        return f"a {level} confidence set of the best of {plan.pairs + 1} runs"
    if plan.baseline is not None:
        what = f"the difference from {plan.baseline}"
    elif plan.family == ALL_PAIRS:
        what = "any difference of two runs"
    else:
        what = "the mean"
    if plan.family == NO_FAMILY:
        return f"a {level} t interval of {what}"
    return f"a {_together(plan)}{level} t interval of {what} ({_family_text(plan).lstrip(', ')})"


def _family_text(plan: Plan) -> str:
    return _family_words(plan.family, plan.pairs)


def _family_words(family: str, pairs: int) -> str:
    """Return how many differences a level holds for together."""
    return "" if family == NO_FAMILY else f", family {family}: {counted(pairs, 'pair')}"


def _together(plan: Plan) -> str:
    return "" if plan.family == NO_FAMILY else "simultaneous "


def _given_text(plan: Plan) -> str:
    low, high = int(plan.topics.min()), int(plan.topics.max())
    several = "" if low == high else f"{low:,} to "
    return f", given {several}{counted(high, 'topic')}"


def _answer_text(plan: Plan, run: int, measure: int) -> str:
    if math.isnan(plan.sd[run, measure]):
        return "–"
    if plan.goal == ACHIEVED_POWER:
        return number_text(float(plan.achieved_power[run, measure]))
    if plan.goal in (DETECTABLE, ACHIEVED_WIDTH):
        difference = float(plan.difference[run, measure])
        return "none" if math.isnan(difference) else number_text(difference)
    return _count_text(float(plan.topics[run, measure]))


def _range_text(plan: Plan, run: int, measure: int) -> str:
    low, high = float(plan.low[run, measure]), float(plan.high[run, measure])
    if math.isnan(low):
        return "–"
    if plan.goal in (HALF_WIDTH, POWER):
        return f"{_count_text(low)} to {_count_text(high)}"
    most = "none" if math.isnan(high) else number_text(high)
    return f"{number_text(low)} to {most}"


def _count_text(count: float) -> str:
    return "–" if math.isnan(count) else f"{count:,.0f}"
