"""Means in the report: the leaderboard, the headline, and what other measures say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.arrays import is_best, ranks_by_mean
from confir.data.common_topics import LEAST_COMMON_TOPICS
from confir.errors import counted, enumerate_names
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Interval, means_alone
from confir.intervals.method_list import METHODS
from confir.number_text import (
    limits_words,
    percent,
    runs_differ_in_topics,
    score_words,
    topics_text,
)
from confir.pairs.best_runs import BestRuns
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import NAMES_SHOWN, isolated, joined_names
from confir.report.page_data import level_key, shown
from confir.report.sections import Scope, Section, Sentence
from confir.studies.means.board import first_board, means_with_limits, papers
from confir.studies.means.table import bounds_note, design_note

# Where runs have no topics in common.
_OWN_TOPICS = ", each over its own topics"


def _gather(scope: Scope) -> dict[float, Interval]:
    """Return the intervals of the means by level; a single topic gives means alone."""
    levels, settings = scope.settings.levels, scope.settings
    if len(scope.scores.topics) < 2:
        return {level: means_alone(scope.scores, level) for level in levels}
    made = confidence_interval(
        scope.scores, level=levels, method=settings.method, **settings.drawing
    )
    return dict(zip(levels, made, strict=True))


def _context(_: Contents) -> dict[str, Any]:
    """Return what makes the leaderboard as the page shows it at first, from the data of the page."""
    return {"board": first_board}


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    """Return means, limits and ranks; tied runs share the better rank, those on topics of their own have none."""
    intervals: dict[float, Interval] = contents["means"]
    first = next(iter(intervals.values()))
    unit = contents.scores.unit_name
    over = topics_text(first.topics, contents.scores.model_topics)
    means = contents.comparable_means
    own_topics = _where_compared(contents) == _OWN_TOPICS
    ranks = [
        None if own_topics or none else rank
        for rank, none in zip(ranks_by_mean(means).tolist(), np.isnan(means), strict=True)
    ]
    return {
        "method": first.method,
        "unit": unit,
        "over": over.replace("topic", unit),
        "topics": first.topics.reshape(-1).tolist(),
        "rank": ranks,
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
        "papers": papers(contents),
    }


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


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield the headline, how topics were sampled, and what other measures say."""
    first, level = contents.measures[0], contents.settings.level
    if contents.settings.baseline is None or first["comparison"] is None:
        yield Sentence(1, _headline(first, level))
        lead = "" if first["best"] is None else first["best"].at[level].lead_sentence(0, isolated)
        if lead:
            yield Sentence(50, lead)  # the next step, last
    if first["means"][level].design and contents.scores.unit_name == "topic":
        design = design_note([first["means"][level]])
        yield Sentence(12, f"By the design, {design}; intervals and comparisons account for that.")
    several = len(contents.scores.runs) > 1 and len(contents.measures) > 1
    if contents.settings.baseline is None and several:
        yield from _other_measures(contents)


def _headline(contents: MeasureContents, level: float) -> str:
    """Return which run has the highest mean, and how many runs may be the best."""
    runs, order = contents.scores.runs, contents.order
    interval: Interval = contents["means"][level]
    mean, low, high = means_with_limits(interval)[order[0]]
    name, measure = isolated(runs[order[0]]), contents.measure
    if math.isnan(mean):
        return f"No run has a score by {measure}."
    size, counts = score_words(mean).replace("-", "−"), interval.topics.reshape(-1)
    if runs_differ_in_topics(counts[:, None]).any():
        size += f" over its {counted(int(counts[order[0]]), 'topic')}"
    if not (math.isnan(low) or math.isnan(high)):
        limits = limits_words(low, high).replace("-", "−")
        size += f" ({percent(level)} confidence interval {limits})"
    where = _where_compared(contents)
    if len(runs) == 1:
        over = topics_text(counts, contents.scores.model_topics)
        over = over.replace("topic", contents.scores.unit_name)
        return f"{name} has a mean {measure} of {size} over {over}."
    shares = is_best(contents.comparable_means)
    leaders = [runs[place] for place in order if shares[place]]
    have = "has" if len(leaders) == 1 else "have"
    led = f"{joined_names(leaders)} {have} the highest {measure}{where}, {size}"
    if contents["best"] is None:
        return f"{led}."
    best: BestRuns = contents["best"].at[level]
    members, scored = int(best.in_set[:, 0].sum()), int((best.topics[:, 0] > 0).sum())
    board = contents["leaderboard"]
    about = "" if board is None else f" on {board.about}"
    if members == 1:
        return f"{led}, and is the best of the {scored:,} runs{about}."
    which = f"{members:,}" if members < scored else "each"
    return f"{led}; {which} of the {scored:,} runs may be the best{about}."


def _where_compared(contents: MeasureContents) -> str:
    """Return on which topics means are compared, if runs have different ones."""
    common, same = contents.scores.common_topic_count()
    if same:
        return ""
    if common < LEAST_COMMON_TOPICS:
        return _OWN_TOPICS
    return f" on the {common} topics that all runs have"


def _other_measures(contents: Contents) -> Iterator[Sentence]:
    """Yield whether the other measures agree on the best run."""
    runs, best = contents.scores.runs, is_best(contents.measures[0].comparable_means)
    same: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for part in contents.measures[1:]:
        highest = is_best(part.comparable_means)
        both = [runs[place] for place in part.order if highest[place] and best[place]]
        if both:
            have = "has" if len(both) == 1 else "have"
            same.setdefault(f"{joined_names(both)} also {have}", []).append(part.measure)
        elif highest.any():
            leader = isolated(runs[part.order[0]])
            others.setdefault(leader, []).append(part.measure)
    said = [f"{who} the highest {enumerate_names(by, NAMES_SHOWN)}" for who, by in same.items()]
    if others:
        listed = [f"{run} by {enumerate_names(by, NAMES_SHOWN)}" for run, by in others.items()]
        said.append(f"other runs lead by other measures: {enumerate_names(listed, NAMES_SHOWN)}")
    if said:
        text = "; ".join(said)
        yield Sentence(40, f"{text if same else text[0].upper() + text[1:]}.")


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
    answer=_answer,
    methods=_methods,
)
