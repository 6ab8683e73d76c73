"""Charts of bounds and estimates, on which intervals of the means can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confir.data.chart_marks import LIMITS_LINE, IntervalChart, Mark, dot, numbers, texts
from confir.data.result import Record
from confir.intervals.interval import Interval
from confir.number_text import percent
from confir.report.result_chart import draw_intervals
from confir.studies.unjudged.unjudged_bounds import UnjudgedBounds
from confir.studies.unjudged.unjudged_estimates import UnjudgedEstimate

_RANGE = 7  # width of a line: bounds lie behind intervals


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
    drawn = [dict(record) for record in records]
    columns = ["mean", "lowest", "highest", *([point] if point else [])]
    marks = [Mark("lowest", "highest", _RANGE, "grey", opacity=0.45), dot("mean")]
    axis = f"mean with {words}"
    if interval is not None:
        limits = {(r["run"], r["measure"]): r for r in interval.to_records()}
        for record in drawn:
            found = limits[record["run"], record["measure"]]
            record |= {"low": found["low"], "high": found["high"]}
        columns += ["low", "high"]
        marks.insert(1, LIMITS_LINE)
        axis = f"{axis} and {percent(interval.level)} interval ({interval.method})"
    if point is not None:
        marks.append(dot(point, "orange", "diamond"))
    tooltip = (*texts("run", "measure"), *numbers(*columns))
    return draw_intervals(IntervalChart(title, drawn, marks, axis, tooltip))
