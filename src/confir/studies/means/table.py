"""Tables of scores and of their means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.arrays import TIE, Integers, best_first
from confir.data.scores import Scores
from confir.errors import enumerate_names
from confir.intervals.interval import Interval, name_methods
from confir.number_text import number_text, percent, topics_text
from confir.report.tables import Cell, RowBeside, Table, best_runs, topics_column

# What bold means.
_BOLD = "highest mean"


def interval_table(
    intervals: Interval | Sequence[Interval],
    note: str | None = None,
    beside: Sequence[RowBeside] = (),
) -> Table:
    """Return a table of means with intervals: one row per run, one column per measure.

    The best run comes first. If runs have means over different numbers of topics, a column gives
    the numbers, and no run is marked as the best. Several intervals of the same scores have one row
    each, named by method and level, and so have the further rows.
    """
    if isinstance(intervals, Interval):
        intervals = [intervals]
    first = intervals[0]
    runs, measures = (list(dict.fromkeys(names)) for names in zip(*first.labels, strict=True))
    shape = (len(runs), len(measures))
    mean = first.estimate.reshape(shape)
    topics = first.topics.reshape(shape)
    best = best_runs(mean, topics)
    heading, counts = topics_column(topics)
    several = len(intervals) + len(beside) > 1
    levels = {one.level for one in intervals}
    labels = [f"{one.method} {one.level:g}" if len(levels) > 1 else one.method for one in intervals]
    places_beside = [{run: place for place, run in enumerate(row.runs)} for row in beside]
    limits = [(one.low.reshape(shape), one.high.reshape(shape)) for one in intervals]
    rows = []
    for r in best_first(mean[:, 0]):
        for (low, high), label in zip(limits, labels, strict=True):
            cells = [
                Cell(number_text(mean[r, m], low[r, m], high[r, m]), bool(best[r, m]))
                for m in range(len(measures))
            ]
            rows.append((Cell(runs[r]), *([Cell(label)] if several else []), *counts[r], *cells))
        for row, places in zip(beside, places_beside, strict=True):
            texts = row.texts[places[runs[r]]]
            blank = [Cell("") for _ in counts[r]]
            rows.append((Cell(runs[r]), Cell(row.label), *blank, *map(Cell, texts)))
    names: tuple[str, ...] = ("run", "method") if several else ("run",)
    note = means_note(intervals, topics) if note is None else note
    columns = (*names, *heading, *measures)
    return Table(columns, tuple(rows), note, names=len(names), bold=_BOLD)


def means_note(intervals: Sequence[Interval], topics: Integers, unit: str = "topic") -> str:
    """Return the note on means with intervals: level, methods, topics, assumptions, means outside."""
    by = f"{percent(intervals[0].level)} confidence interval (CI) by {name_methods(intervals)}"
    note = f"mean with {by}, over {topics_text(topics).replace('topic', unit)}"
    if intervals[0].design and unit == "topic":
        note += f"; {design_note(intervals)}"
    assumed = list(dict.fromkeys(name for interval in intervals for name in interval.assumed))
    notes = [note, bounds_note(assumed) if assumed else ""]
    for one in intervals:  # limits of `betting` follow the topics in order, and may leave the mean
        low, mean, high = (a.reshape(-1) for a in (one.low, one.estimate, one.high))
        tie = TIE * np.maximum(1.0, np.abs(mean))
        outside = np.flatnonzero((mean < low - tie) | (mean > high + tie)).tolist()
        if outside:
            names = enumerate_names((" ".join(one.labels[i]) for i in outside), 5)
            methods = enumerate_names(dict.fromkeys(one.methods[i] for i in outside))
            notes.append(f"the interval by {methods} does not contain the mean of {names}")
    return "; ".join(filter(None, notes))


def design_note(intervals: Sequence[Interval]) -> str:
    """Return what the design makes of the topics: how many independent ones they are worth.

    That is an estimate, noisy with few clusters: one above the number of topics is no gain.
    """
    design = intervals[0].design
    parts = [one.effective.reshape(-1) for one in intervals if one.effective is not None]
    worth = np.concatenate([*parts, np.empty(0)])
    known = worth[~np.isnan(worth)]
    if not len(known):
        return design
    most = max(int(one.topics.max()) for one in intervals)
    if known.min() >= most:
        return f"{design}: no loss of precision was seen against {most} independent topics"
    ends = (known.min(), min(known.max(), most))
    numbers = dict.fromkeys(f"{number:.0f}" for number in ends)
    noun = "topic" if list(numbers) == ["1"] else "topics"
    return f"{design}: as precise as an estimated {' to '.join(numbers)} independent {noun}"


def bounds_note(measures: Sequence[str]) -> str:
    """Return the note on unknown measures that are assumed to lie in [0, 1]."""
    verb, whose = ("is", "its") if len(measures) == 1 else ("are", "their")
    return (
        f"{enumerate_names(measures, 5)}, unknown to confir, {verb} assumed to lie in [0, 1], as all "
        f"of {whose} scores do"
    )


def mean_table(scores: Scores) -> Table:
    """Return means without intervals: one row per run, best first, one column per measure."""
    mean, topics = scores.mean(), scores.topic_counts()
    best = best_runs(mean, topics)
    heading, counts = topics_column(topics)
    rows = tuple(
        (
            Cell(scores.runs[r]),
            *counts[r],
            *(Cell(number_text(v), bool(b)) for v, b in zip(mean[r], best[r], strict=True)),
        )
        for r in best_first(mean[:, 0])
    )
    note = f"means over {topics_text(topics)}"
    return Table(("run", *heading, *scores.measures), rows, note, bold=_BOLD)


def topic_table(scores: Scores, note: str = "") -> Table:
    """Return a table of scores: one row per run and topic, one column per measure."""
    rows = tuple(
        (
            Cell(run),
            Cell(topic),
            *(Cell(number_text(value)) for value in scores.values[t, r].tolist()),
        )
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
    )
    return Table(("run", "topic", *scores.measures), rows, note, names=2)
