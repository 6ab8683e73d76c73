"""Charts of corrected means, with those of human judgements alone and of the model alone."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import COLOURS, INK, import_altair, tooltips
from confir.report.interval_chart import LIMITS_LINE, IntervalChart, Mark, dot, draw_intervals
from confir.studies.corrected_means.corrected_means import CorrectedMeans


def corrected_chart(means: CorrectedMeans) -> Any:
    """Return corrected means with intervals, and the model's own means: one row per run."""
    chart = IntervalChart(
        means.to_records(),
        marks=[
            Mark("human_low", "human_high", size=5, colour=INK, opacity=0.35),
            LIMITS_LINE,
            dot("mean"),
            dot("model_mean", COLOURS[1], "cross"),
        ],
        axis=f"mean with {percent(means.level)} interval",
        tooltip=tooltips(
            "run:N", "mean:Q", "low:Q", "high:Q", "human_mean:Q", "model_mean:Q", "weight:Q"
        ),
        width=280,
    )
    by = f" by {means.measures[0]}" if len(means.measures) == 1 else ""
    title = import_altair().Title(
        f"Means{by}, corrected by human judgements",
        subtitle="grey: human judgements alone; cross: model alone",
    )
    return draw_intervals(chart, title)
