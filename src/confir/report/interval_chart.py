"""The interval chart: one row per run, best first, one panel per measure, with lines and dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from confir.data.result import Record
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    in_panels,
    inline_records,
    layered,
    names_best_first,
    numbered,
    run_rows,
    styled,
)


class Mark(NamedTuple):
    """A line between two columns of the records, or a dot at one.

    Attributes
    ----------
    start, end
        Columns: where it begins and ends; a dot has no end.
    size
        The width of a line, or the area of a dot.
    colour, opacity
        How it is drawn; no colour: that of the row.
    shape
        Of a dot: circle, cross or diamond.
    """

    start: str
    end: str = ""
    size: float = 2
    colour: str | None = None
    opacity: float = 1
    shape: str = "circle"


LIMITS_LINE = Mark("low", "high")


def dot(column: str, colour: str | None = None, shape: str = "circle") -> Mark:
    """Return a dot at a column."""
    return Mark(column, size=50, colour=colour, shape=shape)


class IntervalChart(NamedTuple):
    """What an interval chart shows.

    Attributes
    ----------
    records
        One per row and panel.
    marks
        What is drawn in each row, from the back to the front.
    axis
        What the x axis is.
    tooltip
        What is shown of the record under the pointer.
    best_by
        The column by whose values in the first panel rows are ordered, highest first.
    row, panel
        Columns whose names are rows and panels; empty without panels.
    colour
        The condition under which a row is blue instead of grey; None: all are blue.
    words
        In place of it, a column of words, and the colour of each, which a legend names.
    scale, ticks
        Properties of the x scale, and of its axis.
    with_zero
        Whether 0 is marked by a line.
    width
        Of a panel.
    """

    records: Sequence[Record]
    marks: Sequence[Mark]
    axis: str
    tooltip: list[Any]
    best_by: str = "mean"
    row: str = "run"
    panel: str = "measure"
    colour: str | None = None
    words: tuple[str, Mapping[str, str]] | None = None
    scale: Mapping[str, Any] = MappingProxyType({"zero": False})
    ticks: Mapping[str, Any] = MappingProxyType({})
    with_zero: bool = False
    width: int = 260


def draw_intervals(what: IntervalChart, title: Any, *more: Any) -> Any:
    """Return an interval chart; further layers have their own data and stand behind all marks."""
    alt = import_altair()
    panels = list(dict.fromkeys(r[what.panel] for r in what.records)) if what.panel else []
    first = [r for r in what.records if not panels or r[what.panel] == panels[0]]
    order = names_best_first(first, what.best_by, what.row)
    names = {what.row: order, **({what.panel: panels} if what.panel else {})}
    axis, step = run_rows(alt, order)
    colour = alt.value(COLOURS[0])
    if what.colour is not None:
        colour = alt.ColorValue(INK, condition={"test": what.colour, "value": COLOURS[0]})
    if what.words is not None:
        column, colours = what.words
        words = alt.Scale(domain=list(colours), range=list(colours.values()))
        legend = alt.Legend(title=None, orient="bottom")
        colour = alt.Color(f"{column}:N", scale=words, legend=legend)
    base = alt.Chart().encode(
        y=alt.Y(f"{what.row}_number:N", title=None, axis=axis), color=colour, tooltip=what.tooltip
    )
    x = {"title": what.axis, "scale": alt.Scale(**what.scale)}
    if what.ticks:
        x["axis"] = alt.Axis(**what.ticks)
    drawn = [_mark(alt, base, mark, x) for mark in what.marks]
    if what.with_zero:
        once = alt.Chart() if what.panel else alt.Chart(inline_records([{}]))
        zero = once.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.XDatum(0))
        drawn.insert(0, zero)
    data = inline_records(numbered(what.records, **names))
    chart = layered(*drawn, data=data, width=what.width, height=step)
    chart.layer = [*(layer(axis) for layer in more), *chart.layer]
    return styled(in_panels(chart, what.panel, panels) if what.panel else chart, title)


def _mark(alt: Any, base: Any, mark: Mark, x: dict[str, Any]) -> Any:
    if mark.end:
        drawn = base.mark_rule(strokeWidth=mark.size, opacity=mark.opacity)
        ends = {"x": alt.X(f"{mark.start}:Q", **x), "x2": alt.X2(f"{mark.end}:Q")}
    else:
        drawn = base.mark_point(filled=True, size=mark.size, opacity=mark.opacity, shape=mark.shape)
        ends = {"x": alt.X(f"{mark.start}:Q", **x)}
    if mark.colour is not None:
        ends["color"] = alt.value(mark.colour)
    return drawn.encode(**ends)
