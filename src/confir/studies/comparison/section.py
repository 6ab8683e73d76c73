"""Pairs of runs in the report: the matrix, the chosen pair, and which runs the best one beats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import counted, enumerate_names
from confir.number_text import bracketed, p_text, percent, score_words, signed, signed_words
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import isolated, sentence_case
from confir.report.page_data import level_key, shown
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Cell, Table
from confir.studies.best.table import excluded_sentence
from confir.studies.comparison.chart import difference_chart, matrix_chart
from confir.studies.comparison.compare import compare_runs
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.comparison_notes import how_compared
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.run_groups import group_letters
from confir.studies.comparison.verdict_words import (
    baseline_headline,
    decision_sentence,
    p_phrase,
    pairs_sentence,
    sentence_forms,
    short_counts,
    unjoined_sentence,
)
from confir.studies.comparison.verdicts import INCONCLUSIVE, NOT_COMPARED, OPPOSITE, VERDICTS
from confir.studies.ranks.ranking import Ranking

# A matrix of more runs cannot be read; the best are shown.
MATRIX_RUNS = 40

# The page holds the verdicts on about so many pairs, those of the best runs.
_HELD_VERDICTS = 40_000

# Verdicts by number, which is shorter.
_WORDS = (*VERDICTS, NOT_COMPARED)

# Topics that are named on which a run gains or loses most.
_TOPICS = 3

# In place of a number that there is not.
_NO_NUMBER = "–"


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
    return {
        "verdicts": list(_WORDS),
        "said": sentence_forms(),
        "baseline": None if first.baseline is None else reference,
        "held": held,
        "pairs": f"{len(first.first):,}",
        "interval": "simultaneous " if first.is_simultaneous else "",
        "first": first.first[kept].tolist(),
        "second": first.second[kept].tolist(),
        "difference": list(map(signed, first.difference[kept, 0].tolist())),
        "p_adjusted": shown(first.p_adjusted[0, kept, 0]),
        "p_text": [p_text(p) for p in first.p_adjusted[0, kept, 0].tolist()],
        "p_phrase": [
            p_phrase(*both, int(first.tested[0]))
            for both in zip(
                first.p[0, kept, 0].tolist(), first.p_adjusted[0, kept, 0].tolist(), strict=True
            )
        ],
        "wins": first.wins[kept, 0].tolist(),
        "ties": first.ties[kept, 0].tolist(),
        "losses": first.losses[kept, 0].tolist(),
        "at": {
            level_key(level): _at_level(comparison, kept, held)
            for level, comparison in comparisons.items()
        },
        **({} if first.baseline is None else {"gaps": baseline_gaps(comparisons, reference)}),
    }


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


def _at_level(comparison: Comparison, kept: Integers, held: list[int]) -> dict[str, Any]:
    words = np.array([_WORDS.index(word) for word in comparison.pair_verdicts()], np.int64)
    low, high = comparison.limits
    return {
        "against": _against(comparison, words, held),
        "low": list(map(signed, low[kept, 0].tolist())),
        "high": list(map(signed, high[kept, 0].tolist())),
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


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield how many pairs differ significantly; with a baseline, which runs beat it."""
    first = contents.measures[0]
    if first["comparison"] is None:
        yield Sentence(20, f"Runs are not compared: {first.left_out['comparison']}.")
        return
    comparison: Comparison = first["comparison"][contents.settings.level]
    if comparison.baseline is not None:
        yield from _baseline_answer(contents, comparison)
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
    return _pair(comparison, 0, turned=float(comparison.difference[0, 0]) < 0.0)


def _pair(comparison: Comparison, pair: int, *, turned: bool = False) -> str:
    one = comparison.decision(Place(0, pair, 0), turned=turned).named(isolated)
    return decision_sentence(one, comparison.measures[0], brief=True)


def _against_baseline(comparison: Comparison) -> str:
    return f"{baseline_headline(comparison, isolated(str(comparison.baseline)))}."


def _baseline_answer(contents: Contents, comparison: Comparison) -> Iterator[Sentence]:
    """Yield how many runs beat the baseline, which one most and where, and what other measures say."""
    first = contents.measures[0]
    best = int(
        np.argsort(-np.nan_to_num(comparison.difference[:, 0], nan=-np.inf), kind="stable")[0]
    )
    several = len(comparison.first) > 1
    if several:
        yield Sentence(1, _against_baseline(comparison))
    told = f"{_pair(comparison, best)}{_both_means(first, comparison, best)}."
    yield Sentence(4 if several else 1, told)
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


def _conclusion(contents: Contents) -> str:
    first, level = contents.measures[0], contents.settings.level
    if first["comparison"] is None:
        return f"left out by {first.measure}: {first.left_out['comparison']}."
    comparison: Comparison = first["comparison"][level]
    if comparison.baseline is not None:
        return _against_baseline(comparison)
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


def all_pairs_table(comparison: Comparison, ranking: Ranking | None) -> Table:
    """Return groups by compact letters, and simultaneous ranks: one row per run, best first."""
    (grouped,) = comparison.group_runs().by_measure
    ranks: dict[str, str] = {}
    if ranking is not None:
        ends = zip(ranking.simultaneous_low[:, 0], ranking.simultaneous_high[:, 0], strict=True)
        texts = (f"{low} to {high}" for low, high in ends)
        ranks = dict(zip(ranking.runs, texts, strict=True))
    rows = tuple(
        tuple(
            map(
                Cell,
                (run, score_words(mean), group_letters(*grouped.groups_of(place)))
                + ((ranks[run],) if ranks else ()),
            )
        )
        for place, (run, mean) in enumerate(zip(grouped.runs, grouped.means, strict=True))
    )
    columns = ("run", comparison.measures[0], "group", *(["rank"] if ranks else []))
    note = (
        f"Runs with a letter in common do not differ significantly ({how_compared(comparison)}); a rank is "
        "shown by its interval, and all of these are simultaneous"
    )
    if grouped.unjoined:
        note += f"; {unjoined_sentence(grouped.unjoined, 'letter')}"
    return Table(columns, rows, f"{note}.")


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
