"""Topics in the report: the chosen run compared with all runs, and the chosen pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.report.contents import MeasureContents
from confir.report.page_data import in_full
from confir.report.sections import Figure, Scope, Section
from confir.studies.comparison.chart import topic_chart
from confir.studies.comparison.topic_differences import TopicDifferences
from confir.studies.topic_difficulty.chart import topic_score_chart
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty, describe_topics


def _gather(scope: Scope) -> TopicDifficulty:
    return describe_topics(scope.scores)


def _figures(contents: MeasureContents, _: tuple[float, ...]) -> Iterator[Figure]:
    """Yield the charts of the best two runs; on the page the reader can choose others."""
    best = [contents.scores.runs[place] for place in contents.order()[:2]]
    yield Figure("topics", topic_score_chart(contents["topic_difficulty"], run=best[0]))
    if len(best) > 1:
        pair = TopicDifferences(contents.scores.select(run=best), np.array([1]), np.array([0]))
        if pair.ordered(0, 0):
            yield Figure("differences", topic_chart(pair))


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    difficulty: TopicDifficulty = contents["topic_difficulty"]
    return {
        "scores": in_full(contents.scores.values[:, :, 0].T),
        "lowest": in_full(difficulty.lowest[:, 0]),
        "median": in_full(difficulty.median[:, 0]),
        "highest": in_full(difficulty.highest[:, 0]),
    }


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    needed=True,
    anchor="topics",
    title="Topics",
    heading="Topic by topic",
    figures=_figures,
    page_data=_page_data,
)
