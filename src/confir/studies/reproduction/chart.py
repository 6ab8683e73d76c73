"""A chart of an original run and its reproductions, topic by topic."""

from __future__ import annotations

from typing import Any

import numpy as np

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

    Topics are ordered by the original's score. Without qrels, the RBO of each topic, lowest first
    for the first run.

    Parameters
    ----------
    reproduction
        What `compare_reproduction` returns.
    measure
        The measure; by default the first.
    """
    alt = import_altair()
    lists, scores = reproduction.lists, reproduction.scores
    if scores is None:
        shown = {"rbo": lists.rbo}
        order = np.argsort(np.round(lists.rbo[:, 0], _DIGITS), kind="stable")
        title = f"Rank-biased overlap with {reproduction.original}"
    else:
        measure = measure or reproduction.measures[0]
        values = scores.select(measure=measure).values[:, :, 0]
        shown = {"original": values[:, [0] * len(lists.runs)], "reproduced": values[:, 1:]}
        order = np.argsort(-values[:, 0], kind="stable")
        title = f"Hollow: {reproduction.original}; filled: its reproductions"
    known = lists.topics if scores is None else scores.topics
    topics = [known[place] for place in order.tolist()]
    records = [
        {"run": run, "topic": known[t], **{name: float(one[t, r]) for name, one in shown.items()}}
        for r, run in enumerate(reproduction.runs)
        for t in order.tolist()
        if scores is not None or not np.isnan(lists.rbo[t, r])
    ]
    axis, width = topic_axis(alt, topics, len(topics))
    base = alt.Chart().encode(
        x=alt.X("topic_number:N", sort=None, title="topic", axis=axis),
        tooltip=tooltips("run:N", "topic:N", *(f"{name}:Q" for name in shown)),
    )
    data = inline_records(numbered(records, topic=topics, run=reproduction.runs))
    layers = _rbo_marks(alt, base) if scores is None else _score_marks(alt, base, str(measure))
    drawing = layered(*layers, data=data, width=width, height=200)
    facet = panel_facet(alt, "run", reproduction.runs)
    return styled(drawing.facet(facet=facet, columns=1), title)


def _score_marks(alt: Any, base: Any, measure: str) -> list[Any]:
    """Return a hollow dot for the original, a filled one for the reproduction, and a line between."""
    lines = base.mark_rule(color=INK, strokeWidth=2).encode(
        y=alt.Y("original:Q", title=[measure]), y2=alt.Y2("reproduced:Q")
    )
    old = base.mark_point(color=INK, filled=False, size=45, opacity=1)
    new = base.mark_point(color=COLOURS[0], filled=True, size=35, opacity=1)
    return [lines, old.encode(y=alt.Y("original:Q")), new.encode(y=alt.Y("reproduced:Q"))]


def _rbo_marks(alt: Any, base: Any) -> list[Any]:
    scale = alt.Scale(domain=[0, 1])
    dots = base.mark_point(color=COLOURS[0], filled=True, size=40, opacity=1)
    return [dots.encode(y=alt.Y("rbo:Q", title="RBO", scale=scale))]
