"""What do results look like? `chart` draws any result; `save_chart` writes it for a paper."""

from confir.report.charts import (
    bias_variance,
    chance,
    collection,
    comparison,
    coverage,
    intervals,
    meta,
    plan,
    quality,
    ranking,
    split_half,
    topics,
)
from confir.report.charts.drawing import chart, chart_bytes, save_chart

__all__ = [
    "bias_variance",
    "chance",
    "chart",
    "chart_bytes",
    "collection",
    "comparison",
    "coverage",
    "intervals",
    "meta",
    "plan",
    "quality",
    "ranking",
    "save_chart",
    "split_half",
    "topics",
]
