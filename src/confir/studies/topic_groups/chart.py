"""Charts of differences by group of topics: a forest, one row per group."""

from __future__ import annotations

from typing import Any

from confir.data.result import Record
from confir.number_text import percent
from confir.report.charts import (
    field,
    styled,
    tooltips,
)
from confir.studies.comparison.chart import verdict_panels
from confir.studies.topic_groups.group_differences import EVERY_GROUP, GroupComparison

# More pairs and measures are too many panels for one chart; the table has all of them.
MOST_PANELS = 24

_WHOLE = {"test": "datum.whole"}


def group_difference_chart(comparison: GroupComparison, most: int = MOST_PANELS) -> Any:
    """Return a forest of each pair: its difference on all topics, and below in each group.

    Parameters
    ----------
    comparison
        What `compare_groups` returns.
    most
        The most panels to draw: pairs by measures, the first ones.
    """
    records = _records(comparison)
    panels = list(dict.fromkeys(record["panel"] for record in records))
    shown = panels[:most]
    tooltip = [
        *tooltips("run:N", "against:N", "measure:N"),
        field("name:N", title=comparison.column),
        *tooltips("difference:Q", "low:Q", "high:Q", numbers="+.4f"),
        field("topics:Q"),
        field("verdict:N"),
    ]
    drawing = verdict_panels(
        [record for record in records if record["panel"] in set(shown)],
        {"name": (EVERY_GROUP, *(_label(name) for name in comparison.groups)), "panel": shown},
        f"difference with simultaneous {percent(comparison.level)} interval",
        tooltip,
        more={
            "shape": {"value": "circle", "condition": _WHOLE | {"value": "diamond"}},
            "size": {"value": 50, "condition": _WHOLE | {"value": 110}},
        },
    )
    some = "" if len(shown) == len(panels) else f", {len(shown)} of {len(panels)} shown"
    return styled(drawing, f"Differences by {comparison.column}{some}")


def _label(group: str) -> str:
    """Return the label of a group, other than that of all topics."""
    return f"{group} (group)" if group == EVERY_GROUP else group


def _records(comparison: GroupComparison) -> list[Record]:
    """Return the differences of groups, each pair's before them on all topics."""
    kept = ("run", "against", "measure", "difference", "low", "high", "verdict", "topics", "whole")
    return [
        {name: record[name] for name in kept}
        | {
            "panel": f"{record['run']} - {record['against']}, {record['measure']}",
            "zero": 0.0,
            "name": record["group"] if record["whole"] else _label(record["group"]),
            "open_at": None if record["whole"] or not record["open"] else record[record["open"]],
        }
        for record in comparison.records_with_overall()
    ]
