"""``confir topics``: hard topics, topics that discriminate between runs, and where a run fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from confir.cli.input import Inputs
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, Without, is_given
from confir.cli.views import TOPICS, TopicsOption, View, Views

VIEWS = Views(
    View("overview", "the hardest, easiest and most discriminating topics", "topic"),
    View(TOPICS, "every topic, hardest first", "topic", lacks=("most",)),
)


def topics_command(
    *,
    inputs: Annotated[Inputs, Without("bounded")],
    run: Annotated[
        str | None,
        Option(
            "The run to examine: its name or its file. By default the one with the best mean "
            "by the first measure.",
            "RUN",
            path=PathRole.RUN,
        ),
    ] = None,
    show: Annotated[str | None, VIEWS.option()] = None,
    topics: TopicsOption = False,
    most: Annotated[
        int,
        Option(
            "Topics in each list: hardest, easiest, discriminating, where the run fails.", least=1
        ),
    ] = 5,
    out: Output,
) -> None:
    """Show which topics are hard, which discriminate between the runs, and where a run fails.

    For example:

    - `confir topics qrels.txt runs/ -m AP`
    - `confir topics qrels.txt runs/ -m AP --run bm25`
    - `confir topics qrels.txt runs/ -m AP -q -o topics.csv`
    """
    from confir.arrays import best_first
    from confir.cli.answers import Answer
    from confir.report.result_table import result_table
    from confir.studies.topic_difficulty.table import overview_table
    from confir.studies.topic_difficulty.topic_difficulty import describe_topics

    view = VIEWS.choose(inputs.context, show, topics=topics)
    scores = inputs.load_scores(
        baseline=run, quiet=out.quiet, example="confir topics qrels.txt bm25.run dense.run"
    )
    best = scores.runs[best_first(scores.comparable_means()[:, 0])[0]]
    chosen = inputs.find_baseline(run, scores.runs) if is_given(inputs.context, "run") else best
    found = describe_topics(scores, run=chosen)
    table = result_table(found) if view.name == TOPICS else overview_table(found, most)
    if scores.corrected:
        by = "human-judged topics, by human judgements: a model's correct means, not single topics"
        table = replace(table, note="\n".join(filter(None, [table.note, by])))
    if scores.sampling_note():
        table = replace(table, note="\n".join(filter(None, [table.note, scores.sampling_note()])))
    out.deliver(Answer(found.to_records(), table, found))
