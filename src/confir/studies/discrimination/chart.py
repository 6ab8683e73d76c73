"""Bars of how many pairs of runs each measure separates."""

from __future__ import annotations

from typing import Any

from confir.report.charts import (
    COLOURS,
    field,
    inline_records,
    label_names,
    mark,
    numbered,
    styled,
    tooltips,
)
from confir.studies.discrimination.discrimination import Discrimination


def discrimination_chart(found: Discrimination) -> Any:
    """Return a dot per measure: share of pairs separated against the swap rate."""
    records = numbered(found.to_records(), measure=found.measures)
    names = {"labelExpr": label_names(found.measures)}
    channels = {
        "x": field("power:Q", title="share of pairs separated", axis={"format": "%"}),
        "y": field("measure_number:N", title=None, axis=names, sort="-x"),
        "color": {"value": COLOURS[0]},
        "tooltip": tooltips("measure:N") + tooltips("power:Q", "swap_rate:Q"),
    }
    bars = mark("bar", channels, data=inline_records(records), opacity=0.8) | {"width": 320}
    return styled(bars, f"Discriminative power over {found.pairs} pairs")
