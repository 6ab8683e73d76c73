"""Charts of the best run: how far each run is, and may be, from the best of the others."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent, topics_text
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    layered,
    names_best_first,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.studies.best.best_runs import BestRuns

_FIRST = "share of bootstrap samples of the topics in which it is first"


def best_chart(best: BestRuns) -> Any:
    """Return a chart of each run's mean less the best of the others, between its limits.

    One row per run, one panel per measure; runs outside of the confidence set are grey.
    """
    alt = import_altair()
    records = best.to_records()
    order = names_best_first([r for r in records if r["measure"] == best.measures[0]], "mean")
    axis, step = run_rows(alt, order)
    colour = alt.ColorValue(INK, condition={"test": "datum.may_be_best", "value": COLOURS[0]})
    data = inline_records(numbered(records, run=order, measure=best.measures))
    base = alt.Chart().encode(
        y=alt.Y("run_number:N", title=None, axis=axis),
        color=colour,
        tooltip=[
            *tooltips("run:N", "measure:N", "topics:Q"),
            *(
                alt.Tooltip(f"{name}:Q", format=".4f")
                for name in ("mean", "gap", "gap_low", "gap_high")
            ),
            alt.Tooltip("may_be_best:N", title="may be best"),
            alt.Tooltip("p:Q", format=".4f"),
            alt.Tooltip("share_first:Q", format=".3f", title=_FIRST),
        ],
    )
    title = f"mean less the best of the others, with simultaneous {percent(best.level)} interval"
    limits = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("gap_low:Q", title=title), x2=alt.X2("gap_high:Q")
    )
    points = base.mark_point(filled=True, size=50, opacity=1).encode(x=alt.X("gap:Q"))
    zero = alt.Chart().mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.XDatum(0))
    panels = layered(zero, limits, points, data=data, width=260, height=step).facet(
        facet=panel_facet(alt, "measure", best.measures), columns=2
    )
    return styled(
        panels,
        f"{percent(best.level)} confidence set of the best run over {topics_text(best.topics, best.model_topics)}: blue",
    )
