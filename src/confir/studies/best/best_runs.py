"""Which runs may be the best? Multiple comparisons with the best, after Hsu (1984)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import NamedTuple, overload

import numpy as np

from confir.arguments import as_levels
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.result import Result, axis, constant, over, result
from confir.data.sampling.judged_scores import count_model_topics
from confir.data.scores import Scores
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL, REPLICATES
from confir.intervals.interval import check_level
from confir.intervals.simultaneous import ComparisonFamily
from confir.measures.evaluation import as_scores_or_summary
from confir.measures.score_summary import ScoreSummary
from confir.parallel import run_in_threads
from confir.resampling.topics import Rng
from confir.studies.best.run_pairs import RunPairs, over_all_runs, pair_runs
from confir.studies.comparison.significance import is_significant


@result
class BestRuns(Result):
    """The confidence set of the best run, by each measure: all arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    mean
        Mean over the topics that all runs have; NaN for a run without scores.
    difference
        The run's mean less the highest of the others; NaN for a single run.
    in_set
        Whether the run may be the best: no other run is significantly better.
    upper
        Upper limit of how far the run's mean may be above the best of the others, at least 0; the
        limits of all runs hold at once. NaN where no pair of the run varies.
    p
        Of the hypothesis that no run is better, adjusted for all other runs: at most 1 - level for
        the runs left out. 1 for the highest mean, NaN for a run without scores.
    share_first
        Share of bootstrap samples of the topics in which the run ranks first; ties are shared out.
        A description: no probability that the run is the best.
    topics
        Topics that all runs have, by which they are compared.
    level
        Confidence level of set and limits.
    model_topics
        Further topics that a model judged alone, where people judged ``topics``.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")
    difference: Floats = over("run", "measure")
    in_set: Booleans = over("run", "measure")
    upper: Floats = over("run", "measure")
    p: Floats = over("run", "measure")
    share_first: Floats = over("run", "measure")
    level: float = constant()
    model_topics: int = 0


@overload
def find_best(
    scores: ScoresSource, *, level: float = ..., replicates: int = ..., rng: Rng = ...
) -> BestRuns: ...
@overload
def find_best(
    scores: ScoresSource, *, level: Sequence[float], replicates: int = ..., rng: Rng = ...
) -> list[BestRuns]: ...


@on_its_scheduler
def find_best(
    scores: ScoresSource,
    *,
    level: float | Sequence[float] = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = None,
) -> BestRuns | list[BestRuns]:
    """Return which runs may be the best: the confidence set of Hsu (1984), one-sided.

    Run i is left out where another run's mean exceeds its own by more than c standard errors of
    the difference. c is the level quantile of the largest t* of the others against i over
    replicates, but never more than Bonferroni's t. A set leaves out the best run with a
    probability of at most 1 - level: that takes an error in the comparisons of this run alone.

    Parameters
    ----------
    scores
        Scores of the runs, or what `as_scores` makes them of; topics that a run lacks are left out.
    level
        Confidence level; or several, which give a list.
    replicates, rng
        Number of replicates, and seed or generator.
    """
    scores = as_scores_or_summary(scores)
    levels = as_levels(level)
    for one in levels:
        check_level(one)
    found = best_of_pairs(scores, pair_runs(scores, replicates, rng, what="best runs"), levels)
    return found[0] if isinstance(level, Real) else found


def best_of_pairs(
    scores: Scores | ScoreSummary, pairs: Sequence[RunPairs], levels: Sequence[float]
) -> list[BestRuns]:
    """Return the sets of the best run at each level, from all pairs by each measure."""
    parts = run_in_threads(lambda one: _best(one, levels), pairs)

    def stacked(values: Sequence[Floats], missing: float = np.nan) -> Floats:
        columns = zip(pairs, values, strict=True)
        return np.stack([over_all_runs(one.scored, v, missing) for one, v in columns], axis=1)

    p = stacked([part.p for part in parts])
    mean = stacked([one.mean for one in pairs])
    share_first = stacked([one.share_first for one in pairs], 0.0)
    counts = np.array([one.topics for one in pairs])
    return [
        BestRuns(
            runs=scores.runs,
            measures=scores.measures,
            topics=np.where(np.isnan(mean), 0, counts),
            mean=mean,
            difference=stacked([_above_others(one) for one in pairs]),
            in_set=~np.isnan(mean) & ~is_significant(p, level),
            upper=stacked([part.upper[place] for part in parts]),
            p=p,
            share_first=share_first,
            level=level,
            model_topics=count_model_topics(scores),
        )
        for place, level in enumerate(levels)
    ]


def _above_others(pairs: RunPairs) -> Floats:
    """Return each run's mean less the highest of the others."""
    apart = pairs.difference.copy()
    np.fill_diagonal(apart, -np.inf)
    highest = apart.max(axis=1)
    above: Floats = np.where(np.isinf(highest), np.nan, -highest)
    return above


class _Best(NamedTuple):
    """By one measure: p-values of runs, and their upper limits, levels × runs."""

    p: Floats
    upper: Floats


def _best(pairs: RunPairs, levels: Sequence[float]) -> _Best:
    """Return p-values and limits; constant differences are judged by the sign-flip test."""
    others = pairs.runs - 1
    if not others:
        return _Best(np.ones(pairs.runs), np.full((len(levels), pairs.runs), np.nan))
    units = np.array(pairs.df + 1.0)
    largest = pairs.t.max(axis=1)  # at least 0, a run's difference from itself
    ordered = pairs.above_in_order if others > 1 else np.empty((pairs.runs, 0))
    families = [ComparisonFamily(others, above, sides=1) for above in ordered]
    p = np.array([family.p_values(t, units) for family, t in zip(families, largest, strict=True)])
    p = np.where(largest > 0, p, 1.0)
    beaten = (pairs.constant & (pairs.difference > 0)).any(axis=1)
    p = np.where(beaten, np.minimum(p, pairs.constant_p(others)), p)
    every = ComparisonFamily(others, ordered.T, sides=1)
    critical = [np.maximum(0.0, every.critical_value(units - 1, level)) for level in levels]
    upper = [_upper(pairs, values, level) for values, level in zip(critical, levels, strict=True)]
    return _Best(p, np.array(upper))


def _upper(pairs: RunPairs, critical: Floats, level: float) -> Floats:
    """Return how far runs may be above the best of the others: min over them of d + c·se.

    Only the best run's comparisons must hold for all limits to hold at once, since for all other
    runs 0 does: the constrained form of Hsu (1984).
    """
    known = pairs.se > 0
    if is_significant(pairs.constant_p(pairs.runs - 1), level):
        known |= pairs.constant
    half = np.broadcast_to(critical, (pairs.runs,))[:, None] * pairs.se
    limit = np.where(known, half - pairs.difference, np.inf).min(axis=1)
    upper: Floats = np.where(np.isinf(limit), np.nan, np.maximum(limit, 0.0))
    return upper
