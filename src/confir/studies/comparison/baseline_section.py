"""Runs against a baseline in the report: the answer in sentences, and the differences of the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers, best_first
from confir.errors import enumerate_names
from confir.number_text import bracketed, score_words, signed_words
from confir.pairs.comparison import Comparison, Place
from confir.pairs.next_step import next_step_sentence, next_steps
from confir.pairs.verdict_words import baseline_headline, decision_sentence, short_counts
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import isolated
from confir.report.page_data import level_key, shown
from confir.report.sections import Sentence

# Topics that are named on which a run gains or loses most.
_TOPICS = 3

# In place of a number that there is not.
_NO_NUMBER = "–"


def baseline_answer(contents: Contents, comparison: Comparison) -> Iterator[Sentence]:
    """Yield how many runs beat the baseline, which one most and where, and what other measures say."""
    first = contents.measures[0]
    best = best_first(comparison.difference[:, 0])[0]
    several = len(comparison.first) > 1
    if several:
        headline = baseline_headline(comparison, isolated(str(comparison.baseline)))
        yield Sentence(1, f"{headline}.")
    decision = comparison.decision(Place(0, best, 0)).named(isolated)
    text = decision_sentence(decision, comparison.measures[0], brief=True)
    yield Sentence(4 if several else 1, f"{text}{_both_means(first, comparison, best)}.")
    step = next_step_sentence(comparison, next_steps(comparison), 0, pairs=[best], write=isolated)
    if step:
        yield Sentence(4 if several else 2, step)
    moved = _moved_topics(comparison, best)
    if moved:
        yield Sentence(5, moved)
    others = [part for part in contents.measures[1:] if part["comparison"] is not None]
    if others:
        said = [
            f"{short_counts(part['comparison'][contents.settings.level].pair_verdicts())} in {part.measure}"
            for part in others
        ]
        yield Sentence(40, f"By other measures, {'; '.join(said)}.")


def _both_means(contents: MeasureContents, comparison: Comparison, pair: int) -> str:
    """Return the means of a run and its baseline: ``: bm25 0.197 → rerank 0.378``."""
    means = contents["means"][comparison.level].estimate.reshape(-1)
    before, after = (
        f"{isolated(comparison.runs[run])} {score_words(float(means[run]))}"
        for run in (comparison.first[pair], comparison.second[pair])
    )
    return f": {before} → {after}"


def _moved_topics(comparison: Comparison, pair: int) -> str:
    """Return on which topics a run gains and loses most against the baseline."""
    gains, losses = comparison.topic_differences().extremes(pair, 0, _TOPICS)
    run = isolated(comparison.names(pair)[1])
    unit = comparison.scores.unit_name
    parts = [
        f"{verb} {unit}{'s' if len(found) > 1 else ''} "
        f"{enumerate_names((isolated(one.topic) for one in found), _TOPICS)}"
        for verb, found in (("gains most on", gains), ("loses most on", losses))
        if found
    ]
    return f"{run} {' and '.join(parts)}." if parts else ""


def baseline_gaps(comparisons: Mapping[float, Comparison], reference: int) -> dict[str, Any]:
    """Return the differences of all runs from the baseline as the leaderboard shows them."""
    first = next(iter(comparisons.values()))
    difference = _by_run(first, first.difference[:, 0])
    at = {}
    for level, comparison in comparisons.items():
        low, high, opens = (
            _by_run(comparison, one[:, 0]) for one in (*comparison.limits, comparison.open_end)
        )
        words = dict(zip(comparison.second.tolist(), comparison.pair_verdicts(), strict=True))
        words[reference] = "baseline"
        at[level_key(level)] = {
            "low": shown(low),
            "high": shown(high),
            "limits": [
                _NO_NUMBER
                if np.isnan(start)
                else bracketed(signed_words(start), signed_words(stop), int(end))
                for start, stop, end in zip(low, high, opens, strict=True)
            ],
            "words": [words.get(run, _NO_NUMBER) for run in range(len(first.runs))],
        }
    return {
        "gap": shown(difference),
        "gap_text": [signed_words(value) for value in difference.tolist()],
        "at": at,
    }


def _by_run(comparison: Comparison, values: Floats | Integers) -> Floats:
    """Return numbers of the pairs with a baseline in the order of the runs; NaN for the baseline."""
    found = np.full(len(comparison.runs), np.nan)
    found[comparison.second] = values
    return found
