"""Pairs of runs in the report: the matrix, the chosen pair, and which runs the best one beats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.arrays import Integers
from confir.errors import counted
from confir.number_text import p_text, percent, signed
from confir.pairs.compare import compare_runs
from confir.pairs.comparison import Comparison, Place
from confir.pairs.decisions import INCONCLUSIVE, NOT_COMPARED, OPPOSITE, VERDICTS
from confir.pairs.next_step import next_step_sentence, next_steps
from confir.pairs.paired_tests import find_test
from confir.pairs.ranking import Ranking
from confir.pairs.verdict_words import (
    SENTENCE_FORMS,
    baseline_headline,
    decision_sentence,
    p_phrase,
    pairs_sentence,
)
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import isolated, sentence_case
from confir.report.page_data import level_key, shown
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Table
from confir.studies.best.table import excluded_sentence
from confir.studies.comparison.baseline_section import baseline_answer, baseline_gaps
from confir.studies.comparison.chart import difference_chart, matrix_chart
from confir.studies.comparison.table import all_pairs_table

# A matrix of more runs cannot be read; the best are shown.
MATRIX_RUNS = 40

# The page holds the verdicts on about so many pairs, those of the best runs.
_HELD_VERDICTS = 40_000

# Verdicts by number, which is shorter.
_WORDS = (*VERDICTS, NOT_COMPARED)

# On how several runs are compared; the rule is that of docs/reproductions/families.md.
_FAMILY_METHODS = (
    "{compared} with simultaneous {level} intervals d ± c·√(se² + u·M/n) "
    "within each measure. M is the median variance of those of the m differences that are not "
    "constant, and u = 1 − m^(−1/n) with n topics; u·M is the same in all samples "
    "and compensates for a variance that is too small by chance, as it may be of runs that are much "
    "alike and differ on few topics. c is the order statistic at the level of the largest such "
    "t, times √(n/(n−1)), over {replicates} bootstrap samples of the "
    "topics{more}, at least the t quantile of one pair and at most Bonferroni's (Westfall & Young "
    "1993). A difference is called significant where this interval excludes 0, or where "
    "p_T = 2·3.1787·m·Φ(−|T|) is at most α, with T the sum of the topics' differences over the root "
    "of the sum of their squares, which is a bound for differences symmetric about 0 (Bentkus & "
    "Dzindzalieta 2015); the interval then ends at 0, which it excludes. The adjusted p-value is "
    "min(max(p_B, p_1), m·p_1, p_T, 1), with p_1 the two-sided p-value of t = d/√(se² + u·M/n) with n − 1 "
    "degrees of freedom, and p_B = (1 + b)/(B + 1) if the largest t reaches |t| in b of the B samples."
)


def _gather(scope: Scope) -> dict[float, Comparison]:
    """Return the comparison of all pairs, or with a baseline, by level: one family."""
    settings = scope.settings
    comparison = compare_runs(
        scope.scores, baseline=settings.baseline, level=settings.level, **settings.drawing
    )
    return {level: comparison.at(level) for level in settings.levels}


def _figures(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    if contents.settings.baseline is not None:
        for level in levels:
            chart = difference_chart(contents["comparison"][level])
            yield Figure("pairs", chart, level, by_run=True)


def _paper(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    """Yield the matrix of all pairs; the page draws its own, of more runs."""
    if contents.settings.baseline is None:
        for level in levels:
            chart = matrix_chart(contents["comparison"][level], most=MATRIX_RUNS)
            yield Figure("pairs", chart, level)


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    """Return the verdicts on pairs of runs, and the differences between the best runs.

    Differences are second minus first, as texts: the page turns their signs, and sorts by them.
    With a baseline, they are those of all runs from it.
    """
    comparisons: dict[float, Comparison] = contents["comparison"]
    order, runs = contents.order, len(contents.scores.runs)
    first = next(iter(comparisons.values()))
    reference = contents.reference(first.baseline)
    held = order[: max(MATRIX_RUNS, _HELD_VERDICTS // runs)]
    among = np.isin(np.stack([first.first, first.second]), order[:MATRIX_RUNS]).all(axis=0)
    if first.baseline is not None:
        held, among = [reference], np.ones(len(first.first), bool)
    kept = np.flatnonzero(among)
    adjusted = first.p_adjusted[0, kept, 0].tolist()
    return {
        "verdicts": list(_WORDS),
        "said": SENTENCE_FORMS,
        "baseline": None if first.baseline is None else reference,
        "held": held,
        "pairs": f"{len(first.first):,}",
        "interval": "simultaneous " if first.is_simultaneous else "",
        "first": first.first[kept].tolist(),
        "second": first.second[kept].tolist(),
        "difference": list(map(signed, first.difference[kept, 0].tolist())),
        "p_adjusted": shown(first.p_adjusted[0, kept, 0]),
        "p_text": list(map(p_text, adjusted)),
        "p_phrase": [
            p_phrase(p, adjusted=first.is_adjusted and not same)
            for p, same in zip(adjusted, first.identical[kept, 0].tolist(), strict=True)
        ],
        "wins": first.wins[kept, 0].tolist(),
        "ties": first.ties[kept, 0].tolist(),
        "losses": first.losses[kept, 0].tolist(),
        "at": {level_key(level): _at_level(one, kept, held) for level, one in comparisons.items()},
        **({} if first.baseline is None else {"gaps": baseline_gaps(comparisons, reference)}),
    }


def _at_level(comparison: Comparison, kept: Integers, held: list[int]) -> dict[str, Any]:
    """Return limits and verdicts at a level; of the verdicts on the runs held, a digit per other run."""
    words = np.array([_WORDS.index(word) for word in comparison.pair_verdicts()], np.int64)
    steps = next_steps(comparison)
    opposite = np.array([_WORDS.index(OPPOSITE.get(word, word)) for word in _WORDS])
    runs = len(comparison.runs)
    table = np.full((runs, runs), _WORDS.index(INCONCLUSIVE), np.uint8)
    table[comparison.second, comparison.first] = words
    table[comparison.first, comparison.second] = opposite[words]
    low, high = comparison.limits
    return {
        "against": [row.tobytes().decode() for row in table[held] + np.uint8(ord("0"))],
        "low": list(map(signed, low[kept, 0].tolist())),
        "high": list(map(signed, high[kept, 0].tolist())),
        "open": comparison.open_end[kept, 0].tolist(),
        "borderline": comparison.borderline[0, kept, 0].astype(int).tolist(),
        "verdict": words[kept].tolist(),
        "reason": comparison.reasons[0, kept, 0].tolist(),
        "next": [
            next_step_sentence(comparison, steps, 0, pairs=[pair], write=isolated)
            for pair in kept.tolist()
        ],
    }


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield how many pairs differ significantly; with a baseline, which runs beat it."""
    first = contents.measures[0]
    if first["comparison"] is None:
        yield Sentence(20, f"Runs are not compared: {first.left_out['comparison']}.")
        return
    comparison: Comparison = first["comparison"][contents.settings.level]
    if comparison.baseline is not None:
        yield from baseline_answer(contents, comparison)
    elif len(comparison.first) == 1:
        yield Sentence(20, f"{_one_pair(comparison)}.")
    else:
        yield Sentence(20, " ".join(filter(None, (f"{_pairs(comparison)}.", _why(contents)))))


