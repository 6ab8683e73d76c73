"""Charts of differences by group of topics: a forest, one row per group."""

from __future__ import annotations

from typing import Any

from confir.data.result import Record
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    inline_records,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.studies.comparison.verdicts import (
    BETTER,
    EQUIVALENT,
    IDENTICAL,
    INCONCLUSIVE,
    NOT_COMPARED,
    WORSE,
)
from confir.studies.topic_groups.group_differences import GroupComparison

_ALL = "all topics"
_VERDICT_COLOURS = {
    BETTER: COLOURS[0],
    WORSE: COLOURS[1],
    EQUIVALENT: COLOURS[2],
    IDENTICAL: COLOURS[3],
    INCONCLUSIVE: INK,
    NOT_COMPARED: INK,
}
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
    records = [record for record in records if record["panel"] in set(shown)]
    order = (_ALL, *(_label(name) for name in comparison.groups))
    axis, step = run_rows(alt, order)
    plain = alt.Chart(inline_records(numbered(records, name=order, panel=shown)))
    present = {record["verdict"] for record in records}
    shades = {verdict: shade for verdict, shade in _VERDICT_COLOURS.items() if verdict in present}
    scale = alt.Scale(domain=list(shades), range=list(shades.values()))
    colour = alt.Color("verdict:N", title=None, scale=scale)
    base = plain.encode(
        y=alt.Y("name_number:N", title=None, axis=axis),
        color=colour,
        tooltip=[
            *tooltips("run:N", "baseline:N", "measure:N"),
            alt.Tooltip("name:N", title=comparison.column),
            *(alt.Tooltip(f"{one}:Q", format="+.4f") for one in ("difference", "low", "high")),
            alt.Tooltip("topics:Q"),
            alt.Tooltip("verdict:N"),
        ],
    )
    title = f"difference with simultaneous {percent(comparison.level)} interval"
    points = base.mark_point(filled=True, opacity=1)
    layers = [
        plain.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("zero:Q", title=title)),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        points.encode(
            x=alt.X("difference:Q"),
            shape=alt.ShapeValue("circle", condition={"test": "datum.whole", "value": "diamond"}),
            size=alt.SizeValue(50, condition={"test": "datum.whole", "value": 110}),
        ),
    ]
    if any(record["open_at"] is not None for record in records):  # hollow: 0, and excluded
        ends = base.mark_point(size=40, opacity=1, fill="white", strokeWidth=1.5)
        layers.append(ends.encode(x=alt.X("open_at:Q")))
    panel = (
        alt.layer(*layers)
        .properties(width=280, height=step)
        .facet(facet=panel_facet(alt, "panel", shown), columns=2)
        .resolve_scale(x="independent")
    )
    some = "" if len(shown) == len(panels) else f", {len(shown)} of {len(panels)} shown"
    return styled(panel, f"Differences by {comparison.column}{some}")


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
