"""The chart of bounds over ties, on which intervals of the means can be drawn."""

from __future__ import annotations

from typing import Any

from confir.intervals.interval import Interval
from confir.studies.ties.tie_bounds import TieBounds
from confir.studies.unjudged.chart import range_chart


def tie_chart(ties: TieBounds, interval: Interval | None = None) -> Any:
    """Return a chart of means with bounds over ties, and with sampling intervals where given."""
    title = "Bounds over all orders of tied documents"
    words = "bounds (grey), expected mean (diamond)"
    return range_chart(ties.to_records(), title, words, interval, point="expected")
