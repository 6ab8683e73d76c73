"""The chart of a result: its study's own, or the interval chart that it declares.

An interval chart has one row per run, best first, and one panel per measure.
"""

from __future__ import annotations

import json
from typing import Any

from confir.control_characters import clean_texts, has_controls, without_controls
from confir.data.chart_marks import IntervalChart
from confir.data.result import Result
from confir.errors import UnsupportedMethodError
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
from confir.studies import find_function

# The colours that marks name.
_COLOURS = {"grey": INK, "orange": COLOURS[1]}

# What holds data, and what expressions, in a specification.
_DATA = {"data", "datasets"}
_EXPRESSIONS = {"expr", "labelExpr", "calculate", "filter", "test", "signal"}


def chart(result: Any) -> Any:
    """Return an altair chart of a result.

    Parameters
    ----------
    result
        A result of a study, such as `Interval` or `Ranking`.

    Examples
    --------
    >>> confir.chart(confir.confidence_interval([0.3, 0.5, 0.4], method="t")).to_dict()["title"]
    'Means over 3 topics'
    """
    draw = find_function(result, "chart")
    if draw is not None:
        return clean_chart(draw(result))
    declared = result.interval_chart() if isinstance(result, Result) else None
    if declared is None:
        raise UnsupportedMethodError(
            f"there is no chart of a {type(result).__name__}; expected a result with a chart"
        )
    return clean_chart(draw_intervals(declared))


def clean_chart(part: Any, *, keep_blanks: bool = False) -> Any:
    """Return a chart, its specification or a part of it without control characters: Vega fails on them.

    Line breaks stay in data and in expressions; in titles, from which Vega-Lite makes expressions,
    they would be syntax errors. Objects of altair are changed.
    """
    if isinstance(part, str):
        return without_controls(part, keep_blanks=keep_blanks)
    if isinstance(part, list | tuple):
        return type(part)(clean_chart(one, keep_blanks=keep_blanks) for one in part)
    held = part if isinstance(part, dict) else getattr(part, "_kwds", None)
    if held is None:
        return part
    cleaned = {}
    for key, value in held.items():
        if key not in _DATA:
            cleaned[key] = clean_chart(value, keep_blanks=key in _EXPRESSIONS)
        elif isinstance(value, dict) and has_controls(json.dumps(value, ensure_ascii=False)):
            cleaned[key] = clean_texts(value, keep_blanks=True)
        else:  # most data need no copy
            cleaned[key] = value
    if isinstance(part, dict):
        return cleaned
    held.update(cleaned)
    return part


def draw_intervals(what: IntervalChart, *more: Any) -> Any:
    """Return an interval chart; further layers have their own data and are drawn behind all marks."""
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
    tooltip = [
        alt.Tooltip(
            f"{tip.column}:{'Q' if tip.format else 'N'}",
            format=tip.format or alt.Undefined,
            title=tip.title or alt.Undefined,
        )
        for tip in what.tooltip
    ]
    y = alt.Y(f"{what.row}_number:N", title=None, axis=axis)
    base = alt.Chart().encode(y=y, color=colour, tooltip=tooltip)
    data = inline_records(numbered(what.records, **names))
    drawn = layered(*_marks(alt, base, what), data=data, width=what.width, height=step)
    drawn.layer = [*(layer(axis) for layer in more), *drawn.layer]
    title = alt.Title(what.title, subtitle=what.subtitle) if what.subtitle else what.title
    return styled(in_panels(drawn, what.panel, panels) if what.panel else drawn, title)


def _marks(alt: Any, base: Any, what: IntervalChart) -> list[Any]:
    """Return the layers of an interval chart: the line at 0, and lines and dots in each row."""
    layers = []
    if what.with_zero:
        once = alt.Chart() if what.panel else alt.Chart(inline_records([{}]))
        layers.append(once.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.XDatum(0)))
    x = {"title": what.axis, "scale": alt.Scale(**what.scale)}
    if what.ticks:
        x["axis"] = alt.Axis(**what.ticks)
    for mark in what.marks:
        ends = {"x": alt.X(f"{mark.start}:Q", **x)}
        if mark.end:
            ends["x2"] = alt.X2(f"{mark.end}:Q")
            drawn = base.mark_rule(strokeWidth=mark.size, opacity=mark.opacity)
        else:
            drawn = base.mark_point(
                filled=True, size=mark.size, opacity=mark.opacity, shape=mark.shape
            )
        if mark.colour is not None:
            ends["color"] = alt.value(_COLOURS[mark.colour])
        layers.append(drawn.encode(**ends))
    return layers
