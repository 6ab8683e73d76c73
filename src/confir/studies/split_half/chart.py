"""Charts of split-half validation: shares, normalised differences, and means of both halves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.arrays import Floats, best_first
from confir.data.result import Record
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    Spec,
    end_field,
    field,
    inline_records,
    label_names,
    mark,
    numbered,
    styled,
    tooltips,
)
from confir.studies.collection.collection_means import summary_name
from confir.studies.split_half.splits import FEW_RELEVANT, Split, SplitHalf

_COLUMNS = {"below": "below", "in": "inside", "above": "above"}

_EDGE, _BIN = 5.0, 0.25  # normalised differences beyond the edge are drawn there


def split_half_chart(result: SplitHalf) -> Any:
    """Return a chart of the shares below, in and above, with what the model predicts."""
    parts, records = list(_COLUMNS), _share_records(result)
    panels = list(dict.fromkeys(record["panel"] for record in records))
    names = list(dict.fromkeys(record["name"] for record in records))
    shades = {"domain": parts, "range": [COLOURS[0], COLOURS[2], COLOURS[1]]}
    base = {
        "color": field(
            "part:N",
            sort=parts,
            scale=shades,
            title="other half's score lies",
            legend={"orient": "bottom"},
        ),
        "tooltip": tooltips("name:N", "part:N", "share:Q", "lowest:Q", "highest:Q", numbers=".1%"),
    }
    axis = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    name = {"y": field("name:N", sort=names, title=None, axis={"labelLimit": 240})}
    share = name | {"x": field("share:Q", title=_shares_title(result), axis=axis)}
    between = name | {"x": field("lowest:Q"), "x2": end_field("highest:Q")}
    spread = mark("rule", base | between, strokeWidth=2, opacity=0.6)
    where = "datum.part != 'below'"
    model = mark("rule", base | {"x": field("model:Q")}, where=where, strokeDash=[4, 3])
    dots = mark("point", base | share, filled=True, size=50, opacity=1)
    layers = [model, *([spread] if len(result.splits) > 1 else []), dots]
    drawing = {
        "data": inline_records(records),
        "facet": field("panel:N", title=None, sort=panels),
        "columns": 2,
        "spec": {"layer": layers, "width": 280, "height": {"step": 18}},
    }
    title = (
        f"{percent(result.level)} intervals of {result.measure} from one half of the documents, "
        "and the other half's score"
    )
    return styled(drawing, title)


def _share_records(result: SplitHalf) -> list[Record]:
    """Return how often the other half's score lies below, in or above intervals of topics."""
    return [
        {
            "name": f"{record['method']}{', corrected' if record['corrected'] else ''}",
            "panel": f"{record['direction']}, "
            + ("all topics" if record["subset"] == "all" else f"R > {FEW_RELEVANT}"),
            "part": part,
            "share": record[_COLUMNS[part]],
            "lowest": record[f"{_COLUMNS[part]}_min"],
            "highest": record[f"{_COLUMNS[part]}_max"],
            "model": record["predicted"] if part == "in" else (1.0 - record["predicted"]) / 2.0,
        }
        for record in result.to_records()
        for part in _COLUMNS
        if record["summary"] == "topic" and record["n"]
    ]


def _shares_title(result: SplitHalf) -> str:
    if len(result.splits) == 1:
        return "share (dashed: the model)"
    return f"share: mean and range of {len(result.splits)} splits (dashed: the model)"


def normalised_chart(
    split: Split,
    methods: Sequence[str] = ("linear", "logit"),
    *,
    corrected: bool = True,
    half: int = 0,
) -> Any:
    """Return histograms of the other half's score minus this one's, the interval at [-1, 1].

    [Cormack2006] Figures 1 (BCa, uncorrected) and 2 (linear and logit, corrected).
    """
    records = [
        record
        for method in methods
        for record in _bin_records(method, split.normalised(method, corrected=corrected, half=half))
    ]
    shades = {"domain": ["in the interval", "outside"], "range": [COLOURS[2], COLOURS[1]]}
    channels = {
        "x": field("from:Q", title="normalised difference (ends: that far or farther)"),
        "x2": end_field("to:Q"),
        "y": field("lists:Q", title="lists"),
        "y2": {"datum": 0},
        "color": field("place:N", scale=shades, title=None, legend={"orient": "bottom"}),
        "tooltip": [field(name) for name in ("method:N", "from:Q", "to:Q", "lists:Q")],
    }
    bars = mark("rect", channels, stroke="white", strokeWidth=0.5)
    limits = mark("rule", {"x": field("limit:Q")}, color="#444", strokeDash=[4, 3])
    drawing = {
        "data": inline_records(records),
        "facet": field("method:N", title=None, sort=list(methods)),
        "columns": 2,
        "spec": {"layer": [bars, limits], "width": 320, "height": 200},
    }
    what = "small-R corrected" if corrected else "uncorrected"
    return styled(drawing, f"Score of the other half minus this one's, {what}")


def _bin_records(method: str, values: Floats) -> list[Record]:
    """Return the bins of a histogram, the outermost with all values beyond them."""
    edges = np.linspace(-_EDGE, _EDGE, round(2 * _EDGE / _BIN) + 1)
    counts, _ = np.histogram(np.clip(values, -_EDGE, _EDGE), edges)
    limits = [-1, 1] * (len(counts) // 2)
    bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), limits, strict=True)
    return [
        {
            "method": method,
            "from": start,
            "to": stop,
            "lists": count,
            "place": "in the interval" if abs(start + stop) < 2 else "outside",
            "limit": limit,
        }
        for start, stop, count, limit in bins
    ]


def half_means_chart(
    split: Split,
    shown: Sequence[tuple[str, str]] = (("mean", "parametric"), ("logit-mean", "bootstrap")),
) -> Any:
    """Return each run's mean in both halves with the interval from A ([Cormack2006] Figure 3)."""
    panels = []
    for summary, method in shown:
        records = split.mean_records(summary, method)
        worst_first = best_first(-np.array([record["A"] for record in records]))
        order = [records[place]["run"] for place in worst_first]
        axis = {"labelLimit": 100, "labelExpr": label_names(order)}
        base = {
            "x": field("run_number:N", title="run, worst first", axis=axis),
            "tooltip": [field(name) for name in ("run:N", "A:Q", "B:Q", "low:Q", "high:Q")],
        }
        name = summary_name(summary, (split.measure,))
        low = field("low:Q", title=name, scale={"zero": False})
        limits = base | {"y": low, "y2": end_field("high:Q")}
        cross: Spec = {
            "shape": "cross",
            "angle": 45,
            "size": 50,
            "color": COLOURS[0],
            "filled": True,
        }
        layers = [
            mark("rule", limits, strokeWidth=2, color="#888"),
            mark("point", base | {"y": field("A:Q")}, **cross),
            mark("point", base | {"y": field("B:Q")}, size=40, color=COLOURS[1]),
        ]
        panels.append(
            {
                "data": inline_records(numbered(records, run=order)),
                "layer": layers,
                "width": {"step": 12},
                "height": 220,
                "title": f"{name}, {method} interval",
            }
        )
    title = {
        "text": "Means of both halves, with the interval from half A",
        "subtitle": "cross: half A; circle: half B",
        "subtitleColor": "#555",
    }
    return styled({"concat": panels, "columns": 2}, title)
