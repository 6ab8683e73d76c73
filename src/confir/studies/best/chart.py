"""Charts of the best run: how far each run is, and may be, from the best of the others."""

from __future__ import annotations

from typing import Any

from confir.number_text import p_text, percent, topics_text
from confir.report.charts import import_altair, tooltips
from confir.report.interval_chart import IntervalChart, Mark, dot, draw_intervals
from confir.studies.best.best_runs import BestRuns

_FIRST = "share of bootstrap samples of the topics in which it is first"


def best_chart(best: BestRuns) -> Any:
    """Return a chart of each run's mean less the best of the others, between its limits.

    One row per run, one panel per measure; runs outside of the confidence set are grey.
    """
    alt = import_altair()
    level = percent(best.level)
    chart = IntervalChart(
        [one | {"p_text": p_text(one["p"])} for one in best.to_records()],
        marks=[Mark("gap_low", "gap_high"), dot("gap")],
        axis=f"gap to the best of the others, {level} interval",
        tooltip=[
            *tooltips("run:N", "measure:N", "topics:Q"),
            *tooltips("mean:Q", "gap:Q", "gap_low:Q", "gap_high:Q", numbers=".4f"),
            alt.Tooltip("may_be_best:N", title="may be best"),
            alt.Tooltip("p_text:N", title="p"),
            alt.Tooltip("share_first:Q", format=".3f", title=_FIRST),
        ],
        colour="datum.may_be_best",
        with_zero=True,
    )
    topics = topics_text(best.topics, best.model_topics)
    return draw_intervals(chart, f"{level} confidence set of the best run over {topics}: blue")
