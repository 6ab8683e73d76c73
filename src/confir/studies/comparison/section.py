"""Pairs of runs in the report: the matrix, the chosen pair, and which runs the best one beats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import InvalidValueError
from confir.order import signed
from confir.report.contents import Contents, MeasureContents
from confir.report.names import list_runs
from confir.report.numbers import p_text, percent
from confir.report.page_data import level_key, shown
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.studies.comparison.chart import matrix_chart
from confir.studies.comparison.comparison import Comparison, Place, compare_runs
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.table import how_compared, is_simultaneous
from confir.studies.comparison.verdicts import (
    BETTER,
    IDENTICAL,
    INCONCLUSIVE,
    NOT_COMPARED,
    VERDICTS,
    pair_verdicts,
    verdicts_against,
)

# A matrix of more runs cannot be read; the best are shown.
MATRIX_RUNS = 40

# Verdicts by number, which is shorter.
_WORDS = (*VERDICTS, NOT_COMPARED)


def _gather(scope: Scope) -> dict[float, Comparison]:
    """Return the comparison of all pairs by level: one family."""
    if len(scope.scores.runs) < 2:
        raise InvalidValueError("there is one run; a pair needs two")
    comparison = compare_runs(scope.scores, level=scope.settings.level, **scope.settings.drawing)
    return {level: comparison.at(level) for level in scope.settings.levels}


def _context(_: Contents) -> dict[str, Any]:
    return {"matrix_runs": MATRIX_RUNS}


def _figures(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    for level in levels:
        drawing = matrix_chart(contents["comparison"][level], most=MATRIX_RUNS)
        yield Figure("pairs", drawing, level)


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    """Return verdicts on all runs against the best, and the differences between the best runs.

    Differences are second minus first, as texts: the page turns their signs, and sorts by them.
    """
    comparisons: dict[float, Comparison] = contents["comparison"]
    order = contents.order()
    first = next(iter(comparisons.values()))
    among = np.isin(np.stack([first.first, first.second]), order[:MATRIX_RUNS]).all(axis=0)
    kept = np.flatnonzero(among)
    return {
        "verdicts": list(_WORDS),
        "interval": "simultaneous " if is_simultaneous(first) else "",
        "first": first.first[kept].tolist(),
        "second": first.second[kept].tolist(),
        "difference": _signed(first.difference[kept, 0]),
        "p_adjusted": shown(first.p_adjusted[0, kept, 0]),
        "p_text": [p_text(p) for p in first.p_adjusted[0, kept, 0].tolist()],
        "wins": first.wins[kept, 0].tolist(),
        "ties": first.ties[kept, 0].tolist(),
        "losses": first.losses[kept, 0].tolist(),
        "at": {
            level_key(level): _at_level(comparison, kept, order[0])
            for level, comparison in comparisons.items()
        },
    }


def _at_level(comparison: Comparison, kept: Integers, best: int) -> dict[str, Any]:
    words, against = pair_verdicts(comparison), verdicts_against(comparison, best)
    low, high = comparison.limits
    return {
        "best_is": [
            _WORDS.index(against.get(place, INCONCLUSIVE)) for place in range(len(comparison.runs))
        ],
        "low": _signed(low[kept, 0]),
        "high": _signed(high[kept, 0]),
        "verdict": [_WORDS.index(words[pair]) for pair in kept.tolist()],
        "reason": [comparison.decision(Place(0, pair, 0)).reason for pair in kept.tolist()],
    }


def _signed(values: Floats) -> list[str]:
    return [signed(value) for value in values.tolist()]


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield which runs the best one is significantly better than, and which it is not."""
    first = contents.measures[0]
    if first["comparison"] is None:
        yield Sentence(20, f"Runs are not compared: {first.left_out['comparison']}.")
        return
    comparison: Comparison = first["comparison"][contents.settings.level]
    best, *others = first.order()
    verdicts = verdicts_against(comparison, best)
    runs: dict[str, list[str]] = {}
    for place in others:
        runs.setdefault(verdicts[place], []).append(first.scores.runs[place])
    beaten, unclear = runs.pop(BETTER, []), runs.pop(INCONCLUSIVE, [])
    for text in _better(len(beaten), unclear, len(others), how_compared(comparison)):
        yield Sentence(20, text)
    for word, names in runs.items():
        yield Sentence(20, _exception(word, names))


def _better(beaten: int, unclear: list[str], others: int, how: str) -> list[str]:
    """Return how many runs the best one is better than, and which are indistinguishable from it."""
    if beaten == others:
        every = "the other run" if others == 1 else f"every one of the other {others} runs"
        return [f"It is significantly better than {every} ({how})."]
    if others == 1:
        said = f"It is not significantly better than the other run, {list_runs(unclear)} ({how})."
        return [said] if unclear else []
    better = f"It is significantly better than {beaten} of the other {others} runs ({how})."
    if not beaten:
        better = f"It is not significantly better than any of the other {others} runs ({how})"
        next_runs = f"; the next by the mean: {list_runs(unclear)}" if unclear else ""
        return [f"{better}{next_runs}."]
    if not unclear:
        return [better]
    runs = "One run is" if len(unclear) == 1 else f"{len(unclear)} runs are"
    return [better, f"{runs} statistically indistinguishable from it: {list_runs(unclear)}."]


def _exception(word: str, names: list[str]) -> str:
    """Return what is unusual about runs beside the best one: missing topics, or equal scores."""
    if word == NOT_COMPARED:
        return f"It is not compared with {list_runs(names)}: fewer than 2 topics in common."
    if word == IDENTICAL:
        return f"It is identical to {list_runs(names)}: the same score on every topic."
    better = "is" if len(names) == 1 else "are"
    return f"On the topics in common, {list_runs(names)} {better} significantly better than it."


def _methods(contents: Contents) -> Iterator[Sentence]:
    found = [part["comparison"] for part in contents.measures if part["comparison"] is not None]
    if not found:
        return
    comparison: Comparison = found[0][contents.settings.level]
    constant = ""
    if np.isnan(comparison.se).any():
        constant = "; where all topics showed the same difference, the exact sign-flip test decided"
    if len(comparison.first) == 1:
        test = find_test(comparison.tests[0]).title
        yield Sentence(
            40,
            f"The two runs were compared with {comparison.method} intervals of the difference and a "
            f"paired {test}; a difference is called significant where p is at most "
            f"{1 - comparison.level:.4g} and the interval excludes 0{constant}.",
        )
        return
    yield Sentence(
        40,
        f"All {len(comparison.first):,} pairs of runs were compared with simultaneous "
        f"{percent(comparison.level)} intervals within each measure: the largest studentised "
        f"difference over {comparison.replicates:,} bootstrap samples of the topics gives the "
        "critical value, at most that of Bonferroni (Westfall & Young 1993); a difference is called "
        f"significant where its interval excludes 0{constant}.",
        ("Westfall1993",),
    )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    anchor="pairs",
    title="Pairs",
    heading="Every pair",
    stays=True,
    context=_context,
    figures=_figures,
    page_data=_page_data,
    answer=_answer,
    methods=_methods,
)