def _pairs(comparison: Comparison) -> str:
    return sentence_case(pairs_sentence(comparison, 0))


def _why(contents: Contents) -> str:
    """Return why the set of the best run leaves out runs whose pair with the best is inconclusive."""
    first, level = contents.measures[0], contents.settings.level
    if first["best"] is None:
        return ""
    said = excluded_sentence(first["best"].at[level], first["comparison"][level], 0)
    return f"{said}." if said else ""


def _one_pair(comparison: Comparison) -> str:
    """Return how the two runs of a page differ, the better one first."""
    turned = float(comparison.difference[0, 0]) <= 0.0
    one = comparison.decision(Place(0, 0, 0), turned=turned).named(isolated)
    return decision_sentence(one, comparison.measures[0], brief=True)


def _conclusion(contents: Contents) -> str:
    first, level = contents.measures[0], contents.settings.level
    if first["comparison"] is None:
        return f"left out by {first.measure}: {first.left_out['comparison']}."
    comparison: Comparison = first["comparison"][level]
    if comparison.baseline is not None:
        return f"{baseline_headline(comparison, isolated(comparison.baseline))}."
    if len(comparison.first) == 1:
        return f"{_one_pair(comparison)}."
    return f"{_pairs(comparison).partition(';')[0]}."


def _heading(contents: Contents) -> str:
    """Return the heading, which names the family of comparisons."""
    if contents.settings.baseline is not None:
        return f"Differences from {contents.settings.baseline}"
    runs = len(contents.scores.runs)
    return (
        "The pair" if runs == 2 else f"All {runs * (runs - 1) // 2:,} pairs, with groups and ranks"
    )


def _context(contents: Contents) -> dict[str, Any]:
    """Return why the leaderboard and the pairs may seem to differ."""
    first = contents.measures[0]
    compared = first["comparison"] is not None and contents.settings.baseline is None
    return {"why": _why(contents) if compared else ""}


def _tables(contents: MeasureContents) -> Iterator[tuple[str, Table]]:
    """Yield groups and simultaneous ranks, of all pairs."""
    comparison: Comparison = contents["comparison"][contents.settings.level]
    if comparison.baseline is not None or len(comparison.first) < 2:
        return
    ranking: Ranking | None = (
        None if contents["ranks"] is None else contents["ranks"][comparison.level]
    )
    yield "groups", all_pairs_table(comparison, ranking)


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
    text = _FAMILY_METHODS.format(
        compared=compared,
        level=percent(comparison.level),
        replicates=f"{comparison.replicates:,}",
        more=more,
    )
    yield Sentence(40, text, ("Westfall1993", "Bentkus2015"))


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    several_runs="a pair needs two",
    anchor="pairs",
    heading="All pairs",
    heading_of=_heading,
    meaning="Two runs differ significantly if their differences on the same topics are larger than chance "
    "explains, even if their own intervals overlap.",
    stays=True,
    figures=_figures,
    paper=_paper,
    page_data=_page_data,
    context=_context,
    tables=_tables,
    answer=_answer,
    conclusion=_conclusion,
    methods=_methods,
)
