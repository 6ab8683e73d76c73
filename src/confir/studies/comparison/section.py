"""Pairs of runs in the report: the matrix, the chosen pair, and which runs the best one beats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.defaults import NO_FAMILY
from confir.errors import InvalidValueError, counted, enumerate_names
from confir.order import bracketed, signed
from confir.report.contents import Contents, MeasureContents
from confir.report.names import isolated, list_runs
from confir.report.numbers import p_text, percent
from confir.report.page_data import level_key, shown
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.studies.comparison.chart import difference_chart, matrix_chart
from confir.studies.comparison.compare import compare_runs
from confir.studies.comparison.comparison import Comparison
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.table import how_compared, is_simultaneous
from confir.studies.comparison.verdicts import (
    BETTER,
    EQUIVALENT,
    IDENTICAL,
    INCONCLUSIVE,
    NOT_COMPARED,
    OPPOSITE,
    VERDICTS,
    WORSE,
    pair_verdicts,
    verdicts_against,
)

# A matrix of more runs cannot be read; the best are shown.
MATRIX_RUNS = 40

# The page holds the verdicts on about so many pairs, those of the best runs.
_HELD_VERDICTS = 40_000

# Verdicts by number, which is shorter.
_WORDS = (*VERDICTS, NOT_COMPARED)

# Runs that are described, and topics that are named for each.
_DESCRIBED, _TOPICS = 3, 3

# The verdicts on runs, and what is said of them against the baseline.
_AGAINST_BASELINE = {
    BETTER: "significantly better than {}",
    WORSE: "significantly worse",
    INCONCLUSIVE: "inconclusive",
    EQUIVALENT: "equivalent to it",
    IDENTICAL: "identical to it",
    NOT_COMPARED: "not compared with it, for lack of common topics",
}


def _gather(scope: Scope) -> dict[float, Comparison]:
    """Return the comparison of all pairs, or with a baseline, by level: one family."""
    if len(scope.scores.runs) < 2:
        raise InvalidValueError("there is one run; a pair needs two")
    settings = scope.settings
    asked = {"baseline": settings.baseline, "level": settings.level, **settings.drawing}
    maxima = None if scope.results["best"] is None else scope.results["best"].maxima
    if maxima is None or settings.baseline is not None:
        comparison = compare_runs(scope.scores, **asked)
    else:  # the pairs are those of the best run, and their replicates are the costly part
        comparison = compare_runs(scope.scores, family=NO_FAMILY, **asked).as_family([maxima])
    return {level: comparison.at(level) for level in settings.levels}


def _figures(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    for level in levels:
        comparison: Comparison = contents["comparison"][level]
        if comparison.baseline is not None:
            yield Figure("pairs", difference_chart(comparison), level, by_run=True)


def _paper(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    """Yield the matrix of all pairs; the page draws its own, of more runs."""
    for level in levels:
        comparison: Comparison = contents["comparison"][level]
        if comparison.baseline is None:
            yield Figure("pairs", matrix_chart(comparison, most=MATRIX_RUNS), level)


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    """Return the verdicts on pairs of runs, and the differences between the best runs.

    Differences are second minus first, as texts: the page turns their signs, and sorts by them.
    With a baseline, they are those of all runs from it.
    """
    comparisons: dict[float, Comparison] = contents["comparison"]
    order, runs = contents.order(), len(contents.scores.runs)
    first = next(iter(comparisons.values()))
    reference = contents.reference(first.baseline)
    held = order[: max(MATRIX_RUNS, _HELD_VERDICTS // runs)]
    among = np.isin(np.stack([first.first, first.second]), order[:MATRIX_RUNS]).all(axis=0)
    if first.baseline is not None:
        held, among = [reference], np.ones(len(first.first), bool)
    kept = np.flatnonzero(among)
    return {
        "verdicts": list(_WORDS),
        "baseline": None if first.baseline is None else reference,
        "held": held,
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
            level_key(level): _at_level(comparison, kept, held)
            for level, comparison in comparisons.items()
        },
    }


def _at_level(comparison: Comparison, kept: Integers, held: list[int]) -> dict[str, Any]:
    number = {word: place for place, word in enumerate(_WORDS)}
    words = np.array([number[word] for word in pair_verdicts(comparison)], np.int64)
    low, high = comparison.limits
    return {
        "against": _against(comparison, words, held),
        "low": _signed(low[kept, 0]),
        "high": _signed(high[kept, 0]),
        "open": comparison.open_end[kept, 0].tolist(),
        "borderline": comparison.borderline[0, kept, 0].astype(int).tolist(),
        "verdict": words[kept].tolist(),
        "reason": comparison.reasons[0, kept, 0].tolist(),
    }


def _against(comparison: Comparison, words: Integers, held: list[int]) -> list[str]:
    """Return the verdicts on some runs against each run, from their side: a digit per run."""
    opposite = np.array([_WORDS.index(OPPOSITE.get(word, word)) for word in _WORDS])
    runs = len(comparison.runs)
    table = np.full((runs, runs), _WORDS.index(INCONCLUSIVE), np.uint8)
    table[comparison.second, comparison.first] = words
    table[comparison.first, comparison.second] = opposite[words]
    return [row.tobytes().decode() for row in table[held] + np.uint8(ord("0"))]


def _signed(values: Floats) -> list[str]:
    return [signed(value) for value in values.tolist()]


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield which runs the best one is significantly better than, and which it is not."""
    first = contents.measures[0]
    if first["comparison"] is None:
        yield Sentence(20, f"Runs are not compared: {first.left_out['comparison']}.")
        return
    comparison: Comparison = first["comparison"][contents.settings.level]
    if comparison.baseline is not None:
        yield from _baseline_answer(comparison)
        return
    best, *others = first.order()
    verdicts = verdicts_against(comparison, best)
    runs: dict[str, list[str]] = {}
    for place in others:
        runs.setdefault(verdicts[place], []).append(first.scores.runs[place])
    beaten, unclear = runs.pop(BETTER, []), runs.pop(INCONCLUSIVE, [])
    for text in _better(len(beaten), unclear, len(others), how_compared(comparison)):
        yield Sentence(20, text)
    if first["best"] is not None:
        in_set = first["best"].at[contents.settings.level].in_set[:, 0]
        left = sum(verdicts[place] == INCONCLUSIVE and not in_set[place] for place in others)
        if left:
            yield Sentence(20, _two_questions(left, len(unclear)))
    for word, names in runs.items():
        yield Sentence(20, _exception(word, names))


