"""A chart of topics: the scores of a run, and the range of all runs."""

from __future__ import annotations

from typing import Any

from confir.arguments import as_choice
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    inline_records,
    layered,
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
    alt = import_altair()
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
    axis, width = topic_axis(alt, scores.topics, len(records))
    base = alt.Chart().encode(
        x=alt.X(
            "topic_number:N",
            sort=None,
            title=f"{scores.unit_name}, hardest for all runs first",
            axis=axis,
        ),
        tooltip=tooltips("topic:N", "score:Q", "lowest:Q", "median:Q", "highest:Q", numbers=".4f"),
    )
    ranges = base.mark_rule(color=INK, opacity=0.45, strokeWidth=3).encode(
        y=alt.Y("lowest:Q", title=[chosen_measure]), y2=alt.Y2("highest:Q")
    )
    medians = base.mark_tick(color=INK, thickness=2, size=8).encode(y=alt.Y("median:Q"))
    dots = base.mark_point(color=COLOURS[0], filled=True, size=45, opacity=1).encode(
        y=alt.Y("score:Q")
    )
    data = inline_records(numbered(records, topic=scores.topics))
    drawing = layered(ranges, medians, dots, data=data, width=width, height=240)
    return styled(
        drawing, f"{chosen_run} on each {scores.unit_name}; grey: range and median of all runs"
    )
