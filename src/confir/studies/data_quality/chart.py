"""A heat map of the share of unjudged documents: runs by cutoffs."""

from __future__ import annotations

from typing import Any

from confir.report.charts import (
    field,
    inline_records,
    mark,
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
    records = [
        {"run": record["run"], "cutoff": cutoff, "unjudged": record[f"unjudged_{cutoff}"]}
        for record in quality.to_records()
        for cutoff in quality.cutoffs
    ]
    main = [record for record in records if record["cutoff"] == quality.main_cutoff]
    order = names_best_first(main, "unjudged")
    rows, step = run_rows(order)
    rows["grid"] = False  # it would cross the numbers
    axis = {"orient": "top", "labelAngle": 0, "grid": False}
    cutoffs = list(quality.cutoffs)
    base = {
        "x": field("cutoff:O", sort=cutoffs, title="first k documents", axis=axis),
        "y": field("run_number:N", title=None, axis=rows),
        "tooltip": tooltips("run:N", "cutoff:O", "unjudged:Q", numbers=".1%"),
    }
    scale = {"domain": [0, 1], "range": [_LIGHTEST, _DARKEST], "interpolate": "rgb"}
    legend = {"title": "unjudged", "format": ".0%", "values": [0, 0.5, 1]}
    layers = [mark("rect", base | {"color": field("unjudged:Q", scale=scale, legend=legend)})]
    if len(order) <= _MOST_WRITTEN:
        dark = {"test": f"(datum.unjudged > {_DARK})", "value": "white"}
        text = field("unjudged:Q", format=".0%")
        written = base | {"text": text, "color": {"condition": dark, "value": "black"}}
        layers.append(mark("text", written, where="isValid(datum.unjudged)", fontSize=10))
    data = inline_records(numbered(records, run=order))
    drawing = {"data": data, "layer": layers, "width": {"step": 52}, "height": step}
    return styled(drawing, "Share of unjudged documents among the first k")
