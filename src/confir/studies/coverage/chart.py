"""Charts of coverage, as box plots over runs, and of Type I error by its nominal value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.data.result import Record
from confir.data.scores import Scores
from confir.errors import counted
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    inline_records,
    label_names,
    layered,
    numbered,
    panel_facet,
    styled,
    tooltips,
)
from confir.studies.coverage.coverage import Coverage
from confir.studies.coverage.type_one_error import TypeOneError

# A box plot needs at least this many runs; fewer are drawn one by one.
_FEWEST_IN_BOX = 8

_GREY = "#888"


def coverage_chart(coverage: Coverage) -> Any:
    """Return coverage by method, one panel per measure: box plots over runs, or few runs by name."""
    alt = import_altair()
    runs = coverage.runs
    known = [record for record in coverage.to_records() if not np.isnan(record["coverage"])]
    many = len(runs) >= _FEWEST_IN_BOX
    shown = tooltips("run:N", "measure:N", "method:N", "coverage:Q")
    base = alt.Chart().encode(y=alt.Y("method:N", sort=list(coverage.methods), title=None))
    axis = {
        "scale": alt.Scale(zero=False, padding=12),
        "axis": alt.Axis(tickCount=6),
        "title": "share of intervals that contain the mean",
    }
    if many:
        drawn = [_boxes(base).encode(x=alt.X("coverage:Q", **axis), tooltip=shown)]
    else:
        colours = alt.Scale(domain=list(range(len(runs))), range=list(COLOURS[: len(runs)]))
        legend = alt.Legend(labelExpr=label_names(runs))
        own = base.encode(
            yOffset=alt.YOffset("run_number:N"),
            color=alt.Color("run_number:N", scale=colours, title=None, legend=legend),
            tooltip=[*shown, *tooltips("low:Q", "high:Q")],
        )
        limits = own.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", **axis), x2=alt.X2("high:Q"))
        dots = own.mark_point(filled=True, size=40, opacity=1).encode(x=alt.X("coverage:Q"))
        drawn = [limits, dots]
    claimed = alt.Chart().mark_rule(color=INK, strokeDash=[5, 3]).encode(x=alt.X("level:Q"))
    height = alt.Step(22) if many else {"step": 12, "for": "offset"}
    data = inline_records(numbered(known, run=runs, measure=coverage.measures))
    layers = layered(*drawn, claimed, data=data, width=280, height=height)
    panels = layers.facet(facet=panel_facet(alt, "measure", coverage.measures), columns=2)
    how = f"box plots over {len(runs)} runs" if many else "each with its Monte-Carlo error"
    title = f"Coverage of {percent(coverage.level)} intervals (dashed: nominal), {how}"
    return styled(panels, title)


def _boxes(base: Any) -> Any:
    return base.mark_boxplot(
        size=13,
        box={"stroke": COLOURS[0], "fill": COLOURS[5]},
        median={"color": "black", "thickness": 2},
        rule={"stroke": COLOURS[0]},
        outliers={"size": 14, "color": COLOURS[0], "filled": False},
    )


def type_one_chart(error: TypeOneError) -> Any:
    """Return actual against nominal error: one panel per sample size, one line per method."""
    alt = import_altair()
    records = [
        {**record, "nominal": round(1.0 - record["level"], 10), "n": f"n = {record['topics']}"}
        for record in error.to_records()
    ]
    highest = max(max(record["nominal"], record["error"]) for record in records)
    whole = alt.Scale(domain=[0.0, min(1.0, 1.05 * highest)], nice=False)
    methods = list(error.methods)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(methods))]
    scale = alt.Scale(domain=methods, range=colours)
    made = (
        alt.Chart()
        .mark_line(point={"size": 22})
        .encode(
            x=alt.X("nominal:Q", title="nominal error", scale=whole),
            y=alt.Y("error:Q", title="actual error", scale=whole),
            color=alt.Color("method:N", sort=methods, scale=scale, title=None),
            strokeDash=alt.StrokeDash(
                "method:N",
                sort=methods,
                title=None,
                scale=alt.Scale(domain=methods, range=_dashes(len(methods))),
            ),
            tooltip=tooltips("method:N", "topics:Q", "level:Q", "error:Q"),
        )
    )
    exact = (
        alt.Chart()
        .mark_line(color=_GREY, strokeDash=[2, 3])
        .encode(x=alt.X("nominal:Q"), y=alt.Y("nominal:Q", title="actual error"))
    )
    sizes = [f"n = {size}" for size in error.topics]
    panels = layered(exact, made, data=inline_records(records), width=250, height=250).facet(
        facet=alt.Facet("n:N", title=None, sort=sizes), columns=3
    )
    drawn = f"samples {error.sampling} replacement, mean over {counted(len(error.columns), 'population')}"
    return styled(panels, f"Type I error of intervals (dotted: nominal), {drawn}")


def bias_chart(error: TypeOneError) -> Any:
    """Return histograms of the bias of the sample mean over runs, one panel per sample size.

    For samples of 5 topics this is Figure 1 of [Park2011].
    """
    records = [
        {"group": f"n = {size}", "value": float(error.bias[t, c])}
        for t, size in enumerate(error.topics)
        for c in range(len(error.columns))
    ]
    sizes = [f"n = {size}" for size in error.topics]
    panels = _histograms(records, sizes, "mean of the sample means minus the truth", "runs")
    return styled(
        panels, f"Bias of the mean of n topics, from {counted(error.samples, 'sample')} of each run"
    )


def skewness_chart(error: TypeOneError) -> Any:
    """Return a histogram of the skewness of the runs' scores: Figure 2 of [Park2011]."""
    records = [{"group": "", "value": float(value)} for value in error.skewness]
    panels = _histograms(records, [""], "skewness of a run's scores over topics", "runs")
    return styled(panels, f"Skewness of the scores of {counted(len(error.columns), 'run')}")


