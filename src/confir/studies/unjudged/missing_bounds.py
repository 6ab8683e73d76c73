"""Bounds of means and of differences over the scores that are missing, with intervals at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.chart_marks import IntervalChart, Mark, dot, numbers, texts
from confir.data.result import Result, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import UnsupportedMethodError, collect_warnings
from confir.intervals.confidence_intervals import confidence_interval
from confir.measures.missing_scores import Ranges, fill_missing, measure_ranges, missing_shares
from confir.number_text import percent
from confir.pairs.compare import compare_runs
from confir.pairs.comparison import Comparison
from confir.pairs.missing_pairs import find_unequal_failures, pairs_lacking
from confir.resampling.replicates import Rng
from confir.studies.unjudged.compared_means import RANGE, ComparedMeans


@result
class MissingBounds(ComparedMeans):
    """Means over the scores that are there, and their bounds over the missing ones.

    Attributes
    ----------
    lowest_scores, highest_scores, lowest, highest
        The scores with missing ones at either end of the measure's range, and their means.
    bounds_low, bounds_high
        Interval from the lower limit of the lowest mean to the upper limit of the highest.
    missing
        Share of the topics without a score: runs × measures.
    unequal
        Which runs differ in what they lack, in sentences.
    level
        Of the intervals.
    """

    lowest_scores: Scores
    highest_scores: Scores
    lowest: Floats = over("run", "measure")
    highest: Floats = over("run", "measure")
    bounds_low: Floats = over("run", "measure")
    bounds_high: Floats = over("run", "measure")
    missing: Floats = over("run", "measure")
    unequal: tuple[str, ...]
    level: float = constant()

    others = ("lowest", "highest", "bounds_low", "bounds_high")
    share = "missing"
    chart_title = "Bounds over missing scores"
    record_columns = (
        *("run", "measure", "topics", "mean", "missing", "lowest", "highest", "bounds_low"),
        *("bounds_high", "level"),
    )

    def note(self) -> str:
        """Return what the bounds are, and which runs differ in what they lack."""
        about = (
            "missing: share of the topics without a score; bounds: lowest and highest mean that the missing "
            f"scores allow; with bounds: {percent(self.level)} confidence interval that covers all of these means "
            "at once"
        )
        return "\n".join([about, *self.unequal])


@result
class MissingDifferences(Result):
    """Mean differences from a baseline over the topics that both runs have, and their bounds over missing scores.

    Attributes
    ----------
    runs, measures, baseline
        Names; differences are those of a run minus the baseline.
    topics, missing
        Topics that both have, and the share of the topics that either lacks: runs × measures.
    scores
        The scores that are there.
    difference, lowest, highest
        The mean difference, and its bounds: the run's missing scores at one end of the measure's range, and
        the baseline's at the other.
    bounds_low, bounds_high
        Interval from the lower limit of the lowest difference to the upper limit of the highest; of a
        family simultaneous for all runs.
    verdict, verdict_lowest, verdict_highest
        The verdicts on the difference, and at both ends.
    unequal
        Which runs differ in what they lack, in sentences.
    level
        Of the intervals and verdicts.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str = constant(column="against")
    scores: Scores
    topics: Integers = over("run", "measure")
    missing: Floats = over("run", "measure")
    difference: Floats = over("run", "measure")
    lowest: Floats = over("run", "measure")
    highest: Floats = over("run", "measure")
    bounds_low: Floats = over("run", "measure")
    bounds_high: Floats = over("run", "measure")
    verdict: Any = over("run", "measure")
    verdict_lowest: Any = over("run", "measure")
    verdict_highest: Any = over("run", "measure")
    robust: Booleans = over("run", "measure")
    unequal: tuple[str, ...]
    level: float = constant()

    record_columns = (
        *("measure", "run", "against", "topics", "missing", "difference", "lowest", "highest"),
        *("bounds_low", "bounds_high", "level", "verdict", "verdict_lowest", "verdict_highest"),
        "robust",
    )
    row_order = ("run", "measure")

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": TableColumn(Role.NAME),
            "run": TableColumn(Role.NAME),
            "robust": TableColumn(Role.FLAG),
            "missing": TableColumn(Role.SHARE),
            **dict.fromkeys(("difference", "lowest", "highest"), TableColumn(Role.DIFFERENCE)),
            "verdict_lowest": TableColumn(Role.VERDICT, "at lowest"),
            "verdict_highest": TableColumn(Role.VERDICT, "at highest"),
        }

    def note(self) -> str:
        """Return what the columns are, and which runs differ in what they lack."""
        about = (
            f"difference from {self.baseline} over the topics that both have; missing: share of the topics that "
            "either lacks; lowest and highest: the run's missing scores at one end of the measure's range, the "
            "baseline's at the other; robust to missing scores: the same verdict at both ends"
        )
        return "\n".join([about, *self.unequal])

    def interval_chart(self) -> IntervalChart:
        """Return a chart of the differences with their bounds, and with intervals around these."""
        names = ("difference", "lowest", "highest", "bounds_low", "bounds_high")
        marks = [
            Mark("lowest", "highest", RANGE, "grey", opacity=0.45),
            Mark("bounds_low", "bounds_high"),
            dot("difference"),
        ]
        axis = (
            f"difference from {self.baseline} with bounds (grey) and {percent(self.level)} interval"
        )
        tooltip = (*texts("run", "measure"), *numbers(*names), *texts("verdict"))
        return IntervalChart("Bounds over missing scores", self.to_records(), marks, axis, tooltip)


