"""Charts of scores over collections: intervals by method, topics, and parts of variance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confir.arguments import as_choice
from confir.number_text import p_text, percent, topics_text
from confir.pairs.decisions import BETTER, IDENTICAL, INCONCLUSIVE, WORSE
from confir.report.charts import (
    COLOURS,
    INK,
    end_field,
    field,
    in_panels,
    inline_records,
    mark,
    names_best_first,
    numbered,
    run_rows,
    styled,
    tooltips,
    topic_axis,
)
from confir.studies.collection.collection_differences import CollectionDifferences
from confir.studies.collection.collection_means import (
    CollectionMeans,
    CollectionVariance,
    summary_name,
)
from confir.studies.collection.collection_topics import CollectionTopics

# Height of an interval if a run has several.
_METHOD_ROW = 11


def collection_chart(means: CollectionMeans) -> Any:
    """Return means with intervals over collections: one panel per summary, one row per run."""
    records = []
    for record in means.to_records():
        of_measure = f"{record['measure']}, " if len(means.measures) > 1 else ""
        panel = of_measure + summary_name(record["summary"], means.measures)
        records.append(record | {"panel": panel})
    panels = list(dict.fromkeys(record["panel"] for record in records))
    order = names_best_first([r for r in records if r["panel"] == panels[0]], "mean")
    methods = list(means.methods)
    several = len(methods) > 1
    axis, step = run_rows(order)
    title = f"mean with {percent(means.level)} interval" + (
        "" if several else f" over collections ({methods[0]})"
    )
    base = {
        **({"yOffset": field("method:N", sort=methods)} if several else {}),
        "y": field("run_number:N", title=None, axis=axis),
        "color": field(
            "method:N",
            scale={"domain": methods, "range": list(COLOURS[: len(methods)])},
            title="interval by",
            legend={"orient": "bottom"} if several else None,
        ),
        "tooltip": [
            *tooltips("run:N", "measure:N", "summary:N", "method:N"),
            *tooltips("mean:Q", "low:Q", "high:Q", numbers=".4f"),
            *tooltips("topics:Q"),
        ],
    }
    low = field("low:Q", title=title, scale={"zero": False})
    limits, dots = {"x": low, "x2": end_field("high:Q")}, {"x": field("mean:Q")}
    layers = {
        "data": inline_records(numbered(records, run=order, panel=panels)),
        "layer": [
            mark("rule", base | limits, strokeWidth=2),
            mark("point", base | dots, filled=True, size=36, opacity=1),
        ],
        "width": 260,
        "height": {"step": _METHOD_ROW} if several else step,
    }
    heading = f"Means over {topics_text(means.topics)}, on similar collections of documents"
    return styled(in_panels(layers, "panel", panels, columns=3), heading)


def collection_topic_chart(
    topics: CollectionTopics, run: str | None = None, measure: str | None = None
) -> Any:
    """Return a chart of every topic's score with its interval over collections, best first.

    Parameters
    ----------
    topics
        What `summarise_topics` returns.
    run, measure
        Which run by which measure; by default the first.
    """
    chosen_run = as_choice("run", run or topics.runs[0], topics.runs)
    chosen_measure = as_choice("measure", measure or topics.measures[0], topics.measures)
    kinds = ["bootstrap", "corrected for small R"]
    records = sorted(
        (
            record | {"kind": kinds[record["corrected"]]}
            for record in topics.select(run=chosen_run, measure=chosen_measure).to_records()
        ),
        key=lambda record: -record["score"],
    )
    order = [record["topic"] for record in records]
    axis, width = topic_axis(order, len(order))
    scale, colours = {"domain": [0, 1]}, {"domain": kinds, "range": list(COLOURS[:2])}
    base = {
        "x": field("topic_number:N", title=f"topic ({len(records)}), best first", axis=axis),
        "color": field("kind:N", scale=colours, title="interval", legend={"orient": "bottom"}),
        "tooltip": [
            *tooltips("topic:N", "score:Q", "low:Q", "high:Q", numbers=".4f"),
            *tooltips("relevant:Q", "relevant_retrieved:Q"),
        ],
    }
    title = f"{chosen_measure} with {percent(topics.level)} interval"
    limits = {"y": field("low:Q", title=title, scale=scale), "y2": end_field("high:Q")}
    dots = {"y": field("score:Q", scale=scale)}
    drawing = {
        "data": inline_records(numbered(records, topic=order)),
        "layer": [
            mark("rule", base | limits, strokeWidth=2),
            mark("point", base | dots, filled=True, size=32, opacity=1),
        ],
        "width": width,
        "height": 280,
    }
    return styled(drawing, f"{chosen_run}: each topic, on similar collections of documents")


def collection_difference_chart(differences: CollectionDifferences) -> Any:
    """Return differences with intervals over collections: one panel per variant, one row per run."""
    records = [
        record
        | {
            "panel": f"{summary_name(record['summary'], differences.measures)}, "
            f"{record['pairing']}; resampled: {record['resampled']}"
            + (f" ({record['measure']})" if len(differences.measures) > 1 else ""),
            "zero": 0,
            "p_text": p_text(record["p_adjusted"]),
        }
        for record in differences.to_records()
    ]
    panels = list(dict.fromkeys(record["panel"] for record in records))
    order = names_best_first([r for r in records if r["panel"] == panels[0]], "difference")
    verdicts = [BETTER, WORSE, INCONCLUSIVE]
    verdicts += [IDENTICAL] if (differences.verdict == IDENTICAL).any() else []
    axis, step = run_rows(order)
    shades = {"domain": verdicts, "range": [COLOURS[0], COLOURS[1], INK, COLOURS[3]]}
    base = {
        "y": field("run_number:N", title=None, axis=axis),
        "color": field("verdict:N", scale=shades, legend={"orient": "bottom"}),
        "tooltip": [
            *tooltips("run:N", "summary:N", "difference:Q", "low:Q", "high:Q", numbers="+.4f"),
            field("p_text:N", title="adjusted p"),
            field("verdict:N"),
        ],
    }
    title = f"difference with {percent(differences.level)} interval"
    zero = {"x": field("zero:Q", title=title)}
    limits = {"x": field("low:Q", title=title, scale={"zero": False}), "x2": end_field("high:Q")}
    dots = {"x": field("difference:Q")}
    layers = {
        "data": inline_records(numbered(records, run=order, panel=panels)),
        "layer": [
            mark("rule", zero, color=INK, strokeDash=[4, 3]),
            mark("rule", base | limits, strokeWidth=2),
            mark("point", base | dots, filled=True, size=40, opacity=1),
        ],
        "width": 280,
        "height": step,
    }
    heading = f"Differences from {differences.baseline}, on similar collections of documents"
    return styled(in_panels(layers, "panel", panels), heading)


def collection_variance_chart(
    variance: CollectionVariance, order: Sequence[str] | None = None
) -> Any:
    """Return a chart of variance components: one stacked bar per run, one panel per summary.

    Parameters
    ----------
    variance
        What `decompose_variance` returns.
    order
        The runs from top to bottom; by default in their own order.
    """
    parts = ["topics", "documents", "interaction"]
    records = [
        {
            "run": record["run"],
            "panel": summary_name(record["summary"], variance.measures)
            + (f" ({record['measure']})" if len(variance.measures) > 1 else ""),
            "part": part,
            "place": place,
            "variance": record[part],
        }
        for record in variance.to_records()
        for place, part in enumerate(parts)
    ]
    panels = list(dict.fromkeys(record["panel"] for record in records))
    rows = order or variance.runs
    axis, step = run_rows(rows)
    channels = {
        "y": field("run_number:N", title=None, axis=axis),
        "x": field("variance:Q", title="variance", stack="zero"),
        "color": field(
            "part:N",
            sort=parts,
            scale={"domain": parts, "range": list(COLOURS[:3])},
            title="from",
            legend={"orient": "bottom"},
        ),
        "order": field("place:Q"),
        "tooltip": tooltips("run:N", "part:N", "variance:Q", numbers=".3g"),
    }
    data = inline_records(numbered(records, run=rows, panel=panels))
    bars = mark("bar", channels, data=data) | {"width": 280, "height": step}
    against = "" if variance.baseline is None else f" of differences from {variance.baseline}"
    return styled(in_panels(bars, "panel", panels), f"Where the variance{against} comes from")
