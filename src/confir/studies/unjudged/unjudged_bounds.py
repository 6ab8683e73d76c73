"""Bounds of means, and of differences between runs, over all judgements of unjudged documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Unpack, cast

import numpy as np

from confir.arguments import as_choice, as_integer
from confir.arrays import Floats
from confir.data.experiment import Experiment
from confir.data.files import PathLike
from confir.data.lists.held_lists import HeldLists
from confir.data.lists.unjudged_documents import (
    UnjudgedDocuments,
    find_unjudged,
    possible_grades,
)
from confir.data.qrels import Qrels
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.data.result import axis, constant, over, result
from confir.data.run import Run
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import InvalidValueError, enumerate_names
from confir.measures.completion_differences import difference_bounds
from confir.measures.completions import Rule, ScoreBounds
from confir.measures.lists_and_scores import BlockStudy, ListsAndScores, read_lists_and_scores
from confir.measures.measure import Measure
from confir.parallel import Progress, run_in_threads
from confir.studies.unjudged.compared_means import BoundedMeans


@result
class UnjudgedBounds(BoundedMeans):
    """Means with unjudged documents non-relevant, and their bounds over all judgements of these.

    Attributes
    ----------
    runs, measures
        Names.
    scores
        The scores with unjudged documents non-relevant.
    lowest_scores, highest_scores
        The bounds on each topic. Bounds of different runs may need different judgements.
    judged
        Share of documents that are judged among the first k, or in the whole list for a measure
        without cutoff, mean over lists: runs × measures.
    depths
        By measure: unjudged documents that any run retrieves down to this rank may be relevant;
        None for whole lists.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    scores: Scores
    lowest_scores: Scores
    highest_scores: Scores
    judged: Floats = over("run", "measure")
    depths: tuple[int | None, ...] = over("measure", column="pool_depth")

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
    qrels: Experiment | Qrels | PathLike | Mapping[str, Any] | Any,
    runs: Run | PathLike | Sequence[Any] | Mapping[str, Any] | Any = None,
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
    reason = measure.definition.completions
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

    def finish(found: Floats) -> UnjudgedBounds:
        scores = scored.scores
        lowest, highest = map(scored.scores_of, found)
        return UnjudgedBounds(
            *(scores.runs, scores.measures, scores, lowest, highest), scored.judged(), depths
        )

    return BlockStudy(scored.lists, bound, finish)


def _bounds(measure: Measure, run: UnjudgedDocuments) -> ScoreBounds:
    """Return the bounds of one run."""
    rule = cast("Rule", measure.definition.completions)
    return rule(run.cut(measure.cutoff), measure)


@result
class UnjudgedDifferences(BoundedMeans):
    """Mean differences from a baseline, and their bounds over all judgements of unjudged documents.

    Attributes
    ----------
    runs, measures, baseline
        Names; differences are those of a run minus the baseline.
    scores
        Differences with unjudged documents non-relevant, on each topic.
    lowest_scores, highest_scores
        The bounds on each topic; one completion of the judgements serves both runs.
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
    exact: tuple[bool, ...] = over("measure")
    depths: tuple[int | None, ...] = over("measure", column="pool_depth")

    record_columns = (
        *("measure", "run", "against", "topics", "difference", "lowest", "highest"),
        *("exact", "pool_depth"),
    )

    beside = ("difference", "lowest", "highest")
    row_order = ("run", "measure")
    best_by = ""

    @property
    def difference(self) -> Floats:
        """Mean differences with unjudged documents non-relevant: runs × measures."""
        return self.scores.mean()

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
    qrels: Experiment | Qrels | PathLike | Mapping[str, Any] | Any,
    runs: Run | PathLike | Sequence[Any] | Mapping[str, Any] | Any = None,
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
    as_choice("baseline", baseline, scored.scores.runs, "run")
    if len(scored.scores.runs) < 2:
        raise InvalidValueError("there is one run; expected a baseline and at least one more")
    return _bound_scored_differences(scored, baseline, pool_depth)


def _bound_scored_differences(
    scored: ListsAndScores, baseline: str, pool_depth: int | None
) -> UnjudgedDifferences:
    """Return the bounds of differences, of lists and scores that are known already."""
    depths = scored.pool_depths(pool_depth)
    pools = {depth: find_unjudged(scored.cut_lists, depth) for depth in set(depths)}
    place = scored.lists.runs.index(baseline)
    lowest, highest = [], []
    for measure, depth in zip(scored.measures, depths, strict=True):
        found = _differences(measure, pools[depth], place)
        lowest.append(found[0])
        highest.append(found[1])
    others = [run for run in scored.scores.runs if run != baseline]
    own = scored.scores.select(run=baseline).values

    def against(scores: Scores) -> Scores:
        missing = np.isnan(own + scored.scores.values)
        values = np.where(missing, np.nan, scores.values)
        return Scores(scores.topics, scores.runs, scores.measures, values).select(run=others)

    scores = scored.scores
    plain = Scores(scores.topics, scores.runs, scores.measures, scores.values - own)
    return UnjudgedDifferences(
        tuple(others),
        scores.measures,
        baseline,
        plain.select(run=others),
        against(scored.scores_of(lowest)),
        against(scored.scores_of(highest)),
        tuple(measure.definition.differences is not None for measure in scored.measures),
        depths,
    )


def _differences(
    measure: Measure, runs: Sequence[UnjudgedDocuments], baseline: int
) -> tuple[Floats, Floats]:
    """Return lowest and highest differences of all runs from one of them: runs × topics."""
    found = run_in_threads(lambda run: difference_bounds(run, runs[baseline], measure), runs)
    return np.stack([one.lowest for one in found]), np.stack([one.highest for one in found])
