"""What a gate stops: the share of data sets against the loss in them."""

from __future__ import annotations

from typing import Any

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
from confir.studies.gate.false_alarms import CAUGHT, EQUAL, FAILING, SPREAD, SWAPPED, FalseAlarms

_CURVES = {SPREAD: "spread in proportion", FAILING: "on a few failing topics"}
_POINTS = {SWAPPED: "runs swapped", EQUAL: "equal means"}


def false_alarms_chart(alarms: FalseAlarms) -> Any:
    """Return the share that is stopped against the loss, with one simulation error on either side."""
    records = [
        record
        | {
            "how": (_CURVES | _POINTS)[record["data"]],
            "curve": record["data"] in _CURVES,
            "low": max(0.0, record["stopped"] - record["error"]),
            "high": min(1.0, record["stopped"] + record["error"]),
        }
        for record in alarms.to_records()
    ]
    verb = "stopped" if alarms.require == "not-worse" else "refused"
    names = [*_CURVES.values(), *_POINTS.values()]
    colours = {"domain": names, "range": list(COLOURS[: len(names)])}
    axis = {"title": f"share {verb}", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}}
    base: Spec = {
        "x": field("loss:Q", title=f"loss of the mean, by {alarms.gate_measures[0]}"),
        "color": field("how:N", title=None, scale=colours),
    }
    share = base | {
        "y": field("stopped:Q", **axis),
        "tooltip": tooltips("how:N", "loss:Q", "stopped:Q"),
    }
    band = base | {"y": field("low:Q", **axis), "y2": end_field("high:Q")}
    drawing = {
        "data": inline_records(records),
        "layer": [
            mark("area", band, where="datum.curve", opacity=0.25),
            mark("line", share, where="datum.curve", strokeWidth=2, point=True),
            mark("point", share, where="!datum.curve", filled=True, size=70, opacity=1),
            mark("rule", {"y": {"datum": CAUGHT}}, color=INK, strokeDash=[3, 3]),
        ],
        "width": 360,
        "height": 240,
    }
    return styled(
        drawing, f"What this gate would have {verb}, of {alarms.data_sets:,} data sets each"
    )
