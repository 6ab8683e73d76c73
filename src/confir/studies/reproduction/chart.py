"""A chart of an original run and its reproductions, topic by topic."""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    end_field,
    field,
    in_panels,
    inline_records,
    mark,
    numbered,
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
    axis, width = topic_axis(topics, len(topics))
    base = {
        "x": field("topic_number:N", sort=None, title="topic", axis=axis),
        "tooltip": tooltips("run:N", "topic:N", *(f"{name}:Q" for name in shown)),
    }
    drawing = {
        "data": inline_records(numbered(records, topic=topics, run=reproduction.runs)),
        "layer": _rbo_marks(base) if scores is None else _score_marks(base, str(measure)),
        "width": width,
        "height": 200,
    }
    return styled(in_panels(drawing, "run", reproduction.runs, columns=1, scales={}), title)


def _score_marks(base: Spec, measure: str) -> list[Spec]:
    """Return a hollow dot for the original, a filled one for the reproduction, and a line between."""
    line = {"y": field("original:Q", title=[measure]), "y2": end_field("reproduced:Q")}
    old, new = {"y": field("original:Q")}, {"y": field("reproduced:Q")}
    return [
        mark("rule", base | line, color=INK, strokeWidth=2),
        mark("point", base | old, color=INK, filled=False, size=45, opacity=1),
        mark("point", base | new, color=COLOURS[0], filled=True, size=35, opacity=1),
    ]


def _rbo_marks(base: Spec) -> list[Spec]:
    rbo = {"y": field("rbo:Q", title="RBO", scale={"domain": [0, 1]})}
    return [mark("point", base | rbo, color=COLOURS[0], filled=True, size=40, opacity=1)]
