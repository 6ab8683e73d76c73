"""Charts of quality against cost: both intervals of each run, and the frontier of the means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from confir.data.result import Record
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    end_field,
    field,
    inline_records,
    mark,
    styled,
    tooltips,
)
from confir.report.label_places import label_fields, name_layers
from confir.studies.tradeoff.cost_comparison import CostComparison
from confir.studies.tradeoff.frontier import DOMINATED, FRONTIER, UNDECIDED

_COLOURS = {FRONTIER: COLOURS[0], UNDECIDED: INK, DOMINATED: COLOURS[1]}
# Names of more runs would cover each other.
_MOST_NAMED = 25
# Costs that differ by more than this factor have a logarithmic axis.
_WIDE = 20.0
# Size of a panel in pixels, and the share of an axis that is left free beyond the outermost marks.
_PANEL = (360.0, 260.0)
_MARGIN = 0.06


def tradeoff_chart(comparison: CostComparison) -> Any:
    """Return a panel per cost and measure: cost against quality, and the frontier as a line."""
    panels = [
        _panel(comparison, cost, measure)
        for cost in comparison.costs
        for measure in comparison.measures
    ]
    title = f"Quality against cost, with {percent(comparison.level)} intervals; dashed: frontier of the means"
    return styled({"concat": panels, "columns": 2}, title)


def _panel(comparison: CostComparison, cost: str, measure: str) -> Spec:
    """Return the panel of one cost and one measure."""
    records = _with_limits(comparison.select(cost=cost, measure=measure).to_records())
    wide = _is_wide(records)
    across = _extent(records, "cost_low", "cost_high", wide=wide)
    up = _extent(records, "quality_low", "quality_high")
    records = _with_labels(records, across, up, wide=wide)
    ends = [10.0**end if wide else end for end in across]
    kind = {"type": "log"} if wide else {}
    costs = {"domain": ends, "nice": False, "zero": False, **kind}
    x = field("mean_cost:Q", title=[f"mean {cost}"], scale=costs, axis={"tickCount": 5})
    y = field("quality:Q", title=[measure], scale={"domain": up, "nice": False, "zero": False})
    return {
        "data": inline_records(records),
        "layer": _layers(x, y),
        "width": _PANEL[0],
        "height": _PANEL[1],
        "title": [f"{measure} against {cost}"],
    }


def _layers(x: Spec, y: Spec) -> list[Spec]:
    """Return the frontier, both intervals, dots and names of the runs."""
    shades = {"domain": list(_COLOURS), "range": list(_COLOURS.values())}
    base = {
        "x": x,
        "y": y,
        "color": field("status:N", title=None, scale=shades),
        "tooltip": [
            *tooltips("run:N", "measure:N", "cost:N"),
            *tooltips("quality:Q", "mean_cost:Q", numbers=".4f"),
            field("status:N"),
            field("dominated_by:N", title="dominated by"),
            field("share_frontier:Q", format=".3f", title="efficient"),
        ],
    }
    line: Spec = {"color": INK, "strokeDash": [4, 3], "interpolate": "step-after", "strokeWidth": 1}
    high = {"y": field("quality_low:Q"), "y2": end_field("quality_high:Q")}
    wide = {"x": field("cost_low:Q"), "x2": end_field("cost_high:Q")}
    return [
        mark("line", {"x": x, "y": y}, where="datum.efficient", **line),
        mark("rule", base | high, strokeWidth=1.5),
        mark("rule", base | wide, strokeWidth=1.5),
        mark("point", base, filled=True, size=50, opacity=1),
        *name_layers(base, "run", baseline="middle"),
    ]


def _with_limits(records: Sequence[Record]) -> list[Record]:
    """Return the records; limits that do not exist, as of a constant cost, are the mean."""
    found = []
    for record in records:
        filled = {
            f"{name}_{end}": record[mean]
            for name, mean in (("cost", "mean_cost"), ("quality", "quality"))
            for end in ("low", "high")
            if math.isnan(record[f"{name}_{end}"])
        }
        found.append({**record, **filled})
    return found


def _is_wide(records: Sequence[Record]) -> bool:
    """Whether costs differ by orders of magnitude, and all limits are above 0."""
    least = min(record["cost_low"] for record in records)
    costs = [record["mean_cost"] for record in records]
    return bool(least > 0.0 and max(costs) > _WIDE * min(costs))


def _extent(
    records: Sequence[Record], low: str, high: str, *, wide: bool = False
) -> tuple[float, float]:
    """Return the ends of an axis, on a logarithmic one those of the logarithms."""
    ends = min(record[low] for record in records), max(record[high] for record in records)
    first, last = map(math.log10, ends) if wide else ends
    margin = _MARGIN * (last - first) or max(abs(first), 1.0) * _MARGIN
    return first - margin, last + margin


def _with_labels(
    records: Sequence[Record], across: tuple[float, float], up: tuple[float, float], *, wide: bool
) -> list[Record]:
    """Return the records, those whose name has room with its position; the frontier comes first."""
    if len(records) > _MOST_NAMED:
        return [{**record, "align": ""} for record in records]
    costs = [math.log10(r["mean_cost"]) if wide else r["mean_cost"] for r in records]
    points = [(cost, record["quality"]) for cost, record in zip(costs, records, strict=True)]
    first = sorted(range(len(records)), key=lambda n: records[n]["status"] != FRONTIER)
    names = {n: records[n]["run"] for n in first}
    labels = label_fields(points, names, _PANEL, (across, up), first_always=True)
    if wide:
        labels = {n: one | {"label_x": 10.0 ** one["label_x"]} for n, one in labels.items()}
    return [{**record, **labels.get(n, {"align": ""})} for n, record in enumerate(records)]
