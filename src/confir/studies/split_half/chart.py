"""Charts of split-half validation: shares, normalised differences, and means of both halves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.arrays import Floats, best_first
from confir.data.result import Record
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    import_altair,
    inline_records,
    label_names,
    numbered,
    styled,
)
from confir.studies.collection.collection_means import summary_name
from confir.studies.split_half.splits import FEW_RELEVANT, Split, SplitHalf

_COLUMNS = {"below": "below", "in": "inside", "above": "above"}

_EDGE, _BIN = 5.0, 0.25  # normalised differences beyond the edge are drawn there


def split_half_chart(result: SplitHalf) -> Any:
    """Return a chart of the shares below, in and above, with what the model predicts."""
    alt = import_altair()
    parts, records = list(_COLUMNS), _share_records(result)
    panels = list(dict.fromkeys(record["panel"] for record in records))
    names = list(dict.fromkeys(record["name"] for record in records))
    plain = alt.Chart(inline_records(records)).encode(
        color=alt.Color(
            "part:N",
            sort=parts,
            scale=alt.Scale(domain=parts, range=[COLOURS[0], COLOURS[2], COLOURS[1]]),
            title="other half's score lies",
            legend=alt.Legend(orient="bottom"),
        ),
        tooltip=[
            "name:N",
            "part:N",
            *(alt.Tooltip(f"{name}:Q", format=".1%") for name in ("share", "lowest", "highest")),
        ],
    )
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    name = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=240))
    dots = plain.mark_point(filled=True, size=50, opacity=1).encode(
        x=alt.X("share:Q", title=_shares_title(result), axis=axis), y=name
    )
    spread = plain.mark_rule(strokeWidth=2, opacity=0.6).encode(
        x="lowest:Q", x2="highest:Q", y=name
    )
    model = plain.transform_filter("datum.part != 'below'").mark_rule(strokeDash=[4, 3])
    drawing = (
        alt.layer(model.encode(x="model:Q"), *([spread] if len(result.splits) > 1 else []), dots)
        .properties(width=280, height=alt.Step(18))
        .facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=2)
    )
    title = (
        f"{percent(result.level)} intervals of {result.measure} from one half of the documents, "
        "and the other half's score"
    )
    return styled(drawing, title)


def _share_records(result: SplitHalf) -> list[Record]:
    """Return how often the other half's score lies below, in or above intervals of topics."""
    return [
        {
            "name": f"{record['method']}{', corrected' if record['corrected'] else ''}",
            "panel": f"{record['direction']}, "
            + ("all topics" if record["subset"] == "all" else f"R > {FEW_RELEVANT}"),
            "part": part,
            "share": record[_COLUMNS[part]],
            "lowest": record[f"{_COLUMNS[part]}_min"],
            "highest": record[f"{_COLUMNS[part]}_max"],
            "model": record["predicted"] if part == "in" else (1.0 - record["predicted"]) / 2.0,
        }
        for record in result.to_records()
        for part in _COLUMNS
        if record["summary"] == "topic" and record["n"]
    ]


def _shares_title(result: SplitHalf) -> str:
    if len(result.splits) == 1:
        return "share (dashed: the model)"
    return f"share: mean and range of {len(result.splits)} splits (dashed: the model)"


def normalised_chart(
    split: Split,
    methods: Sequence[str] = ("linear", "logit"),
    *,
    corrected: bool = True,
    half: int = 0,
) -> Any:
    """Return histograms of the other half's score minus this one's, the interval at [-1, 1].

    [Cormack2006] Figures 1 (BCa, uncorrected) and 2 (linear and logit, corrected).
    """
    alt = import_altair()
    records = [
        record
        for method in methods
        for record in _bin_records(method, split.normalised(method, corrected=corrected, half=half))
    ]
    base = alt.Chart(inline_records(records))
    bars = base.mark_rect(stroke="white", strokeWidth=0.5).encode(
        x=alt.X("from:Q", title="normalised difference (ends: that far or farther)"),
        x2="to:Q",
        y=alt.Y("lists:Q", title="lists"),
        y2=alt.Y2Datum(0),
        color=alt.Color(
            "place:N",
            scale=alt.Scale(domain=["in the interval", "outside"], range=[COLOURS[2], COLOURS[1]]),
            title=None,
            legend=alt.Legend(orient="bottom"),
        ),
        tooltip=["method:N", "from:Q", "to:Q", "lists:Q"],
    )
    limits = base.mark_rule(color="#444", strokeDash=[4, 3]).encode(x="limit:Q")
    drawing = (
        alt.layer(bars, limits)
        .properties(width=320, height=200)
        .facet(facet=alt.Facet("method:N", title=None, sort=list(methods)), columns=2)
    )
    what = "small-R corrected" if corrected else "uncorrected"
    return styled(drawing, f"Score of the other half minus this one's, {what}")


def _bin_records(method: str, values: Floats) -> list[Record]:
    """Return the bins of a histogram, the outermost with all values beyond them."""
    edges = np.linspace(-_EDGE, _EDGE, round(2 * _EDGE / _BIN) + 1)
    counts, _ = np.histogram(np.clip(values, -_EDGE, _EDGE), edges)
    limits = [-1, 1] * (len(counts) // 2)
    bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), limits, strict=True)
    return [
        {
            "method": method,
            "from": start,
            "to": stop,
            "lists": count,
            "place": "in the interval" if abs(start + stop) < 2 else "outside",
            "limit": limit,
        }
        for start, stop, count, limit in bins
    ]


def half_means_chart(
    split: Split,
    shown: Sequence[tuple[str, str]] = (("mean", "parametric"), ("logit-mean", "bootstrap")),
) -> Any:
    """Return each run's mean in both halves with the interval from A ([Cormack2006] Figure 3)."""
    alt = import_altair()
    panels = []
    for summary, method in shown:
        records = split.mean_records(summary, method)
        worst_first = best_first(-np.array([record["A"] for record in records]))
        order = [records[place]["run"] for place in worst_first]
        axis = alt.Axis(labelLimit=100, labelExpr=label_names(order))
        base = alt.Chart(inline_records(numbered(records, run=order))).encode(
            x=alt.X("run_number:N", title="run, worst first", axis=axis),
            tooltip=["run:N", "A:Q", "B:Q", "low:Q", "high:Q"],
        )
        name = summary_name(summary, (split.measure,))
        limits = base.mark_rule(strokeWidth=2, color="#888").encode(
            y=alt.Y("low:Q", title=name, scale=alt.Scale(zero=False)), y2="high:Q"
        )
        crosses = base.mark_point(shape="cross", angle=45, size=50, color=COLOURS[0], filled=True)
        circles = base.mark_point(size=40, color=COLOURS[1])
        panels.append(
            alt.layer(limits, crosses.encode(y="A:Q"), circles.encode(y="B:Q")).properties(
                width=alt.Step(12), height=220, title=f"{name}, {method} interval"
            )
        )
    title = alt.TitleParams(
        "Means of both halves, with the interval from half A",
        subtitle="cross: half A; circle: half B",
        subtitleColor="#555",
    )
    return styled(alt.concat(*panels, columns=2), title)
