"""Charts of means over repeats: one dot with its limits per system."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import tooltips
from confir.report.interval_chart import LIMITS_LINE, IntervalChart, Mark, dot, draw_intervals
from confir.studies.repeats.repeat_means import RepeatMeans


def repeats_chart(means: RepeatMeans) -> Any:
    """Return a chart of means with intervals, one row per system, one panel per measure.

    The thick part of an interval is what topics alone would give.
    """
    records = means.to_records()
    for record in records:
        share = record["se_topics"] / record["se"] if record["se"] else 0.0
        record["topics_low"] = record["mean"] - share * (record["mean"] - record["low"])
        record["topics_high"] = record["mean"] + share * (record["high"] - record["mean"])
    what = "mean" if means.baseline is None else f"difference from {means.baseline}"
    chart = IntervalChart(
        records,
        marks=[Mark("topics_low", "topics_high", size=4, opacity=0.5), LIMITS_LINE, dot("mean")],
        axis=f"{what} with {percent(means.level)} interval; thick: topics alone",
        tooltip=tooltips("system:N", "mean:Q", "se_topics:Q", "se_repeats:Q", numbers=".4f"),
        row="system",
    )
    return draw_intervals(chart, "Means over topics and repeats")
