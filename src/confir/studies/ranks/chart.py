"""Charts of ranks with their intervals."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent, topics_text
from confir.report.charts import import_altair, tooltips
from confir.report.interval_chart import IntervalChart, Mark, dot, draw_intervals
from confir.studies.ranks.ranking import Ranking

# Resampling favours the run that is best on these topics: no probability that it is the best.
_BEST = "share of bootstrap samples of the topics in which it is first"


def ranking_chart(ranking: Ranking) -> Any:
    """Return a chart of ranks with intervals: one row per run, one panel per measure."""
    chart = IntervalChart(
        ranking.to_records(),
        marks=[
            Mark("low", "high", size=4),
            Mark("simultaneous_low", "simultaneous_high", size=1, opacity=0.6),
            dot("rank"),
        ],
        axis=f"rank with {percent(ranking.level)} interval; thin: of all runs at once",
        tooltip=[
            *tooltips("run:N", "measure:N", "topics:Q", "mean:Q", "rank:Q", "low:Q", "high:Q"),
            *tooltips("simultaneous_low:Q", "simultaneous_high:Q"),
            import_altair().Tooltip("share_first:Q", format=".3f", title=_BEST),
        ],
        scale={"domain": [0.5, len(ranking.runs) + 0.5], "nice": False},
        ticks={"tickMinStep": 1, "format": "d"},
    )
    return draw_intervals(chart, f"Ranks over {topics_text(ranking.topics, ranking.model_topics)}")
