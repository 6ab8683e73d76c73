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
    Spec,
    end_field,
    field,
    in_panels,
    inline_records,
    label_names,
    mark,
    numbered,
    styled,
    tooltips,
)
from confir.studies.coverage.coverage import Coverage
from confir.studies.coverage.type_one_error import TypeOneError

# A box plot needs at least this many runs; fewer are drawn one by one.
_FEWEST_IN_BOX = 8

_GREY = "#888"

_BOXES: Spec = {
    "size": 13,
    "box": {"stroke": COLOURS[0], "fill": COLOURS[5]},
    "median": {"color": "black", "thickness": 2},
    "rule": {"stroke": COLOURS[0]},
    "outliers": {"size": 14, "color": COLOURS[0], "filled": False},
}


def coverage_chart(coverage: Coverage) -> Any:
    """Return coverage by method, one panel per measure: box plots over runs, or few runs by name."""
    runs = coverage.runs
    known = [record for record in coverage.to_records() if not np.isnan(record["coverage"])]
    many = len(runs) >= _FEWEST_IN_BOX
    shown = tooltips("run:N", "measure:N", "method:N", "coverage:Q")
    base: Spec = {"y": field("method:N", sort=list(coverage.methods), title=None)}
    axis = {
        "scale": {"zero": False, "padding": 12},
        "axis": {"tickCount": 6},
        "title": "share of intervals that contain the mean",
    }
    if many:
        channels = base | {"x": field("coverage:Q", **axis), "tooltip": shown}
        drawn = [mark("boxplot", channels, **_BOXES)]
    else:
        colours = {"domain": list(range(len(runs))), "range": list(COLOURS[: len(runs)])}
        legend = {"labelExpr": label_names(runs)}
        base |= {
            "yOffset": field("run_number:N"),
            "color": field("run_number:N", scale=colours, title=None, legend=legend),
            "tooltip": [*shown, *tooltips("low:Q", "high:Q")],
        }
        ends = {"x": field("low:Q", **axis), "x2": end_field("high:Q")}
        dots = base | {"x": field("coverage:Q")}
        drawn = [
            mark("rule", base | ends, strokeWidth=2),
            mark("point", dots, filled=True, size=40, opacity=1),
        ]
    claimed = mark("rule", {"x": field("level:Q")}, color=INK, strokeDash=[5, 3])
    layers = {
        "data": inline_records(numbered(known, run=runs, measure=coverage.measures)),
        "layer": [*drawn, claimed],
        "width": 280,
        "height": {"step": 22} if many else {"step": 12, "for": "offset"},
    }
    panels = in_panels(layers, "measure", coverage.measures, scales={})
    how = f"box plots over {len(runs)} runs" if many else "each with its Monte-Carlo error"
    title = f"Coverage of {percent(coverage.level)} intervals (dashed: nominal), {how}"
    return styled(panels, title)


def type_one_chart(error: TypeOneError) -> Any:
    """Return actual against nominal error: one panel per sample size, one line per method."""
    records = [
        {**record, "nominal": round(1.0 - record["level"], 10), "n": f"n = {record['topics']}"}
        for record in error.to_records()
    ]
    highest = max(max(record["nominal"], record["error"]) for record in records)
    whole = {"domain": [0.0, min(1.0, 1.05 * highest)], "nice": False}
    methods = list(error.methods)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(methods))]
    dashes = {"domain": methods, "range": _dashes(len(methods))}
    made = {
        "x": field("nominal:Q", title="nominal error", scale=whole),
        "y": field("error:Q", title="actual error", scale=whole),
        "color": field(
            "method:N", sort=methods, scale={"domain": methods, "range": colours}, title=None
        ),
        "strokeDash": field("method:N", sort=methods, title=None, scale=dashes),
        "tooltip": tooltips("method:N", "topics:Q", "level:Q", "error:Q"),
    }
    exact = {"x": field("nominal:Q"), "y": field("nominal:Q", title="actual error")}
    panels = {
        "data": inline_records(records),
        "facet": field("n:N", title=None, sort=[f"n = {size}" for size in error.topics]),
        "columns": 3,
        "spec": {
            "layer": [
                mark("line", exact, color=_GREY, strokeDash=[2, 3]),
                mark("line", made, point={"size": 22}),
            ],
            "width": 250,
            "height": 250,
        },
    }
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
    present = [record for record in records if not np.isnan(record["value"])]
    value = field("value:Q", bin={"maxbins": 24}, title=title)
    channels = {
        "x": value,
        "y": field("count():Q", title=counted),
        "tooltip": [value, field("count():Q")],
    }
    bars = mark("bar", channels, color=COLOURS[0], binSpacing=1)
    bars |= {"width": 250 if len(groups) > 1 else 420, "height": 200}
    bars["data"] = inline_records(numbered(present, group=groups))
    return bars if len(groups) == 1 else in_panels(bars, "group", groups, columns=3, scales={})


def _dashes(number: int) -> list[list[int]]:
    """Return dash patterns that distinguish lines of the same colour."""
    strokes = ([1, 0], [6, 3], [2, 2])
    return [strokes[place // len(COLOURS) % len(strokes)] for place in range(number)]
