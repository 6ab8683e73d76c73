"""The interval chart as altair draws it: one row per run, best first, one panel per measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confir.data.chart_marks import IntervalChart, Mark, Tip
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

# The colours that marks name.
_COLOURS = {"grey": INK, "orange": COLOURS[1]}


def draw_intervals(what: IntervalChart, *more: Any) -> Any:
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
        y=alt.Y(f"{what.row}_number:N", title=None, axis=axis),
        color=colour,
        tooltip=tips(what.tooltip),
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
    title = alt.Title(what.title, subtitle=what.subtitle) if what.subtitle else what.title
    return styled(in_panels(chart, what.panel, panels) if what.panel else chart, title)


def tips(tooltip: Sequence[Tip]) -> list[Any]:
    """Return the tooltip that a chart declares."""
    alt = import_altair()
    found = []
    for tip in tooltip:
        given = {"format": tip.format} if tip.format else {}
        given |= {"title": tip.title} if tip.title else {}
        found.append(alt.Tooltip(f"{tip.column}:{'Q' if tip.format else 'N'}", **given))
    return found


def _mark(alt: Any, base: Any, mark: Mark, x: dict[str, Any]) -> Any:
    if mark.end:
        drawn = base.mark_rule(strokeWidth=mark.size, opacity=mark.opacity)
        ends = {"x": alt.X(f"{mark.start}:Q", **x), "x2": alt.X2(f"{mark.end}:Q")}
    else:
        drawn = base.mark_point(filled=True, size=mark.size, opacity=mark.opacity, shape=mark.shape)
        ends = {"x": alt.X(f"{mark.start}:Q", **x)}
    if mark.colour is not None:
        ends["color"] = alt.value(_COLOURS[mark.colour])
    return drawn.encode(**ends)
