"""Charts of topics: how a run did on each, beside all runs."""

from __future__ import annotations

from typing import Any

from confir.data.result import Record
from confir.errors import UnknownNameError
from confir.report.charts import (
    COLOURS,
    INK,
    import_altair,
    label_names,
    numbered,
    styled,
)
from confir.report.inline_records import inline_records
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty

_BAR = 12
_MOST_LABELLED_TOPICS = 120


def topic_score_chart(
    topics: TopicDifficulty, run: str | None = None, measure: str | None = None
) -> Any:
    """Return a chart of a run's score on each topic, hardest topics first, and of all runs' range.

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
    records = topic_records(topics, chosen_run, chosen_measure)
    labelled = len(records) <= _MOST_LABELLED_TOPICS
    axis = alt.Axis(
        labels=labelled,
        labelExpr=label_names(scores.topics),
        ticks=labelled,
        labelAngle=-90,
        labelLimit=90,
        labelFontSize=9,
        grid=False,
    )
    base = alt.Chart(inline_records(numbered(records, topic=scores.topics))).encode(
        x=alt.X("topic_number:N", sort=None, title="topic, hardest for all runs first", axis=axis),
        tooltip=[
            alt.Tooltip("topic:N"),
            *(
                alt.Tooltip(f"{name}:Q", format=".4f")
                for name in ("score", "lowest", "median", "highest")
            ),
        ],
    )
    ranges = base.mark_rule(color=INK, opacity=0.45, strokeWidth=3).encode(
        y=alt.Y("lowest:Q", title=[chosen_measure]), y2=alt.Y2("highest:Q")
    )
    medians = base.mark_tick(color=INK, thickness=2, size=8).encode(y=alt.Y("median:Q"))
    dots = base.mark_point(color=COLOURS[0], filled=True, size=45, opacity=1).encode(
        y=alt.Y("score:Q")
    )
    drawing = alt.layer(ranges, medians, dots).properties(
        width=alt.Step(_BAR) if labelled else 900, height=240
    )
    return styled(drawing, f"{chosen_run} on each topic; grey: range and median of all runs")


def topic_records(topics: TopicDifficulty, run: str, measure: str) -> list[Record]:
    """Return the records of the topics, hardest first, each with the score of a run."""
    for kind, name, known in (
        ("run", run, topics.scores.runs),
        ("measure", measure, topics.scores.measures),
    ):
        if name not in known:
            raise UnknownNameError(kind, name, known)
    place = topics.scores.runs.index(run), topics.scores.measures.index(measure)
    column = topics.scores.values[:, place[0], place[1]].tolist()
    score = dict(zip(topics.scores.topics, column, strict=True))
    return [
        record | {"score": score[record["topic"]]}
        for record in topics.to_records()
        if record["measure"] == measure
    ]
