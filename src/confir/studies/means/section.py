"""Means in the report: the leaderboard, its table for a paper, and which run is best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.data.common_topics import LEAST_COMMON_TOPICS, common_topics, have_same_topics
from confir.data.sampling.judged_scores import count_model_topics
from confir.errors import counted, enumerate_names
from confir.intervals.catalogue import METHODS, confidence_interval, means_alone
from confir.intervals.interval import Interval
from confir.measures.score_summary import ScoreSummary
from confir.order import is_best
from confir.report.contents import Contents, MeasureContents
from confir.report.latex import to_latex
from confir.report.names import NAMES_SHOWN, isolated, list_runs
from confir.report.numbers import (
    interval_text,
    limits_text,
    number_text,
    percent,
    runs_differ_in_topics,
    topics_text,
)
from confir.report.page_data import level_key, shown
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Cell, Mark, Table, best_runs, to_markdown, topics_column
from confir.studies.comparison.comparison import Comparison
from confir.studies.comparison.table import how_compared
from confir.studies.comparison.verdicts import BETTER, WORSE, verdicts_against
from confir.studies.means.chart import interval_chart
from confir.studies.means.table import bounds_note, design_note, means_note


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
    """Return the leaderboard of all measures, to be copied."""
    table = leaderboard_table(contents)
    return {"paste": {"LaTeX": to_latex(table), "Markdown": to_markdown(table)}}


def leaderboard_table(contents: Contents) -> Table:
    """Return means with intervals: one row per run, one column per measure, the best in bold.

    A mark means that the best run by the measure is significantly better; with a baseline, that the
    run is significantly better or worse than that.
    """
    level = contents.settings.level
    order = contents.measures[0].order()
    columns = []
    for part in contents.measures:
        interval: Interval = part["means"][level]
        compared = part["comparison"]
        reference = part.reference(contents.settings.baseline)
        verdicts = {} if compared is None else verdicts_against(compared[level], reference)
        marks: dict[str, Mark] = {BETTER: "▼"}
        if contents.settings.baseline is not None:
            marks[WORSE] = "▲"
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
                    mark=marks.get(verdicts.get(run, ""), ""),
                )
                for run in range(len(contents.scores.runs))
            ]
        )
    heading, counts = topics_column(contents.scores.topic_counts())
    rows = tuple(
        (Cell(contents.scores.runs[run]), *counts[run], *(column[run] for column in columns))
        for run in order
    )
    return Table(("run", *heading, *contents.scores.measures), rows, _leaderboard_note(contents))


def _leaderboard_note(contents: Contents) -> str:
    level = contents.settings.level
    intervals = [part["means"][level] for part in contents.measures]
    if len(contents.scores.topics) < 2:
        return "score of the one topic"
    note = means_note(intervals, contents.scores.topic_counts())
    compared = [part["comparison"] for part in contents.measures if part["comparison"] is not None]
    if not compared:
        return note
    comparison: Comparison = compared[0][level]
    marks = "▼ significantly worse than the best run"
    if comparison.baseline is not None:
        marks = f"▲ significantly better, ▼ worse than {isolated(comparison.baseline)}"
    return f"{note}; {marks}: {how_compared(comparison)}"


def _figures(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    for level in levels:
        yield Figure("means", interval_chart(contents["means"][level]), level, by_run=True)


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    intervals: dict[float, Interval] = contents["means"]
    first = next(iter(intervals.values()))
    return {
        "method": first.method,
        "over": topics_text(first.topics, count_model_topics(contents.scores)),
        "topics": first.topics.reshape(-1).tolist(),
        "mean": shown(first.estimate),
        "mean_text": [number_text(mean) for mean in first.estimate.reshape(-1).tolist()],
        "at": {level_key(level): _at_level(interval) for level, interval in intervals.items()},
    }


def _at_level(interval: Interval) -> dict[str, Any]:
    """Return the limits as numbers, for drawing, and as text; and the ends of the scale."""
    numbers = [a.reshape(-1) for a in (interval.estimate, interval.low, interval.high)]
    known = np.concatenate(numbers)
    limits = np.stack(numbers[1:], axis=1).tolist()
    known = known[~np.isnan(known)]
    return {
        "low": shown(interval.low),
        "high": shown(interval.high),
        "limits": [limits_text(low, high) for low, high in limits],
        "ends": [number_text(end) for end in (known.min(), known.max())] if len(known) else [],
    }


def _answer(contents: Contents) -> Iterator[Sentence]:
    first, level = contents.measures[0], contents.settings.level
    yield Sentence(10, _best_run(first, level))
    if first["means"][level].design:
        design = design_note([first["means"][level]])
        yield Sentence(12, f"By the design, {design}; intervals and comparisons account for that.")
    if len(contents.measures) > 1 and len(contents.scores.runs) > 1:
        yield from _other_measures(contents)


def _best_run(contents: MeasureContents, level: float) -> str:
    """Return which run is best, with its mean and interval, and which have the same mean."""
    runs, order = contents.scores.runs, contents.order()
    interval: Interval = contents["means"][level]
    mean, low, high = (
        float(a.reshape(-1)[order[0]]) for a in (interval.estimate, interval.low, interval.high)
    )
    counts = interval.topics.reshape(-1)
    if math.isnan(mean):
        over = counted(len(contents.scores.topics), "topic")
        return f"By {contents.measure} over {over}, no run has a score."
    where = _where_compared(contents)
    said = f"mean {number_text(mean)}"
    if runs_differ_in_topics(counts[:, None]).any():
        said += f" over its {counted(int(counts[order[0]]), 'topic')}"
    if not (math.isnan(low) or math.isnan(high)):
        said += f", {percent(level)} interval {limits_text(low, high)}"
    shares = is_best(contents.comparable_means())
    tied = [runs[place] for place in order[1:] if shares[place]]
    if tied:
        said += f"; the same mean{where}: {list_runs(tied)}"
    over = topics_text(counts, count_model_topics(contents.scores))
    first, by = isolated(runs[order[0]]), f"By {contents.measure} over {over}"
    if len(runs) == 1:
        return f"{by}, the run is {first}: {said}."
    return f"{by}, {first} has the highest mean of {len(runs):,} runs{where}: {said}."


def _where_compared(contents: MeasureContents) -> str:
    """Return on which topics means are compared, if runs have different ones."""
    scores = contents.scores
    if isinstance(scores, ScoreSummary):
        counts = scores.topic_counts()
        common = int(scores.over_common_topics().topic_counts().max())
        same = bool(((counts == common) | (counts == 0)).all())
    else:
        same = bool(have_same_topics(scores.values).all())
        common = int(common_topics(scores.values).sum())
    if same:
        return ""
    if common < LEAST_COMMON_TOPICS:
        return ", each over its own topics"
    return f" on the {common} topics that all runs have"


def _other_measures(contents: Contents) -> Iterator[Sentence]:
    """Yield whether the other measures agree on the best run."""
    best = contents.measures[0].order()[0]
    same, others = [], []
    for part in contents.measures[1:]:
        highest = is_best(part.comparable_means())
        if highest[best]:
            same.append(part.measure)
        elif highest.any():
            others.append(f"{isolated(contents.scores.runs[part.order()[0]])} by {part.measure}")
    if same:
        yield Sentence(40, f"It has the best mean by {enumerate_names(same, NAMES_SHOWN)}, too.")
    if others:
        yield Sentence(
            40,
            f"By other measures, other runs have the best mean: "
            f"{enumerate_names(others, NAMES_SHOWN)}.",
        )


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
    title="Leaderboard",
    heading="Leaderboard",
    meaning="The mean over these topics estimates the mean over all topics of the same kind; the interval "
    "says how far it may be off.",
    context=_context,
    paper=_figures,
    page_data=_page_data,
    answer=_answer,
    methods=_methods,
)
