"""A chart of topics: the scores of a run, and the range of all runs."""

from __future__ import annotations

from typing import Any

from confir.arguments import as_choice
from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    end_field,
    field,
    inline_records,
    mark,
    numbered,
    styled,
    tooltips,
    topic_axis,
)
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty


def topic_score_chart(
    topics: TopicDifficulty, run: str | None = None, measure: str | None = None
) -> Any:
    """Return a chart of a run's score on each topic, hardest first, and the range of all runs.

    Parameters
    ----------
    topics
        What `describe_topics` returns.
    run, measure
        Which run by which measure; by default the first.
    """
    scores = topics.scores
    chosen_run, chosen_measure = run or topics.run or scores.runs[0], measure or scores.measures[0]
    as_choice("run", chosen_run, scores.runs)
    as_choice("measure", chosen_measure, scores.measures)
    column = scores.select(run=chosen_run, measure=chosen_measure).values.reshape(-1).tolist()
    score = dict(zip(scores.topics, column, strict=True))
    records = [
        record | {"score": score[record["topic"]]}
        for record in topics.to_records()
        if record["measure"] == chosen_measure
    ]
    axis, width = topic_axis(scores.topics, len(records))
    title = f"{scores.unit_name}, hardest for all runs first"
    base = {
        "x": field("topic_number:N", sort=None, title=title, axis=axis),
        "tooltip": tooltips(
            "topic:N", "score:Q", "lowest:Q", "median:Q", "highest:Q", numbers=".4f"
        ),
    }
    ends = {"y": field("lowest:Q", title=[chosen_measure]), "y2": end_field("highest:Q")}
    dot: Spec = {"filled": True, "size": 45, "opacity": 1}
    drawing = {
        "data": inline_records(numbered(records, topic=scores.topics)),
        "layer": [
            mark("rule", base | ends, color=INK, opacity=0.45, strokeWidth=3),
            mark("tick", base | {"y": field("median:Q")}, color=INK, thickness=2, size=8),
            mark("point", base | {"y": field("score:Q")}, color=COLOURS[0], **dot),
        ],
        "width": width,
        "height": 240,
    }
    return styled(
        drawing, f"{chosen_run} on each {scores.unit_name}; grey: range and median of all runs"
    )