def _two_questions(left: int, unclear: int) -> str:
    """Return why the set of the best run leaves out runs over which the lead is inconclusive."""
    which = f"{left:,} of these {unclear:,} runs" if left < unclear else "these runs"
    if unclear == 1:
        which = "that run"
    return (
        f"The confidence set leaves {which} out because it answers a narrower question: which run is best, "
        "not how every pair differs."
    )


def _better(beaten: int, unclear: list[str], others: int, how: str) -> list[str]:
    """Return how many runs the best one is better than, and over which its lead is inconclusive."""
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
    runs = "one run" if len(unclear) == 1 else f"{len(unclear):,} runs"
    return [better, f"Its lead over {runs} is inconclusive: {list_runs(unclear)}."]


def _exception(word: str, names: list[str]) -> str:
    """Return what is unusual about runs beside the best one: missing topics, or equal scores."""
    if word == NOT_COMPARED:
        return f"It is not compared with {list_runs(names)}: fewer than 2 topics in common."
    if word == IDENTICAL:
        return f"It is identical to {list_runs(names)}: the same score on every topic."
    better = "is" if len(names) == 1 else "are"
    return f"On the topics in common, {list_runs(names)} {better} significantly better than it."


def _baseline_answer(comparison: Comparison) -> Iterator[Sentence]:
    """Yield how many runs beat the baseline by one measure, then the largest differences."""
    words, name = np.array(pair_verdicts(comparison)), isolated(comparison.baseline or "")
    counts = {word: int((words == word).sum()) for word in _AGAINST_BASELINE}
    said = [
        f"{counts[word] or 'none'} {'is' if counts[word] == 1 else 'are'} {text.format(name)}"
        for word, text in _AGAINST_BASELINE.items()
        if counts[word] or word == BETTER
    ]
    others = counted(len(words), "other run")
    yield Sentence(
        3,
        f"Of {others} by {comparison.measures[0]}, {enumerate_names(said, len(said))} "
        f"({how_compared(comparison)}).",
    )
    above = np.flatnonzero((words == BETTER) | (words == INCONCLUSIVE))
    above = above[np.argsort(-comparison.difference[above, 0], kind="stable")]
    better = [pair for pair in above.tolist() if words[pair] == BETTER]
    for pair in better[:_DESCRIBED]:
        yield Sentence(4, f"{_described(comparison, pair)}.")
    if len(better) > _DESCRIBED:
        rest = [comparison.names(pair)[1] for pair in better[_DESCRIBED:]]
        yield Sentence(4, f"Also significantly better than {name}: {list_runs(rest)}.")
    if not better and len(above):
        largest = _described(comparison, int(above[0]))
        yield Sentence(4, f"The largest difference is inconclusive: {largest}.")


