"""Charts of corrected means: beside those of people alone and of the model alone."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    names_best_first,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.studies.corrected_means.corrected_means import CorrectedMeans


def corrected_chart(means: CorrectedMeans) -> Any:
    """Return corrected means with intervals, and the model's own means: one row per run."""
    alt = import_altair()
    records = means.to_records()
    first = [record for record in records if record["measure"] == means.measures[0]]
    order = names_best_first(first, "mean")
    axis, step = run_rows(alt, order)
    base = alt.Chart(inline_records(numbered(records, run=order, measure=means.measures))).encode(
        y=alt.Y("run_number:N", title=None, axis=axis),
        tooltip=tooltips(
            "run:N", "mean:Q", "low:Q", "high:Q", "human_mean:Q", "model_mean:Q", "weight:Q"
        ),
    )
    title = f"mean with {percent(means.level)} interval"
    alone = base.mark_rule(color=INK, strokeWidth=5, opacity=0.35).encode(
        x=alt.X("human_low:Q", title=title, scale=alt.Scale(zero=False)), x2=alt.X2("human_high:Q")
    )
    limits = base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(
        x=alt.X("low:Q"), x2=alt.X2("high:Q")
    )
    dots = base.mark_point(color=COLOURS[0], filled=True, size=50, opacity=1).encode(
        x=alt.X("mean:Q")
    )
    crosses = base.mark_point(
        color=COLOURS[1], shape="cross", filled=True, size=50, opacity=1
    ).encode(x=alt.X("model_mean:Q"))
    drawn = alt.layer(alone, limits, dots, crosses).properties(width=280, height=step)
    facet = panel_facet(alt, "measure", means.measures)
    by = f" by {means.measures[0]}" if len(means.measures) == 1 else ""
    heading = alt.Title(
        f"Means{by}, corrected by people's judgements",
        subtitle="grey: people alone; cross: model alone",
    )
    return styled(drawn.facet(facet=facet, columns=2), heading)
