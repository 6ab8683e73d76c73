"""Charts of means with intervals: one dot with its limits per run."""

from __future__ import annotations

import math
from typing import Any

from confir.data.scores import Scores
from confir.data.tables.score_objects import make_scores
from confir.intervals.interval import Interval
from confir.number_text import percent, topics_text
from confir.report.charts import (
    COLOURS,
    import_altair,
    in_panels,
    interval_layers,
    names_best_first,
    numbered,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
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
        color=alt.value(COLOURS[0]),
        tooltip=tooltips("run:N", "measure:N", "mean:Q", "low:Q", "high:Q", numbers=".4f")
        + tooltips("topics:Q"),
    )
    title = "mean"
    if any(not math.isnan(record["low"]) for record in records):
        title = f"mean with {percent(interval.level)} interval ({interval.method})"
    layers = alt.layer(*interval_layers(base, "mean", title)).properties(width=260, height=step)
    return styled(
        in_panels(layers, "measure", measures), f"Means over {topics_text(interval.topics)}"
    )


def scores_chart(scores: Scores, run: str | None = None, measure: str | None = None) -> Any:
    """Return a chart of a run's score on each topic; by default of the first run and measure."""
    make_scores(scores, "result")  # raises for empty scores
    return topic_score_chart(describe_topics(scores), run, measure)
