"""Charts of the random baseline: means of runs with a line for chance, and chance by topic."""

from __future__ import annotations

from typing import Any

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

_CHANCE_COLOUR = COLOURS[1]
_CHANCE_TICK = 11  # the height of the lowest row


def chance_chart(chance: Chance) -> Any:
    """Return the runs' means, a dashed line for chance: one panel per measure.

    If runs lack topics, so that chance differs between them, each row has its own tick. Without
    runs, the baseline by topic.
    """
    if chance.scores is None:
        return _baseline_chart(chance)
    alt = import_altair()
    records = chance.to_records()
    shared = chance.is_shared
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
    if shared:
        line = base.mark_rule(color=_CHANCE_COLOUR, strokeDash=[5, 3], strokeWidth=2).encode(
            x=alt.X("mean(expected):Q"), tooltip=[alt.Tooltip("mean(expected):Q", title="chance")]
        )
    else:
        ticks = rows.mark_tick(color=_CHANCE_COLOUR, thickness=2, size=_CHANCE_TICK, opacity=1)
        line = ticks.encode(
            x=alt.X("expected:Q"), tooltip=tooltips("run:N", "measure:N", "expected:Q")
        )
    layers = alt.layer(means, line).properties(width=260, height=step)
    return styled(
        in_panels(layers, "measure", chance.measures),
        f"Runs and chance: random rankings of {counted(chance.documents, 'document')}, "
        f"{topics_text(chance.scores.topic_counts())}",
    )


def _baseline_chart(chance: Chance) -> Any:
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
        panels, f"Chance: random rankings of {counted(chance.documents, 'document')} (dotted: R/N)"
    )
