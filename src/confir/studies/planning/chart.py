"""Curves of what a number of topics gives: half width, power or detectable difference."""

from __future__ import annotations

import math
from typing import Any

from confir.data.result import Record
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
from confir.studies.planning.goals import ACHIEVED_WIDTH, DETECTABLE, HALF_WIDTH, OF_POWER, POWER
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
    curve = [record | {"goal": False} for record in plan.curve_records()]
    records = numbered([*curve, *_goals(plan)], run=plan.runs, measure=plan.measures)
    points = alt.Chart(inline_records(records))
    by_power = plan.goal in OF_POWER
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
            x=_topics_axis(alt),
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
    y = "shared" if by_power else "independent"
    return _in_panels(alt, alt.layer(lines, goals), plan.measures, y, _title(plan))


def _goals(plan: Plan) -> list[Record]:
    """Return the point of each curve that the plan asks for."""
    field = "power" if plan.goal in OF_POWER else "difference"
    points = [record | {"value": record[field], "goal": True} for record in plan.to_records()]
    return [one for one in points if math.isfinite(one["topics"]) and math.isfinite(one["value"])]


def _value_name(plan: Plan) -> str:
    if plan.goal in OF_POWER:
        return "power"
    if plan.goal == DETECTABLE:
        return "detectable difference"
    return "largest distance" if plan.family == BEST else "half width of the interval"


def _title(plan: Plan) -> str:
    against = "" if plan.baseline is None else f" from {plan.baseline}"
    assured = "" if plan.assurance is None else f", with assurance {plan.assurance:g}"
    family = "" if plan.family == NO_FAMILY else f" (family: {plan.family})"
    if plan.goal == DETECTABLE:
        return f"Difference{against} that is detected with power {plan.power:g}{family}{assured}"
    if plan.goal in OF_POWER:
        size = f"a difference of {plan.difference.flat[0]:g}"
        size = "the observed difference" if plan.observed else size
        return f"Power to detect {size}{against}{family}{assured}"
    level = percent(plan.level)
    if plan.family == BEST:
        return f"Largest distance from the best run in its {level} confidence set{assured}"
    what = f"difference{against}" if against else "difference of two runs"
    simultaneous = "simultaneous "
    if plan.family == NO_FAMILY:
        what, simultaneous = what if against else "mean", ""
    return f"Half width of the {simultaneous}{level} interval of the {what}{assured}"


def overview_chart(plan: PlanOverview) -> Any:
    """Return half widths and detectable differences against the topics that they take."""
    alt = import_altair()
    shown = plan.select(spread=[MEDIAN]).to_records()
    records = [record | {"what": _WHAT[record["goal"]]} for record in shown]
    points = alt.Chart(inline_records(numbered(records, measure=plan.measures)))
    lines = points.mark_line(strokeWidth=2, point=True).encode(
        x=_topics_axis(alt),
        y=alt.Y("difference:Q", scale=alt.Scale(zero=True), title="size"),
        color=alt.Color("what:N", scale=alt.Scale(range=list(COLOURS)), title=None),
        tooltip=["goal:N", "topics:Q", alt.Tooltip("difference:Q", format=".4f")],
    )
    power = f", and differences detected with power {plan.power:g}"
    title = f"Half widths of means{power if len(plan.spreads) > 1 else ''}"
    return _in_panels(alt, lines, plan.measures, "independent", title)


def _topics_axis(alt: Any) -> Any:
    return alt.X("topics:Q", scale=alt.Scale(type="log", nice=False), title="topics")


def _in_panels(alt: Any, drawing: Any, measures: tuple[str, ...], y: str, title: str) -> Any:
    sized = drawing.properties(width=300, height=220)
    panels = sized.facet(facet=panel_facet(alt, "measure", measures), columns=2)
    return styled(panels.resolve_scale(x="independent", y=y), title)
