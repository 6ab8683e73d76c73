"""Sentences on differences that depend on the group of topics."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from confir.errors import counted, enumerate_names
from confir.number_text import SENTENCE_DECIMALS, number_text, p_words, signed
from confir.pairs.decisions import BETTER, NOT_COMPARED, OPPOSITE, WORSE
from confir.studies.topic_groups.group_differences import GroupComparison

# The most groups that a sentence names.
_MOST_NAMED = 6


def group_sentence(comparison: GroupComparison, pair: int, measure: int) -> str:
    """Return whether one pair's difference depends on the group, and what stays undecided.

    That one group is significant and another is not is never taken for a difference between them:
    only the test of all groups, or significant differences of opposite sign, say so.
    """
    parts = [
        _dependence(comparison, pair, measure),
        _directions(comparison, pair, measure),
        _undecided(comparison, pair, measure),
    ]
    return "; ".join(part for part in parts if part)


def _dependence(comparison: GroupComparison, pair: int, measure: int) -> str:
    """Return what the test says of the groups."""
    baseline, run = comparison.pairs[pair]
    name = comparison.scores.measures[measure]
    what = f"the difference between {run} and {baseline} in {name}"
    p = float(comparison.p_adjusted[pair, measure])
    if math.isnan(p):
        reason = comparison.untested or "too few of its groups vary or have five topics"
        return f"Whether {what} depends on {comparison.column} was not tested: {reason}"
    adjusted = "adjusted " if len(comparison.first) > 1 else ""
    unclear = ", borderline" if comparison.groups_borderline[pair, measure] else ""
    said = f"{adjusted}{p_words(p)}{unclear}"
    if comparison.significant[pair, measure]:
        return f"{what[:1].upper()}{what[1:]} depends on {comparison.column} ({said})"
    return f"Whether {what} depends on {comparison.column} is inconclusive ({said})"


def _directions(comparison: GroupComparison, pair: int, measure: int) -> str:
    """Return which groups are significant, and which go the other way than all topics together."""
    _, run = comparison.pairs[pair]
    verdict = comparison.verdict[:, pair, measure]
    found = {word: np.flatnonzero(verdict == word).tolist() for word in (BETTER, WORSE)}
    parts = [
        f"significantly {word} for {_named(comparison, places, pair, measure)}"
        for word, places in found.items()
        if places
    ]
    said = [f"{run} is {' and '.join(parts)}"] if parts else []
    overall = float(comparison.overall.difference[pair, measure])
    signs = np.sign(np.nan_to_num(comparison.difference[:, pair, measure]))
    other = np.flatnonzero(signs * np.sign(overall) < 0).tolist()
    unclear = [place for place in other if verdict[place] not in OPPOSITE]
    if not other:
        said.append("all groups go the same way")
    elif unclear:
        verb = "goes" if len(unclear) == 1 else "go"
        named = _named(comparison, unclear, pair, measure)
        together = signed(overall, SENTENCE_DECIMALS)
        said.append(f"{named} {verb} the other way than all topics together ({together})")
    return "; ".join(said)


def _undecided(comparison: GroupComparison, pair: int, measure: int) -> str:
    """Return for which groups the topics do not decide which run is better."""
    verdict = comparison.verdict[:, pair, measure]
    few = np.flatnonzero(verdict == NOT_COMPARED).tolist()
    open_groups = np.flatnonzero(verdict == "inconclusive").tolist()
    parts = []
    if open_groups:
        names = enumerate_names([comparison.groups[place] for place in open_groups], _MOST_NAMED)
        every = len(open_groups) == len(verdict)
        names = "any group" if every else names
        parts.append(f"the topics do not decide which run is better for {names}")
    if few:
        named = [
            f"{comparison.groups[place]} ({counted(int(comparison.sizes[place]), 'topic')})"
            for place in few
        ]
        parts.append(f"too few topics: {enumerate_names(named, _MOST_NAMED)}")
    left_out = [
        place
        for place in np.flatnonzero(~comparison.tested[:, pair, measure]).tolist()
        if place not in few and comparison.tested[:, pair, measure].any()
    ]
    if left_out:
        names = enumerate_names([comparison.groups[place] for place in left_out], _MOST_NAMED)
        parts.append(f"not in the test, with fewer than five topics or equal differences: {names}")
    return "; ".join(parts)


def _named(comparison: GroupComparison, places: Sequence[int], pair: int, measure: int) -> str:
    """Return groups with their differences and intervals, the largest differences first."""
    ordered = sorted(places, key=lambda g: -abs(comparison.difference[g, pair, measure]))
    texts = [_with_interval(comparison, place, pair, measure) for place in ordered[:_MOST_NAMED]]
    if len(ordered) > _MOST_NAMED:
        texts.append(f"{len(ordered) - _MOST_NAMED} more")
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _with_interval(comparison: GroupComparison, place: int, pair: int, measure: int) -> str:
    arrays = comparison.difference, comparison.low, comparison.high
    text = number_text(
        *(float(array[place, pair, measure]) for array in arrays),
        is_signed=True,
        open_end=int(comparison.open_end[place, pair, measure]),
        decimals=SENTENCE_DECIMALS,
    )
    return f"{comparison.groups[place]} ({text})"
