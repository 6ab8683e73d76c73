"""Charts of means over repeats: one dot with its limits per system."""

from __future__ import annotations

from typing import Any

from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    import_altair,
    in_panels,
    interval_layers,
    names_best_first,
    numbered,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.studies.repeats.repeat_means import RepeatMeans


def repeats_chart(means: RepeatMeans) -> Any:
    """Return a chart of means with intervals, one row per system, one panel per measure.

    The thick part of an interval is what topics alone would give.
    """
    alt = import_altair()
    records = means.to_records()
    for record in records:
        share = record["se_topics"] / record["se"] if record["se"] else 0.0
        record["topics_low"] = record["mean"] - share * (record["mean"] - record["low"])
        record["topics_high"] = record["mean"] + share * (record["high"] - record["mean"])
    first = [record for record in records if record["measure"] == means.measures[0]]
    order = names_best_first([record | {"run": record["system"]} for record in first], "mean")
    axis, step = run_rows(alt, order)
    base = alt.Chart(
        inline_records(numbered(records, system=order, measure=means.measures))
    ).encode(
        y=alt.Y("system_number:N", title=None, axis=axis),
        color=alt.value(COLOURS[0]),
        tooltip=tooltips("system:N", "mean:Q", "se_topics:Q", "se_repeats:Q", numbers=".4f"),
    )
    what = "mean" if means.baseline is None else f"difference from {means.baseline}"
    title = f"{what} with {percent(means.level)} interval; thick: topics alone"
    alone = base.mark_rule(size=4, opacity=0.5).encode(
        x=alt.X("topics_low:Q", title=title), x2="topics_high:Q"
    )
    layers = alt.layer(alone, *interval_layers(base, "mean", title))
    panels = in_panels(layers.properties(width=260, height=step), "measure", means.measures)
    return styled(panels, "Means over topics and repeats")
