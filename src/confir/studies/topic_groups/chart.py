"""Charts of differences by group of topics: a forest, one row per group."""

from __future__ import annotations

from typing import Any

from confir.data.result import Record
from confir.number_text import percent
from confir.report.charts import import_altair, styled, tooltips
from confir.studies.comparison.chart import verdict_panels
from confir.studies.comparison.verdicts import NOT_COMPARED
from confir.studies.topic_groups.group_differences import GroupComparison

_ALL = "all topics"
# More pairs and measures are too many panels for one chart; the table has all of them.
MOST_PANELS = 24


def group_difference_chart(comparison: GroupComparison, most: int = MOST_PANELS) -> Any:
    """Return a forest of each pair: its difference on all topics, and below in each group.

    Parameters
    ----------
    comparison
        What `compare_groups` returns.
    most
        The most panels to draw: pairs by measures, the first ones.
    """
    alt = import_altair()
    records = _records(comparison)
    panels = list(dict.fromkeys(record["panel"] for record in records))
    shown = panels[:most]
    tooltip = [
        *tooltips("run:N", "baseline:N", "measure:N"),
        alt.Tooltip("name:N", title=comparison.column),
        *tooltips("difference:Q", "low:Q", "high:Q", numbers="+.4f"),
        alt.Tooltip("topics:Q"),
        alt.Tooltip("verdict:N"),
    ]
    drawing = verdict_panels(
        [record for record in records if record["panel"] in set(shown)],
        {"name": (_ALL, *(_label(name) for name in comparison.groups)), "panel": shown},
        f"difference with simultaneous {percent(comparison.level)} interval",
        tooltip,
        mark={
            "shape": alt.ShapeValue(
                "circle", condition={"test": "datum.whole", "value": "diamond"}
            ),
            "size": alt.SizeValue(50, condition={"test": "datum.whole", "value": 110}),
        },
    )
    some = "" if len(shown) == len(panels) else f", {len(shown)} of {len(panels)} shown"
    return styled(drawing, f"Differences by {comparison.column}{some}")


def _label(group: str) -> str:
    """Return the label of a group, other than that of all topics."""
    return f"{group} (group)" if group == _ALL else group


def _records(comparison: GroupComparison) -> list[Record]:
    """Return the differences of groups, each pair's before them on all topics."""
    found: list[Record] = []
    seen: set[str] = set()
    for record in comparison.to_records():
        label = f"{record['run']} - {record['against']}, {record['measure']}"
        names = {name: record[name] for name in ("run", "against", "measure")}
        own = {**names, "panel": label, "zero": 0.0}
        if label not in seen:
            seen.add(label)
            whole = {one: record[f"overall_{one}"] for one in ("difference", "low", "high")}
            verdict = record["overall_verdict"]
            more = {"name": _ALL, "verdict": verdict, "topics": len(comparison.scores.topics)}
            found.append({**own, **whole, **more, "whole": True, "open_at": None})
        part = {name: record[name] for name in ("difference", "low", "high", "topics")}
        part["verdict"] = record["verdict"] or NOT_COMPARED
        end = None if record["open"] is None else record[record["open"]]
        more = {"name": _label(record["group"]), "whole": False, "open_at": end}
        found.append({**own, **part, **more})
    return found
