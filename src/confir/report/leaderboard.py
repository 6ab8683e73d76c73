"""How do all runs compare by all measures? One table for a paper."""

from __future__ import annotations

from confir.order import is_best
from confir.report.answer import verdicts_against
from confir.report.contents import Contents
from confir.report.numbers import interval_text, percent
from confir.report.tables import Cell, Table
from confir.studies.verdicts import BETTER


def leaderboard_table(contents: Contents) -> Table:
    """Return means with intervals: a row a run, a column a measure, the best in bold.

    A mark says that the best run by the measure is shown to be better.
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
        strong = is_best(interval.estimate.reshape(-1))
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
    rows = tuple(
        (Cell(contents.scores.runs[run]), *(column[run] for column in columns)) for run in order
    )
    return Table(("run", *contents.scores.measures), rows, _note(contents))


def _note(contents: Contents) -> str:
    level = contents.settings.level
    intervals = [part.intervals[level] for part in contents.measures]
    topics = len(contents.scores.topics)
    if topics < 2:
        return "score of the one topic"
    methods = ", ".join(dict.fromkeys(interval.method for interval in intervals))
    note = f"mean with {percent(level)} interval by {methods}, over {topics} topics"
    compared = next((part.comparisons for part in contents.measures if part.comparisons), None)
    if compared is None:
        return note
    comparison = compared[level]
    return (
        f"{note}; ▼ worse than the best run: paired {comparison.tests[0]} test, "
        f"{comparison.correction.capitalize()}'s correction for all pairs, error {1 - level:.4g}"
    )
