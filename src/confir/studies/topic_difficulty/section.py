"""Topics in the report: the chosen run compared with all runs, and the chosen pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.measures.score_summary import ScoreSummary, listed_scores
from confir.report.contents import Contents, MeasureContents
from confir.report.numbers import number_text, percent
from confir.report.page_data import in_full
from confir.report.sections import Figure, Scope, Section
from confir.studies.comparison.chart import topic_chart
from confir.studies.comparison.topic_differences import TopicDifferences
from confir.studies.topic_difficulty.chart import topic_score_chart
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty, describe_topics

# Quantiles of the scores that stand for single topics.
_PROBABILITIES = tuple(percentile / 100 for percentile in (5, 25, 50, 75, 95))


def _gather(scope: Scope) -> TopicDifficulty:
    return describe_topics(listed_scores(scope.scores))


def _context(contents: Contents) -> dict[str, Any]:
    """Return what stands for single topics where there are too many: a sample, and quantiles."""
    if not isinstance(contents.scores, ScoreSummary):
        return {"sampled": 0}
    sample = contents.scores.sample
    with np.errstate(invalid="ignore"):
        quantiles = np.nanquantile(sample.values, _PROBABILITIES, axis=0)
    rows = [
        [run, measure, *(number_text(value) for value in quantiles[:, r, m].tolist())]
        for m, measure in enumerate(sample.measures)
        for r, run in enumerate(sample.runs)
    ]
    heads = ["run", "measure", *(percent(p) for p in _PROBABILITIES)]
    return {"sampled": len(sample.topics), "heads": heads, "quantiles": rows}


def _figures(contents: MeasureContents, _: tuple[float, ...]) -> Iterator[Figure]:
    """Yield the charts of the best two runs; on the page the reader can choose others."""
    best = [contents.scores.runs[place] for place in contents.order()[:2]]
    scores, shown = listed_scores(contents.scores), contents.topics_shown
    difficulty: TopicDifficulty = contents["topic_difficulty"]
    if len(shown) < len(scores.topics):
        scores = scores.select(topic=[scores.topics[place] for place in shown.tolist()])
        difficulty = describe_topics(scores)
    yield Figure("topics", topic_score_chart(difficulty, run=best[0]))
    if len(best) > 1:
        pair = TopicDifferences(scores.select(run=best), np.array([1]), np.array([0]))
        if pair.ordered(0, 0):
            yield Figure("differences", topic_chart(pair))


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    difficulty: TopicDifficulty = contents["topic_difficulty"]
    shown = contents.topics_shown
    return {
        "scores": in_full(listed_scores(contents.scores).values[shown, :, 0].T),
        "lowest": in_full(difficulty.lowest[shown, 0]),
        "median": in_full(difficulty.median[shown, 0]),
        "highest": in_full(difficulty.highest[shown, 0]),
    }


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    needed=True,
    anchor="topics",
    title="Topics",
    heading="Topic by topic",
    meaning="A small mean difference may hide topics on which one run wins and others on "
    "which it loses; here are those topics.",
    context=_context,
    figures=_figures,
    page_data=_page_data,
)
