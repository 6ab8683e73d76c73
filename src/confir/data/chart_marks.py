"""What an interval chart shows: one row per run, best first, one panel per measure, lines and dots.

A result declares it once, as it does the columns of its table (`confir.data.table_columns`)::

    def interval_chart(self) -> IntervalChart:
        return IntervalChart(
            "Means over 50 topics",
            self.to_records(),
            marks=(LIMITS_LINE, dot("mean")),
            axis="mean with 95% interval",
            tooltip=(*texts("run", "measure"), *numbers("mean", "low", "high")),
        )
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

# Of numbers in tooltips.
FIVE_DIGITS, FOUR_DECIMALS = ".5~g", ".4f"

# Resampling favours the run that is best on these topics: no probability that it is the best.
FIRST = "share of bootstrap samples of the topics in which it is first"


class Mark(NamedTuple):
    """A line between two columns of the records, or a dot at one.

    Attributes
    ----------
    start, end
        Columns: where it begins and ends; a dot has no end.
    size
        The width of a line, or the area of a dot.
    colour, opacity
        How it is drawn: grey or orange, or in the colour of the row.
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


class Tip(NamedTuple):
    """A column in the tooltip of a row: a number in a format of d3, or a text, without one."""

    column: str
    format: str = ""
    title: str = ""


def texts(*columns: str) -> tuple[Tip, ...]:
    """Return columns of texts for a tooltip."""
    return tuple(map(Tip, columns))


def numbers(*columns: str, format: str = FIVE_DIGITS) -> tuple[Tip, ...]:  # noqa: A002 - as in Tip
    """Return columns of numbers for a tooltip."""
    return tuple(Tip(column, format) for column in columns)


class IntervalChart(NamedTuple):
    """What an interval chart shows.

    Attributes
    ----------
    title, subtitle
        Above the chart.
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

    title: str
    records: Sequence[dict[str, Any]]
    marks: Sequence[Mark]
    axis: str
    tooltip: Sequence[Tip]
    subtitle: str = ""
    best_by: str = "mean"
    row: str = "run"
    panel: str = "measure"
    colour: str | None = None
    words: tuple[str, Mapping[str, str]] | None = None
    scale: Mapping[str, Any] = MappingProxyType({"zero": False})
    ticks: Mapping[str, Any] = MappingProxyType({})
    with_zero: bool = False
    width: int = 260
