"""The bootstrap over topics.

All columns share the same replicate weights, so the bootstrap means of all runs and measures are one
matrix product, and runs stay paired.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from confir.arguments import as_integer
from confir.arrays import Booleans, Floats, Integers
from confir.data.common_topics import common_topics
from confir.data.experiment import Experiment
from confir.data.files import PathLike
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.order import TIE
from confir.resampling.clusters import (
    Clusters,
    Ratios,
    cluster_contributions,
    designed_distribution,
)
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.moments import (
    function_distribution,
    smooth_distribution,
    trimmed_fourth_powers,
)
from confir.resampling.sample import Knowledge, MeasureSample, Sample, check_common_topics
from confir.resampling.self_normalised import self_normalised, self_normalised_sums
from confir.resampling.statistics import STATISTICS, Statistic, WeightedStatistic
from confir.resampling.topic_weights import TopicWeights, draw_topics, topic_weights

if TYPE_CHECKING:
    from confir.resampling.pair_draws import PairDraws

# With this many replicates the Monte-Carlo error is negligible.
MOST_REPLICATES = 10_000_000

Rng: TypeAlias = "int | np.random.Generator | None"  # as text: numpy.random takes time to load
ScoresLike = Scores | Experiment | Floats | Sequence[Any] | PathLike | Mapping[str, Any]


def cluster_counts(clusters: Clusters, replicates: int, rng: np.random.Generator) -> Floats:
    """Return how often each cluster is drawn: B × clusters.

    With one stratum, as many clusters as there are; with several, one less in each (Rao & Wu 1988),
    as plain resampling would halve the variance of strata with two clusters.
    """
    parts = []
    for size in clusters.sizes.tolist():
        draws = size if len(clusters.share) == 1 else size - 1
        parts.append(draw_topics(size, replicates, rng, draws).counts)
    return np.concatenate(parts, axis=1, dtype=np.float64)


def own_seed(rng: np.random.Generator) -> int:
    """Return a seed for methods that draw their own random numbers; the generator is unchanged."""
    return int(rng.spawn(1)[0].integers(2**63))


def check_replicates(replicates: int) -> None:
    """Raise if the number of replicates is invalid."""
    if as_integer("replicates", replicates) > MOST_REPLICATES:
        raise InvalidValueError(
            f"replicates is {replicates:,}; expected at most {MOST_REPLICATES:,}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class TopicSample(Sample):
    """Scores by topic, a simple random sample, prepared for the bootstrap of a statistic.

    Attributes
    ----------
    labels, shape, support
        As in `Sample`.
    values
        The variables averaged, or the scores for a function: topics × columns, NaN where missing.
    statistic
        A statistic in STATISTICS, or a function of weights and scores.
    tie
        Of a contrast, how near two differences of a column are equal.
    """

    labels: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    values: tuple[Floats, ...]
    statistic: Statistic | WeightedStatistic
    support: Booleans
    tie: Floats | float = TIE

    knowledge: ClassVar = frozenset(Knowledge)
    kind: ClassVar = "plain scores"

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.values[0])

    @property
    def averages(self) -> bool:
        """Whether the statistic is the plain mean of one variable without missing values."""
        linear = isinstance(self.statistic, Statistic) and self.statistic.linear
        return linear and self.independent and not bool(np.isnan(self.values[0]).any())

    def chosen(self, columns: Any) -> Self:
        """Return some columns, as a one-dimensional sample."""
        places = np.arange(self.columns)[columns].tolist()
        values = tuple(np.ascontiguousarray(value[:, columns]) for value in self.values)
        labels = tuple(self.labels[place] for place in places)
        support = self.support[columns]
        return replace(self, labels=labels, shape=(len(labels),), values=values, support=support)

    def draw(
        self, replicates: int, rng: np.random.Generator, needs: Collection[str] = ()
    ) -> TopicWeights | Floats:
        """Return replicate weights of topics."""
        del needs
        return draw_topics(self.topics, replicates, rng)

    def fields(self) -> dict[str, Any]:
        """Return the attributes by name, for a sample that has these and more."""
        return {one.name: getattr(self, one.name) for one in fields(TopicSample)}

    def drawn(self, topics: Integers) -> Self:
        """Return the sample of some topics, which may be drawn more than once."""
        return replace(self, values=tuple(value[topics] for value in self.values))

    def sampled_again(
        self, draw: Callable[[np.random.Generator], Integers], rng: np.random.Generator
    ) -> Self:
        """Return a sample of the topics that a function draws."""
        return self.drawn(draw(rng))

    def drawn_often(self, topics: Integers) -> TopicSample:
        """Return several samples, one per row of topics, as columns of one."""
        samples, size = topics.shape
        values = tuple(value[topics.T].reshape(size, -1) for value in self.values)
        shape = (samples, *self.shape)
        support = np.tile(self.support, samples)
        return TopicSample(self.labels * samples, shape, values, self.statistic, support)

    def provides(self, need: str) -> bool:
        """Whether the distribution of this statistic has a field of this name."""
        if not isinstance(self.statistic, Statistic):
            return need in ("se", "acceleration", "replicates")
        return self.statistic.linear or need not in ("sample", "skewness", "replicate_skewness")

    def distribution(
        self,
        columns: slice,
        weights: TopicWeights | Floats | None,
        needs: Collection[str] = ("replicates", "replicate_se", "replicate_skewness"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        values = tuple(value[:, columns] for value in self.values)
        labels, support = self.labels[columns], self.support[columns]
        if isinstance(self.statistic, Statistic):
            return smooth_distribution(self.statistic, values, weights, needs, labels, support)
        whole = _all_at_once(weights)
        return function_distribution(self.statistic, values[0], whole, labels, support)

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return the differences between columns."""
        scores = self.values[0]
        # in the order of memory that sums over topics have elsewhere, so that they round alike
        apart = np.ascontiguousarray(scores[:, plus] - scores[:, minus])
        labels = tuple(self.labels[place] for place in plus.tolist())
        return replace(
            self,
            labels=labels,
            shape=(len(labels),),
            values=(apart,),
            statistic=STATISTICS["difference"],
            support=np.zeros(len(labels), np.bool_),
            tie=tie_steps(scores, plus, minus),
        )

    def whole_differences(self) -> Floats:
        """Return the differences of a contrast as whole multiples of a step.

        0.3 - 0.2 and 0.2 - 0.1 differ in the last bit, which would hide ties.
        """
        return np.rint(self.values[0] / self.tie)

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference of each column of a contrast."""
        return extremes_of(self.whole_differences())

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return on how many topics the differences of a contrast are above, at and below 0."""
        return signs_of(self.whole_differences())

    def self_normalised(self, difference: Floats, se: Floats, units: Floats) -> Floats:
        """Return the sum of each contrast's differences over the root of the sum of their squares."""
        return self_normalised_sums(difference, se, units)

    def unit_scores(self) -> Floats:
        """Return one row of scores per independent unit, which count alike: units × columns."""
        return self.values[0]

    def by_measure(self, what: str) -> list[MeasureSample]:
        """Return the runs by each measure, on the topics that all of them have."""
        runs, measures = self.shape
        common = common_topics(self.values[0].reshape(self.topics, runs, measures))
        found = []
        for measure in range(measures):
            own = self.of_measure(measure)
            check_common_topics(int(common[:, measure].sum()), own.labels[0][1], what)
            there = ~np.isnan(own.values[0])
            scored: Booleans = np.any(there, axis=0)
            kept = own.drawn(np.flatnonzero(common[:, measure])).chosen(scored)
            found.append(MeasureSample(scored, kept, int(there.any(axis=1).sum())))
        return found

    def pair_draws(
        self, replicates: int, rng: np.random.Generator
    ) -> Iterator[tuple[PairDraws, int]]:
        """Yield differences between all columns in replicates, and how many these are."""
        from confir.resampling.pair_draws import SharedTopicDraws, UnitDraws
        from confir.resampling.studentised_maxima import (
            NORMAL_TOPICS,
            RunCovariance,
            sizes_in_memory,
        )

        values, topics = self.values[0], self.topics
        if topics >= NORMAL_TOPICS:
            covariance = self.covariance()
            if covariance is not None:
                yield from RunCovariance(covariance, topics).pair_draws(replicates, rng)
            return
        centred = values - np.nanmean(np.where(np.isnan(values).all(axis=0), 0.0, values), axis=0)
        by_run = np.ascontiguousarray(centred.T)
        complete = not np.isnan(values).any()
        for size in sizes_in_memory(replicates, topics, self.columns):
            weights = np.ascontiguousarray(topic_weights(topics, size, rng).T)
            yield (UnitDraws if complete else SharedTopicDraws)(by_run, weights), size

    def covariance(self) -> Floats | None:
        """Return the covariance of the columns over topics; None where scores are missing."""
        values = self.values[0]
        if np.isnan(values).any():
            return None
        centred = values - values.mean(axis=0)
        return np.atleast_2d(centred.T @ centred / (self.topics - 1))

    def fourth_powers(self, sd: Floats) -> Floats | None:
        """Return sums of fourth powers of deviations from a trimmed mean; None if it is no mean."""
        del sd
        linear = isinstance(self.statistic, Statistic) and self.statistic.linear
        return trimmed_fourth_powers(self.values[0]) if linear else None


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredSample(TopicSample):
    """Scores by topic that are no simple random sample: in clusters and strata, with weights.

    Attributes
    ----------
    clusters
        The clusters of the topics' design.
    """

    clusters: Clusters = field(kw_only=True)

    knowledge: ClassVar = frozenset(
        {Knowledge.COVARIANCE, Knowledge.TOPICS, Knowledge.UNITS, Knowledge.DRAWS}
    )
    kind: ClassVar = "scores with a design"
    reason: ClassVar = "topics of clusters and of strata are not drawn one by one from all"

    @property
    def design_words(self) -> str:
        """What the topics' design is, in words."""
        return self.clusters.words

    @property
    def clusters_drawn(self) -> int:
        """Number of clusters."""
        return self.clusters.count

    @property
    def uneven(self) -> bool:
        """Whether few clusters weigh so much more than others that t is too optimistic."""
        return self.clusters.uneven

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom: clusters less strata."""
        return float(self.clusters.count - len(self.clusters.share))

    def draw(
        self, replicates: int, rng: np.random.Generator, needs: Collection[str] = ()
    ) -> TopicWeights | Floats:
        """Return how often each cluster is drawn: replicates × clusters."""
        del needs
        return cluster_counts(self.clusters, replicates, rng)

    def drawn(self, topics: Integers) -> Self:
        """Return the sample of some of the topics, each once."""
        values = tuple(value[topics] for value in self.values)
        return replace(self, values=values, clusters=self.clusters.kept(topics))

    def sampled_again(
        self, draw: Callable[[np.random.Generator], Integers], rng: np.random.Generator
    ) -> Self:
        """Return a sample of whole clusters in each stratum, whatever draws topics."""
        del draw
        clusters, topics = self.clusters.resampled(rng)
        values = tuple(value[topics] for value in self.values)
        return replace(self, values=values, clusters=clusters)

    def provides(self, need: str) -> bool:
        """Whether the distribution of this statistic has a field of this name."""
        if need == "replicate_se":
            return self.clusters.studentises
        return need in ("se", "acceleration", "replicates")

    def distribution(
        self,
        columns: slice,
        weights: TopicWeights | Floats | None,
        needs: Collection[str] = ("replicates", "replicate_se"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        if not isinstance(self.statistic, Statistic):
            raise UnsupportedMethodError("a statistic given as a function takes no design")
        values = tuple(value[:, columns] for value in self.values)
        labels, support = self.labels[columns], self.support[columns]
        return designed_distribution(
            self.clusters, self.statistic, values, _all_at_once(weights), needs, labels, support
        )

    def unit_counts(self, counts: Integers) -> Floats:
        """Return the number of clusters for each column."""
        return np.full(counts.shape, float(self.clusters.count))

    def self_normalised(self, difference: Floats, se: Floats, units: Floats) -> Floats:
        """Return the sum of what clusters add to each contrast over the root of its squares."""
        del difference, se, units
        return self_normalised(cluster_contributions(self.clusters, self.values[0]))

    def unit_scores(self) -> Floats:
        """Return one row per cluster, which count alike and have the same means.

        Raises where scores are missing, whose weights others would have to take.
        """
        if np.isnan(self.values[0]).any():
            raise UnsupportedMethodError(
                "sign flips of clusters need a score of every run on every topic; take the test t"
            )
        weighted = self.clusters.mean_weight * self.values[0]
        return self.clusters.count * self.clusters.totals(weighted)

    def pair_draws(
        self, replicates: int, rng: np.random.Generator
    ) -> Iterator[tuple[PairDraws, int]]:
        """Yield differences between all columns in replicates of clusters, and how many these are.

        There are none where replicates have no standard errors, or scores are missing.
        """
        from confir.resampling.cluster_draws import ClusterDraws
        from confir.resampling.pair_draws import UnitDraws
        from confir.resampling.studentised_maxima import NORMAL_TOPICS, sizes_in_memory

        clusters, values = self.clusters, self.values[0]
        if np.isnan(values).any() or not clusters.studentises or clusters.count >= NORMAL_TOPICS:
            return
        ratios = Ratios(clusters, (values,))
        residuals, mass = np.ascontiguousarray(ratios.residuals[0].T), ratios.mass[:, 0]
        alike = len(clusters.share) == 1 and np.ptp(mass) <= TIE * mass.max()
        for size in sizes_in_memory(replicates, clusters.count, self.columns):
            counts = np.ascontiguousarray(cluster_counts(clusters, size, rng).T)
            if alike:  # clusters are then what topics are elsewhere
                yield UnitDraws(residuals / mass[0], counts / clusters.count), size
            else:
                yield ClusterDraws(clusters, residuals, mass, counts), size

    def covariance(self) -> Floats | None:
        """Return nothing: that of ratio means differs from column to column."""
        return None

    def fourth_powers(self, sd: Floats) -> Floats | None:
        """Return nothing: the spread of topics is not that of clusters."""
        del sd
        return None


def tie_steps(scores: Floats, plus: Integers, minus: Integers) -> Floats:
    """Return how near two differences between columns are equal, up to rounding.

    Rounding grows with the scores; TIE is for scores up to 1.
    """
    largest = np.where(np.isnan(scores), 0.0, np.abs(scores)).max(axis=0)
    steps: Floats = TIE * np.maximum(1.0, np.maximum(largest[plus], largest[minus]))
    return steps


def extremes_of(differences: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest difference of each column; missing ones do not count."""
    there = ~np.isnan(differences)
    least = np.where(there, differences, np.inf).min(axis=0)
    most = np.where(there, differences, -np.inf).max(axis=0)
    return least, most


def signs_of(differences: Floats) -> tuple[Integers, Integers, Integers]:
    """Return how many differences of each column are above, at and below 0."""
    wins, ties, losses = (
        np.sum(sign, axis=0) for sign in (differences > 0, differences == 0, differences < 0)
    )
    return wins, ties, losses


def _all_at_once(weights: Floats | TopicWeights | None) -> Floats | None:
    return weights.shares() if isinstance(weights, TopicWeights) else weights
