"""Charts of bias and variance: which runs are good, which are steady, and the trend between them.

Both figures of [Zhang2013]: variance against squared bias, and total error against squared bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from confir.data.scores import Record
from confir.report.charts.drawing import COLOURS, INK, chart, import_altair, styled, tooltips
from confir.report.charts.inline_records import inline_records
from confir.studies.bias_variance import BiasVariance

# More names than this in a panel are too many to read.
_NAMES_SHOWN = 12
# What a name takes, in pixels of a panel as narrow as a telephone shows it; longer ones are cut.
_PANEL, _LETTER, _LINE, _LONGEST_NAME = (240.0, 220.0), 6.0, 13.0, 110
_LINES_WANTED = 6
# Beyond the outermost points, a share of the axis is left free, for their names.
_MARGIN = 0.06
# The group of runs that belong to no sweep.
_OTHERS = "runs"


@chart.register
def bias_variance_chart(result: BiasVariance) -> Any:
    """Return variance against squared bias, with lines of equal total error ([Zhang2013] Fig. 1).

    Runs that differ in one parameter are joined in its order.
    """
    alt = import_altair()
    panels = []
    for measure in result.measures:
        records = _records_of(result, measure)
        equal = alt.Chart(inline_records(_equal_totals(records))).encode(
            x=alt.X("bias_squared:Q"), y=alt.Y("variance:Q")
        )
        lines = equal.mark_line(color="#bbb", strokeDash=[3, 3], strokeWidth=1).encode(
            detail=alt.Detail("total:N")
        )
        totals = equal.mark_text(color=INK, fontSize=9, dy=8).encode(text=alt.Text("label:N"))
        layers = [lines, totals, *_point_layers(records, "variance")]
        panels.append(alt.layer(*layers).properties(width=380, height=300, title=measure))
    title = f"Bias and variance of the {_variable(result)}, target {result.target}"
    return styled(alt.concat(*panels, columns=2), f"{title}; dotted: equal total error")


def total_chart(result: BiasVariance) -> Any:
    """Return total error against squared bias ([Zhang2013] Fig. 2)."""
    alt = import_altair()
    panels = [
        alt.layer(*_point_layers(_records_of(result, measure), "total")).properties(
            width=380, height=300, title=measure
        )
        for measure in result.measures
    ]
    title = f"Bias and total error of the {_variable(result)}, target {result.target}"
    return styled(alt.concat(*panels, columns=2), title)


def _variable(result: BiasVariance) -> str:
    return "score" if result.variable == "score" else "difference ρ from the target"


def _records_of(result: BiasVariance, measure: str) -> list[Record]:
    """Return the records of a measure, each with its group, and its label where there is room.

    A run of a sweep is labelled by its parameter's value.
    """
    records = [record for record in result.to_records() if record["measure"] == measure]
    named = _without_overlap(records, _worth_naming(records))
    labelled = []
    for record in records:
        parameter = record.get("parameter")
        label = record["run"] if record["run"] in named else ""
        if parameter is not None:
            label = f"{record['parameter_value']:g}"
        side = "left" if _on_the_right(_corner(record, records)[0]) else "right"
        labelled.append({**record, "label": label, "side": side, "group": parameter or _OTHERS})
    return labelled


def _worth_naming(records: Sequence[Record]) -> list[str]:
    """Return the runs to be named, the most important first: the extreme ones, then all of few."""
    records = [record for record in records if record.get("parameter") is None]
    known = [record for record in records if not math.isnan(record["total"])]
    if not known:
        return []
    extremes = [min(known, key=lambda r: r[part])["run"] for part in ("total", "bias_squared")]
    extremes += [pick(known, key=lambda r: r["variance"])["run"] for pick in (min, max)]
    extremes.append(max(known, key=lambda r: r["total"])["run"])
    others = [record["run"] for record in known] if len(records) <= _NAMES_SHOWN else []
    return list(dict.fromkeys([*extremes, *others]))


def _without_overlap(records: Sequence[Record], wanted: Sequence[str]) -> set[str]:
    """Return the names that can be written without covering one another; hovering shows the rest."""
    corners = {record["run"]: _corner(record, records) for record in records}
    taken: list[tuple[float, float, float]] = []
    named = set()
    for name in wanted:
        x, y = corners[name]
        width = min(_LETTER * len(name), _LONGEST_NAME)
        left = x - width if _on_the_right(x) else x
        if all(
            abs(y - other_y) >= _LINE or left >= other_right or left + width <= other_left
            for other_left, other_right, other_y in taken
        ):
            taken.append((left, left + width, y))
            named.add(name)
    return named


def _corner(record: Record, records: Sequence[Record]) -> tuple[float, float]:
    """Return where a run's point lies in a small panel."""
    place = []
    for field, size in zip(("bias_squared", "variance"), _PANEL, strict=True):
        values = [entry[field] for entry in records if not math.isnan(entry[field])]
        reach = (max(values) - min(values) if values else 0.0) or 1.0
        place.append(size * (record[field] - min(values, default=0.0)) / reach)
    return place[0], place[1]


