"""How do scores vary over resampled collections? By topic, by mean, and by difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    UnknownNameError,
)
from confir.measures.catalogue import is_bounded
from confir.measures.summary import LOGIT_MARGIN, SUMMARIES, Transform, clipped_logit
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.topics import topic_weights

# Numbers that are copied at once where there are many.
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class DocumentReplicates:
    """Scores on every topic, and how they vary over resampled collections.

    Attributes
    ----------
    scores
        The scores themselves: topics × runs × measures; NaN where a topic has no relevant document
        for the measure, or the run lacks it and missing topics are dropped.
    values
        The score on each replicate, measures × runs × topics × replicates; NaN as above, and where
        the replicate has no relevant document.
    relevant, relevant_retrieved
        Relevant documents of each topic, measures × topics, and those in each list, measures ×
        runs × topics.
    depth
        Length of each list, runs × topics.
    acceleration
        Acceleration of BCa, measures × runs × topics; None where it was not asked for.
    seed
        What the counts were drawn from; topics drawn beside them take it too.
    """

    scores: Scores
    values: Floats
    relevant: Integers
    relevant_retrieved: Integers
    depth: Integers
    acceleration: Floats | None
    seed: int

    @property
    def topics(self) -> tuple[str, ...]:
        """Topic ids."""
        return self.scores.topics

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self.scores.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self.scores.measures

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return len(self.values[0, 0, 0])

    @property
    def dropped(self) -> Integers:
        """Replicates in which a topic has no relevant document: measures × topics."""
        undefined = np.isnan(self.values).sum(axis=3)
        dropped: Integers = undefined.min(axis=1)
        return dropped

    def measure_place(self, measure: str) -> int:
        """Return the place of a measure among the measures."""
        if measure not in self.measures:
            raise UnknownNameError("measure", measure, self.measures)
        return self.measures.index(measure)

    def run_place(self, run: str) -> int:
        """Return the place of a run among the runs."""
        if run not in self.runs:
            raise UnknownNameError("run", run, self.runs)
        return self.runs.index(run)

    def estimates(self, measure: int) -> Floats:
        """Return the scores by one measure: runs × topics."""
        return np.ascontiguousarray(self.scores.values[:, :, measure].T)

    def topic_distribution(self, measure: str) -> SamplingDistribution:
        """Return the distribution of each topic's score alone: a column a run and topic."""
        place = self.measure_place(measure)
        estimate = self.estimates(place).reshape(-1)
        acceleration = None if self.acceleration is None else self.acceleration[place].reshape(-1)
        values = self.values[place].reshape(len(estimate), -1)
        labels = tuple((run, topic) for run in self.runs for topic in self.topics)
        support = np.full(len(estimate), is_bounded(measure, estimate))
        return _distribution(labels, estimate, values, support, acceleration=acceleration)

    def joint_weights(self) -> Floats:
        """Return weights of topics for each replicate, drawn beside its documents: B × topics."""
        rng = np.random.default_rng([self.seed, len(self.topics)])
        return topic_weights(len(self.topics), self.replicates, rng)

    def summary_distribution(
        self,
        measure: str,
        summary: str = "mean",
        *,
        with_topics: bool = False,
        margin: float = LOGIT_MARGIN,
    ) -> SamplingDistribution:
        """Return the distribution of a mean of transformed scores over topics: a column a run.

        Parameters
        ----------
        measure
            One of the measures.
        summary
            A name in SUMMARIES; what it averages is not transformed back.
        with_topics
            Whether each replicate draws topics too.
        margin
            How far logits keep from 0 and 1.
        """
        place = self.measure_place(measure)
        forward = transform_of(summary, margin)
        bounded = summary == "mean" and is_bounded(measure, self.scores.values[:, :, place])
        return self._means(
            forward(self.estimates(place)),
            map(forward, self.values[place]),
            tuple((run, measure) for run in self.runs),
            np.full(len(self.runs), bounded),
            with_topics=with_topics,
        )

    def difference_distribution(
        self,
        measure: str,
        baseline: str,
        summary: str = "mean",
        *,
        with_topics: bool = False,
        margin: float = LOGIT_MARGIN,
    ) -> SamplingDistribution:
        """Return the distribution of each other run's mean minus the baseline's.

        A topic counts where both runs have a score. Pairs share documents: a replicate is one
        collection. Parameters are those of `summary_distribution`.
        """
        place, other = self.measure_place(measure), self.run_place(baseline)
        kept = [r for r in range(len(self.runs)) if r != other]
        if not kept:
            raise InvalidValueError(f"there is no run beside the baseline {baseline!r} to compare")
        forward = transform_of(summary, margin)
        estimate, values = forward(self.estimates(place)), self.values[place]
        base = forward(values[other])
        return self._means(
            estimate[kept] - estimate[other],
            (forward(values[run]) - base for run in kept),
            tuple((self.runs[r], measure) for r in kept),
            np.zeros(len(kept), bool),
            with_topics=with_topics,
        )

    def _means(
        self,
        estimate: Floats,
        values: Iterable[Floats],
        labels: tuple[tuple[str, str], ...],
        support: Booleans,
        *,
        with_topics: bool,
    ) -> SamplingDistribution:
        """Return the distribution of means over topics: runs × topics, and by run × replicates."""
        weights = self.joint_weights() if with_topics else None
        count = (~np.isnan(estimate)).sum(axis=1)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(estimate, axis=1) / count
        replicates = np.stack([_weighted_means(run, weights) for run in values])
        return _distribution(labels, mean, replicates, support, count, with_topics=with_topics)


