"""Curves of reliability against topics, one panel per number of judges or repeats."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import COLOURS, import_altair, inline_records, styled, tooltips
from confir.studies.components.components import Components


def components_chart(components: Components) -> Any:
    """Return curves of Eρ² and Φ over topics with their limits; one panel per judges and repeats."""
    alt = import_altair()
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
    scale = alt.Scale(domain=[0, 1])
    colour = alt.Color("coefficient:N", title=None, scale=alt.Scale(range=[COLOURS[0], COLOURS[1]]))
    base = alt.Chart(inline_records(records)).encode(
        x=alt.X("topics:Q", title="topics", scale=alt.Scale(type="log")),
        color=colour,
        tooltip=tooltips("coefficient:N", "topics:Q") + tooltips("value:Q", "low:Q", "high:Q"),
    )
    title = f"reliability with {percent(components.level)} interval"
    band = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q"
    )
    line = base.mark_line(point=True).encode(y=alt.Y("value:Q", title=title, scale=scale))
    layers = alt.layer(band, line).properties(width=260, height=200)
    if facets:
        panels = list(dict.fromkeys(record["panel"] for record in records))
        layers = layers.facet(alt.Facet("panel:N", title=None, sort=panels), columns=2)
    return styled(layers, f"Reliability of {components.measure}")
