"""Which runs may be the best? Multiple comparisons with the best, after Hsu (1984)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np

from confir.arguments import as_levels
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.result import Result, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.intervals.interval import check_level
from confir.intervals.simultaneous import ComparisonFamily, is_significant
from confir.measures.evaluation import as_rated
from confir.measures.score_summary import ScoreSummary
from confir.measures.strengths import Strengths
from confir.order import TIE, best_first
from confir.parallel import run_in_threads
from confir.resampling.kinds import needs
from confir.resampling.sample import Knowledge
from confir.resampling.topic_bootstrap import Rng
from confir.studies.best.mean_limits import mean_limits
from confir.studies.best.run_pairs import (
    RunPairs,
    best_p_values,
    borderline_best,
    compare_all_runs,
    over_all_runs,
)


@result
class BestRuns(Result):
    """The confidence set of the best run, by each measure: all arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    mean
        Mean over the topics that all runs have; NaN for a run without scores.
    rank
        Rank by that mean, 1 the highest; equal means share the better rank.
    difference
        The run's mean less the highest of the others; NaN for a single run.
    in_set
        Whether the run may be the best: no other run is significantly better.
    lower, upper
        Limits of how far the run's mean is above the best of the others; those of all runs hold at
        once. The upper one is 0 for the runs left out, and at least 0 for the others; the lower one
        is at most 0, and 0 for a run that is alone in the set. NaN where no pair of the run varies.
    borderline
        Whether other replicates might change if the run is in the set.
    p
        Of the hypothesis that no run is better, adjusted for all other runs: at most 1 - level for
        the runs left out. 1 for the highest mean, NaN for a run without scores.
    share_first
        Share of bootstrap samples in which the run ranks first; ties are shared out.
        A description: no probability that the run is the best.
    topics
        Topics that all runs have, by which they are compared.
    level
        Confidence level of set and limits.
    model_topics
        Further topics that a model judged alone, where people judged ``topics``.
    low, high
        Limits of each mean by itself, by the default method; None where they were not asked for.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")
    rank: Integers = over("run", "measure")
    difference: Floats = over("run", "measure", column="gap")
    in_set: Booleans = over("run", "measure", column="may_be_best")
    borderline: Booleans = over("run", "measure")
    lower: Floats = over("run", "measure", column="gap_low")
    upper: Floats = over("run", "measure", column="gap_high")
    p: Floats = over("run", "measure")
    share_first: Floats = over("run", "measure")
    level: float = constant()
    model_topics: int = 0
    low: Floats | None = over("run", "measure", default=None)
    high: Floats | None = over("run", "measure", default=None)

    row_order = ("measure", "run")
    record_columns = (
        *("measure", "rank", "run", "mean", "low", "high", "gap", "gap_low", "gap_high"),
        *("may_be_best", "share_first", "borderline", "p", "topics", "level"),
    )

    def order(self, measure: int) -> list[int]:
        """Return the numbers of the runs by a measure, best first."""
        return best_first(self.mean[:, measure])

    def rows(self) -> Integers:
        """Return the rows of the records: by measure, best run first."""
        runs = len(self.runs)
        orders = (self.order(measure) for measure in range(len(self.measures)))
        return np.concatenate([m * runs + np.array(order) for m, order in enumerate(orders)])


@overload
def find_best(
    scores: ScoresSource, *, level: float = ..., replicates: int = ..., rng: Rng = ...
) -> BestRuns: ...
@overload
def find_best(
    scores: ScoresSource, *, level: Sequence[float], replicates: int = ..., rng: Rng = ...
) -> list[BestRuns]: ...


