"""Bounds of means over all judgements of unjudged documents."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack, cast

import numpy as np

from confir.arguments import as_integer
from confir.arrays import Floats
from confir.data.experiment import Experiment
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.unjudged_documents import (
    UnjudgedDocuments,
    find_unjudged,
    possible_grades,
)
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.data.result import over, result
from confir.data.scores import Scores
from confir.errors import enumerate_names
from confir.measures.lists_and_scores import BlockStudy, ListsAndScores, read_lists_and_scores
from confir.measures.measure import Measure
from confir.measures.score_bounds import Rule, ScoreBounds
from confir.parallel import Progress, run_in_threads
from confir.studies.unjudged.compared_means import ComparedMeans


@result
class UnjudgedBounds(ComparedMeans):
    """Means with unjudged documents non-relevant, and their bounds over all judgements of these.

    Attributes
    ----------
    runs, measures
        Names.
    scores, topics, mean
        The scores with unjudged documents non-relevant, the topics of each mean, and the means.
    lowest_scores, highest_scores, lowest, highest
        The bounds on each topic, and of the means. Bounds of different runs may need different
        judgements.
    judged
        Share of documents that are judged among the first k, or in the whole list for a measure
        without cutoff, mean over lists: runs × measures.
    depths
        By measure: unjudged documents that any run retrieves down to this rank may be relevant;
        None for whole lists.
    """

    lowest_scores: Scores
    highest_scores: Scores
    lowest: Floats = over("run", "measure")
    highest: Floats = over("run", "measure")
    judged: Floats = over("run", "measure")
    depths: tuple[int | None, ...] = over("measure", column="pool_depth")

    chart_title = "Bounds over all judgements of unjudged documents"
    record_columns = (
        *("run", "measure", "topics", "mean", "lowest", "highest", "judged", "pool_depth"),
    )

    def note(self) -> str:
        """Return what the bounds are, and which documents they are over."""
        depths: dict[int | None, list[str]] = {}
        for measure, depth in zip(self.measures, self.depths, strict=True):
            depths.setdefault(depth, []).append(measure)
        several = len(depths) > 1
        parts = [
            ("the lists" if depth is None else f"the first {depth}")
            + (f" ({enumerate_names(measures, 5)})" if several else "")
            for depth, measures in depths.items()
        ]
        return (
            "unjudged: lowest and highest mean if unjudged documents were judged, all that any run has in "
            f"{' or '.join(parts)}"
        )


@takes_rules
def bound_unjudged(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: Any = None,
    *,
    pool_depth: int | None = None,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> UnjudgedBounds:
    """Return the lowest and the highest score that judging unjudged documents could give.

    Unjudged documents count as non-relevant, which some of them are not: the bounds say how far a
    mean could be wrong for that reason, which no interval over topics shows.

    The bounds are exact for each run and topic. Measures without a rule raise, with the reason.

    Parameters
    ----------
    qrels, runs, measures, progress, **rules
        As in `evaluate`.
    pool_depth
        Documents that any of the runs retrieves down to this rank may turn out relevant, with any
        gain of the qrels; all others stay non-relevant. By default the measure's cutoff, and whole
        lists for a measure without one.

    Examples
    --------
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}}
    >>> runs = {"a": {"1": {"d1": 2.0, "d9": 1.0}, "2": {"d3": 1.0}}}
    >>> bounds = confir.bound_unjudged(qrels, runs, "P@2").to_records()[0]
    >>> bounds["lowest"], bounds["highest"]
    (0.5, 0.75)
    """
    if pool_depth is not None:
        as_integer("pool_depth", pool_depth)
    scored = read_lists_and_scores(qrels, runs, measures, rules, no_rule, progress)
    return bound_scored_lists(scored, pool_depth)


def no_rule(measure: Measure) -> str | None:
    """Return why a measure has no bounds over judgements; None where it has."""
    reason = measure.definition.bounds
    if not isinstance(reason, str):
        return None
    return f"no bounds over unjudged documents, since {reason}"


def bound_scored_lists(scored: ListsAndScores, pool_depth: int | None = None) -> UnjudgedBounds:
    """Return what `bound_unjudged` does, of lists and scores that are known already."""
    bounds: UnjudgedBounds = study_unjudged(scored, pool_depth).result()
    return bounds


def study_unjudged(scored: ListsAndScores, pool_depth: int | None = None) -> BlockStudy:
    """Return how `bound_scored_lists` is computed."""
    depths = scored.pool_depths(pool_depth)
    grades = possible_grades(scored.lists.qrels)
    # A measure with the cutoff at which the pool ends sees nothing of the lists below it.
    ends = [
        m.cutoff if m.cutoff == d else None for m, d in zip(scored.measures, depths, strict=True)
    ]

    def bound(lists: HeldLists) -> Floats:
        """Return lowest and highest scores: measures × runs × topics."""
        lists = scored.cut(lists)
        pools = {
            (depth, end): find_unjudged(lists if end is None else lists.cut(end), depth, grades)
            for depth, end in set(zip(depths, ends, strict=True))
        }
        bounds = [
            run_in_threads(partial(_bounds, measure), pools[depth, end])
            for measure, depth, end in zip(scored.measures, depths, ends, strict=True)
        ]
        return np.moveaxis(np.array(bounds), 2, 0)

    finish = partial(UnjudgedBounds.of, scored, judged=scored.judged(), depths=depths)
    return BlockStudy(scored.lists, bound, finish)


def _bounds(measure: Measure, run: UnjudgedDocuments) -> ScoreBounds:
    """Return the bounds of one run."""
    rule = cast("Rule", measure.definition.bounds)
    return rule(run.cut(measure.cutoff), measure)
