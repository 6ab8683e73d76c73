"""What do results look like? `chart` draws any result; `save_chart` writes it for a paper."""

from confir.report.charts import intervals, ranking
from confir.report.charts.drawing import chart, save_chart

__all__ = ["chart", "intervals", "ranking", "save_chart"]
