"""Charts of plans: what a number of topics gives."""

from __future__ import annotations

import math
from typing import Any

from confir.defaults import BEST, NO_FAMILY
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    import_altair,
    inline_records,
    label_names,
    numbered,
    panel_facet,
    styled,
)
from confir.studies.planning.goals import (
    ACHIEVED_POWER,
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    POWER,
)
from confir.studies.planning.planning import Plan
from confir.studies.planning.usual_goals import MEDIAN, PlanOverview

_MOST_COLOURED_RUNS = len(COLOURS)

_WHAT = {
    HALF_WIDTH: "half width of a mean",
    ACHIEVED_WIDTH: "half width of a mean",
    POWER: "difference of two runs",
    DETECTABLE: "difference of two runs",
}


def plan_chart(plan: Plan) -> Any:
    """Return the curve of half width, power or detectable difference against topics."""
    alt = import_altair()
    records = numbered([*_curve(plan), *_goals(plan)], run=plan.runs, measure=plan.measures)
    points = alt.Chart(inline_records(records))
    by_power = plan.goal in (POWER, ACHIEVED_POWER)
    scale = alt.Scale(domain=[0, 1]) if by_power else alt.Scale(zero=True)
    few = len(plan.runs) <= _MOST_COLOURED_RUNS
    colour = (
        alt.Color(
            "run_number:N",
            scale=alt.Scale(range=list(COLOURS)),
            title="run",
            legend=alt.Legend(labelExpr=label_names(plan.runs)),
        )
        if few
        else alt.value(COLOURS[0])
    )
    lines = (
        points.transform_filter("!datum.goal")
        .mark_line(strokeWidth=2, opacity=1 if few else 0.4)
        .encode(
            x=alt.X("topics:Q", scale=alt.Scale(type="log", nice=False), title="topics"),
            y=alt.Y("value:Q", scale=scale, title=_value_name(plan)),
            detail="run_number:N",
            color=colour,
            tooltip=["run:N", "measure:N", "topics:Q", alt.Tooltip("value:Q", format=".4f")],
        )
    )
    goals = (
        points.transform_filter("datum.goal")
        .mark_point(filled=True, size=60, opacity=1)
        .encode(x="topics:Q", y="value:Q", color=colour, tooltip=["run:N", "topics:Q"])
    )
    panels = (
        alt.layer(lines, goals)
        .properties(width=300, height=220)
        .facet(facet=panel_facet(alt, "measure", plan.measures), columns=2)
        .resolve_scale(x="independent", y="shared" if by_power else "independent")
    )
    return styled(panels, _title(plan))


def _curve(plan: Plan) -> list[dict[str, Any]]:
    return [record | {"goal": False} for record in plan.curve_records()]


def _goals(plan: Plan) -> list[dict[str, Any]]:
    """Return the point of each curve that the plan asks for."""
    field = "power" if plan.goal in (POWER, ACHIEVED_POWER) else "difference"
    return [
        {
            "run": record["run"],
            "measure": record["measure"],
            "topics": record["topics"],
            "value": record[field],
            "goal": True,
        }
        for record in plan.to_records()
        if math.isfinite(record["topics"]) and math.isfinite(record[field])
    ]


def _value_name(plan: Plan) -> str:
    if plan.goal in (POWER, ACHIEVED_POWER):
        return "power"
    if plan.goal == DETECTABLE:
        return "detectable difference"
    return "largest distance" if plan.family == BEST else "half width of the interval"


def _title(plan: Plan) -> str:
    against = "" if plan.baseline is None else f" from {plan.baseline}"
    assured = "" if plan.assurance is None else f", with assurance {plan.assurance:g}"
    if plan.goal in (HALF_WIDTH, ACHIEVED_WIDTH):
        return f"{_width_title(plan, against)}{assured}"
    family = "" if plan.family == NO_FAMILY else f" (family: {plan.family})"
    if plan.goal == DETECTABLE:
        return f"Difference{against} that is detected with power {plan.power:g}{family}{assured}"
    size = "the observed difference" if plan.observed else _difference_text(plan)
    return f"Power to detect {size}{against}{family}{assured}"


def _width_title(plan: Plan, against: str) -> str:
    level = percent(plan.level)
    if plan.family == BEST:
        return f"Largest distance from the best run in its {level} confidence set"
    single = "difference" if against else "mean"
    what = f"{single}{against}" if plan.family == NO_FAMILY or against else "difference of two runs"
    simultaneous = "" if plan.family == NO_FAMILY else "simultaneous "
    return f"Half width of the {simultaneous}{level} interval of the {what}"


def _difference_text(plan: Plan) -> str:
    return f"a difference of {plan.difference.flat[0]:g}"


def overview_chart(plan: PlanOverview) -> Any:
    """Return half widths and detectable differences against the topics that they take."""
    alt = import_altair()
    shown = plan.select(spread=[MEDIAN]).to_records()
    records = [record | {"what": _WHAT[record["goal"]]} for record in shown]
    points = alt.Chart(inline_records(numbered(records, measure=plan.measures)))
    lines = (
        points.mark_line(strokeWidth=2, point=True)
        .encode(
            x=alt.X("topics:Q", scale=alt.Scale(type="log", nice=False), title="topics"),
            y=alt.Y("difference:Q", scale=alt.Scale(zero=True), title="size"),
            color=alt.Color("what:N", scale=alt.Scale(range=list(COLOURS)), title=None),
            tooltip=["goal:N", "topics:Q", alt.Tooltip("difference:Q", format=".4f")],
        )
        .properties(width=300, height=220)
    )
    panels = lines.facet(facet=panel_facet(alt, "measure", plan.measures), columns=2)
    power = f"differences detected with power {plan.power:g}"
    title = (
        f"Half widths of means, and {power}" if len(plan.spreads) > 1 else "Half widths of means"
    )
    return styled(panels.resolve_scale(x="independent", y="independent"), title)
