"""Charts of bias and variance: which runs are effective, and which are stable.

Both figures of [Zhang2013]: variance against squared bias, and total error against squared bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from confir.data.result import Record
from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    field,
    inline_records,
    label_names,
    mark,
    round_ticks,
    styled,
    tooltips,
)
from confir.report.label_places import label_fields, name_layers, name_threads
from confir.studies.bias_variance.bias_variance import BiasVariance

# More names than this in a panel are too many to read.
_NAMES_SHOWN = 12
# The size of a panel on a phone, in pixels: labels that fit here fit everywhere.
_PANEL = (240.0, 220.0)
_LINES_WANTED = 6
_TOTAL_BELOW = 8  # from the end of a line of equal total error to its label, in pixels
# Share of the axis left free beyond the outermost points, for their labels.
_MARGIN = 0.06
_VARIABLES = {"score": "score", "rho": "difference ρ from the target"}
# The group of runs that belong to no sweep.
_OTHERS = "runs"


def bias_variance_chart(result: BiasVariance) -> Any:
    """Return variance against squared bias, with lines of equal total error ([Zhang2013] Fig. 1).

    Runs that differ in one parameter are joined by a line.
    """
    panels = []
    for measure in result.measures:
        own = result.select(measure=measure).to_records()
        ends = _equal_totals(own)
        at = {"x": field("bias_squared:Q"), "y": field("variance:Q")}
        line, text = at | {"detail": field("total:N")}, at | {"text": field("label:N")}
        data = inline_records(ends)
        lines = mark("line", line, data=data, color="#bbb", strokeDash=[3, 3], strokeWidth=1)
        totals = mark("text", text, data=data, color=INK, fontSize=9, dy=_TOTAL_BELOW)
        panels.append(_panel(_labelled(own, "variance", ends), "variance", measure, lines, totals))
    title = f"Bias and variance of the {_VARIABLES[result.variable]}, target {result.target}"
    return styled({"concat": panels, "columns": 2}, f"{title}; dotted: equal total error")


def total_chart(result: BiasVariance) -> Any:
    """Return total error against squared bias ([Zhang2013] Fig. 2)."""
    panels = [
        _panel(_labelled(result.select(measure=measure).to_records(), "total"), "total", measure)
        for measure in result.measures
    ]
    title = f"Bias and total error of the {_VARIABLES[result.variable]}, target {result.target}"
    return styled({"concat": panels, "columns": 2}, title)


def _labelled(records: list[Record], height: str, written: Sequence[Record] = ()) -> list[Record]:
    """Return the records of a measure with group and, where there is room, label.

    A run of a sweep is labelled with its parameter value. Labels avoid existing text.
    """
    labels = _labels(records)
    known = {n: text for n, text in labels.items() if not math.isnan(records[n][height])}
    points = [(record["bias_squared"], record[height]) for record in records]
    ends = [((end["bias_squared"], end[height]), end["label"]) for end in written if end["label"]]
    extents = _extent(records, "bias_squared"), _extent(records, height)
    places = label_fields(
        points, known, _PANEL, extents, ends, texts_below=_TOTAL_BELOW, first_always=True
    )
    groups = _groups(records)
    return [
        record
        | {"group_number": groups.index(record.get("parameter")), "label": labels.get(n, "")}
        | places.get(n, {"label": ""})
        for n, record in enumerate(records)
    ]


def _groups(records: Sequence[Record]) -> list[str | None]:
    """Return the parameters that are swept, after None for the runs of no sweep."""
    return list(dict.fromkeys([None, *(record.get("parameter") for record in records)]))


def _labels(records: Sequence[Record]) -> dict[int, str]:
    """Return the labels of records, the most important first.

    The best runs and other extremes come first, then all others if they are few; runs of a sweep are
    labelled with its parameter value.
    """
    swept = {
        n: f"{record['parameter_value']:g}"
        for n, record in enumerate(records)
        if record.get("parameter") is not None
    }
    others = {n: record for n, record in enumerate(records) if n not in swept}
    known = [n for n, record in others.items() if not math.isnan(record["total"])]
    if not known:
        return swept
    extremes = [min(known, key=lambda n: records[n][part]) for part in ("bias_squared", "total")]
    extremes += [pick(known, key=lambda n: records[n]["variance"]) for pick in (min, max)]
    extremes.append(max(known, key=lambda n: records[n]["total"]))
    named = [*extremes, *(known if len(others) <= _NAMES_SHOWN else ())]
    return {n: records[n]["run"] for n in named} | swept


def _panel(records: Sequence[Record], height: str, measure: str, *behind: Spec) -> Spec:
    """Return the panel of a measure: points, names, and lines that join the runs of a sweep."""
    swept = [group for group in _groups(records) if group is not None]
    colours = {
        "domain": list(range(1 + len(swept))),
        "range": [COLOURS[0], *(COLOURS[1 + i % (len(COLOURS) - 1)] for i in range(len(swept)))],
    }
    legend = {"title": None, "labelExpr": label_names([_OTHERS, *swept])} if swept else None
    across, up = (
        {"domain": _extent(records, one), "nice": False, "zero": False}
        for one in ("bias_squared", height)
    )
    titles = {"variance": "variance", "total": "bias² + variance"}
    ticks = {"tickCount": 6}
    base = {
        "x": field("bias_squared:Q", title="bias²", scale=across, axis=ticks),
        "y": field(f"{height}:Q", title=titles[height], scale=up, axis=ticks),
        "color": field("group_number:N", scale=colours, legend=legend),
    }
    of_run = ("run:N", "topics:Q", "mean:Q", "bias:Q", "variance:Q", "total:Q")
    of_sweep = ("parameter:N", "parameter_value:Q") if swept else ()
    shown = {"tooltip": tooltips(*of_run, "total_low:Q", "total_high:Q", *of_sweep)}
    joined = base | {"order": field("parameter_value:Q")}
    look: Spec = {"strokeWidth": 1.5, "opacity": 0.7}
    layers = [mark("line", joined, where="datum.group_number > 0", **look)] if swept else []
    threads = name_threads(base, "bias_squared", height, where="datum.label != ''")
    points = mark("point", base | shown, filled=True, size=55, opacity=0.85)
    layers = [*behind, *layers, threads, points, *name_layers(base)]
    size = {"width": 380, "height": 300}
    return {"data": inline_records(records), "layer": layers, **size, "title": [measure]}


def _extent(records: Sequence[Record], field: str) -> list[float]:
    """Return the range of an axis: slightly wider than the values, but not below 0."""
    values = [record[field] for record in records if not math.isnan(record[field])] or [0.0]
    room = _MARGIN * (max(values) - min(values)) or 1.0
    return [max(0.0, min(values) - room), max(values) + room]


def _equal_totals(records: Sequence[Record]) -> list[Record]:
    """Return the end points of lines of equal total error, at round numbers."""
    known = [record for record in records if not math.isnan(record["total"])]
    if not known:
        return []
    xs = [record["bias_squared"] for record in known]
    ys = [record["variance"] for record in known]
    low, high = min(xs) + min(ys), max(xs) + max(ys)
    lines: list[Record] = []
    for total in round_ticks(low, high, _LINES_WANTED):
        left, right = max(min(xs), total - max(ys)), min(max(xs), total - min(ys))
        text = f"{total:.6g}"
        lines += [
            {"total": text, "bias_squared": left, "variance": total - left, "label": ""},
            {"total": text, "bias_squared": right, "variance": total - right, "label": text},
        ]
    return lines
