"""What do results look like? `chart` draws any result; `save_chart` writes it for a paper."""

from confir.report.charts import chance, comparison, coverage, intervals, plan, ranking
from confir.report.charts.drawing import chart, save_chart

__all__ = [
    "chance",
    "chart",
    "comparison",
    "coverage",
    "intervals",
    "plan",
    "ranking",
    "save_chart",
]
