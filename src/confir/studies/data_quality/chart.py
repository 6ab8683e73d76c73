"""A heat map of the share of unjudged documents: runs by cutoffs."""

from __future__ import annotations

from typing import Any

from confir.report.charts import (
    import_altair,
    inline_records,
    names_best_first,
    numbered,
    run_rows,
    styled,
    tooltips,
)
from confir.studies.data_quality.data_quality import DataQuality

# With more runs, rows are too low for numbers in the cells.
_MOST_WRITTEN = 40

# Colours of 0% and 100%; above this share, text is white.
_LIGHTEST, _DARKEST = "#ffffff", "#08519c"
_DARK = 0.78


def quality_chart(quality: DataQuality) -> Any:
    """Return a chart of unjudged shares: one row per run, highest first, one column per cutoff."""
    alt = import_altair()
    records = [
        {"run": record["run"], "cutoff": cutoff, "unjudged": record[f"unjudged_{cutoff}"]}
        for record in quality.to_records()
        for cutoff in quality.cutoffs
    ]
    main = [record for record in records if record["cutoff"] == quality.main_cutoff]
    order = names_best_first(main, "unjudged")
    rows, step = run_rows(alt, order)
    rows["grid"] = False  # it would cross the numbers
    axis = alt.Axis(orient="top", labelAngle=0, grid=False)
    cutoffs = list(quality.cutoffs)
    base = alt.Chart(inline_records(numbered(records, run=order))).encode(
        x=alt.X("cutoff:O", sort=cutoffs, title="first k documents", axis=axis),
        y=alt.Y("run_number:N", title=None, axis=rows),
        tooltip=tooltips("run:N", "cutoff:O", "unjudged:Q", numbers=".1%"),
    )
    scale = alt.Scale(domain=[0, 1], range=[_LIGHTEST, _DARKEST], interpolate="rgb")
    legend = alt.Legend(title="unjudged", format=".0%", values=[0, 0.5, 1])
    layers = [base.mark_rect().encode(color=alt.Color("unjudged:Q", scale=scale, legend=legend))]
    if len(order) <= _MOST_WRITTEN:
        colour = alt.condition(alt.datum.unjudged > _DARK, alt.value("white"), alt.value("black"))
        written = base.transform_filter("isValid(datum.unjudged)").mark_text(fontSize=10)
        layers.append(written.encode(text=alt.Text("unjudged:Q", format=".0%"), color=colour))
    drawing = alt.layer(*layers).properties(width=alt.Step(52), height=step)
    return styled(drawing, "Share of unjudged documents among the first k")
