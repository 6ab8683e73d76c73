"""What a gate stops: the share of data sets against the loss in them."""

from __future__ import annotations

from typing import Any

from confir.report.charts import COLOURS, INK, import_altair, inline_records, styled
from confir.studies.gate.false_alarms import EQUAL, FAILING, SPREAD, SWAPPED, FalseAlarms

_NAMES = {SPREAD: "spread in proportion", FAILING: "on a few failing topics"}
_POINTS = {SWAPPED: "runs swapped", EQUAL: "equal means"}


def false_alarms_chart(alarms: FalseAlarms) -> Any:
    """Return the share that is stopped against the loss, with one simulation error on either side."""
    alt = import_altair()
    records = [
        record
        | {
            "how": (_NAMES | _POINTS)[record["data"]],
            "low": max(0.0, record["stopped"] - record["error"]),
            "high": min(1.0, record["stopped"] + record["error"]),
        }
        for record in alarms.to_records()
    ]
    verb = "stopped" if alarms.require == "not-worse" else "refused"
    share = alt.Y(
        "stopped:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%"),
        title=f"share {verb}",
    )
    names = [*_NAMES.values(), *_POINTS.values()]
    base = alt.Chart().encode(
        x=alt.X("loss:Q", title=f"loss of the mean, by {alarms.gate_measures[0]}"),
        color=alt.Color(
            "how:N", title=None, scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)]))
        ),
    )
    curves = base.transform_filter(alt.FieldOneOfPredicate("how", list(_NAMES.values())))
    points = base.transform_filter(alt.FieldOneOfPredicate("how", list(_POINTS.values())))
    tooltip = ["how:N", "loss:Q", alt.Tooltip("stopped:Q", format=".3f")]
    layers = [
        curves.mark_area(opacity=0.25).encode(y="low:Q", y2="high:Q"),
        curves.mark_line(strokeWidth=2, point=True).encode(y=share, tooltip=tooltip),
        points.mark_point(filled=True, size=70, shape="diamond", opacity=1).encode(
            y="stopped:Q", tooltip=tooltip
        ),
        alt.Chart().mark_rule(color=INK, strokeDash=[3, 3]).encode(y=alt.datum(0.8)),
    ]
    drawing = alt.layer(*layers, data=inline_records(records)).properties(width=360, height=240)
    return styled(
        drawing, f"What this gate would have {verb}, of {alarms.data_sets:,} data sets each"
    )
