"""Ranks in the report: simultaneous intervals, with the comparison of all pairs."""

from __future__ import annotations

from confir.pairs.ranking import Ranking, rank_runs
from confir.report.contents import MeasureContents
from confir.report.sections import Scope, Section, Sentence


def _gather(scope: Scope) -> dict[float, Ranking]:
    """Return the ranking of the runs by level; the best run rests on the same pairs."""
    settings, best = scope.settings, scope.results["best"]
    ranking = best.ranking if best else rank_runs(scope.scores, **settings.drawing)
    return {level: ranking.at(level) for level in settings.levels}


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    with_baseline=False,  # ranks are of all pairs
    several_runs="ranks needs at least 2",
    by_level=True,
    paper_part="ranks",
    by_run=True,
    methods=Sentence(
        30,
        "A rank interval contains the ranks r that the comparisons of the run with the K − 1 others do not "
        "reject (after Mogstad et al. 2024): r is rejected where at least r of them are better, or "
        "K − r + 1 worse, by a t (with m = K − 1 and M over all pairs) whose p-value is at most α: the "
        "smallest of the share of samples in which the largest |t| of the run's pairs reaches it, K − 1 "
        "times the one-sided p-value, and the sum of the chances that one of K − r seems better and "
        "that one of r − 1 seems worse, each by the largest signed t or Bonferroni; 3.1787·(K − 1)·Φ(−T) "
        "counts as for the best run. Simultaneous rank intervals are from the comparisons of all pairs "
        "instead. The share of samples in which a run ranks first is from the same bootstrap over topics "
        "({replicates}; Efron 1979).",
        ("Mogstad2024", "Efron1979"),
    ),
)
