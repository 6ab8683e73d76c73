"""Charts of scores over collections: means, topics, differences, and sources of variance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confir.data.result import Record
from confir.errors import UnknownNameError
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    label_names,
    names_best_first,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.report.inline_records import inline_records
from confir.report.numbers import percent, topics_text
from confir.studies.collection.collection import CollectionMeans, CollectionTopics
from confir.studies.collection.differences import CollectionDifferences, CollectionVariance
from confir.studies.collection.table import summary_name
from confir.studies.comparison.verdicts import BETTER, INCONCLUSIVE, WORSE

# Height of an interval where a run has several.
_METHOD_ROW = 11
_MOST_LABELLED_TOPICS = 120


def collection_chart(means: CollectionMeans) -> Any:
    """Return means with intervals over collections: one panel per summary, one row per run."""
    alt = import_altair()
    records = [record | {"panel": _panel(record, means)} for record in means.to_records()]
    panels = list(dict.fromkeys(record["panel"] for record in records))
    order = names_best_first([r for r in records if r["panel"] == panels[0]], "mean")
    methods = list(means.methods)
    several = len(methods) > 1
    axis, step = run_rows(alt, order)
    offset = {"yOffset": alt.YOffset("method:N", sort=methods)} if several else {}
    base = alt.Chart(inline_records(numbered(records, run=order, panel=panels))).encode(
        **offset,
        y=alt.Y("run_number:N", title=None, axis=axis),
        color=alt.Color(
            "method:N",
            scale=alt.Scale(domain=methods, range=list(COLOURS[: len(methods)])),
            title="interval by",
            legend=alt.Legend(orient="bottom") if several else None,
        ),
        tooltip=[
            *tooltips("run:N", "measure:N", "summary:N", "method:N"),
            alt.Tooltip("mean:Q", format=".4f"),
            alt.Tooltip("low:Q", format=".4f"),
            alt.Tooltip("high:Q", format=".4f"),
            alt.Tooltip("topics:Q"),
        ],
    )
    title = f"mean with {percent(means.level)} interval" + (
        "" if several else f" over collections ({methods[0]})"
    )
    limits = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=False)),
        x2=alt.X2("high:Q"),
    )
    dots = base.mark_point(filled=True, size=36, opacity=1).encode(x=alt.X("mean:Q"))
    drawing = (
        alt.layer(limits, dots)
        .properties(width=260, height=alt.Step(_METHOD_ROW) if several else step)
        .facet(facet=panel_facet(alt, "panel", panels), columns=3)
        .resolve_scale(x="independent")
    )
    return styled(
        drawing, f"Means over {topics_text(means.topics)}, had the collection been another"
    )


def _panel(record: Record, means: CollectionMeans) -> str:
    name = summary_name(record["summary"], means.measures)
    return name if len(means.measures) == 1 else f"{record['measure']}, {name}"


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
    alt = import_altair()
    wanted = run or topics.runs[0], measure or topics.measures[0]
    for kind, name, known in zip(
        ("run", "measure"), wanted, (topics.runs, topics.measures), strict=True
    ):
        if name not in known:
            raise UnknownNameError(kind, name, known)
    records = sorted(
        (
            record
            | {
                "kind": "corrected for small R" if record["corrected"] else "bootstrap",
            }
            for record in topics.to_records()
            if (record["run"], record["measure"]) == wanted
        ),
        key=lambda record: -record["score"],
    )
    labelled = len(records) <= _MOST_LABELLED_TOPICS
    order = [record["topic"] for record in records]
    base = alt.Chart(inline_records(numbered(records, topic=order))).encode(
        x=alt.X(
            "topic_number:N",
            title=f"topic ({len(records)}), best first",
            axis=alt.Axis(
                labels=labelled,
                labelExpr=label_names(order),
                ticks=labelled,
                labelAngle=-90,
                labelLimit=90,
            ),
        ),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(
                domain=["bootstrap", "corrected for small R"], range=[COLOURS[0], COLOURS[1]]
            ),
            title="interval",
            legend=alt.Legend(orient="bottom"),
        ),
        tooltip=[
            alt.Tooltip("topic:N"),
            alt.Tooltip("score:Q", format=".4f"),
            alt.Tooltip("low:Q", format=".4f"),
            alt.Tooltip("high:Q", format=".4f"),
            alt.Tooltip("relevant:Q"),
            alt.Tooltip("relevant_retrieved:Q"),
        ],
    )
    scale = alt.Scale(domain=[0, 1])
    limits = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low:Q", title=f"{wanted[1]} with {percent(topics.level)} interval", scale=scale),
        y2=alt.Y2("high:Q"),
    )
    dots = base.mark_point(filled=True, size=32, opacity=1).encode(y=alt.Y("score:Q", scale=scale))
    width = alt.Step(11) if labelled else 900
    drawing = alt.layer(limits, dots).properties(width=width, height=280)
    return styled(drawing, f"{wanted[0]}: each topic, had the collection been another")


def collection_difference_chart(differences: CollectionDifferences) -> Any:
    """Return differences with intervals over collections: one panel per kind, one row per run."""
    alt = import_altair()
    records = [
        record
        | {
            "panel": f"{summary_name(record['summary'], differences.measures)}, "
            f"{record['pairing']}; drawn: {record['resampled']}"
            + (f" ({record['measure']})" if len(differences.measures) > 1 else ""),
            "zero": 0,
        }
        for record in differences.to_records()
    ]
    panels = list(dict.fromkeys(record["panel"] for record in records))
    order = names_best_first([r for r in records if r["panel"] == panels[0]], "difference")
    verdicts = [BETTER, WORSE, INCONCLUSIVE]
    axis, step = run_rows(alt, order)
    plain = alt.Chart(inline_records(numbered(records, run=order, panel=panels)))
    base = plain.encode(
        y=alt.Y("run_number:N", title=None, axis=axis),
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=verdicts, range=[COLOURS[0], COLOURS[1], INK]),
            legend=alt.Legend(orient="bottom"),
        ),
        tooltip=[
            *tooltips("run:N", "summary:N"),
            alt.Tooltip("difference:Q", format="+.4f"),
            alt.Tooltip("low:Q", format="+.4f"),
            alt.Tooltip("high:Q", format="+.4f"),
            alt.Tooltip("p_adjusted:Q", format=".4f", title="adjusted p"),
            alt.Tooltip("verdict:N"),
        ],
    )
    title = f"difference with {percent(differences.level)} interval"
    layers = alt.layer(
        plain.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("zero:Q", title=title)),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=40, opacity=1).encode(x=alt.X("difference:Q")),
    )
    drawing = (
        layers.properties(width=280, height=step)
        .facet(facet=panel_facet(alt, "panel", panels), columns=2)
        .resolve_scale(x="independent")
    )
    return styled(
        drawing, f"Differences from {differences.baseline}, had the collection been another"
    )


def collection_variance_chart(
    variance: CollectionVariance, order: Sequence[str] | None = None
) -> Any:
    """Return a chart of where variance comes from: one stacked bar per run, one panel per summary.

    Parameters
    ----------
    variance
        What `decompose_variance` returns.
    order
        The runs from top to bottom; by default as they come.
    """
    alt = import_altair()
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
    axis, step = run_rows(alt, rows)
    drawing = (
        alt.Chart(inline_records(numbered(records, run=rows, panel=panels)))
        .mark_bar()
        .encode(
            y=alt.Y("run_number:N", title=None, axis=axis),
            x=alt.X("variance:Q", title="variance", stack="zero"),
            color=alt.Color(
                "part:N",
                sort=parts,
                scale=alt.Scale(domain=parts, range=list(COLOURS[:3])),
                title="from",
                legend=alt.Legend(orient="bottom"),
            ),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("part:N"),
                alt.Tooltip("variance:Q", format=".3g"),
            ],
        )
        .properties(width=280, height=step)
        .facet(facet=panel_facet(alt, "panel", panels), columns=2)
        .resolve_scale(x="independent")
    )
    against = "" if variance.baseline is None else f" of differences from {variance.baseline}"
    return styled(drawing, f"Where the variance{against} comes from")
