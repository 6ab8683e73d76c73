"""Charts of means with intervals: one dot with its limits per run."""

from __future__ import annotations

import math
from typing import Any

from confir.data.chart_marks import (
    FOUR_DECIMALS,
    LIMITS_LINE,
    IntervalChart,
    dot,
    numbers,
    texts,
)
from confir.data.score_objects import make_scores
from confir.data.scores import Scores
from confir.intervals.interval import Interval
from confir.number_text import percent, topics_text
from confir.report.result_chart import draw_intervals
from confir.studies.topic_difficulty.chart import topic_score_chart
from confir.studies.topic_difficulty.topic_difficulty import describe_topics


def interval_chart(interval: Interval) -> Any:
    """Return a chart of means with intervals: one row per run, best first, one panel per measure."""
    records = interval.to_records()
    axis = "mean"
    if any(not math.isnan(record["low"]) for record in records):
        axis = f"mean with {percent(interval.level)} interval ({interval.method})"
    declared = IntervalChart(
        f"Means over {topics_text(interval.topics)}",
        records,
        marks=(LIMITS_LINE, dot("mean")),
        axis=axis,
        tooltip=(
            *texts("run", "measure"),
            *numbers("mean", "low", "high", format=FOUR_DECIMALS),
            *numbers("topics"),
        ),
    )
    return draw_intervals(declared)


def scores_chart(scores: Scores, run: str | None = None, measure: str | None = None) -> Any:
    """Return a chart of a run's score on each topic; by default of the first run and measure."""
    make_scores(scores, "result")  # raises for empty scores
    return topic_score_chart(describe_topics(scores), run, measure)
