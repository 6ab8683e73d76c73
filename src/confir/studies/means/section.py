"""Means in the report: the leaderboard, its table for a paper, and which run is best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from confir.errors import counted
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Interval, means_alone
from confir.intervals.method_list import METHODS
from confir.number_text import (
    SENTENCE_DECIMALS,
    difference_text,
    limits_words,
    number_text,
    percent,
    score_words,
    topics_text,
)
from confir.order import ranks_by_mean
from confir.report.contents import Contents, MeasureContents, Settings
from confir.report.latex import Paper, to_latex
from confir.report.page_data import level_key, shown
from confir.report.sections import Scope, Section, Sentence
from confir.report.tables import Cell, Mark, Table, rounded, to_markdown, topics_column
from confir.studies.best.best_runs import BestRuns
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.verdict_words import how_compared
from confir.studies.comparison.verdicts import OPPOSITE
from confir.studies.means.board import first_board
from confir.studies.means.headline import (
    OWN_TOPICS,
    means_with_limits,
    page_answer,
    where_compared,
)
from confir.studies.means.table import bounds_note, means_note

# The layouts of a table for a paper, by their names on the page: the choices of --width.
_LAYOUTS = {"LaTeX, one column": "column", "LaTeX, page": "page", "LaTeX, as wide as it is": None}

# Marks of runs against a baseline that the reader of the page chooses: none, better, worse.
MARKS: tuple[Mark, ...] = ("", "▲", "▼")


def _gather(scope: Scope) -> dict[float, Interval]:
    """Return the intervals of the means by level; a single topic gives means alone."""
    levels, settings = scope.settings.levels, scope.settings
    if len(scope.scores.topics) < 2:
        return {level: means_alone(scope.scores, level) for level in levels}
    made = confidence_interval(
        scope.scores, level=levels, method=settings.method, **settings.drawing
    )
    return dict(zip(levels, made, strict=True))


def _context(contents: Contents) -> dict[str, Any]:
    """Return the leaderboard by the first measure, as the page shows it at first, and for a paper."""
    layouts = _layouts(board_table(contents.measures[0], contents.settings))
    return {"layouts": list(layouts), "paper": next(iter(layouts.values())), "board": first_board}


def _papers(contents: MeasureContents, settings: Settings) -> dict[str, Any]:
    """Return the leaderboard for a paper in every layout.

    ``marked`` has means alone three times: without marks, and with one or the other on every run. The
    page puts them together line by line, for the baseline that its reader chooses.
    """
    papers: dict[str, Any] = {"plain": _layouts(board_table(contents, settings))}
    if settings.baseline is None and contents["comparison"] is not None:
        comparison: Comparison = contents["comparison"][settings.level]
        papers["marked"] = [
            _layouts(_marked_table(contents, settings, mark, how_compared(comparison)))
            for mark in MARKS
        ]
    return papers


def _layouts(table: Table) -> dict[str, str]:
    latex = {
        title: to_latex(table, Paper(width, decimals=SENTENCE_DECIMALS))
        for title, width in _LAYOUTS.items()
    }
    return {**latex, "Markdown": to_markdown(rounded(table, SENTENCE_DECIMALS))}


def board_table(contents: MeasureContents, settings: Settings) -> Table:
    """Return the leaderboard of one measure: means with intervals, and gaps or differences.

    Gaps are to the best of the other runs, and runs that may be the best are bold; with a baseline,
    differences are from that, and significant ones are bold.
    """
    interval: Interval = contents["means"][settings.level]
    gaps = _gaps(contents, settings.level, settings.baseline)
    heading, counts = topics_column(contents.scores.topic_counts())
    means = [number_text(*numbers) for numbers in means_with_limits(interval)]
    rows = tuple(
        (
            Cell(contents.scores.runs[run], strong=gaps is not None and gaps.rows[run][2]),
            *counts[run],
            Cell(means[run]),
            *([] if gaps is None else map(Cell, gaps.rows[run][:2])),
        )
        for run in contents.order
    )
    note = _means_note(contents, interval)
    if gaps is None:
        return Table(("run", *heading, contents.measure), rows, note)
    columns = ("run", *heading, contents.measure, *gaps.headings)
    return Table(columns, rows, f"{note}; {gaps.note}", bold=gaps.bold)


def _marked_table(contents: MeasureContents, settings: Settings, mark: Mark, how: str) -> Table:
    """Return means with intervals, all of them with the same mark."""
    interval: Interval = contents["means"][settings.level]
    means = [number_text(*numbers) for numbers in means_with_limits(interval)]
    rows = tuple(
        (Cell(contents.scores.runs[run]), Cell(means[run], mark=mark)) for run in contents.order
    )
    note = f"{_means_note(contents, interval)}; ▲ ▼: significantly better, worse than the baseline ({how})"
    return Table(("run", contents.measure), rows, note)


def _means_note(contents: MeasureContents, interval: Interval) -> str:
    if len(contents.scores.topics) < 2:
        return f"score of the one {contents.scores.unit_name}"
    return means_note([interval], contents.scores.topic_counts(), contents.scores.unit_name)


class _Gaps(NamedTuple):
    """The columns after the means: gaps to the best of the others, or differences from a baseline.

    Attributes
    ----------
    headings
        Of the differences, and of the verdicts.
    note, bold
        What they are, and what is bold.
    rows
        By run: the difference, the verdict, and whether the run is bold.
    """

    headings: tuple[str, str]
    note: str
    bold: str
    rows: list[tuple[str, str, bool]]


def _gaps(contents: MeasureContents, level: float, baseline: str | None) -> _Gaps | None:
    """Return the gaps to the best of the others; with a baseline, the differences from it."""
    held = contents["best" if baseline is None else "comparison"]
    if held is None:
        return None
    if baseline is None:
        best: BestRuns = held.at[level]
        numbers = np.stack([a[:, 0] for a in (best.difference, best.lower, best.upper)], axis=1)
        texts = [difference_text(*row) for row in numbers.tolist()]
        return _Gaps(
            ("gap", "may be best"),
            "gap: to the best of the other runs, with simultaneous interval (Hsu 1984)",
            "may be the best",
            [
                (text, "yes" if one else "no", one)
                for text, one in zip(texts, best.in_set[:, 0].tolist(), strict=True)
            ],
        )
    comparison: Comparison = held[level]
    rows = [("–", "–", False)] * len(contents.scores.runs)
    rows[contents.reference(baseline)] = ("–", "baseline", False)
    for pair, word in enumerate(comparison.pair_verdicts()):
        one = comparison.decision(Place(0, pair, 0))
        text = difference_text(one.difference, one.low, one.high, one.open)
        rows[comparison.second[pair]] = (text, word, word in OPPOSITE)
    return _Gaps(
        (f"difference from {baseline}", "verdict"),
        f"difference from {baseline}: {how_compared(comparison)}",
        "significant difference",
        rows,
    )


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    intervals: dict[float, Interval] = contents["means"]
    first = next(iter(intervals.values()))
    unit = contents.scores.unit_name
    over = topics_text(first.topics, contents.scores.model_topics)
    return {
        "method": first.method,
        "unit": unit,
        "over": over.replace("topic", unit),
        "topics": first.topics.reshape(-1).tolist(),
        "rank": _ranks(contents),
        "mean": shown(first.estimate),
        "mean_text": [score_words(mean) for mean in first.estimate.reshape(-1).tolist()],
        "at": {
            level_key(level): {
                "low": shown(interval.low),
                "high": shown(interval.high),
                "limits": [limits_words(low, high) for _, low, high in means_with_limits(interval)],
            }
            for level, interval in intervals.items()
        },
        "papers": _papers(contents, contents.settings),
    }


def _ranks(contents: MeasureContents) -> list[int | None]:
    """Return the ranks by the means that are compared; tied runs share the better one."""
    if where_compared(contents) == OWN_TOPICS:
        return [None] * len(contents.scores.runs)
    means = contents.comparable_means
    ranks = ranks_by_mean(means).tolist()
    return [None if none else rank for rank, none in zip(ranks, np.isnan(means), strict=True)]


def _methods(contents: Contents) -> Iterator[Sentence]:
    """Yield how intervals of means were computed: one sentence per method."""
    if len(contents.scores.topics) < 2:
        return
    level = contents.settings.level
    intervals: list[Interval] = [part["means"][level] for part in contents.measures]
    for method in dict.fromkeys(name for interval in intervals for name in interval.methods):
        measures = [
            part.measure
            for part, interval in zip(contents.measures, intervals, strict=True)
            if method in interval.methods
        ]
        by = "" if len(measures) == len(contents.measures) else f" by {', '.join(measures)}"
        use = METHODS[method].uses["topics"]
        source = use.source.partition(" (")[0]
        drawn = next(one.replicates for one in intervals if method in one.methods)
        replicates = f", {counted(drawn, 'replicate')}" if drawn else ""
        yield Sentence(
            20,
            f"Means{by} have {percent(level)} confidence intervals over topics by the "
            f"method {method} ({source}{replicates}).",
            use.cites,
        )
    assumed = [name for interval in intervals for name in interval.assumed]
    if assumed:
        plural = "s" if len(assumed) > 1 else ""
        yield Sentence(20, f"The measure{plural} {bounds_note(assumed)}.")


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    needed=True,
    anchor="leaderboard",
    heading="Leaderboard",
    leads=True,
    meaning="The mean over these topics estimates the mean over all topics of the same kind; the interval "
    "says how far it may be off.",
    context=_context,
    by_level=True,
    paper_part="means",
    by_run=True,
    page_data=_page_data,
    answer=page_answer,
    methods=_methods,
)
