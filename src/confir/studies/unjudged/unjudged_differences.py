"""Bounds of differences between runs over all judgements of unjudged documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from confir.arguments import as_choice, as_integer
from confir.arrays import Floats, Integers
from confir.data.experiment import Experiment
from confir.data.ranked_lists.unjudged_documents import UnjudgedDocuments, find_unjudged
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.data.result import Result, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import InvalidValueError
from confir.measures.difference_bounds import bounds_of_difference
from confir.measures.lists_and_scores import read_lists_and_scores
from confir.measures.measure import Measure
from confir.parallel import Progress, run_in_threads
from confir.studies.unjudged.unjudged_bounds import no_rule


@result
class UnjudgedDifferences(Result):
    """Mean differences from a baseline, and their bounds over all judgements of unjudged documents.

    Attributes
    ----------
    runs, measures, baseline
        Names; differences are those of a run minus the baseline.
    topics
        Number of topics of each mean: runs × measures.
    scores, difference
        Differences with unjudged documents non-relevant, on each topic, and their means.
    lowest_scores, highest_scores, lowest, highest
        The bounds on each topic, and of the means; one completion of the judgements serves both
        runs.
    exact
        By measure: whether a completion reaches the bounds. Otherwise they follow from those of the
        two runs, and are too wide.
    depths
        By measure: unjudged documents that any run retrieves down to this rank may be relevant;
        None for whole lists.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str = constant(column="against")
    scores: Scores
    lowest_scores: Scores
    highest_scores: Scores
    topics: Integers = over("run", "measure")
    difference: Floats = over("run", "measure")
    lowest: Floats = over("run", "measure")
    highest: Floats = over("run", "measure")
    exact: tuple[bool, ...] = over("measure")
    depths: tuple[int | None, ...] = over("measure", column="pool_depth")

    record_columns = (
        *("measure", "run", "against", "topics", "difference", "lowest", "highest"),
        *("exact", "pool_depth"),
    )
    row_order = ("run", "measure")

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": TableColumn(Role.NAME),
            "run": TableColumn(Role.NAME),
            **dict.fromkeys(("difference", "lowest", "highest"), TableColumn(Role.DIFFERENCE)),
            "exact": TableColumn(Role.FLAG),
        }

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"difference from {self.baseline}; lowest and highest if unjudged documents were judged, once "
            "for both runs; exact: whether some judgements reach them"
        )


@takes_rules
def bound_differences(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: Any = None,
    *,
    baseline: str,
    pool_depth: int | None = None,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> UnjudgedDifferences:
    """Return the lowest and the highest difference that judging unjudged documents could give.

    A run that was not in the pool has more unjudged documents than its baseline, and may look worse
    for that alone: a difference whose bounds have one sign does not depend on them.

    One completion of the judgements serves both runs. Bounds are exact for P, R, RR, nDCG, RBP,
    Success and NumRelRet; for AP and ERR they follow from the bounds of the two runs.

    Parameters
    ----------
    qrels, runs, measures, progress, **rules
        As in `evaluate`.
    baseline
        Name of the run that all others are compared with.
    pool_depth
        As in `bound_unjudged`.

    Examples
    --------
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}}
    >>> runs = {"a": {"1": {"d1": 2.0, "d9": 1.0}, "2": {"d3": 1.0}}}
    >>> confir.bound_differences(qrels, runs | {"b": runs["a"]}, "P@2", baseline="a")
    UnjudgedDifferences(run: 1, measure: 1, baseline='a')
    """
    if pool_depth is not None:
        as_integer("pool_depth", pool_depth)
    scored = read_lists_and_scores(qrels, runs, measures, rules, no_rule, progress)
    scores = scored.scores
    as_choice("baseline", baseline, scores.runs, "run")
    if len(scores.runs) < 2:
        raise InvalidValueError("there is one run; expected a baseline and at least one more")
    depths = scored.pool_depths(pool_depth)
    pools = {depth: find_unjudged(scored.cut_lists, depth) for depth in set(depths)}
    place = scored.lists.runs.index(baseline)
    bounds = [
        _bounds(measure, pools[depth], place)
        for measure, depth in zip(scored.measures, depths, strict=True)
    ]
    own = scores.select(run=baseline).values
    others = [run for run in scores.runs if run != baseline]
    missing = np.isnan(own + scores.values)
    sides = [scored.scores_of(side).values for side in zip(*bounds, strict=True)]
    values = [scores.values - own, *(np.where(missing, np.nan, side) for side in sides)]
    plain, lowest, highest = (
        Scores(scores.topics, scores.runs, scores.measures, one).select(run=others)
        for one in values
    )
    return UnjudgedDifferences(
        runs=tuple(others),
        measures=scores.measures,
        baseline=baseline,
        scores=plain,
        lowest_scores=lowest,
        highest_scores=highest,
        topics=plain.topic_counts(),
        difference=plain.mean(),
        lowest=lowest.mean(),
        highest=highest.mean(),
        exact=tuple(measure.definition.differences is not None for measure in scored.measures),
        depths=depths,
    )


def _bounds(
    measure: Measure, runs: Sequence[UnjudgedDocuments], baseline: int
) -> tuple[Floats, Floats]:
    """Return lowest and highest differences of all runs from one of them: runs × topics."""
    found = run_in_threads(lambda run: bounds_of_difference(run, runs[baseline], measure), runs)
    return np.stack([one.lowest for one in found]), np.stack([one.highest for one in found])
