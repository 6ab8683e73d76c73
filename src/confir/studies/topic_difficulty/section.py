"""Topics in the report: the chosen run compared with all runs, and the chosen pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.arrays import TIE
from confir.errors import counted, enumerate_names
from confir.number_text import number_text, percent
from confir.pairs.pair_results import TopicDifferences
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import isolated
from confir.report.page_data import in_full
from confir.report.sections import Figure, Scope, Section
from confir.studies.comparison.chart import topic_chart
from confir.studies.topic_difficulty.chart import topic_score_chart
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty, describe_topics

# Topics that are named as the hardest.
_HARDEST = 3

# Quantiles of the scores, shown where there are too many topics to show each.
_PROBABILITIES = tuple(percentile / 100 for percentile in (5, 25, 50, 75, 95))


def _gather(scope: Scope) -> TopicDifficulty:
    return describe_topics(scope.scores.listed())


def _context(contents: Contents) -> dict[str, Any]:
    """Return what is shown where there are too many topics to show each: a sample, and quantiles."""
    if contents.scores.in_memory:
        return {"sampled": 0}
    sample = contents.scores.listed()
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
    """Yield the charts of a pair of runs; on the page the reader can choose others."""
    best = _pair(contents)
    scores, shown = contents.scores.listed(), contents.topics_shown
    difficulty: TopicDifficulty = contents["topic_difficulty"]
    if len(shown) < len(scores.topics):
        scores = scores.select(topic=[scores.topics[place] for place in shown.tolist()])
        difficulty = describe_topics(scores)
    yield Figure("topics", topic_score_chart(difficulty, run=best[0]))
    if len(best) > 1:
        alone = {"position": np.array([[0]]), "turned": np.array([[False]])}
        pair = TopicDifferences(scores.select(run=best), np.array([1]), np.array([0]), **alone)
        if not np.isnan(pair.difference).all():
            yield Figure("differences", topic_chart(pair))


def _pair(contents: MeasureContents) -> list[str]:
    """Return the best two runs; with a baseline, the best of the others and that; or a single run."""
    runs, baseline = contents.scores.runs, contents.settings.baseline
    order = [runs[place] for place in contents.order if runs[place] != baseline]
    if baseline is None:
        return order[:2]
    return [*order[:1], baseline]


def _conclusion(contents: Contents) -> str:
    """Return on how many topics the one run beats the other, and which topics are hardest."""
    first = contents.measures[0]
    scores, unit = first.scores.listed(), contents.scores.unit_name
    pair = _pair(first)
    said = []
    if len(pair) > 1:
        a, b = (scores.values[:, scores.runs.index(run), 0] for run in pair)
        known = int((~np.isnan(a - b)).sum())
        won, lost = int((a - b > TIE).sum()), int((b - a > TIE).sum())
        one, other = map(isolated, pair)
        if won or lost:
            compared = f"{one} scores higher than {other} on {won:,} of {counted(known, unit)} and lower on {lost:,}"
        elif known:
            compared = f"{one} and {other} have the same score on {counted(known, unit)}"
        else:
            compared = f"{one} and {other} have no {unit} in common"
        said.append(compared)
    median = first["topic_difficulty"].median[:, 0]
    hardest = np.argsort(np.nan_to_num(median, nan=np.inf), kind="stable")[:_HARDEST].tolist()
    if len(scores.topics) > 1:
        names = enumerate_names((isolated(scores.topics[place]) for place in hardest), _HARDEST)
        said.append(f"hardest {unit}s by the median of all runs: {names}")
    return f"{'; '.join(said)}." if said else ""


def _page_data(contents: MeasureContents) -> dict[str, Any]:
    difficulty: TopicDifficulty = contents["topic_difficulty"]
    shown = contents.topics_shown
    return {
        "scores": in_full(contents.scores.listed().values[shown, :, 0].T),
        "lowest": in_full(difficulty.lowest[shown, 0]),
        "median": in_full(difficulty.median[shown, 0]),
        "highest": in_full(difficulty.highest[shown, 0]),
    }


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    needed=True,
    anchor="topics",
    heading="Topic by topic",
    meaning="A small mean difference may hide topics on which one run wins and others on "
    "which it loses; here are those topics.",
    context=_context,
    conclusion=_conclusion,
    figures=_figures,
    page_data=_page_data,
)