@on_its_scheduler
@needs(Knowledge.COVARIANCE, "the set of the best runs")
def find_best(
    scores: ScoresSource,
    *,
    level: float | Sequence[float] = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> BestRuns | list[BestRuns]:
    """Return which runs may be the best: the confidence set of Hsu (1984), one-sided.

    Run i is left out where another run's mean exceeds its own by more than c standard errors of
    the difference, or where the signs of the differences are certain enough by themselves. c is the
    level quantile of the largest t* of the others against i over replicates, but never more than
    Bonferroni's t. docs/reproductions/families.md has the measured error rates.

    Parameters
    ----------
    scores
        Scores of the runs, or what `as_scores` makes them of; topics that a run lacks are left out.
        Or `Votes`, or `Strengths`; or what `resample_documents` returns, for the best run over
        similar collections.
    level
        Confidence level; or several, which give a list.
    replicates, rng
        Number of replicates, and seed or generator.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.find_best(scores).in_set.ravel()
    array([ True,  True])
    """
    scores = as_rated(scores)
    levels = as_levels(level)
    for one in levels:
        check_level(one)
    pairs = compare_all_runs(scores, replicates, rng, what="best runs", level=levels[0])
    found = [
        replace(best, **mean_limits(scores, best.level, replicates, rng)._asdict())
        for best in best_of_pairs(scores, pairs, levels)
    ]
    return found[0] if isinstance(level, Real) else found


def best_of_pairs(
    scores: Scores | ScoreSummary | Strengths, pairs: Sequence[RunPairs], levels: Sequence[float]
) -> list[BestRuns]:
    """Return the sets of the best run at each level, from all pairs by each measure."""
    p_values = run_in_threads(best_p_values, pairs)

    def stacked(values: Sequence[Any], missing: float = np.nan) -> Floats:
        columns = zip(pairs, values, strict=True)
        return np.stack([over_all_runs(one.scored, v, missing) for one, v in columns], axis=1)

    p = stacked(p_values)
    mean = stacked([one.mean for one in pairs])
    share_first = stacked([one.share_first for one in pairs], 0.0)
    counts = np.array([one.topics for one in pairs])

    def at(level: float) -> BestRuns:
        limits = [_limits(one, own, level) for one, own in zip(pairs, p_values, strict=True)]
        return BestRuns(
            runs=scores.runs,
            measures=scores.measures,
            topics=np.where(np.isnan(mean), 0, counts),
            mean=mean,
            rank=_ranks(mean),
            difference=stacked([_above_others(one) for one in pairs]),
            in_set=~np.isnan(mean) & ~is_significant(p, level),
            lower=stacked([one.lower for one in limits]),
            upper=stacked([one.upper for one in limits]),
            p=p,
            borderline=stacked([borderline_best(one, level) for one in pairs], 0.0) > 0,
            share_first=share_first,
            level=level,
            model_topics=scores.model_topics,
        )

    return run_in_threads(at, levels)


def _ranks(mean: Floats) -> Integers:
    """Return ranks by the mean, 1 the highest; equal means share the better rank."""
    known = np.nan_to_num(mean, nan=-np.inf)
    higher = known[None] > known[:, None] + TIE
    ranks: Integers = 1 + higher.sum(axis=1)
    return ranks


def _above_others(pairs: RunPairs) -> Floats:
    """Return each run's mean less the highest of the others."""
    apart = pairs.difference.copy()
    np.fill_diagonal(apart, -np.inf)
    highest = apart.max(axis=1)
    above: Floats = np.where(np.isinf(highest), np.nan, -highest)
    return above


class _Limits(NamedTuple):
    """Limits of each run's difference from the best of the others, by one measure and level."""

    lower: Floats
    upper: Floats


def _limits(pairs: RunPairs, p: Floats, level: float) -> _Limits:
    """Return how far runs may be below and above the best of the others.

    Only the best run's comparisons must hold for all limits to hold at once, since for all other
    runs 0 does: the constrained form of Hsu (1984). The lower limits look at runs of the set alone
    (Edwards & Hsu 1983).
    """
    runs, in_set = pairs.runs, ~is_significant(p, level)
    if runs < 2:
        return _Limits(*np.full((2, runs), np.nan))
    ordered = pairs.above_in_order.T if runs > 2 else np.empty((0, runs))
    family = ComparisonFamily(runs - 1, ordered, sides=1)
    critical = np.maximum(0.0, family.critical_value(pairs.df, level))
    half = np.broadcast_to(critical, (runs,))[:, None] * pairs.best_errors
    apart = ~np.eye(runs, dtype=np.bool_)
    known = (pairs.best_errors > 0) & apart
    above = np.where(known, half - pairs.difference, np.inf).min(axis=1)
    upper = np.where(np.isinf(above), np.nan, np.maximum(above, 0.0))
    others = in_set & apart  # rows against the columns in the set
    below = np.where(others & known, -pairs.difference - half.T, np.inf).min(axis=1)
    lower = np.where(np.isinf(below), np.nan, np.minimum(below, 0.0))
    return _Limits(
        np.where(others.any(axis=1), lower, 0.0),
        np.where(in_set, upper, 0.0),
    )
