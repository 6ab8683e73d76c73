"""Charts of intervals: a dot with its limits for every run."""

from __future__ import annotations

import math
from typing import Any

from confir.data.scores import Scores
from confir.intervals.interval import Interval
from confir.report.charts import (
    COLOURS,
    import_altair,
    names_best_first,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.report.numbers import percent, topics_text
from confir.studies.topic_difficulty.chart import topic_score_chart
from confir.studies.topic_difficulty.topic_difficulty import describe_topics


def interval_chart(interval: Interval) -> Any:
    """Return a chart of means with intervals: one row per run, best first, one panel per measure."""
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


def scores_chart(scores: Scores, run: str | None = None, measure: str | None = None) -> Any:
    """Return a chart of a run's score on each topic; by default of the first run and measure."""
    return topic_score_chart(describe_topics(scores), run, measure)
