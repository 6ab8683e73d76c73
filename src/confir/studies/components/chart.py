"""Curves of reliability against topics, one panel per number of judges or repeats."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    end_field,
    field,
    inline_records,
    mark,
    styled,
    tooltips,
)
from confir.studies.components.components import Components


def components_chart(components: Components) -> Any:
    """Return curves of Eρ² and Φ over topics with their limits; one panel per judges and repeats."""
    facets = components.facets
    records = [
        {
            "topics": record["topics"],
            "panel": ", ".join(f"{record[facet]} {facet}" for facet in facets),
            "coefficient": name,
            "value": record[kind],
            "low": record[f"{kind}_low"],
            "high": record[f"{kind}_high"],
        }
        for record in components.coefficient_records()
        for kind, name in (("relative", "Eρ²: differences"), ("absolute", "Φ: scores"))
    ]
    scale = {"domain": [0, 1]}
    base = {
        "x": field("topics:Q", title="topics", scale={"type": "log"}),
        "color": field("coefficient:N", title=None, scale={"range": [COLOURS[0], COLOURS[1]]}),
        "tooltip": tooltips("coefficient:N", "topics:Q") + tooltips("value:Q", "low:Q", "high:Q"),
    }
    title = f"reliability with {percent(components.level)} interval"
    limits = {"y": field("low:Q", title=title, scale=scale), "y2": end_field("high:Q")}
    value = {"y": field("value:Q", title=title, scale=scale)}
    layers = [mark("area", base | limits, opacity=0.15), mark("line", base | value, point=True)]
    drawing = {"layer": layers, "width": 260, "height": 200}
    data = inline_records(records)
    if facets:
        panels = list(dict.fromkeys(record["panel"] for record in records))
        facet = field("panel:N", title=None, sort=panels)
        drawing = {"facet": facet, "columns": 2, "spec": drawing}
    return styled({"data": data, **drawing}, f"Reliability of {components.measure}")
