"""The page's answer in sentences: the headline, and what other measures say."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from confir.data.common_topics import LEAST_COMMON_TOPICS
from confir.errors import counted, enumerate_names
from confir.intervals.interval import Interval
from confir.number_text import (
    limits_words,
    percent,
    runs_differ_in_topics,
    score_words,
    topics_text,
)
from confir.order import is_best
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import NAMES_SHOWN, isolated, joined_names
from confir.report.sections import Sentence
from confir.studies.best.best_runs import BestRuns
from confir.studies.means.table import design_note


def means_with_limits(interval: Interval) -> list[list[float]]:
    """Return mean and limits of each run."""
    numbers: list[list[float]] = np.stack(
        [part.reshape(-1) for part in (interval.estimate, interval.low, interval.high)], axis=1
    ).tolist()
    return numbers


def page_answer(contents: Contents) -> Iterator[Sentence]:
    """Yield the headline, how topics were sampled, and what other measures say."""
    first, level = contents.measures[0], contents.settings.level
    if contents.settings.baseline is None or first["comparison"] is None:
        yield Sentence(1, _headline(first, level))
    if first["means"][level].design and contents.scores.unit_name == "topic":
        design = design_note([first["means"][level]])
        yield Sentence(12, f"By the design, {design}; intervals and comparisons account for that.")
    if contents.settings.baseline is None and len(contents.scores.runs) > 1:
        yield from _other_measures(contents)


def _headline(contents: MeasureContents, level: float) -> str:
    """Return which run has the highest mean, and how many runs may be the best."""
    runs, order = contents.scores.runs, contents.order
    interval: Interval = contents["means"][level]
    mean, low, high = means_with_limits(interval)[order[0]]
    name, measure = isolated(runs[order[0]]), contents.measure
    if math.isnan(mean):
        return f"No run has a score by {measure}."
    size, counts = score_words(mean), interval.topics.reshape(-1)
    if runs_differ_in_topics(counts[:, None]).any():
        size += f" over its {counted(int(counts[order[0]]), 'topic')}"
    if not (math.isnan(low) or math.isnan(high)):
        size += f" ({percent(level)} confidence interval {limits_words(low, high)})"
    where = where_compared(contents)
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
    if members == 1:
        return f"{led}, and is the best of the {scored:,} runs."
    which = f"{members:,}" if members < scored else "either" if scored == 2 else "each"
    return f"{led}; {which} of the {scored:,} runs may be the best."


# Where runs have no topics in common.
OWN_TOPICS = ", each over its own topics"


def where_compared(contents: MeasureContents) -> str:
    """Return on which topics means are compared, if runs have different ones."""
    common, same = contents.scores.common_topic_count()
    if same:
        return ""
    if common < LEAST_COMMON_TOPICS:
        return OWN_TOPICS
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
