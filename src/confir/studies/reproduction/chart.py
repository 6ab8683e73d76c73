"""A chart of an original run and its reproductions, topic by topic."""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.data.result import Record
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    inline_records,
    layered,
    numbered,
    panel_facet,
    styled,
    tooltips,
    topic_axis,
)
from confir.studies.reproduction.reproduction import Reproduction

# Numbers that agree to this many digits are equal up to rounding.
_DIGITS = 12


def reproduction_chart(reproduction: Reproduction, measure: str | None = None) -> Any:
    """Return the scores of both runs on each topic, one panel per reproduction.

    Topics are ordered by the original's score. Without qrels, the RBO of each topic.

    Parameters
    ----------
    reproduction
        What `compare_reproduction` returns.
    measure
        The measure; by default the first.
    """
    if reproduction.scores is None:
        return _rbo_chart(reproduction)
    alt = import_altair()
    measure = measure or reproduction.measures[0]
    scores = reproduction.scores.select(measure=measure)
    values = scores.values[:, :, 0]
    order = np.argsort(-values[:, 0], kind="stable")
    topics = [scores.topics[place] for place in order.tolist()]
    records: list[Record] = [
        {
            "run": run,
            "topic": scores.topics[t],
            "original": float(values[t, 0]),
            "reproduced": float(values[t, scores.runs.index(run)]),
        }
        for run in reproduction.runs
        for t in order.tolist()
    ]
    axis, width = topic_axis(alt, topics, len(topics))
    base = alt.Chart().encode(
        x=alt.X("topic_number:N", sort=None, title="topic", axis=axis),
        tooltip=tooltips("run:N", "topic:N", "original:Q", "reproduced:Q"),
    )
    lines = base.mark_rule(color=INK, strokeWidth=2).encode(
        y=alt.Y("original:Q", title=[measure]), y2=alt.Y2("reproduced:Q")
    )
    old = base.mark_point(color=INK, filled=False, size=45, opacity=1).encode(y=alt.Y("original:Q"))
    new = base.mark_point(color=COLOURS[0], filled=True, size=35, opacity=1).encode(
        y=alt.Y("reproduced:Q")
    )
    data = inline_records(numbered(records, topic=topics, run=reproduction.runs))
    drawing = layered(lines, old, new, data=data, width=width, height=200)
    return _titled(
        drawing, reproduction, f"Hollow: {reproduction.original}; filled: its reproductions"
    )


def _rbo_chart(reproduction: Reproduction) -> Any:
    """Return the RBO of each topic, lowest first for the first run; one panel per reproduction."""
    alt = import_altair()
    lists = reproduction.lists
    order = np.argsort(np.round(lists.rbo[:, 0], _DIGITS), kind="stable").tolist()
    topics = [lists.topics[place] for place in order]
    records = [
        {"run": run, "topic": lists.topics[t], "rbo": float(lists.rbo[t, r])}
        for r, run in enumerate(lists.runs)
        for t in order
        if not np.isnan(lists.rbo[t, r])
    ]
    axis, width = topic_axis(alt, topics, len(topics))
    base = alt.Chart().encode(
        x=alt.X("topic_number:N", sort=None, title="topic", axis=axis),
        tooltip=tooltips("run:N", "topic:N", "rbo:Q"),
    )
    dots = base.mark_point(color=COLOURS[0], filled=True, size=40, opacity=1).encode(
        y=alt.Y("rbo:Q", title="RBO", scale=alt.Scale(domain=[0, 1]))
    )
    data = inline_records(numbered(records, topic=topics, run=reproduction.runs))
    drawing = layered(dots, data=data, width=width, height=200)
    return _titled(drawing, reproduction, f"Rank-biased overlap with {reproduction.original}")


def _titled(drawing: Any, reproduction: Reproduction, title: str) -> Any:
    """Return the chart with one panel per reproduction, below each other."""
    facet = panel_facet(import_altair(), "run", reproduction.runs)
    return styled(drawing.facet(facet=facet, columns=1), title)
