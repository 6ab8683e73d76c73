"""The chart of a gate's history: differences with intervals from look to look."""

from __future__ import annotations

from typing import Any

from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    inline_records,
    label_names,
    numbered,
    panel_facet,
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
    alt = import_altair()
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
    held = inline_records(numbered(data, run=runs, measure=measures, look_name=names))
    layers = [
        alt.Chart().mark_rule(color=INK).encode(y=alt.datum(0.0)),
        alt.Chart().mark_rule(color=INK, strokeDash=[3, 3]).encode(y="min(loss):Q"),
        *_intervals(alt, history, names, runs),
    ]
    panels = (
        alt.layer(*layers, data=held)
        .properties(height=220 if len(measures) == 1 else 150, width=_width(names, runs))
        .facet(facet=panel_facet(alt, "measure", measures), columns=1)
        .resolve_scale(y="independent")
    )
    margin = "; dashed: the margin" if any(history.margin) else ""
    return styled(panels, f"Looks of the gate, with the intervals that decide{margin}")


def _intervals(alt: Any, history: GateHistory, names: list[str], runs: list[str]) -> list[Any]:
    """Return the layers of intervals and of differences, in the colours of the decisions."""
    decisions = [word for word in _COLOURS if word in history.decision]
    shades = alt.Scale(domain=decisions, range=[_COLOURS[word] for word in decisions])
    several = len(runs) > 1
    base = alt.Chart().encode(
        x=_looks_axis(alt, names),
        xOffset=alt.XOffset("run_number:N") if several else alt.Undefined,
        color=alt.Color("decision:N", title="gate", legend=alt.Legend(orient="top"), scale=shades),
        tooltip=tooltips(
            *("run:N", "look:O", "commit:N", "date:N", "decision:N", "difference:Q", "low:Q"),
            *("high:Q", "look_low:Q", "look_high:Q", "look_level:Q", "mean:Q", "against_mean:Q"),
        ),
    )
    runs_legend = alt.Legend(labelExpr=label_names(runs), orient="top")
    shape = alt.Shape("run_number:N", title="run", legend=runs_legend)
    axis, scale = alt.Axis(format="~g", tickCount=6), alt.Scale(zero=True)
    low = alt.Y("look_low:Q", title="difference from the baseline", scale=scale, axis=axis)
    dots = base.mark_point(filled=True, size=70, opacity=1)
    return [
        base.mark_rule(strokeWidth=2).encode(y=low, y2="look_high:Q"),
        dots.encode(y="difference:Q", shape=shape if several else alt.Undefined),
    ]


def _width(names: list[str], runs: list[str]) -> int:
    least = _FEW_WIDTH if len(names) <= _FEW_LOOKS else _LOOK_WIDTH
    return max(260, len(names) * max(least, _LOOK_WIDTH + 10 * len(runs)))


def _look_name(record: dict[str, Any]) -> str:
    """Return a name for a look on the axis: its number and day, and the commit if it is known."""
    commit = f" {record['commit'][:SHORT_COMMIT]}" if record["commit"] else ""
    return f"{record['look']}: {record['date'][:10]}{commit}"


def _looks_axis(alt: Any, names: list[str]) -> Any:
    labelled = len(names) <= _MOST_LABELLED_LOOKS
    few = len(names) <= _FEW_LOOKS
    named = f"split({label_names(names)}, ' ')" if few else label_names(names)
    axis = alt.Axis(labels=labelled, labelExpr=named, labelAngle=0 if few else -90, grid=False)
    return alt.X("look_name_number:O", title="look", axis=axis)
