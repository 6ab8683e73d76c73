"""A chart of what runs lose without their teams' contributions."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import tooltips
from confir.report.interval_chart import LIMITS_LINE, IntervalChart, dot, draw_intervals
from confir.studies.reusability.reusability import Reusability


def reusability_chart(reusability: Reusability) -> Any:
    """Return the drop of each run with its interval, largest first; one panel per measure."""
    chart = IntervalChart(
        reusability.to_records(),
        marks=[LIMITS_LINE, dot("drop")],
        axis=f"drop without the team, {percent(reusability.level)} interval",
        tooltip=tooltips(
            *("run:N", "team:N", "measure:N"),
            *("mean:Q", "left_out:Q", "drop:Q", "low:Q", "high:Q", "unique:Q"),
        ),
        best_by="drop",
        with_zero=True,
        width=300,
    )
    return draw_intervals(
        chart, "Drop of each run when its team's unique contributions are left out"
    )
