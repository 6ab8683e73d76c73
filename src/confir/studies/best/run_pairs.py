"""How far apart are all runs, pair by pair, on the topics that all of them have?

The best run and the ranks of runs are two readings of the same pairs: these are computed here once.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass

import numpy as np

from confir.arguments import as_generator
from confir.arrays import Booleans, Floats, Integers
from confir.data.common_topics import LEAST_COMMON_TOPICS, common_topics, have_same_topics
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning
from confir.intervals.simultaneous import variance_floor
from confir.order import TIE
from confir.parallel import run_in_threads
from confir.resampling.studentised_maxima import Maxima, studentised_maxima
from confir.resampling.topics import Rng, check_replicates, own_seed, topic_sample, topic_weights


@dataclass(frozen=True, slots=True, eq=False)
class RunPairs:
    """All pairs of runs by one measure, on the topics that all of them have.

    Attributes
    ----------
    scored
        Which runs have scores; all else is of these alone.
    mean
        Their means.
    difference
        Runs × runs: the mean of the column's run less that of the row's; 0 up to rounding.
    se
        Its standard error, at least that of the family's least variance, as in a comparison of all
        pairs; 0 where the difference is the same on all topics.
    topics
        Number of topics.
    maxima
        The largest t* of each run against the others, over replicates.
    share_first
        Share of replicates in which each run has the highest mean; ties are shared out.
    """

    scored: Booleans
    mean: Floats
    difference: Floats
    se: Floats
    topics: int
    maxima: Maxima
    share_first: Floats

    @property
    def runs(self) -> int:
        """Number of runs that have scores."""
        return len(self.mean)

    @property
    def t(self) -> Floats:
        """Differences over their standard errors; 0 where there is none."""
        varies = self.se > 0
        return np.divide(self.difference, self.se, out=np.zeros_like(self.se), where=varies)

    @property
    def constant(self) -> Booleans:
        """Pairs with the same difference, other than 0, on all topics: they have no t."""
        pairs: Booleans = (self.se == 0) & (self.difference != 0)
        return pairs

    def constant_p(self, comparisons: int) -> float:
        """Return the p-value of a constant difference: one-sided sign-flip test, Bonferroni."""
        return min(1.0, comparisons * 0.5**self.topics)


def pair_runs(scores: Scores, replicates: int, rng: Rng, *, what: str) -> list[RunPairs]:
    """Return all pairs of runs by each measure.

    Parameters
    ----------
    scores
        Scores of the runs; only topics that all runs have count, with a warning.
    replicates, rng
        Number of replicates, and seed or generator: the same seed draws the same maxima as in
        `compare_runs`, and the same means as in `confidence_interval`.
    what
        What is wanted of the pairs, for messages: "ranks".
    """
    check_replicates(replicates)
    if len(scores.topics) < 2:
        raise InvalidValueError(f"there is one topic; {what} over topics need at least 2")
    common = common_topics(scores.values)
    _check_common_topics(scores, common, what)
    generator = as_generator(rng)
    seed = own_seed(generator)
    counts = sorted(set(common.sum(axis=0).tolist()))
    weights = {
        count: topic_weights(count, replicates, _generator(count, len(common), generator, seed))
        for count in counts
    }
    sample = topic_sample(scores)

    def task(measure: int) -> RunPairs:
        kept = np.flatnonzero(common[:, measure])
        own = sample.selected(slice(measure, None, len(scores.measures))).drawn(kept)
        values = own.values[0]
        scored = np.logical_not(np.isnan(values).all(axis=0))
        values = np.ascontiguousarray(values[:, scored])
        difference, se, floor = _differences(values)
        rng = np.random.default_rng(seed)  # as in a comparison of all pairs
        return RunPairs(
            scored=scored,
            mean=values.mean(axis=0),
            difference=difference,
            se=se,
            topics=len(values),
            maxima=studentised_maxima(values, replicates, rng, floor=floor),
            share_first=_share_first(weights[len(kept)] @ values),
        )

    return run_in_threads(task, range(len(scores.measures)))


def _check_common_topics(scores: Scores, common: Booleans, what: str) -> None:
    """Raise where runs share too few topics to be ranked; warn where they do not share all."""
    counts = common.sum(axis=0)
    for measure, count in zip(scores.measures, counts.tolist(), strict=True):
        if count < LEAST_COMMON_TOPICS:
            raise TopicMismatchError(
                f"{what} by {measure} need {LEAST_COMMON_TOPICS} topics that all runs have; there "
                f"{'is 1' if count == 1 else 'are none'}"
            )
    for m in np.flatnonzero(~have_same_topics(scores.values)).tolist():
        warnings.warn(
            f"runs are ranked by {scores.measures[m]} on the {counts[m]} topics that all of them "
            f"have, of {len(scores.topics)}",
            TopicWarning,
            stacklevel=4,
        )


def _generator(
    count: int, topics: int, generator: np.random.Generator, seed: int
) -> np.random.Generator:
    """Return where replicates of the common topics are drawn from.

    Where no topic is missing, they are those of `confidence_interval`. Those of fewer topics come
    from a seed of their own, so that no measure's shares depend on the other measures.
    """
    return copy.deepcopy(generator) if count == topics else np.random.default_rng([seed, count])


def _differences(values: Floats) -> tuple[Floats, Floats, float]:
    """Return differences and standard errors of all pairs, and the family's least variance."""
    topics, runs = values.shape
    difference, se = np.zeros((runs, runs)), np.zeros((runs, runs))
    for run in range(runs):
        apart = values - values[:, [run]]
        difference[run] = apart.mean(axis=0)
        apart -= difference[run]
        varies = np.abs(apart).max(axis=0) > TIE
        se[run] = np.where(
            varies, np.sqrt((apart * apart).sum(axis=0) / (topics * (topics - 1))), 0
        )
    difference[np.abs(difference) <= TIE] = 0.0
    variance = topics * np.square(se[np.triu_indices(runs, 1)])
    floor = variance_floor(np.where(variance > 0, variance, np.nan))
    least = np.where(se > 0, np.sqrt(floor / topics), 0.0)
    return difference, np.maximum(se, least), floor


def _share_first(means: Floats) -> Floats:
    """Return the share of replicates in which each run is first: from replicates × runs."""
    first = means >= means.max(axis=1, keepdims=True, initial=-np.inf) - TIE
    share: Floats = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return share


def over_all_runs(scored: Booleans, values: Floats | Integers, missing: float) -> Floats:
    """Return values of the runs that have scores among all runs; another value for the others."""
    spread = np.full(scored.shape + np.shape(values)[1:], missing)
    spread[scored] = values
    return spread