def population_chart(error: TypeOneError, scores: Scores) -> Any:
    """Return histograms of the scores of the least, the median and the most skewed run.

    Figure 3 of [Park2011]; ``scores`` are those that the error was estimated from.
    """
    columns = scores.values.reshape(len(scores.topics), -1)
    skewness = error.skewness
    order = [c for c in np.argsort(skewness, kind="stable").tolist() if not np.isnan(skewness[c])]
    chosen = {"least": order[0], "median": order[(len(order) - 1) // 2], "greatest": order[-1]}
    groups = {
        c: f"{error.columns[c][0]}: {name} skewness, {error.skewness[c]:.2f}"
        for name, c in chosen.items()
    }
    records = [
        {"group": group, "value": float(value)}
        for c, group in groups.items()
        for value in columns[:, c]
    ]
    panels = _histograms(records, list(groups.values()), error.columns[order[0]][1], "topics")
    return styled(panels, "Scores of the runs with least, median and greatest skewness")


def _histograms(records: Sequence[Record], groups: list[str], title: str, counted: str) -> Any:
    """Return a histogram of the values of each group, side by side on the same scale."""
    alt = import_altair()
    present = [record for record in records if not np.isnan(record["value"])]
    bars = (
        alt.Chart(inline_records(numbered(present, group=groups)))
        .mark_bar(color=COLOURS[0], binSpacing=1)
        .encode(
            x=alt.X("value:Q", bin=alt.Bin(maxbins=24), title=title),
            y=alt.Y("count():Q", title=counted),
            tooltip=[
                alt.Tooltip("value:Q", bin=alt.Bin(maxbins=24), title=title),
                alt.Tooltip("count():Q"),
            ],
        )
        .properties(width=250 if len(groups) > 1 else 420, height=200)
    )
    if len(groups) == 1:
        return bars
    return bars.facet(facet=panel_facet(alt, "group", groups), columns=3)


def _dashes(number: int) -> list[list[int]]:
    """Return dash patterns that distinguish lines of the same colour."""
    strokes = ([1, 0], [6, 3], [2, 2])
    return [strokes[place // len(COLOURS) % len(strokes)] for place in range(number)]
