"""The chart of a gate's history: differences with intervals from look to look."""

from __future__ import annotations

from typing import Any

from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    end_field,
    field,
    in_panels,
    inline_records,
    label_names,
    mark,
    numbered,
    styled,
    tooltips,
)
from confir.studies.history.history import SHORT_COMMIT, GateHistory
from confir.studies.history.history_file import FAILS, PASSES

# Of few looks the labels are level, in two lines; of more they are upright, and of many there are none.
_FEW_LOOKS, _FEW_WIDTH = 8, 66
_LOOK_WIDTH, _MOST_LABELLED_LOOKS = 24, 60

_COLOURS = {PASSES: COLOURS[0], FAILS: COLOURS[1]}


def history_chart(history: GateHistory) -> Any:
    """Return a panel per measure: the difference at each look, and the interval that decides.

    Looks that fail are orange; the dashed line is the loss that does not matter.
    """
    records = history.to_records()
    runs, measures = (
        list(dict.fromkeys(record[field] for record in records)) for field in ("run", "measure")
    )
    looks = [_look_name(record) for record in records]
    names = list(dict.fromkeys(looks))
    data = [
        record | {"look_name": name, "loss": -record["margin"]}
        for record, name in zip(records, looks, strict=True)
    ]
    drawing = {
        "data": inline_records(numbered(data, run=runs, measure=measures, look_name=names)),
        "layer": [
            mark("rule", {"y": {"datum": 0.0}}, color=INK),
            mark("rule", {"y": field("min(loss):Q")}, color=INK, strokeDash=[3, 3]),
            *_intervals(history, names, runs),
        ],
        "width": _width(names, runs),
        "height": 220 if len(measures) == 1 else 150,
    }
    panels = in_panels(drawing, "measure", measures, columns=1, scales={"y": "independent"})
    margin = "; dashed: the margin" if any(history.margin) else ""
    return styled(panels, f"Looks of the gate, with the intervals that decide{margin}")


def _intervals(history: GateHistory, names: list[str], runs: list[str]) -> list[Spec]:
    """Return the layers of intervals and of differences, in the colours of the decisions."""
    decisions = [word for word in _COLOURS if word in history.decision]
    shades = {"domain": decisions, "range": [_COLOURS[word] for word in decisions]}
    base = {
        "x": _looks_axis(names),
        "color": field("decision:N", title="gate", legend={"orient": "top"}, scale=shades),
        "tooltip": tooltips(
            *("run:N", "look:O", "commit:N", "date:N", "decision:N", "difference:Q", "low:Q"),
            *("high:Q", "look_low:Q", "look_high:Q", "look_level:Q", "mean:Q", "against_mean:Q"),
        ),
    }
    dots = {"y": field("difference:Q")}
    if len(runs) > 1:
        base["xOffset"] = field("run_number:N")
        legend = {"labelExpr": label_names(runs), "orient": "top"}
        dots["shape"] = field("run_number:N", title="run", legend=legend)
    axis, title = {"format": "~g", "tickCount": 6}, "difference from the baseline"
    low = field("look_low:Q", title=title, scale={"zero": True}, axis=axis)
    return [
        mark("rule", base | {"y": low, "y2": end_field("look_high:Q")}, strokeWidth=2),
        mark("point", base | dots, filled=True, size=70, opacity=1),
    ]


def _width(names: list[str], runs: list[str]) -> int:
    least = _FEW_WIDTH if len(names) <= _FEW_LOOKS else _LOOK_WIDTH
    return max(260, len(names) * max(least, _LOOK_WIDTH + 10 * len(runs)))


def _look_name(record: dict[str, Any]) -> str:
    """Return a name for a look on the axis: its number and day, and the commit if it is known."""
    commit = f" {record['commit'][:SHORT_COMMIT]}" if record["commit"] else ""
    return f"{record['look']}: {record['date'][:10]}{commit}"


def _looks_axis(names: list[str]) -> Spec:
    labelled = len(names) <= _MOST_LABELLED_LOOKS
    few = len(names) <= _FEW_LOOKS
    named = f"split({label_names(names)}, ' ')" if few else label_names(names)
    axis = {"labels": labelled, "labelExpr": named, "labelAngle": 0 if few else -90, "grid": False}
    return field("look_name_number:O", title="look", axis=axis)
