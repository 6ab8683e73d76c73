"""Charts of the random baseline: means of runs with a line for chance, and chance by topic."""

from __future__ import annotations

from typing import Any

from confir.errors import counted
from confir.number_text import topics_text
from confir.report.charts import (
    COLOURS,
    Spec,
    field,
    in_panels,
    inline_records,
    mark,
    names_best_first,
    numbered,
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
    records = chance.to_records()
    shared = chance.is_shared
    order = names_best_first([r for r in records if r["measure"] == chance.measures[0]], "score")
    axis, step = run_rows(order)
    row = {"y": field("run_number:N", title=None, axis=axis)}
    title = f"mean score; {'dashed: chance' if shared else 'ticks: chance on its topics'}"
    tooltip = tooltips(
        "run:N", "measure:N", "topics:Q", "score:Q", "expected:Q", "corrected:Q", "p:Q"
    )
    score = field("score:Q", title=title, scale={"zero": True})
    dots: Spec = {"color": COLOURS[0], "filled": True, "size": 50, "opacity": 1}
    means = mark("point", row | {"x": score, "tooltip": tooltip}, **dots)
    if shared:
        at = {
            "x": field("mean(expected):Q"),
            "tooltip": [field("mean(expected):Q", title="chance")],
        }
        line = mark("rule", at, color=_CHANCE_COLOUR, strokeDash=[5, 3], strokeWidth=2)
    else:
        at = {"x": field("expected:Q"), "tooltip": tooltips("run:N", "measure:N", "expected:Q")}
        tick: Spec = {"thickness": 2, "size": _CHANCE_TICK, "opacity": 1}
        line = mark("tick", row | at, color=_CHANCE_COLOUR, **tick)
    data = inline_records(numbered(records, run=order, measure=chance.measures))
    layers = {"data": data, "layer": [means, line], "width": 260, "height": step}
    return styled(
        in_panels(layers, "measure", chance.measures),
        f"Runs and chance: random rankings of {counted(chance.documents, 'document')}, "
        f"{topics_text(chance.scores.topic_counts())}",
    )


def _baseline_chart(chance: Chance) -> Any:
    """Return a chart of the expected score of each topic by its number of relevant documents."""
    records = numbered(chance.to_records(per_topic=True), measure=chance.measures)
    relevant = field("relevant:Q", title="relevant documents")
    points = {
        "x": relevant,
        "y": field("expected:Q", title="expected score", axis={"format": "~g"}),
        "tooltip": tooltips("topic:N", "relevant:Q", "expected:Q", "sd:Q", "prevalence:Q"),
    }
    usual = {"x": field("relevant:Q"), "y": field("prevalence:Q"), "order": field("relevant:Q")}
    layers = [
        mark("line", usual, color="#888", strokeDash=[2, 2]),
        mark("circle", points, color=_CHANCE_COLOUR, size=40, opacity=0.7),
    ]
    drawn = {"data": inline_records(records), "layer": layers, "width": 260, "height": 200}
    return styled(
        in_panels(drawn, "measure", chance.measures, scales={"y": "independent"}),
        f"Chance: random rankings of {counted(chance.documents, 'document')} (dotted: R/N)",
    )