def _on_the_right(x: float) -> bool:
    """Return whether a point lies so far on the right that its name goes to the left."""
    return x > _PANEL[0] / 2


def _point_layers(records: Sequence[Record], height: str) -> list[Any]:
    """Return points, names, and lines that join the runs of a sweep."""
    alt = import_altair()
    groups = list(dict.fromkeys(record["group"] for record in records))
    swept = [group for group in groups if group != _OTHERS]
    colours = alt.Scale(
        domain=[_OTHERS, *swept],
        range=[COLOURS[0], *(COLOURS[1 + i % (len(COLOURS) - 1)] for i in range(len(swept)))],
    )
    legend = alt.Legend(title=None) if swept else None
    across, up = (
        alt.Scale(domain=_extent(records, field), nice=False, zero=False)
        for field in ("bias_squared", height)
    )
    titles = {"variance": "variance", "total": "bias² + variance"}
    base = alt.Chart(inline_records(records)).encode(
        x=alt.X("bias_squared:Q", title="bias²", scale=across, axis=alt.Axis(tickCount=6)),
        y=alt.Y(f"{height}:Q", title=titles[height], scale=up, axis=alt.Axis(tickCount=6)),
        color=alt.Color("group:N", scale=colours, legend=legend),
    )
    tooltip = tooltips(
        "run:N", "mean:Q", "bias:Q", "variance:Q", "total:Q", "total_low:Q", "total_high:Q"
    )
    joined = base.transform_filter(f"datum.group != '{_OTHERS}'").mark_line(
        strokeWidth=1.5, opacity=0.7
    )
    layers = [joined.encode(order=alt.Order("parameter_value:Q"))] if swept else []
    if swept:
        tooltip += tooltips("parameter:N", "parameter_value:Q")
    points = base.mark_point(filled=True, size=55, opacity=0.85).encode(tooltip=tooltip)
    names = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=align, dx=shift, dy=-5, fontSize=10, limit=_LONGEST_NAME)
        .encode(text=alt.Text("label:N"))
        for side, align, shift in (("right", "left", 7), ("left", "right", -7))
    ]
    return [*layers, points, *names]


def _extent(records: Sequence[Record], field: str) -> list[float]:
    """Return the ends of an axis: a little room beyond the values, but none below 0."""
    values = [record[field] for record in records if not math.isnan(record[field])] or [0.0]
    room = _MARGIN * (max(values) - min(values)) or 1.0
    return [max(0.0, min(values) - room), max(values) + room]


def _equal_totals(records: Sequence[Record]) -> list[Record]:
    """Return the ends of lines of equal total error, at round numbers across the panel."""
    known = [record for record in records if not math.isnan(record["total"])]
    if not known:
        return []
    xs = [record["bias_squared"] for record in known]
    ys = [record["variance"] for record in known]
    low, high = min(xs) + min(ys), max(xs) + max(ys)
    step = _round_step((high - low) / _LINES_WANTED)
    totals = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    lines: list[Record] = []
    for total in totals:
        left, right = max(min(xs), total - max(ys)), min(max(xs), total - min(ys))
        text = f"{total:.6g}"
        lines += [
            {"total": text, "bias_squared": left, "variance": total - left, "label": ""},
            {"total": text, "bias_squared": right, "variance": total - right, "label": text},
        ]
    return lines


def _round_step(wanted: float) -> float:
    """Return 1, 2 or 5 times a power of ten, near a wanted step."""
    if wanted <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return power * min((1.0, 2.0, 5.0, 10.0), key=lambda factor: abs(factor * power - wanted))