def transform_of(summary: str, margin: float = LOGIT_MARGIN) -> Transform:
    """Return what a summary averages over topics, logits kept so far from 0 and 1."""
    if summary not in SUMMARIES:
        raise UnknownNameError("summary", summary, SUMMARIES)
    if summary == "logit-mean":
        return lambda score: clipped_logit(score, margin)
    return SUMMARIES[summary].forward


def _weighted_means(values: Floats, weights: Floats | None) -> Floats:
    """Return the mean over the topics that a replicate scores: topics × replicates → replicates."""
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if weights is None:
            mean: Floats = filled.sum(axis=0) / defined.sum(axis=0)
        else:
            mean = (filled * weights.T).sum(axis=0) / (defined * weights.T).sum(axis=0)
    return mean


def _distribution(
    labels: tuple[tuple[str, str], ...],
    estimate: Floats,
    values: Floats,
    support: Booleans,
    count: Integers | None = None,
    *,
    acceleration: Floats | None = None,
    with_topics: bool = False,
) -> SamplingDistribution:
    """Return a sampling distribution from columns × replicates."""
    undefined = np.isnan(values).sum(axis=1)
    return SamplingDistribution(
        labels=labels,
        estimate=estimate,
        count=np.ones(len(estimate), np.int64) if count is None else count,
        df=np.full(len(estimate), np.inf),
        support=support,
        resampled=frozenset({"topics", "documents"} if with_topics else {"documents"}),
        se=spread(values),
        acceleration=acceleration,
        replicates=values.T,
        dropped=undefined,
    )


def spread(values: Floats) -> Floats:
    """Return the standard deviation over the last axis, NaN left out; NaN for fewer than two."""
    if len(values) > 1 and values.size > _CELLS and values.ndim > 1:
        half = len(values) // 2  # copies are made of a part at a time
        return np.concatenate((spread(values[:half]), spread(values[half:])))
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=-1, keepdims=True) / count
        squares = np.where(defined, np.square(values - mean), 0.0).sum(axis=-1)
        sd: Floats = np.sqrt(squares / (count[..., 0] - 1.0))
    # All values equal: what is left is the rounding of their mean.
    low = np.where(defined, values, np.inf).min(axis=-1)
    high = np.where(defined, values, -np.inf).max(axis=-1)
    return np.where((low == high) & ~np.isnan(sd), 0.0, sd)
