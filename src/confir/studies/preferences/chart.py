"""Charts of preferences: strengths with intervals, and a matrix of the shares of wins."""

from __future__ import annotations

from typing import Any

from confir.data.chart_marks import LIMITS_LINE, IntervalChart, Tip, dot, numbers, texts
from confir.data.result import Record
from confir.errors import counted
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    field,
    in_panels,
    inline_records,
    label_names,
    mark,
    numbered,
    styled,
    tooltips,
)
from confir.report.result_chart import draw_intervals
from confir.studies.preferences.preference_pairs import PreferencePairs
from confir.studies.preferences.preferences import Preferences

# Up to this many systems a cell has room for its share in per cent.
_MOST_LABELLED = 20
_CELL = 28
_SMALL_CELL = 14
_KINDS = ("observed", "predicted")


def preferences_chart(found: Preferences) -> Any:
    """Return a chart of strengths with intervals; systems outside of the best set are grey."""
    level = percent(found.level)
    declared = IntervalChart(
        f"Strengths by {counted(found.total, 'vote')}: blue, the {level} confidence set of the best",
        found.to_records(),
        marks=(LIMITS_LINE, dot("strength")),
        axis=f"strength with {level} interval",
        tooltip=(
            *texts("run"),
            *numbers("strength", "low", "high", "votes", "rank", "rank_low", "rank_high"),
            Tip("share", ".3f", "predicted share of wins"),
            Tip("may_be_best", title="may be the best"),
        ),
        best_by="strength",
        panel="",
        colour="datum.may_be_best",
        with_zero=True,
        width=360,
    )
    return draw_intervals(declared)


def preference_pairs_chart(pairs: PreferencePairs) -> Any:
    """Return two matrices of shares of wins, row against column: observed and predicted."""
    order = tuple(dict.fromkeys(name for pair in pairs.pairs for name in pair))
    records = numbered(_cells(pairs), run=order, against=order, kind=_KINDS)
    names = {"grid": False, "labelExpr": label_names(order)}
    labelled = len(order) <= _MOST_LABELLED
    base = {
        "x": field("against_number:N", title=None, axis=names),
        "y": field("run_number:N", title=None, axis=names),
        "tooltip": [
            *tooltips("run:N", "against:N", "votes:Q"),
            *tooltips("observed:Q", "predicted:Q", numbers=".3f"),
        ],
    }
    colours = {
        "domain": [0, 0.5, 1],
        "range": [COLOURS[1], "#f7f7f7", COLOURS[0]],
        "type": "linear",
    }
    share = field("share:Q", scale=colours, title=["share of wins", "of the row"])
    layers = [mark("rect", base | {"color": share})]
    if labelled:
        layers.append(mark("text", base | {"text": field("share:Q", format=".0%")}, fontSize=9))
    cell = {"step": _CELL if labelled else _SMALL_CELL}
    drawing = {"data": inline_records(records), "layer": layers, "width": cell, "height": cell}
    panels = in_panels(drawing, "kind", _KINDS, scales={})
    return styled(panels, "Shares of wins, observed and predicted by strengths")


def _cells(pairs: PreferencePairs) -> list[Record]:
    """Return a record per cell of both matrices, in which a pair has two."""
    cells = []
    for record in pairs.to_records():
        shares = {kind: record[kind] for kind in _KINDS}
        back = {kind: None if share is None else 1.0 - share for kind, share in shares.items()}
        names = record["run"], record["against"]
        cells += [
            {"run": run, "against": against, "votes": record["votes"], **own}
            | {"kind": kind, "share": own[kind]}
            for kind in _KINDS
            for (run, against), own in ((names, shares), (names[::-1], back))
            if own[kind] is not None
        ]
    return cells
