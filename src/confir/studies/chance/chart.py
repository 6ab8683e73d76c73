"""Charts of the random baseline: compared with runs, with topics, and with R/N."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confir.data.result import Record
from confir.errors import counted
from confir.number_text import topics_text
from confir.report.charts import (
    COLOURS,
    import_altair,
    in_panels,
    inline_records,
    names_best_first,
    numbered,
    panel_facet,
    run_rows,
    styled,
    tooltips,
)
from confir.studies.chance.chance import Chance
from confir.studies.chance.table import chance_is_shared, topic_counts

_CHANCE_COLOUR = COLOURS[1]
_CHANCE_TICK = 11  # the height of the lowest row


def chance_chart(chance: Chance) -> Any:
    """Return a chart of the runs' means and the baseline; without runs, of the baseline by topic."""
    return run_chart(chance) if chance.runs else baseline_chart(chance)


def run_chart(chance: Chance) -> Any:
    """Return a chart of the runs' means, a dashed line for chance: one panel per measure.

    If runs lack topics, so that chance differs between them, each row has its own tick.
    """
    alt = import_altair()
    records = chance.to_records()
    shared = chance_is_shared(chance)
    order = names_best_first([r for r in records if r["measure"] == chance.measures[0]], "score")
    axis, step = run_rows(alt, order)
    base = alt.Chart(inline_records(numbered(records, run=order, measure=chance.measures)))
    rows = base.encode(y=alt.Y("run_number:N", title=None, axis=axis))
    title = f"mean score; {'dashed: chance' if shared else 'ticks: chance on its topics'}"
    means = rows.mark_point(color=COLOURS[0], filled=True, size=50, opacity=1).encode(
        x=alt.X("score:Q", title=title, scale=alt.Scale(zero=True)),
        tooltip=tooltips(
            "run:N", "measure:N", "topics:Q", "score:Q", "expected:Q", "corrected:Q", "p:Q"
        ),
    )
    layers = alt.layer(means, _chance_line(base) if shared else _chance_ticks(rows))
    return styled(
        in_panels(layers.properties(width=260, height=step), "measure", chance.measures),
        f"Runs and chance: random rankings of {counted(chance.documents, 'document')}, "
        f"{topics_text(topic_counts(chance))}",
    )


def _chance_line(base: Any) -> Any:
    """Return a dashed line at the baseline of all runs."""
    alt = import_altair()
    return base.mark_rule(color=_CHANCE_COLOUR, strokeDash=[5, 3], strokeWidth=2).encode(
        x=alt.X("mean(expected):Q"), tooltip=[alt.Tooltip("mean(expected):Q", title="chance")]
    )


def _chance_ticks(rows: Any) -> Any:
    """Return a tick in each row at the baseline on the run's own topics."""
    alt = import_altair()
    return rows.mark_tick(color=_CHANCE_COLOUR, thickness=2, size=_CHANCE_TICK, opacity=1).encode(
        x=alt.X("expected:Q"), tooltip=tooltips("run:N", "measure:N", "expected:Q")
    )


def topic_chart(chance: Chance, measure: str | None = None) -> Any:
    """Return a chart of each topic's score against chance: one panel per run.

    Parameters
    ----------
    chance
        With runs.
    measure
        Which measure; by default the first.
    """
    alt = import_altair()
    chosen = chance.measures[0] if measure is None else measure
    records = [r for r in chance.to_records(per_topic=True) if r["measure"] == chosen]
    smallest = min((r["expected"] for r in records if r["expected"] > 0), default=1e-6)
    # logarithmic except near 0, to include scores of 0
    scale = alt.Scale(type="symlog", constant=smallest)
    axis = alt.Axis(format="~g", values=[0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1], labelOverlap="greedy")
    base = alt.Chart(inline_records(numbered(records, run=chance.runs))).encode(
        x=alt.X("expected:Q", title=f"{chosen} expected by chance", scale=scale, axis=axis)
    )
    equal = base.mark_line(color=_CHANCE_COLOUR, strokeDash=[5, 3]).encode(
        y=alt.Y("expected:Q", scale=scale, axis=axis, title=[chosen]), order=alt.Order("expected:Q")
    )
    points = base.mark_circle(color=COLOURS[0], size=28, opacity=0.6).encode(
        y=alt.Y("score:Q"),
        tooltip=tooltips(
            "topic:N", "run:N", "relevant:Q", "score:Q", "expected:Q", "corrected:Q", "p:Q"
        ),
    )
    panels = (
        alt.layer(points, equal)
        .properties(width=170, height=150)
        .facet(facet=panel_facet(alt, "run", chance.runs), columns=4)
    )
    return styled(panels, f"{chosen} of each topic; dashed: expected by chance")


def baseline_chart(chance: Chance) -> Any:
    """Return a chart of the expected score of each topic by its number of relevant documents."""
    alt = import_altair()
    records = numbered(chance.to_records(per_topic=True), measure=chance.measures)
    base = alt.Chart(inline_records(records))
    points = base.mark_circle(color=_CHANCE_COLOUR, size=40, opacity=0.7).encode(
        x=alt.X("relevant:Q", title="relevant documents"),
        y=alt.Y("expected:Q", title="expected score", axis=alt.Axis(format="~g")),
        tooltip=tooltips("topic:N", "relevant:Q", "expected:Q", "sd:Q", "prevalence:Q"),
    )
    usual = base.mark_line(color="#888", strokeDash=[2, 2]).encode(
        x=alt.X("relevant:Q"), y=alt.Y("prevalence:Q"), order=alt.Order("relevant:Q")
    )
    panels = (
        alt.layer(usual, points)
        .properties(width=260, height=200)
        .facet(facet=panel_facet(alt, "measure", chance.measures), columns=2)
        .resolve_scale(y="independent")
    )
    return styled(
        panels,
        f"Chance: random rankings of {counted(chance.documents, 'document')} (dotted: R/N)",
    )


def prevalence_gap_chart(records: Sequence[Record]) -> Any:
    """Return [Bestgen2015]'s Figure 1: how far R/N lies below the expected AP.

    Parameters
    ----------
    records
        With the fields documents, prevalence (as text) and difference.
    """
    alt = import_altair()
    shares = list(dict.fromkeys(record["prevalence"] for record in records))
    lines = (
        alt.Chart(inline_records(records))
        .mark_line()
        .encode(
            x=alt.X("documents:Q", title="documents N"),
            y=alt.Y("difference:Q", title="expected AP − R/N"),
            color=alt.Color(
                "prevalence:N",
                sort=shares,
                title="p = R/N",
                scale=alt.Scale(range=[*COLOURS[:6], COLOURS[7]]),
            ),
            strokeDash=alt.StrokeDash("prevalence:N", sort=shares, legend=None),
            tooltip=tooltips("documents:Q", "prevalence:N", "difference:Q"),
        )
    )
    bound = (
        alt.Chart(inline_records([{"difference": 0.01}]))
        .mark_rule(color="#888", strokeDash=[2, 2])
        .encode(y=alt.Y("difference:Q"))
    )
    return styled(
        alt.layer(lines, bound).properties(width=480, height=300),
        "Expected AP of a random ranking minus R/N",
    )
