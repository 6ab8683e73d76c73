"""Tables of plans: topics needed, or differences that can be detected."""

from __future__ import annotations

import math

import numpy as np

from confir.errors import counted
from confir.report.numbers import number_text, percent
from confir.report.tables import Cell, Table
from confir.studies.planning.planning import DETECTABLE, HALF_WIDTH, Plan


def plan_table(plan: Plan) -> Table:
    """Return a table of the plan's answers: one row per measure and run."""
    rows = tuple(
        (
            Cell(measure),
            Cell(run),
            Cell(_answer_text(plan, r, m)),
            Cell(_range_text(plan, r, m)),
            Cell(number_text(float(plan.sd[r, m]))),
            Cell(str(plan.pilot[r, m])),
        )
        for m, measure in enumerate(plan.measures)
        for r, run in enumerate(plan.runs)
    )
    answer = "detectable difference" if plan.goal == DETECTABLE else "topics needed"
    columns = ("measure", "run", answer, "range", "sd in the pilot", "topics in the pilot")
    return Table(columns, rows, _note(plan), names=2)


def _note(plan: Plan) -> str:
    """Return one line that says what the plan is for, and how far it can be trusted."""
    what = "the mean" if plan.baseline is None else f"the difference from {plan.baseline}"
    if plan.goal == HALF_WIDTH:
        reach = f"±{plan.difference.flat[0]:g}"
        goal = f"for a {percent(plan.level)} t interval of {what} no wider than {reach}"
    elif plan.goal == DETECTABLE:
        goal = (
            f"the smallest true difference from {plan.baseline} that a paired t test "
            f"(α = {1 - plan.level:.4g}) detects with power {plan.power:g}"
        )
        goal += f", given {_topics_text(plan)}"
        missing = np.isnan(plan.difference) & ~np.isnan(plan.sd)
        if (missing | (np.isnan(plan.high) & ~np.isnan(plan.low))).any():
            goal += " (none: it would exceed 1, on a measure in [0, 1])"
    else:
        goal = (
            f"for a paired t test (α = {1 - plan.level:.4g}) to detect a true difference of "
            f"{plan.difference.flat[0]:g} from {plan.baseline} with power {plan.power:g}"
        )
    note = f"{goal}; the range is what the pilot allows, as its sd may be off by sampling"
    several = "; correcting for several runs or measures takes more topics"
    return note if plan.goal == HALF_WIDTH else note + several


def _topics_text(plan: Plan) -> str:
    low, high = int(plan.topics.min()), int(plan.topics.max())
    return counted(high, "topic") if low == high else f"{low:,} to {counted(high, 'topic')}"


def _answer_text(plan: Plan, run: int, measure: int) -> str:
    if math.isnan(plan.sd[run, measure]):
        return "–"
    if plan.goal == DETECTABLE:
        difference = float(plan.difference[run, measure])
        return "none" if math.isnan(difference) else number_text(difference)
    return _count_text(float(plan.topics[run, measure]))


def _range_text(plan: Plan, run: int, measure: int) -> str:
    low, high = float(plan.low[run, measure]), float(plan.high[run, measure])
    if math.isnan(low):
        return "–"
    if plan.goal == DETECTABLE:
        most = "none" if math.isnan(high) else number_text(high)
        return f"{number_text(low)} to {most}"
    return f"{_count_text(low)} to {_count_text(high)}"


def _count_text(topics: float) -> str:
    return "–" if math.isnan(topics) else f"{topics:.0f}"
