"""Charts of leaderboards: intervals with a tick per dataset, and a heat map of datasets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confir.data.chart_marks import (
    FOUR_DECIMALS,
    LIMITS_LINE,
    IntervalChart,
    dot,
    numbers,
    texts,
)
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    field,
    inline_records,
    label_names,
    mark,
    numbered,
    run_rows,
    styled,
    tooltips,
)
from confir.report.result_chart import draw_intervals
from confir.studies.leaderboard.leaderboard import Leaderboard

# Width of a column of the heat map, and the font size of its numbers.
_CELL, _LETTERS = 46, 10

# The colours of the lowest and the highest score on a dataset; above this share, text is white.
_LIGHTEST, _DARKEST, _DARK = "#f3f7fb", "#08519c", 0.62


def dataset_chart(board: Leaderboard) -> Any:
    """Return a heat map of runs × datasets, coloured from the lowest to the highest of each dataset."""
    order = [board.runs[run] for run in board.order]
    lowest, highest = np.nanmin(board.mean, axis=1), np.nanmax(board.mean, axis=1)
    width = np.where(highest > lowest, highest - lowest, 1.0)
    records = [
        {
            "run": board.runs[run],
            "dataset": name,
            "score": float(board.mean[place, run]),
            "share": float((board.mean[place, run] - lowest[place]) / width[place]),
        }
        for run in board.order
        for place, name in enumerate(board.datasets)
    ]
    rows, step = run_rows(order)
    rows["grid"] = False
    names = label_names(board.datasets)
    columns = {"orient": "top", "labelAngle": -50, "grid": False, "labelExpr": names}
    base = {
        "x": field("dataset_number:N", title=None, axis=columns),
        "y": field("run_number:N", title=None, axis=rows),
        "tooltip": tooltips("run:N", "dataset:N") + tooltips("score:Q", numbers=".4f"),
    }
    colours = {"domain": [0, 1], "range": [_LIGHTEST, _DARKEST], "interpolate": "rgb"}
    dark = {"test": f"(datum.share > {_DARK})", "value": "white"}
    colour = {"condition": dark, "value": "black"}
    texts = base | {"text": field("score:Q", format=".3f"), "color": colour}
    drawing = {
        "data": inline_records(numbered(records, run=order, dataset=board.datasets)),
        "layer": [
            mark("rect", base | {"color": field("share:Q", scale=colours, legend=None)}),
            mark("text", texts, where="isValid(datum.score)", fontSize=_LETTERS),
        ],
        "width": {"step": _CELL},
        "height": step,
    }
    title = f"{board.measure} by run and dataset; darker is better within a dataset"
    return styled(drawing, title)


def leaderboard_chart(board: Leaderboard) -> Any:
    """Return a chart with one row per run, best first: its macro mean, and a tick per dataset."""
    order = [board.runs[run] for run in board.order]
    macro = [
        {
            "run": board.runs[run],
            "mean": float(board.macro[run]),
            "low": float(board.macro_low[run]),
            "high": float(board.macro_high[run]),
            "rank": f"{board.rank_low[run]} to {board.rank_high[run]}",
        }
        for run in board.order
    ]
    declared = IntervalChart(
        f"Macro means over {len(board.datasets)} datasets, with {percent(board.level)} intervals for "
        f"conclusions about {board.about}",
        macro,
        marks=(LIMITS_LINE, dot("mean")),
        axis=f"macro mean of {board.measure}; ticks: datasets",
        tooltip=(
            *texts("run"),
            *numbers("mean", "low", "high", format=FOUR_DECIMALS),
            *texts("rank"),
        ),
        panel="",
        width=420,
    )
    return draw_intervals(declared, lambda axis: _dataset_ticks(board, order, axis))


def _dataset_ticks(board: Leaderboard, order: list[str], axis: Any) -> Any:
    """Return a tick for the score of each run on each dataset."""
    cells = [
        {"run": board.runs[run], "dataset": name, "score": float(board.mean[place, run])}
        for run in board.order
        for place, name in enumerate(board.datasets)
        if not math.isnan(board.mean[place, run])
    ]
    channels = {
        "y": field("run_number:N", title=None, axis=axis),
        "x": field("score:Q"),
        "color": {"value": COLOURS[1]},
        "tooltip": tooltips("run:N", "dataset:N") + tooltips("score:Q", numbers=".4f"),
    }
    data = inline_records(numbered(cells, run=order))
    return mark("tick", channels, data=data, opacity=0.7, thickness=2)
