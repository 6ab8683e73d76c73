"""Charts of leaderboards over datasets: macro means with intervals, and the datasets' means."""

from __future__ import annotations

import math
from typing import Any

from confir.report.charts import (
    COLOURS,
    import_altair,
    interval_layers,
    numbered,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.report.numbers import percent
from confir.studies.leaderboard.leaderboard import Leaderboard


def leaderboard_chart(board: Leaderboard) -> Any:
    """Return a chart with one row per run, best first: its macro mean, and a tick per dataset."""
    alt = import_altair()
    order = [board.runs[run] for run in board.order]
    axis, step = run_rows(alt, order)
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
    cells = [
        {"run": board.runs[run], "dataset": name, "score": float(board.mean[place, run])}
        for run in board.order
        for place, name in enumerate(board.datasets)
        if not math.isnan(board.mean[place, run])
    ]
    y = alt.Y("run_number:N", title=None, axis=axis)
    base = alt.Chart(inline_records(numbered(macro, run=order))).encode(
        y=y,
        color=alt.value(COLOURS[0]),
        tooltip=tooltips("run:N", "mean:Q", "low:Q", "high:Q", numbers=".4f") + tooltips("rank:N"),
    )
    title = f"macro mean of {board.measure}; ticks: datasets"
    ticks = (
        alt.Chart(inline_records(numbered(cells, run=order)))
        .mark_tick(opacity=0.7, thickness=2)
        .encode(
            y=y,
            x=alt.X("score:Q", title=title),
            color=alt.value(COLOURS[1]),
            tooltip=tooltips("run:N", "dataset:N") + tooltips("score:Q", numbers=".4f"),
        )
    )
    layers = alt.layer(ticks, *interval_layers(base, "mean", title))
    about = (
        f"Macro means over {len(board.datasets)} datasets, with {percent(board.level)} intervals for "
        f"conclusions about {board.about}"
    )
    return styled(layers.properties(width=420, height=step), about)
