"""Charts of intervals: a dot with its limits for every run."""

from __future__ import annotations

from typing import Any

from confir.intervals.interval import Interval
from confir.report.charts.drawing import COLOURS, chart, import_altair, styled


@chart.register
def interval_chart(interval: Interval) -> Any:
    """Return a chart of means with intervals: a row a run, best first, a panel a measure."""
    alt = import_altair()
    records = interval.to_records()
    measures = list(dict.fromkeys(record["measure"] for record in records))
    ranked = sorted(
        (record for record in records if record["measure"] == measures[0]),
        key=lambda record: -record["mean"],
    )
    order = [record["run"] for record in ranked]
    base = alt.Chart(alt.InlineData(values=records)).encode(
        y=alt.Y("run:N", sort=order, title=None, axis=alt.Axis(labelLimit=240)),
        tooltip=["run:N", "measure:N", "mean:Q", "low:Q", "high:Q", "topics:Q"],
    )
    limits = base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(
        x=alt.X(
            "low:Q", title=f"mean with {100 * interval.level:g} % interval ({interval.method})"
        ),
        x2="high:Q",
    )
    means = base.mark_point(color=COLOURS[0], filled=True, size=50, opacity=1).encode(x="mean:Q")
    panels = (
        alt.layer(limits, means)
        .properties(width=260, height=alt.Step(18))
        .facet(facet=alt.Facet("measure:N", title=None, sort=measures), columns=2)
        .resolve_scale(x="independent")
    )
    topics = max(record["topics"] for record in records)
    return styled(panels, f"Means over {topics} topics")
