"""Curves of what a number of topics gives: half width, power or detectable difference."""

from __future__ import annotations

import math
from typing import Any

from confir.data.result import Record
from confir.defaults import BEST, NO_FAMILY
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    Spec,
    field,
    in_panels,
    inline_records,
    label_names,
    mark,
    numbered,
    styled,
)
from confir.studies.planning.goals import ACHIEVED_WIDTH, DETECTABLE, HALF_WIDTH, OF_POWER, POWER
from confir.studies.planning.planning import Plan
from confir.studies.planning.usual_goals import MEDIAN, PlanOverview

_MOST_COLOURED_RUNS = len(COLOURS)
_TOPICS = field("topics:Q", scale={"type": "log", "nice": False}, title="topics")

_WHAT = {
    HALF_WIDTH: "half width of a mean",
    ACHIEVED_WIDTH: "half width of a mean",
    POWER: "difference of two runs",
    DETECTABLE: "difference of two runs",
}


def plan_chart(plan: Plan) -> Any:
    """Return the curve of half width, power or detectable difference against topics."""
    curve = [record | {"goal": False} for record in plan.curve_records()]
    records = numbered([*curve, *_goals(plan)], run=plan.runs, measure=plan.measures)
    by_power = plan.goal in OF_POWER
    scale = {"domain": [0, 1]} if by_power else {"zero": True}
    few = len(plan.runs) <= _MOST_COLOURED_RUNS
    colour = {"value": COLOURS[0]}
    if few:
        legend = {"labelExpr": label_names(plan.runs)}
        scale_of_runs = {"range": list(COLOURS)}
        colour = field("run_number:N", scale=scale_of_runs, title="run", legend=legend)
    lines = {
        "x": _TOPICS,
        "y": field("value:Q", scale=scale, title=_value_name(plan)),
        "detail": field("run_number:N"),
        "color": colour,
        "tooltip": [
            *map(field, ("run:N", "measure:N", "topics:Q")),
            field("value:Q", format=".4f"),
        ],
    }
    goals = {
        "x": field("topics:Q"),
        "y": field("value:Q"),
        "color": colour,
        "tooltip": [field("run:N"), field("topics:Q")],
    }
    layers = [
        mark("line", lines, where="!datum.goal", strokeWidth=2, opacity=1 if few else 0.4),
        mark("point", goals, where="datum.goal", filled=True, size=60, opacity=1),
    ]
    y = "shared" if by_power else "independent"
    drawn = {"data": inline_records(records), "layer": layers}
    return _in_panels(drawn, plan.measures, y, _title(plan))


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
    shown = plan.select(spread=[MEDIAN]).to_records()
    records = [record | {"what": _WHAT[record["goal"]]} for record in shown]
    channels = {
        "x": _TOPICS,
        "y": field("difference:Q", scale={"zero": True}, title="size"),
        "color": field("what:N", scale={"range": list(COLOURS)}, title=None),
        "tooltip": [field("goal:N"), field("topics:Q"), field("difference:Q", format=".4f")],
    }
    lines = mark("line", channels, strokeWidth=2, point=True)
    lines["data"] = inline_records(numbered(records, measure=plan.measures))
    power = f", and differences detected with power {plan.power:g}"
    title = f"Half widths of means{power if len(plan.spreads) > 1 else ''}"
    return _in_panels(lines, plan.measures, "independent", title)


def _in_panels(drawing: Spec, measures: tuple[str, ...], y: str, title: str) -> Spec:
    sized = {**drawing, "width": 300, "height": 220}
    return styled(in_panels(sized, "measure", measures, scales={"x": "independent", "y": y}), title)
