"""Charts of intervals: a dot with its limits for every run."""

from __future__ import annotations

import math
from typing import Any

from confir.intervals.interval import Interval
from confir.report.charts.drawing import (
    COLOURS,
    chart,
    import_altair,
    names_best_first,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.report.charts.inline_records import inline_records
from confir.report.numbers import percent, topics_text


@chart.register
def interval_chart(interval: Interval) -> Any:
    """Return a chart of means with intervals: a row a run, best first, a panel a measure."""
    alt = import_altair()
    records = interval.to_records()
    measures = list(dict.fromkeys(record["measure"] for record in records))
    order = names_best_first([r for r in records if r["measure"] == measures[0]], "mean")
    axis, step = run_rows(alt, order)
    base = alt.Chart(inline_records(numbered(records, run=order, measure=measures))).encode(
        y=alt.Y("run_number:N", title=None, axis=axis),
        tooltip=[
            *tooltips("run:N", "measure:N"),
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("mean", "low", "high")),
            alt.Tooltip("topics:Q"),
        ],
    )
    title = "mean"
    if any(not math.isnan(record["low"]) for record in records):
        title = f"mean with {percent(interval.level)} interval ({interval.method})"
    limits = base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(
        x=alt.X(
            "low:Q",
            title=title,
            scale=alt.Scale(zero=False),
        ),
        x2=alt.X2("high:Q"),
    )
    means = base.mark_point(color=COLOURS[0], filled=True, size=50, opacity=1).encode(
        x=alt.X("mean:Q")
    )
    panels = (
        alt.layer(limits, means)
        .properties(width=260, height=step)
        .facet(facet=panel_facet(alt, "measure", measures), columns=2)
        .resolve_scale(x="independent")
    )
    return styled(panels, f"Means over {topics_text(interval.topics)}")
