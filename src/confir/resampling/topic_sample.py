"""Plain scores as a sample: topics are drawn one by one, and columns are statistics over topics.

All columns share the same replicate weights, so the bootstrap means of all runs and measures are one
matrix product, and runs stay paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.common_topics import common_topics
from confir.data.experiment import Experiment
from confir.data.files import PathLike
from confir.data.scores import Scores
from confir.errors import FormatError, InvalidValueError
from confir.resampling.distribution import DISTRIBUTION_FIELDS, Fields, Labels, SamplingDistribution
from confir.resampling.replicates import TopicWeights, draw_topics
from confir.resampling.sample import (
    MOST_FLIPPED,
    Knowledge,
    MeasureSample,
    Sample,
    UnitParts,
    check_common_topics,
)
from confir.resampling.statistics import STATISTICS, Statistic, WeightedStatistic
from confir.resampling.topic_distribution import (
    ROUNDING,
    function_distribution,
    replicate_fields,
    trimmed_fourth_powers,
)

if TYPE_CHECKING:
    from confir.resampling.pair_draws import PairBlocks

# The scale of scores that are all 0, so that their differences can be divided by a step.
_LEAST_SCALE = 1e-200

# Fields of the distributions of means alone.
_OF_MEANS = {"sample", "skewness", "replicate_skewness"}

ScoresLike = Scores | Experiment | Floats | Sequence[Any] | PathLike | Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class TopicSample(Sample):
    """Scores by topic, a simple random sample, prepared for the bootstrap of a statistic.

    Attributes
    ----------
    support
        As in `Sample`.
    values
        The variables averaged, or the scores for a function: topics × columns, NaN where missing.
    statistic
        A statistic in STATISTICS, or a function of weights and scores.
    tie
        Of a contrast, how near two differences of a column are equal.
    """

    support: Booleans = field()
    values: tuple[Floats, ...]
    statistic: Statistic | WeightedStatistic
    tie: Floats | float = TIE

    knowledge: ClassVar = frozenset(Knowledge) - {Knowledge.COLLECTIONS}
    kind: ClassVar = "plain scores"
    independent: ClassVar = True

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
        values = tuple(np.ascontiguousarray(value[:, columns]) for value in self.values)
        places = np.arange(len(self.labels))[columns]
        return self._labelled(places, values=values, support=self.support[columns])

    def draw(
        self, replicates: int, rng: np.random.Generator, needs: Fields = ()
    ) -> TopicWeights | Floats:
        """Return replicate weights of topics."""
        del needs
        return draw_topics(self.topics, replicates, rng)

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
        return TopicSample(self.labels * samples, shape, support, values, self.statistic)

    @property
    def provided(self) -> frozenset[str]:
        """The fields that the distribution of this statistic has."""
        if not isinstance(self.statistic, Statistic):
            return frozenset({"se", "acceleration", "replicates"})
        return DISTRIBUTION_FIELDS if self.statistic.linear else DISTRIBUTION_FIELDS - _OF_MEANS

    def distribution(
        self,
        columns: slice,
        weights: TopicWeights | Floats | None,
        needs: Fields = ("replicates", "replicate_se", "replicate_skewness"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        values = tuple(value[:, columns] for value in self.values)
        labels, support = self.labels[columns], self.support[columns]
        if isinstance(self.statistic, Statistic):
            return smooth_distribution(self.statistic, values, weights, needs, labels, support)
        whole = weights.shares() if isinstance(weights, TopicWeights) else weights
        return function_distribution(self.statistic, values[0], whole, labels, support)

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return the differences between columns."""
        scores = self.values[0]
        # in the order of memory that sums over topics have elsewhere, so that they round alike
        differences = np.ascontiguousarray(scores[:, plus] - scores[:, minus])
        return self._labelled(
            plus,
            values=(differences,),
            statistic=STATISTICS["difference"],
            support=np.zeros(len(plus), np.bool_),
            tie=tie_steps(scores, plus, minus),
        )

    def whole_differences(self) -> Floats:
        """Return the differences of a contrast, rounded to multiples of the step below which scores tie."""
        return np.rint(self.values[0] / self.tie)

    def unit_parts(self) -> UnitParts | None:
        """Return what topics add to the differences of a contrast, of columns with few topics; 0 of others."""
        values = self.values[0]
        present = ~np.isnan(values)
        count = present.sum(axis=0)
        if not (count <= MOST_FLIPPED).any():
            return None
        if len(values) > MOST_FLIPPED:  # those with scores first
            order = np.argsort(~present, axis=0, kind="stable")[:MOST_FLIPPED]
            values, present = (np.take_along_axis(one, order, axis=0) for one in (values, present))
        share = np.where(present & (count <= MOST_FLIPPED), 1.0 / np.maximum(count, 1), 0.0)
        return UnitParts((share * np.where(present, values, 0.0)).T, share.T)

    def unit_scores(self) -> Floats:
        """Return one row of scores per independent unit, which count alike: units × columns."""
        return self.values[0]

    def by_measure(self, what: str) -> list[MeasureSample]:
        """Return the runs by each measure, on the topics that all of them have."""
        runs, measures = self.shape
        common = common_topics(self.values[0].reshape(self.topics, runs, measures))
        found = []
        for measure in range(measures):
            own = self.chosen(slice(measure, None, measures))
            check_common_topics(int(common[:, measure].sum()), own.labels[0][1], what)
            present = ~np.isnan(own.values[0])
            scored: Booleans = np.any(present, axis=0)
            if not present.all():
                own = own.drawn(np.flatnonzero(common[:, measure])).chosen(scored)
            found.append(MeasureSample(scored, own, int(present.any(axis=1).sum())))
        return found

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between all columns in replicates, and how many these are."""
        from confir.resampling.normal_draws import NORMAL_TOPICS, RunCovariance
        from confir.resampling.pair_draws import SharedTopicDraws
        from confir.resampling.studentised_maxima import sizes_in_memory
        from confir.resampling.unit_draws import UnitDraws

        values, topics = self.values[0], self.topics
        if topics >= NORMAL_TOPICS:
            covariance = self.covariance()
            if covariance is not None:
                normal = RunCovariance(covariance, topics, self.labels)
                yield from normal.pair_draws(replicates, rng)
            return
        centred = values - np.nanmean(np.where(np.isnan(values).all(axis=0), 0.0, values), axis=0)
        by_run = np.ascontiguousarray(centred.T)
        complete = not np.isnan(values).any()
        for size in sizes_in_memory(replicates, topics, len(self.labels)):
            weights = draw_topics(topics, size, rng).by_topic
            if complete:
                yield UnitDraws(by_run, weights, float(topics)), size
            else:
                yield SharedTopicDraws(by_run, weights), size

    def covariance(self) -> Floats | None:
        """Return the covariance of the columns over topics; None where scores are missing.

        And with a design, as that of ratio means differs from column to column.
        """
        values = self.values[0]
        if not self.independent or np.isnan(values).any():
            return None
        centred = values - values.mean(axis=0)
        return np.atleast_2d(centred.T @ centred / (self.topics - 1))

    def with_values(self, change: Callable[[Floats], Floats]) -> Self:
        """Return the sample of changed scores: topics × columns."""
        return replace(self, values=tuple(map(change, self.values)))

    def fourth_powers(self, sd: Floats) -> Floats | None:
        """Return sums of fourth powers of deviations from a trimmed mean.

        None if the statistic is no mean, or of clusters, whose spread is not that of topics.
        """
        del sd
        linear = isinstance(self.statistic, Statistic) and self.statistic.linear
        return trimmed_fourth_powers(self.values[0]) if self.independent and linear else None


def smooth_distribution(
    statistic: Statistic,
    values: tuple[Floats, ...],
    weights: Floats | TopicWeights | None,
    needs: Fields,
    labels: Labels,
    support: Booleans,
) -> SamplingDistribution:
    """Return the distribution of a smooth function of means, se by influence values."""
    present = ~np.isnan(values[0])
    complete, count = bool(present.all()), present.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        filled = values if complete else [np.where(present, value, 0.0) for value in values]
        means = [value.sum(axis=0) / count for value in filled]
        moved = (value - mean for value, mean in zip(values, means, strict=True))
        deviations = [d if complete else np.where(present, d, 0.0) for d in moved]
        slopes = statistic.slopes(*means)
        influence = deviations[0]
        if not statistic.linear:
            influence = sum(map(np.multiply, slopes, deviations))
        powers = np.square(influence)
        squares = powers.sum(axis=0)
        powers *= influence
        se = np.sqrt(squares / (count * (count - 1.0)))
        varies = [np.fmin.reduce(v, axis=0) < np.fmax.reduce(v, axis=0) for v in values]
        # Constant differences and ratios may still vary by rounding.
        size = sum(np.abs(slope * mean) for slope, mean in zip(slopes, means, strict=True))
        observed = statistic, means, deviations, present
        drawn = {} if weights is None else replicate_fields(*observed, weights, needs)
        return SamplingDistribution(
            labels=labels,
            estimate=np.asarray(statistic.value(*means), np.float64),
            count=count,
            df=count - 1.0,
            support=support,
            sample=values[0] if statistic.linear else None,
            se=np.where(~np.any(varies, axis=0) | (se <= ROUNDING * size), 0.0, se),
            acceleration=powers.sum(axis=0) / (6.0 * squares**1.5),
            **drawn,
        )


def tie_steps(scores: Floats, plus: Integers, minus: Integers) -> Floats:
    """Return how near two differences between columns are equal, up to rounding.

    Rounding grows with the scores: it is relative to the largest |score| of the two columns.
    """
    largest = np.where(np.isnan(scores), 0.0, np.abs(scores)).max(axis=0)
    steps: Floats = TIE * np.maximum(np.maximum(largest[plus], largest[minus]), _LEAST_SCALE)
    return steps


def prepare_topics(
    statistic: Statistic | WeightedStatistic,
    labels: Labels,
    shape: tuple[int, ...],
    support: Booleans,
    scores: Floats,
    reference: Floats,
) -> TopicSample:
    """Return the sample of a statistic of scores, and of those that they are compared with."""
    if np.isinf(scores).any() or np.isinf(reference).any():
        raise FormatError("a score is infinite; expected finite numbers, NaN where missing")
    if not isinstance(statistic, Statistic):
        if np.isnan(scores).any():
            raise InvalidValueError("a statistic given as a function takes no missing scores")
        return TopicSample(labels, shape, np.zeros_like(support), (scores,), statistic)
    variables = statistic.variables(scores, reference)
    missing = np.isnan(scores) | np.isnan(reference)
    values = tuple(np.where(missing, np.nan, variable) for variable in variables)
    return TopicSample(labels, shape, support & statistic.bounded, values, statistic)
