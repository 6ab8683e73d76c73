"""Bars of how many pairs of runs each measure separates."""

from __future__ import annotations

from typing import Any

from confir.report.charts import (
    COLOURS,
    import_altair,
    inline_records,
    label_names,
    numbered,
    styled,
    tooltips,
)
from confir.studies.discrimination.discrimination import Discrimination


def discrimination_chart(found: Discrimination) -> Any:
    """Return a dot per measure: share of pairs separated against the swap rate."""
    alt = import_altair()
    records = numbered(found.to_records(), measure=found.measures)
    base = alt.Chart(inline_records(records)).encode(
        x=alt.X("power:Q", title="share of pairs separated", axis=alt.Axis(format="%")),
        y=alt.Y(
            "measure_number:N",
            title=None,
            axis=alt.Axis(labelExpr=label_names(found.measures)),
            sort="-x",
        ),
        tooltip=tooltips("measure:N") + tooltips("power:Q", "swap_rate:Q"),
    )
    bars = base.mark_bar(opacity=0.8).encode(color=alt.value(COLOURS[0]))
    return styled(bars.properties(width=320), f"Discriminative power over {found.pairs} pairs")
