"""How far do scores depend on the order of tied documents? Lowest, expected and highest means."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack, cast

import numpy as np

from confir.arrays import Floats
from confir.data.experiment import Experiment
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.rankings import stack_rankings
from confir.data.ranked_lists.tied_lists import count_ties, tie_groups, tied_rankings
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.data.result import over, result
from confir.data.scores import Scores
from confir.measures.lists_and_scores import BlockStudy, ListsAndScores, read_lists_and_scores
from confir.measures.measure import Compute, Measure
from confir.measures.tied_scores import extreme_lists
from confir.parallel import Progress
from confir.studies.unjudged.compared_means import ComparedMeans

# What is shown of ties, by treatment.
TIE_NOTES = {
    "bounds": "ties: lowest and highest mean over all orders of documents with equal scores",
    "expected": "ties: expected mean when documents with equal scores are in random order",
}


@result
class TieBounds(ComparedMeans):
    """Means with ties broken by docid, and the lowest, expected and highest over all orders.

    Attributes
    ----------
    runs, measures
        Names.
    scores, topics, mean
        The scores with ties broken by docid, descending, as trec_eval does; the topics of each
        mean, and the means.
    lowest_scores, expected_scores, highest_scores, lowest, expected, highest
        Over all orders of the tied documents of each list; all orders are equally probable.
    tied
        Share of documents that are tied with another: runs.
    """

    lowest_scores: Scores
    expected_scores: Scores
    highest_scores: Scores
    lowest: Floats = over("run", "measure")
    expected: Floats = over("run", "measure")
    highest: Floats = over("run", "measure")
    tied: Floats = over("run")

    others = ("lowest", "expected", "highest")
    record_columns = (
        *("run", "measure", "topics", "mean", "lowest", "expected", "highest", "tied"),
    )
    share = "tied"
    chart_title = "Bounds over all orders of tied documents"
    chart_words = "bounds (grey), expected mean (diamond)"
    chart_point = "expected"

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"{TIE_NOTES['bounds']}; expected: in random order; mean: ties broken by docid, as in "
            "trec_eval"
        )


@takes_rules
def bound_ties(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: Any = None,
    *,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> TieBounds:
    """Return the lowest, expected and highest score over all orders of tied documents.

    A run that gives many documents the same score leaves their order to the tool that reads it, and
    with it a part of its own score.

    All three are exact (McSherry & Najork 2008). Measures of subtopics raise.

    Parameters
    ----------
    qrels, runs, measures, progress, **rules
        As in `evaluate`; ``tie_precision`` says in which precision retrieval scores are equal.

    Examples
    --------
    >>> qrels, tied = {"1": {"d1": 1}}, {"1": {"d1": 1.0, "d2": 1.0}}
    >>> bounds = confir.bound_ties(qrels, {"a": tied}, "RR").to_records()[0]
    >>> bounds["lowest"], bounds["highest"]
    (0.5, 1.0)
    """
    return bound_scored_ties(
        read_lists_and_scores(qrels, runs, measures, rules, no_order, progress)
    )


def no_order(measure: Measure) -> str | None:
    """Return why a measure has no bounds over ties; None where it has."""
    if measure.definition.tied is not None:
        return None
    return "no rule for tied documents, since what one adds depends on those above it"


def bound_scored_ties(scored: ListsAndScores) -> TieBounds:
    """Return what `bound_ties` does, of lists and scores that are known already."""
    bounds: TieBounds = study_ties(scored).result()
    return bounds


def study_ties(scored: ListsAndScores) -> BlockStudy:
    """Return how `bound_scored_ties` is computed."""
    runs = [scored.lists.runs.index(run) for run in scored.scores.runs]
    tied, _ = count_ties(scored.lists, scored.rules.tie_precision)
    share = tied / np.maximum(scored.lists.depth.sum(axis=1), 1)
    finish = partial(TieBounds.of, scored, tied=share[runs])
    return BlockStudy(scored.lists, partial(_score_orders, scored), finish)


def _score_orders(scored: ListsAndScores, lists: HeldLists) -> Floats:
    """Return lowest, expected and highest scores of some lists: measures × runs × topics."""
    groups = tie_groups(lists, scored.rules.tie_precision)
    tied = tied_rankings(lists, groups, scored.rules.depth)
    extremes = {}  # with tied documents worst first, and best first
    for gains in {measure.gain_map for measure in scored.measures}:
        ordered = extreme_lists(lists, groups, gains)
        extremes[gains] = [stack_rankings(scored.cut(one).rankings()) for one in ordered]
    found = []
    for measure in scored.measures:
        lowest, highest = (measure(one)[:, :, 0] for one in extremes[measure.gain_map])
        compute = cast("Compute", measure.definition.tied)
        expected = compute(tied, **measure.keywords)[:, :, 0]
        # rounding may not lead outside
        found.append([lowest, np.clip(expected, lowest, highest), highest])
    return np.moveaxis(np.array(found), 1, 0)
