"""A chart of what runs lose without their teams' contributions."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    in_panels,
    interval_layers,
    layered,
    names_best_first,
    numbered,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.studies.reusability.reusability import Reusability


def reusability_chart(reusability: Reusability) -> Any:
    """Return the drop of each run with its interval, largest first; one panel per measure."""
    alt = import_altair()
    records = reusability.to_records()
    first = [one for one in records if one["measure"] == reusability.measures[0]]
    order = names_best_first(first, "drop")
    axis, step = run_rows(alt, order)
    base = alt.Chart().encode(
        y=alt.Y("run_number:N", title=None, axis=axis),
        color=alt.value(COLOURS[0]),
        tooltip=tooltips(
            *("run:N", "team:N", "measure:N"),
            *("mean:Q", "left_out:Q", "drop:Q", "low:Q", "high:Q", "unique:Q"),
        ),
    )
    title = f"drop without the team, {percent(reusability.level)} interval"
    zero = alt.Chart().mark_rule(color=INK).encode(x=alt.datum(0))
    data = inline_records(numbered(records, run=order, measure=reusability.measures))
    drawing = layered(
        zero, *interval_layers(base, "drop", title), data=data, width=300, height=step
    )
    panels = in_panels(drawing, "measure", reusability.measures)
    return styled(panels, "Drop of each run when its team's unique contributions are left out")