def _described(comparison: Comparison, pair: int) -> str:
    """Return by how much a run differs from the baseline, and on which topics most."""
    baseline, run = map(isolated, comparison.names(pair))
    low, high = (float(limit[pair, 0]) for limit in comparison.limits)
    gains, losses = comparison.topic_differences().extremes(pair, 0, _TOPICS)
    text = (
        f"{run} minus {baseline}: {signed(float(comparison.difference[pair, 0]))} "
        f"{bracketed(signed(low), signed(high), int(comparison.open_end[pair, 0]))}"
    )
    for verb, found in (("gains most on", gains), ("loses most on", losses)):
        if found:
            topics = enumerate_names((isolated(one.topic) for one in found), _TOPICS)
            text += f"; it {verb} topic{'s' if len(found) > 1 else ''} {topics}"
    return text


def _methods(contents: Contents) -> Iterator[Sentence]:
    found = [part["comparison"] for part in contents.measures if part["comparison"] is not None]
    if not found:
        return
    comparison: Comparison = found[0][contents.settings.level]
    if len(comparison.first) == 1:
        constant = ""
        if np.isnan(comparison.se).any():
            constant = "; all topics showed the same difference: the exact sign-flip test decided"
        test = find_test(comparison.tests[0]).title
        yield Sentence(
            40,
            f"The two runs were compared with {comparison.method} intervals of the difference and a "
            f"paired {test}; a difference is called significant where p is at most "
            f"{1 - comparison.level:.4g} and the interval excludes 0{constant}.",
        )
        return
    compared = f"All {len(comparison.first):,} pairs of runs were compared"
    if comparison.baseline is not None:
        others = counted(len(comparison.first), "other run")
        compared = f"The {others} were compared with {isolated(comparison.baseline)}"
    drawn = max((len(one.maxima) for one in comparison.families or ()), default=0)
    more = f" ({drawn:,} where a decision was close)" if drawn > comparison.replicates else ""
    yield Sentence(
        40,
        f"{compared} with simultaneous {percent(comparison.level)} intervals d ± c·√(se² + u·M/n) "
        "within each measure. M is the median variance of those of the m differences that are not "
        "constant, and u = 1 − m^(−1/n) with n topics; u·M is the same in all samples: runs that are much alike differ on few topics, and a variance that comes out too "
        "small by chance is so made up for. c is the order statistic at the level of the largest such "
        f"t, times √(n/(n−1)), over {comparison.replicates:,} bootstrap samples of the "
        f"topics{more}, at least the t quantile of one pair and at most Bonferroni's (Westfall & Young "
        "1993). A difference is called significant where this interval excludes 0, or where "
        "p_T = 2·3.1787·m·Φ(−|T|) is at most α, with T the sum of the topics' differences over the root "
        "of the sum of their squares, which is a bound for differences symmetric about 0 (Bentkus & "
        "Dzindzalieta 2015); the interval then ends at 0, which it excludes. The adjusted p-value is "
        "min(max(p_B, p_1), m·p_1, p_T, 1), with p_1 the two-sided p-value of t = d/√(se² + u·M/n) with n − 1 "
        "degrees of freedom, and p_B = (1 + b)/(B + 1) if the largest t reaches |t| in b of the B samples.",
        ("Westfall1993", "Bentkus2015"),
    )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    anchor="pairs",
    title="Pairs",
    heading="Every pair",
    meaning="Two runs differ significantly if their differences on the same topics are larger than chance "
    "explains, even if their own intervals overlap.",
    stays=True,
    figures=_figures,
    paper=_paper,
    page_data=_page_data,
    answer=_answer,
    methods=_methods,
)
