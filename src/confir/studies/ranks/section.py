"""Ranks in the report: beside the means of the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from confir.errors import counted
from confir.report.contents import Contents, MeasureContents
from confir.report.numbers import frequency_text, percent, topics_text
from confir.report.page_data import level_key, shown
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.studies.ranks.chart import ranking_chart
from confir.studies.ranks.rank_tests import borderline_ranks
from confir.studies.ranks.ranking import Ranking, rank_runs


def _gather(scope: Scope) -> dict[float, Ranking]:
    """Return the ranking of the runs by level; the best run rests on the same pairs."""
    scope.require_runs("ranks")
    settings, best = scope.settings, scope.results["best"]
    ranking = best.ranking if best else rank_runs(scope.scores, **settings.drawing)
    return {level: ranking.at(level) for level in settings.levels}


def _figures(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    for level in levels:
        yield Figure("ranks", ranking_chart(contents["ranks"][level]), level, by_run=True)


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    rankings: dict[float, Ranking] = contents["ranks"]
    first = next(iter(rankings.values()))
    return {
        "topics": topics_text(first.topics, first.model_topics),
        "rank": first.rank[:, 0].tolist(),
        "share_first": shown(first.share_first),
        "share_first_text": [frequency_text(share) for share in first.share_first[:, 0].tolist()],
        "at": {level_key(level): _at_level(ranking) for level, ranking in rankings.items()},
    }


def _at_level(ranking: Ranking) -> dict[str, Any]:
    low, high = ranking.low[:, 0].tolist(), ranking.high[:, 0].tolist()
    unclear = borderline_ranks(ranking.p, ranking.level, ranking.draws)[:, 0].tolist()
    return {
        "low": low,
        "high": high,
        "limits": [
            f"{least} to {most}" + ", borderline" * borderline
            for least, most, borderline in zip(low, high, unclear, strict=True)
        ],
    }


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield how often the run ranks first in bootstrap samples of the topics.

    The samples favour it as these topics did: the sentence says so, since readers take the share
    for a probability.
    """
    first, level = contents.measures[0], contents.settings.level
    if first["ranks"] is None:
        return
    ranking: Ranking = first["ranks"][level]
    best = first.order()[0]
    low, high = int(ranking.low[best, 0]), int(ranking.high[best, 0])
    places = f"between {low} and {high}" if low < high else f"{low}"
    share = float(ranking.share_first[best, 0])
    often = "more than 99 %" if share > 0.99 else percent(share, 2)
    yield Sentence(
        30,
        f"It ranks first in {often} of bootstrap samples of the topics, and its rank is {places} "
        f"({percent(level)} interval); resampling cannot correct for an unrepresentative topic set.",
    )


def _methods(contents: Contents) -> Iterator[Sentence]:
    if contents.has("ranks"):
        yield Sentence(
            30,
            "A rank interval contains the ranks r that the comparisons of the run with the K − 1 others do not "
            "reject (after Mogstad et al. 2024): r is rejected where at least r of them are better, or "
            "K − r + 1 worse, by a t (with m = K − 1 and M over all pairs) whose p-value is at most α: the "
            "smallest of the share of samples in which the largest |t| of the run's pairs reaches it, K − 1 "
            "times the one-sided p-value, and the sum of the chances that one of K − r seems better and "
            "that one of r − 1 seems worse, each by the largest signed t or Bonferroni; 3.1787·(K − 1)·Φ(−T) "
            "counts as for the best run. The share of samples in which a run ranks first is "
            "from the same bootstrap over topics "
            f"({counted(contents.settings.replicates, 'replicate')}; Efron 1979).",
            ("Mogstad2024", "Efron1979"),
        )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    paper=_figures,
    page_data=_page_data,
    answer=_answer,
    methods=_methods,
)
