"""Which run is best, and how certain is that? Ranks over bootstrap samples of the topics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import NamedTuple, overload

import numpy as np

from confir.arguments import as_generator, as_levels
from confir.arrays import Booleans, Floats, Integers
from confir.data.common_topics import LEAST_COMMON_TOPICS, common_topics, have_same_topics
from confir.data.result import Result, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL, REPLICATES
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning
from confir.intervals.interval import tail_probabilities
from confir.measures.evaluation import as_scores
from confir.order import TIE
from confir.parallel import run_in_threads
from confir.resampling.topics import Rng, check_replicates, own_seed, topic_sample, topic_weights


@result
class Ranking(Result):
    """The ranks of runs, and how they vary over topics: all arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    rank
        Rank by the mean, 1 the best; tied runs share the better rank.
    low, high
        Limits of the rank's percentile interval, whole ranks.
    p_best
        Share of replicates in which the run is best; ties are shared out.
    topics
        Topics that all runs have, by which they are ranked.
    level
        Confidence level of the interval.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    rank: Integers = over("run", "measure")
    low: Integers = over("run", "measure")
    high: Integers = over("run", "measure")
    p_best: Floats = over("run", "measure")
    topics: Integers = over("run", "measure")
    level: float = constant()

    record_columns = ("run", "measure", "topics", "rank", "low", "high", "p_best")


@overload
def rank_runs(
    scores: ScoresSource, *, level: float = ..., replicates: int = ..., rng: Rng = ...
) -> Ranking: ...
@overload
def rank_runs(
    scores: ScoresSource, *, level: Sequence[float], replicates: int = ..., rng: Rng = ...
) -> list[Ranking]: ...


def rank_runs(
    scores: ScoresSource,
    *,
    level: float | Sequence[float] = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = None,
) -> Ranking | list[Ranking]:
    """Return each run's rank, its interval, and the share of bootstrap samples in which it is first.

    Runs are ranked on the topics that all of them have. A run without any score is last.

    Parameters
    ----------
    scores
        Scores of the runs, or what `as_scores` makes them of.
    level
        Confidence level of the rank intervals; or several, which give a list of rankings.
    replicates, rng
        Number of replicates, and seed or generator: the same seed draws the same topics as in
        `confidence_interval`.
    """
    scores = as_scores(scores)
    levels = as_levels(level)
    tails = [tail_probabilities(one) for one in levels]
    check_replicates(replicates)
    if len(scores.topics) < 2:
        raise InvalidValueError("there is one topic; ranks over topics need at least 2")
    common = common_topics(scores.values)
    _check_common_topics(scores, common)
    weights = _weights(common, replicates, as_generator(rng))
    sample = topic_sample(scores)

    def task(measure: int) -> _Ranks:
        kept = np.flatnonzero(common[:, measure])
        ranked = sample.selected(slice(measure, None, len(scores.measures))).drawn(kept)
        distribution = ranked.distribution(slice(None), weights[len(kept)], ("replicates",))
        return _ranks(distribution.estimate, distribution.require("replicates"), tails)

    parts = run_in_threads(task, range(len(scores.measures)))
    rankings = [
        Ranking(
            runs=scores.runs,
            measures=scores.measures,
            rank=np.stack([part.rank for part in parts], axis=1),
            low=np.stack([part.low[place] for part in parts], axis=1),
            high=np.stack([part.high[place] for part in parts], axis=1),
            p_best=np.stack([part.p_best for part in parts], axis=1),
            topics=np.minimum(scores.topic_counts(), common.sum(axis=0)),
            level=one,
        )
        for place, one in enumerate(levels)
    ]
    return rankings[0] if isinstance(level, Real) else rankings


def _check_common_topics(scores: Scores, common: Booleans) -> None:
    """Raise where runs share too few topics to be ranked; warn where they do not share all."""
    counts = common.sum(axis=0)
    for measure, count in zip(scores.measures, counts.tolist(), strict=True):
        if count < LEAST_COMMON_TOPICS:
            raise TopicMismatchError(
                f"ranks by {measure} need {LEAST_COMMON_TOPICS} topics that all runs have; there "
                f"{'is 1' if count == 1 else 'are none'}"
            )
    for m in np.flatnonzero(~have_same_topics(scores.values)).tolist():
        warnings.warn(
            f"runs are ranked by {scores.measures[m]} on the {counts[m]} topics that all of them "
            f"have, of {len(scores.topics)}",
            TopicWarning,
            stacklevel=3,
        )


def _weights(
    common: Booleans, replicates: int, generator: np.random.Generator
) -> dict[int, Floats]:
    """Return replicate weights of the common topics, by their number.

    Where no topic is missing, they are those of `confidence_interval`. Those of fewer topics come
    from a seed of their own, so that no measure's ranks depend on the other measures.
    """
    topics, seed = len(common), own_seed(generator)
    return {
        count: topic_weights(
            count,
            replicates,
            generator if count == topics else np.random.default_rng([seed, count]),
        )
        for count in sorted(set(common.sum(axis=0).tolist()))
    }


class _Ranks(NamedTuple):
    """The ranks of runs by one measure; their limits are levels × runs."""

    rank: Integers
    low: Integers
    high: Integers
    p_best: Floats


def _ranks(estimate: Floats, replicates: Floats, tails: Sequence[tuple[float, float]]) -> _Ranks:
    """Return ranks, their limits, and the share of replicates in which each run is best."""
    ranks = _rank_rows(replicates)
    best = ranks == 1
    p_best: Floats = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    limits = np.quantile(ranks, tails, axis=0)
    low, high = np.floor(limits[:, 0]).astype(np.int64), np.ceil(limits[:, 1]).astype(np.int64)
    return _Ranks(_rank_rows(estimate[None])[0], low, high, p_best)


def _rank_rows(values: Floats) -> Integers:
    """Return each row's ranks, 1 the highest value; values within rounding share a rank."""
    values = np.where(np.isnan(values), -np.inf, values)
    order = np.argsort(-values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    places = np.arange(1, values.shape[1] + 1)
    with np.errstate(invalid="ignore"):
        new = np.diff(ordered, axis=1, prepend=np.inf) < -TIE
    shared = np.maximum.accumulate(np.where(new, places, 1), axis=1)
    ranks = np.empty(values.shape, np.int64)
    np.put_along_axis(ranks, order, shared, axis=1)
    return ranks
