"""Charts of means beside what unjudged or tied documents could make of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confir.data.result import Record
from confir.intervals.interval import Interval
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    layered,
    names_best_first,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.studies.unjudged.bounds import UnjudgedBounds
from confir.studies.unjudged.estimates import UnjudgedEstimate

_RANGE, _INTERVAL = 7, 2  # widths of lines: bounds lie behind intervals


def unjudged_bounds_chart(bounds: UnjudgedBounds, interval: Interval | None = None) -> Any:
    """Return a chart of means with bounds, and with sampling intervals where they are given."""
    title = "Bounds over all judgements of unjudged documents"
    return range_chart(bounds.to_records(), title, "bounds (grey)", interval)


def unjudged_estimate_chart(estimate: UnjudgedEstimate, interval: Interval | None = None) -> Any:
    """Return a chart of means beside estimates, and with sampling intervals where given."""
    records = [
        {
            **{key: value for key, value in record.items() if key not in ("low", "high")},
            "lowest": record["low"] if estimate.replicates else record["estimate"],
            "highest": record["high"] if estimate.replicates else record["estimate"],
        }
        for record in estimate.to_records()
    ]
    titles = {
        "condensed": "Means without unjudged documents",
        "resample": "Means with judgements drawn for unjudged documents",
    }
    words = "estimate (diamond)"
    return range_chart(records, titles[estimate.treatment], words, interval, point="estimate")


def range_chart(
    records: Sequence[Record],
    title: str,
    words: str,
    interval: Interval | None = None,
    point: str | None = None,
) -> Any:
    """Return a chart of means with ranges: one row per run, best first, one panel per measure.

    Parameters
    ----------
    records
        With run, measure, mean, lowest and highest.
    title, words
        What the ranges are, and how they are drawn.
    interval
        Sampling intervals of the same means.
    point
        A further number of the records to draw.
    """
    alt = import_altair()
    measures = list(dict.fromkeys(record["measure"] for record in records))
    order = names_best_first([r for r in records if r["measure"] == measures[0]], "mean")
    axis, step = run_rows(alt, order)
    drawn = [dict(record) for record in numbered(records, run=order, measure=measures)]
    numbers, label = (
        ["mean", "lowest", "highest", *([point] if point else [])],
        f"mean with {words}",
    )
    if interval is not None:
        limits = {(r["run"], r["measure"]): r for r in interval.to_records()}
        for record in drawn:
            found = limits[record["run"], record["measure"]]
            record |= {"low": found["low"], "high": found["high"]}
        numbers += ["low", "high"]
        label = f"{label} and {percent(interval.level)} interval ({interval.method})"
    base = alt.Chart().encode(
        y=alt.Y("run_number:N", title=None, axis=axis),
        tooltip=tooltips("run:N", "measure:N", *(f"{name}:Q" for name in numbers)),
    )
    layers = [
        base.mark_rule(color=INK, opacity=0.45, strokeWidth=_RANGE).encode(
            x=alt.X("lowest:Q", title=label, scale=alt.Scale(zero=False)), x2=alt.X2("highest:Q")
        )
    ]
    if interval is not None:
        layers.append(
            base.mark_rule(color=COLOURS[0], strokeWidth=_INTERVAL).encode(
                x=alt.X("low:Q"), x2=alt.X2("high:Q")
            )
        )
    dots = base.mark_point(color=COLOURS[0], filled=True, size=50, opacity=1)
    layers.append(dots.encode(x=alt.X("mean:Q")))
    if point is not None:
        marks = base.mark_point(color=COLOURS[1], filled=True, size=50, opacity=1, shape="diamond")
        layers.append(marks.encode(x=alt.X(f"{point}:Q")))
    panels = (
        layered(*layers, data=inline_records(drawn), width=260, height=step)
        .facet(facet=panel_facet(alt, "measure", measures), columns=2)
        .resolve_scale(x="independent")
    )
    return styled(panels, title)
