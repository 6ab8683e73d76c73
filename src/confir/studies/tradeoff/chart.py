"""Charts of quality against cost: both intervals of each run, and the frontier of the means."""

from __future__ import annotations

import math
from typing import Any

from confir.data.result import Record
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    numbered,
    panel_facet,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.studies.tradeoff.cost_comparison import (
    DOMINATED,
    FRONTIER,
    UNDECIDED,
    CostComparison,
)

_COLOURS = {FRONTIER: COLOURS[0], UNDECIDED: INK, DOMINATED: COLOURS[1]}
# Names of more runs would cover each other.
_MOST_NAMED = 25


def tradeoff_chart(comparison: CostComparison) -> Any:
    """Return a panel per cost and measure: cost against quality, and the frontier as a line."""
    alt = import_altair()
    records = _records(comparison)
    panels = list(dict.fromkeys(record["panel"] for record in records))
    plain = alt.Chart(inline_records(numbered(records, panel=panels)))
    shades = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    x = alt.X("mean_cost:Q", title="mean cost", scale=alt.Scale(zero=False, padding=12))
    y = alt.Y("quality:Q", title="mean", scale=alt.Scale(zero=False))
    base = plain.encode(
        x=x,
        y=y,
        color=alt.Color("status:N", title=None, scale=shades),
        tooltip=[
            *tooltips("run:N", "measure:N", "cost:N"),
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("quality", "mean_cost")),
            alt.Tooltip("status:N"),
            alt.Tooltip("dominated_by:N", title="dominated by"),
            alt.Tooltip("share_frontier:Q", format=".3f", title="efficient"),
        ],
    )
    efficient = plain.transform_filter("datum.efficient")
    layers = [
        efficient.mark_line(
            color=INK, strokeDash=[4, 3], interpolate="step-after", strokeWidth=1
        ).encode(x=x, y=y),
        base.mark_rule(strokeWidth=1.5).encode(
            y=alt.Y("quality_low:Q"), y2=alt.Y2("quality_high:Q")
        ),
        base.mark_rule(strokeWidth=1.5).encode(x=alt.X("cost_low:Q"), x2=alt.X2("cost_high:Q")),
        base.mark_point(filled=True, size=50, opacity=1),
    ]
    if len(comparison.runs) <= _MOST_NAMED:
        named = base.mark_text(align="left", dx=6, dy=-6, fontSize=10)
        layers.append(named.encode(text=alt.Text("run:N")))
    drawing = (
        alt.layer(*layers)
        .properties(width=360, height=260)
        .facet(facet=panel_facet(alt, "panel", panels), columns=2)
        .resolve_scale(x="independent", y="independent")
    )
    title = f"Quality against cost, with {percent(comparison.level)} intervals; dashed: frontier of the means"
    return styled(drawing, title)


def _records(comparison: CostComparison) -> list[Record]:
    """Return the records with their panels; a constant cost has no interval."""
    found = []
    for record in comparison.to_records():
        constant = math.isnan(record["cost_low"]) or math.isnan(record["cost_high"])
        limits = dict.fromkeys(("cost_low", "cost_high"), record["mean_cost"])
        panel = f"{record['measure']} against {record['cost']}"
        found.append({**record, **(limits if constant else {}), "panel": panel})
    return found
