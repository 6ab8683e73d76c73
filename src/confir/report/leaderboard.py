"""How do all runs compare by all measures? One table for a paper."""

from __future__ import annotations

from confir.report.answer import verdicts_against
from confir.report.contents import Contents
from confir.report.numbers import interval_text
from confir.report.tables import Cell, Table, best_runs, means_note, topics_column
from confir.studies.corrections import CORRECTION_NAMES
from confir.studies.verdicts import BETTER


def leaderboard_table(contents: Contents) -> Table:
    """Return means with intervals: a row a run, a column a measure, the best in bold.

    A mark says that the best run by the measure is significantly better.
    """
    level = contents.settings.level
    order = contents.measures[0].order()
    columns = []
    for part in contents.measures:
        interval = part.intervals[level]
        best = part.order()[0]
        beaten = verdicts_against(part.comparisons[level], best) if part.comparisons else {}
        numbers = (
            array.reshape(-1).tolist() for array in (interval.estimate, interval.low, interval.high)
        )
        mean, low, high = numbers
        strong = best_runs(interval.estimate.reshape(-1, 1), interval.topics.reshape(-1, 1))[:, 0]
        columns.append(
            [
                Cell(
                    interval_text(mean[run], low[run], high[run]),
                    strong=bool(strong[run]),
                    mark="▼" if beaten.get(run) == BETTER else "",
                )
                for run in range(len(contents.scores.runs))
            ]
        )
    heading, counts = topics_column(contents.scores.topic_counts())
    rows = tuple(
        (Cell(contents.scores.runs[run]), *counts[run], *(column[run] for column in columns))
        for run in order
    )
    return Table(("run", *heading, *contents.scores.measures), rows, _note(contents))


def _note(contents: Contents) -> str:
    level = contents.settings.level
    intervals = [part.intervals[level] for part in contents.measures]
    if len(contents.scores.topics) < 2:
        return "score of the one topic"
    note = means_note(intervals, contents.scores.topic_counts())
    compared = next((part.comparisons for part in contents.measures if part.comparisons), None)
    if compared is None:
        return note
    comparison = compared[level]
    return (
        f"{note}; ▼ significantly worse than the best run: paired {comparison.tests[0]} test, "
        f"α = {1 - level:.4g}, {CORRECTION_NAMES[comparison.correction]} for all pairs"
    )
