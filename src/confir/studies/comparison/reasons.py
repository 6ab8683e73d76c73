"""Reasons why differences are not significant, in a few words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from confir.errors import counted
from confir.intervals.simultaneous import is_significant
from confir.studies.comparison.corrections import CORRECTION_NAMES
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.pairs import LEAST_TOPICS
from confir.studies.comparison.significance import Estimates, significant_directions
from confir.studies.comparison.verdicts import EQUIVALENT, INCONCLUSIVE, OPPOSITE


class Evidence(NamedTuple):
    """What decisions rest on, as in `Decision` and `Family`: numbers, or arrays that broadcast."""

    pairs: Any
    correction: Any
    baseline: Any
    run: Any
    verdict: Any
    difference: Any
    low: Any
    high: Any
    open: Any
    level: Any
    test: Any
    direction: Any
    p: Any
    p_adjusted: Any
    topics: Any
    constant: Any
    resampled: Any = "topics"


def explain(given: Evidence) -> Any:
    """Return what intervals and verdicts leave open, as texts; empty where they say all."""
    cases = _cases(given)
    texts = np.full(np.shape(given.verdict), "", object)
    holds = [np.broadcast_to(condition, texts.shape) for condition, _ in cases]
    case = np.argmax(holds, axis=0)  # the first that holds; the last always does
    unclear = np.isin(case, [place for place, (_, say) in enumerate(cases) if say is not _nothing])
    parts = (np.broadcast_to(part, texts.shape)[unclear].tolist() for part in given)
    rows = map(Evidence._make, zip(*parts, strict=True))
    texts[unclear] = [cases[place][1](one) for place, one in zip(case[unclear], rows, strict=True)]
    return texts


def _cases(given: Evidence) -> list[tuple[Any, Callable[[Evidence], str]]]:
    """Return where each case holds, and what is said then; the first case that holds counts."""
    estimates = Estimates(given.difference, given.low, given.high, given.constant, given.open)
    corrected, alone = (
        significant_directions(estimates, given.direction, p, given.level) != 0
        for p in (given.p_adjusted, given.p)
    )
    verdict = np.asarray(given.verdict)
    includes = np.less_equal(given.low, 0) & np.greater_equal(given.high, 0)
    includes &= np.equal(given.open, 0)
    significant = is_significant(given.p_adjusted, given.level)
    return [
        (given.topics < LEAST_TOPICS, lambda _: "fewer than 2 topics in common"),
        (given.constant, _constant_reason),
        (np.isnan(given.low) | np.isnan(given.high), lambda _: "no interval"),
        ((verdict == EQUIVALENT) & ~includes, lambda _: "the interval excludes 0"),
        (np.isin(verdict, (EQUIVALENT, *OPPOSITE)), _nothing),
        (significant & (given.direction * given.difference < 0), _opposite_reason),
        (
            significant,
            lambda one: f"the {_title(one)} is significant, but the interval includes 0",
        ),
        (includes, _nothing),
        (alone & ~corrected, _correction_reason),
        (True, lambda one: f"not significant by the {_title(one)}"),
    ]


def _nothing(_: Evidence) -> str:
    return ""


def _title(one: Evidence) -> str:
    return find_test(one.test).title


def _constant_reason(one: Evidence) -> str:
    if one.resampled == "documents":
        return f"the same {'difference' if one.direction else 'mean'} on every resampled collection"
    if one.direction == 0:
        return f"the same score on all {one.topics} topics"
    same = f"the same difference on all {one.topics} topics"
    if one.verdict != INCONCLUSIVE:
        return same
    alone = f"{same}; exact sign-flip test: p {one.p:.2g}"
    if one.p_adjusted <= one.p:
        return alone
    if one.correction is None:  # the family's own rule, not a multiple of the sign-flip test's p
        return f"{alone} alone, {one.p_adjusted:.2g} by the family of {_pairs_text(one)}"
    return f"{alone}, {one.p_adjusted:.2g} for {_pairs_text(one)}"


def _pairs_text(one: Evidence) -> str:
    return counted(int(one.pairs), "pair")


def _opposite_reason(one: Evidence) -> str:
    favoured, higher = (one.run, one.baseline)[:: 1 if one.direction > 0 else -1]
    return f"the {_title(one)} favours {favoured}, but {higher} has the higher mean"


def _correction_reason(one: Evidence) -> str:
    name = CORRECTION_NAMES[one.correction]
    return f"not significant after {name} for {_pairs_text(one)}"
