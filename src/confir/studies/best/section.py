"""The best run in the report: the gaps of its leaderboard, and which runs may be the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from confir.number_text import difference_words, signed_words
from confir.pairs.best_runs import BestRuns, best_of_pairs
from confir.pairs.ranking import Ranking, ranking_of_pairs
from confir.pairs.run_pairs import compare_all_runs
from confir.report.contents import MeasureContents
from confir.report.page_data import level_key, shown
from confir.report.result_chart import specification
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.studies.best.table import best_table


class Best(NamedTuple):
    """The sets of the best run by level, and the ranking, which rests on the same pairs of runs.

    The pairs are not kept: their replicates are large.
    """

    at: dict[float, BestRuns]
    ranking: Ranking


def _gather(scope: Scope) -> Best:
    """Return the sets of the best run, and the ranking."""
    settings = scope.settings
    drawn = settings.replicates, settings.seed
    pairs = compare_all_runs(scope.scores, *drawn, what="best runs", level=settings.level)
    made = best_of_pairs(scope.scores, pairs, settings.levels)
    ranking = ranking_of_pairs(scope.scores, pairs, settings.level)
    return Best(dict(zip(settings.levels, made, strict=True)), ranking)


def _figures(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    for level in levels:
        yield Figure("best", specification(contents["best"].at[level]), level, by_run=True)


def best_gaps(sets: Mapping[float, BestRuns]) -> dict[str, Any]:
    """Return the gaps to the best of the others, and by level their limits and who may be the best.

    Of the latter there is a digit per run: 1 if it may be, and 2 more if that is borderline.
    """
    difference = next(iter(sets.values())).difference[:, 0]
    at = {}
    for level, best in sets.items():
        numbers = np.stack([difference, best.lower[:, 0], best.upper[:, 0]], axis=1).tolist()
        at[level_key(level)] = {
            "in_set": "".join(map(str, (best.in_set + 2 * best.borderline)[:, 0])),
            "low": shown(best.lower),
            "high": shown(best.upper),
            "limits": [difference_words(*row).partition(" ")[2] or "–" for row in numbers],
        }
    texts = [signed_words(gap) for gap in difference.tolist()]
    return {"gap": shown(difference), "gap_text": texts, "at": at}


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    with_baseline=False,  # which asks another question
    several_runs="the best run needs at least 2",
    paper=_figures,
    page_data=lambda contents: best_gaps(contents["best"].at),
    tables=lambda contents: [("best", best_table(contents["best"].at[contents.settings.level]))],
    methods=Sentence(
        25,
        "The {level} confidence set of the best run is from one-sided multiple comparisons with the best "
        "(Hsu 1984), with m = K − 1 for K runs in the rule for families of comparisons, and M the median "
        "over all pairs: a run is left out where the largest t of another run above it exceeds the order "
        "statistic of that largest t over bootstrap samples of the topics ({replicates}), between the "
        "one-sided t quantiles at α and at α/(K − 1), or where 3.1787·(K − 1)·Φ(−T) is at most α.",
        ("Hsu1984", "Bentkus2015"),
    ),
)
