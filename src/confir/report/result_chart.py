"""The chart of a result: its study's own, or the interval chart that it declares.

An interval chart has one row per run, best first, and one panel per measure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from confir.control_characters import clean_texts, has_controls, without_controls
from confir.data.chart_marks import IntervalChart
from confir.data.result import Result
from confir.errors import MissingDependencyError, UnsupportedMethodError
from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    end_field,
    field,
    in_panels,
    inline_records,
    mark,
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
    """Return an altair chart of a result, for a notebook.

    Parameters
    ----------
    result
        A result of a study, such as `Interval` or `Ranking`.

    Examples
    --------
    >>> confir.chart(confir.confidence_interval([0.3, 0.5, 0.4], method="t")).to_dict()["title"]
    'Means over 3 topics'
    """
    try:
        import altair as alt
    except ImportError:
        raise MissingDependencyError("altair", "drawing charts", "report") from None
    return alt.Chart.from_dict(specification(result))


def specification(result: Any) -> Spec:
    """Return the chart of a result as a specification of Vega-Lite."""
    draw = find_function(result, "chart")
    if draw is None:
        declared = result.interval_chart() if isinstance(result, Result) else None
        if declared is None:
            raise UnsupportedMethodError(
                f"there is no chart of a {type(result).__name__}; expected a result with a chart"
            )
        drawing = draw_intervals(declared)
    else:
        drawing = draw(result)
    cleaned: Spec = clean_chart(drawing)
    return cleaned


def clean_chart(part: Any, *, keep_blanks: bool = False) -> Any:
    """Return a chart, its specification or a part of it without control characters: Vega fails on them.

    Line breaks stay in data and in expressions; in titles, from which Vega-Lite makes expressions,
    they would be syntax errors.
    """
    if isinstance(part, str):
        return without_controls(part, keep_blanks=keep_blanks)
    if isinstance(part, list | tuple):
        return [clean_chart(one, keep_blanks=keep_blanks) for one in part]
    if not isinstance(part, dict):
        return part
    cleaned = {}
    for key, value in part.items():
        if key not in _DATA:
            cleaned[key] = clean_chart(value, keep_blanks=key in _EXPRESSIONS)
        elif isinstance(value, dict) and has_controls(json.dumps(value, ensure_ascii=False)):
            cleaned[key] = clean_texts(value, keep_blanks=True)
        else:  # most data need no copy
            cleaned[key] = value
    return cleaned


def draw_intervals(what: IntervalChart, *more: Callable[[Spec], Spec]) -> Spec:
    """Return an interval chart; further layers have their own data and are drawn behind all marks."""
    panels = list(dict.fromkeys(r[what.panel] for r in what.records)) if what.panel else []
    first = [r for r in what.records if not panels or r[what.panel] == panels[0]]
    order = names_best_first(first, what.best_by, what.row)
    names = {what.row: order, **({what.panel: panels} if what.panel else {})}
    axis, step = run_rows(order)
    colour: Spec = {"value": COLOURS[0]}
    if what.colour is not None:
        colour = {"value": INK, "condition": {"test": what.colour, "value": COLOURS[0]}}
    if what.words is not None:
        column, colours = what.words
        words = {"domain": list(colours), "range": list(colours.values())}
        legend = {"title": None, "orient": "bottom"}
        colour = field(f"{column}:N", scale=words, legend=legend)
    tooltip = [
        field(f"{tip.column}:{'Q' if tip.format else 'N'}")
        | ({"format": tip.format} if tip.format else {})
        | ({"title": tip.title} if tip.title else {})
        for tip in what.tooltip
    ]
    base = {
        "y": field(f"{what.row}_number:N", title=None, axis=axis),
        "color": colour,
        "tooltip": tooltip,
    }
    drawn = {
        "data": inline_records(numbered(what.records, **names)),
        "layer": [*(layer(axis) for layer in more), *_marks(base, what)],
        "width": what.width,
        "height": step,
    }
    title = {"text": what.title, "subtitle": what.subtitle} if what.subtitle else what.title
    return styled(in_panels(drawn, what.panel, panels) if what.panel else drawn, title)


def _marks(base: Spec, what: IntervalChart) -> Iterator[Spec]:
    """Yield the layers of an interval chart: the line at 0, and lines and dots in each row."""
    if what.with_zero:
        once = None if what.panel else inline_records([{}])
        yield mark("rule", {"x": {"datum": 0}}, data=once, color=INK, strokeDash=[4, 3])
    x: Spec = {"title": what.axis, "scale": dict(what.scale)}
    if what.ticks:
        x["axis"] = dict(what.ticks)
    for one in what.marks:
        ends = {"x": field(f"{one.start}:Q", **x)}
        if one.colour is not None:
            ends["color"] = {"value": _COLOURS[one.colour]}
        if one.end:
            ends["x2"] = end_field(f"{one.end}:Q")
            look: Spec = {"strokeWidth": one.size, "opacity": one.opacity}
        else:
            look = {"filled": True, "size": one.size, "opacity": one.opacity, "shape": one.shape}
        yield mark("rule" if one.end else "point", base | ends, **look)
