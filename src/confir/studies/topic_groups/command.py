"""``--by``: what commands show for each group of topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.output import Output
from confir.cli.parameters import refuse_options
from confir.defaults import CHART_ENDINGS
from confir.errors import InvalidValueError, SmallSampleWarning, counted, warn_caller
from confir.studies.gate.command import GATE_OPTIONS
from confir.studies.unjudged.compared_means_command import COMPARED_MEANS_OPTIONS

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.data.result import Record
    from confir.data.sampling_designs.topic_groups import TopicGroups
    from confir.data.scores import Scores
    from confir.report.tables import Table

_BESIDE = "cannot be combined with --by"
_TESTED = ("method", "test", "correction", "margin")


def compare_by(
    inputs: Inputs,
    by: str,
    baseline: str | None,
    statistics: options.Statistics,
    out: Output,
) -> None:
    """Write or print the differences between runs in each group of topics."""
    from confir.cli.answers import Answer
    from confir.report.tables import with_design_note
    from confir.studies.topic_groups.group_differences import compare_groups
    from confir.studies.topic_groups.table import group_difference_table

    views = ("family", "show", "topics", "teams", "rows")
    refuse_options(inputs.context, (*views, *GATE_OPTIONS, *_TESTED), _BESIDE)
    example = "confir compare qrels.txt a.run b.run --baseline a --design topics.csv --by length"
    scores, groups = _load(inputs, by, baseline, out, example)
    found = compare_groups(
        scores,
        by=groups,
        baseline=inputs.find_baseline(baseline, scores.runs),
        **statistics.arguments,
    )
    table = with_design_note(group_difference_table(found, statistics.seed), scores.design_words)
    out.deliver(Answer(found.to_records(), table, found))


def evaluate_by(inputs: Inputs, by: str, answer: Callable[[Scores], Answer], out: Output) -> None:
    """Write or print the means of runs in each group of topics."""
    names = ("show", "topics", "repeats", "baseline", "human", "threshold", *COMPARED_MEANS_OPTIONS)
    refuse_options(inputs.context, names, _BESIDE)
    _check_no_chart(out.output)
    example = "confir evaluate qrels.txt bm25.run --design topics.csv --by length"
    scores, groups = _load(inputs, by, None, out, example)
    out.deliver(_joined(groups, [(name, answer(part)) for name, part in groups.parts(scores)]))


def plan_by(
    inputs: Inputs,
    by: str,
    baseline: str | None,
    answer: Callable[[Scores], Answer],
    out: Output,
) -> None:
    """Write or print how many topics each group needs."""
    refuse_options(inputs.context, ("human", "human_topics"), _BESIDE)
    _check_no_chart(out.output)
    example = "confir plan qrels.txt a.run b.run --baseline a --design topics.csv --by length"
    scores, groups = _load(inputs, by, baseline, out, example)
    parts = []
    for name, part in groups.parts(scores):
        if len(part.topics) < 2:
            warn_caller(f"{name} has one topic, from which nothing is planned", SmallSampleWarning)
        else:
            parts.append((name, answer(part)))
    out.deliver(_joined(groups, parts))


def _load(
    inputs: Inputs, by: str, baseline: str | None, out: Output, example: str
) -> tuple[Scores, TopicGroups]:
    """Return the scores, and the groups of their topics, which are read first."""
    reading, groups = inputs.grouped(by)
    scores = reading.load_scores(baseline=baseline, quiet=out.quiet, example=example)
    return scores, groups.of_topics(scores.all_topics)


def _joined(groups: TopicGroups, parts: list[tuple[str, Answer]]) -> Answer:
    """Return the answers of groups as one, which begins with a column of groups."""
    from confir.cli.answers import Answer
    from confir.studies.topic_groups.table import join_tables

    records: list[Record] = [
        {"by": groups.column, "group": name, **record}
        for name, part in parts
        for record in part.records
    ]
    sizes = {name: len(members) for name, members in groups.members().items()}
    tables: list[tuple[str, Table]] = [
        (name, replace(part.table, note=f"{name}: {part.table.note}")) for name, part in parts
    ]
    notes = {part.table.note for _, part in parts}
    note = notes.pop() if len(notes) == 1 else ""
    topics = ", ".join(f"{name} {counted(size, 'topic')}" for name, size in sizes.items())
    joined = join_tables(groups.column, tables, note)
    return Answer(records, replace(joined, note=f"{topics}\n{joined.note}"), None)


def _check_no_chart(output: str | None) -> None:
    """Raise where a chart is asked for that a table by groups has not."""
    if output is not None and Path(output).suffix.lower() in CHART_ENDINGS:
        raise InvalidValueError(
            f"{output}: means and plans by group have no chart; confir compare --by draws differences"
        )