def _plain(scores: Scores) -> Scores:
    """Return scores whose missing ones are known; raise for any other kind."""
    if scores.missing_cells() is None:
        raise UnsupportedMethodError(
            "bounds over missing scores need one score per run and topic; expected no repeats and no human "
            "judgements"
        )
    return scores


def _unequal(scores: Scores) -> tuple[str, ...]:
    found = find_unequal_failures(scores)
    return tuple(f"failing is not the same for all runs: {one.sentence()}" for one in found)


def bound_missing(
    scores: Scores,
    *,
    bounds: Ranges | None = None,
    level: float = LEVEL,
    method: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> MissingBounds:
    """Return the lowest and the highest mean that missing scores allow, with intervals.

    A judge that fails more often on bad answers raises the mean. The interval from the lower limit at the
    lowest mean to the upper limit at the highest covers the whole range of means that the missing scores
    allow (Horowitz & Manski 2000).

    Parameters
    ----------
    scores
        With missing ones as NaN.
    bounds
        Ranges of measures that confir does not know: ``{"faithfulness": (0, 1)}``.
    level, method, replicates, rng
        As in `confidence_interval`.
    """
    ranges = measure_ranges(_plain(scores), bounds)
    ends = [fill_missing(scores, ranges, runs) for runs in ((), scores.runs)]
    with collect_warnings():
        low, high = (
            confidence_interval(end, level=level, method=method, replicates=replicates, rng=rng)
            for end in ends
        )
    return MissingBounds(
        runs=scores.runs,
        measures=scores.measures,
        scores=scores,
        topics=scores.topic_counts(),
        mean=scores.mean(),
        lowest_scores=ends[0],
        highest_scores=ends[1],
        lowest=ends[0].mean(),
        highest=ends[1].mean(),
        bounds_low=low.low,
        bounds_high=high.high,
        missing=missing_shares(scores),
        unequal=_unequal(scores),
        level=level,
    )


def bound_missing_differences(
    comparison: Comparison, *, bounds: Ranges | None = None, rng: Rng = SEED
) -> MissingDifferences:
    """Return the lowest and the highest differences from the baseline that missing scores allow.

    Each end is compared as the scores that are there were: a family has its own maxima at each.

    Parameters
    ----------
    comparison
        A comparison with a baseline.
    bounds
        Ranges of measures that confir does not know: ``{"faithfulness": (0, 1)}``.
    rng
        Seed or generator of the replicates.
    """
    scores, baseline = _plain(comparison.scores.listed()), str(comparison.baseline)
    ranges = measure_ranges(scores, bounds)
    others = [run for run in scores.runs if run != baseline]
    ends = [fill_missing(scores, ranges, runs) for runs in ([baseline], others)]
    with collect_warnings():
        low, high = (
            compare_runs(end, baseline=baseline, rng=rng, **comparison.options) for end in ends
        )
    lacking = [
        pairs_lacking(scores, comparison.first, comparison.second, m)
        for m in range(len(scores.measures))
    ]
    return MissingDifferences(
        runs=tuple(run for _, run in comparison.pairs),
        measures=scores.measures,
        baseline=baseline,
        scores=scores,
        topics=comparison.topics,
        missing=np.stack(lacking, axis=1) / len(scores.topics),
        difference=comparison.difference,
        lowest=low.difference,
        highest=high.difference,
        bounds_low=low.limits.low,
        bounds_high=high.limits.high,
        verdict=comparison.verdict[0],
        verdict_lowest=low.verdict[0],
        verdict_highest=high.verdict[0],
        robust=low.verdict[0] == high.verdict[0],
        unequal=_unequal(scores),
        level=comparison.level,
    )
