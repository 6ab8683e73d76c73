"""Which run is best, and how sure is that? Ranks over resampled topics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np

from confir.arguments import as_generator, as_levels
from confir.arrays import Booleans, Floats, Integers
from confir.data.common_topics import LEAST_COMMON_TOPICS, common_topics, have_same_topics
from confir.data.frames import frame_from_records
from confir.data.score_objects import ScoresSource, as_scores
from confir.data.scores import Record, Scores
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning
from confir.intervals.interval import tail_probabilities
from confir.order import TIE
from confir.parallel import run_in_threads
from confir.resampling.topics import (
    DEFAULT_REPLICATES,
    Rng,
    check_replicates,
    own_seed,
    topic_sample,
    topic_weights,
)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
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

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    rank: Integers
    low: Integers
    high: Integers
    p_best: Floats
    topics: Integers
    level: float

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record (run, measure, topics, rank, low, high, p_best) per run and measure."""
        return [
            {
                "run": run,
                "measure": measure,
                "topics": int(self.topics[r, m]),
                "rank": int(self.rank[r, m]),
                "low": int(self.low[r, m]),
                "high": int(self.high[r, m]),
                "p_best": float(self.p_best[r, m]),
            }
            for r, run in enumerate(self.runs)
            for m, measure in enumerate(self.measures)
        ]

    def to_dict(self) -> dict[str, dict[str, Record]]:
        """Return run → measure → record."""
        result: dict[str, dict[str, Record]] = {}
        for record in self.to_records():
            result.setdefault(record["run"], {})[record["measure"]] = record
        return result

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


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
    level: float | Sequence[float] = 0.95,
    replicates: int = DEFAULT_REPLICATES,
    rng: Rng = None,
) -> Ranking | list[Ranking]:
    """Return each run's rank, its interval, and how often it is best where topics are drawn anew.

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
