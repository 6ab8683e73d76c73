"""Charts of ranks with their intervals."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent, topics_text
from confir.report.charts import (
    COLOURS,
    import_altair,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.studies.ranks.ranking import Ranking

# Resampling favours the run that is best on these topics: no probability that it is the best.
_BEST = "share of bootstrap samples of the topics in which it is first"


def ranking_chart(ranking: Ranking) -> Any:
    """Return a chart of ranks with intervals: one row per run, one panel per measure."""
    alt = import_altair()
    records = ranking.to_records()
    first = [record for record in records if record["measure"] == ranking.measures[0]]
    order = tuple(record["run"] for record in sorted(first, key=lambda record: record["rank"]))
    axis, step = run_rows(alt, order)
    drawn = numbered(records, run=order, measure=ranking.measures)
    base = alt.Chart(inline_records(drawn)).encode(
        y=alt.Y("run_number:N", title=None, axis=axis),
        tooltip=[
            *tooltips("run:N", "measure:N", "topics:Q", "mean:Q", "rank:Q", "low:Q", "high:Q"),
            *tooltips("simultaneous_low:Q", "simultaneous_high:Q"),
            alt.Tooltip("share_first:Q", format=".3f", title=_BEST),
        ],
    )
    every = base.mark_rule(color=COLOURS[0], strokeWidth=1, opacity=0.6).encode(
        x=alt.X("simultaneous_low:Q"), x2=alt.X2("simultaneous_high:Q")
    )
    limits = base.mark_rule(color=COLOURS[0], strokeWidth=4).encode(
        x=alt.X(
            "low:Q",
            title=f"rank with {percent(ranking.level)} interval; thin: of all runs at once",
            scale=alt.Scale(domain=[0.5, len(order) + 0.5], nice=False),
            axis=alt.Axis(tickMinStep=1, format="d"),
        ),
        x2=alt.X2("high:Q"),
    )
    ranks = base.mark_point(color=COLOURS[0], filled=True, size=50, opacity=1).encode(
        x=alt.X("rank:Q")
    )
    panels = (
        alt.layer(limits, every, ranks)
        .properties(width=260, height=step)
        .facet(facet=panel_facet(alt, "measure", ranking.measures), columns=2)
    )
    return styled(panels, f"Ranks over {topics_text(ranking.topics, ranking.model_topics)}")
