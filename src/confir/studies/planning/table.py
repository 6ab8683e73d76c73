"""Tables of plans: topics needed, or what a number of topics gives."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from confir.defaults import ALL_PAIRS, BEST, NO_FAMILY
from confir.errors import counted
from confir.report.numbers import number_text, percent
from confir.report.tables import Cell, Table
from confir.studies.planning.goals import (
    ACHIEVED_POWER,
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    POWER,
)
from confir.studies.planning.planning import Plan

_ANSWERS = {
    DETECTABLE: "detectable difference",
    ACHIEVED_POWER: "power",
    ACHIEVED_WIDTH: "half width",
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
    columns["topics in the pilot"] = lambda r, m: str(plan.pilot[r, m])
    rows = tuple(
        tuple(Cell(text(r, m)) for text in columns.values())
        for m in range(len(plan.measures))
        for r in range(len(plan.runs))
    )
    return Table(tuple(columns), rows, _note(plan), names=2)


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
        parts.append("the range is what the pilot allows, as its sd may be off by sampling")
    if plan.baseline is None and plan.family != NO_FAMILY:
        parts.append("sd: of the difference from the run for which it is largest")
    if plan.assurance is not None:
        parts.append(
            f"planned with an upper limit of the sd, so that the goal is reached with probability "
            f"{plan.assurance:g} (assurance)"
        )
    if plan.family == NO_FAMILY and plan.goal in (POWER, DETECTABLE, ACHIEVED_POWER):
        parts.append("correcting for several runs or measures takes more topics")
    return "; ".join(parts)


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
        return f"the observed difference from {plan.baseline}, were it the true one,"
    return f"a true difference of {plan.difference.flat[0]:g} from {plan.baseline}"


def _width_text(plan: Plan) -> str:
    """Return which interval is planned."""
    level = percent(plan.level)
    if plan.family == BEST:
        return f"a {level} confidence set of the best of {plan.pairs + 1} runs (Bonferroni-t)"
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
    """Return how many differences a level holds for together."""
    if plan.family == NO_FAMILY:
        return ""
    return f", family {plan.family}: Bonferroni-t for {counted(plan.pairs, 'pair')}"


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
    return "–" if math.isnan(count) else f"{count:.0f}"
