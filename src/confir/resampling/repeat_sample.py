"""Means over topics and over repeats of each system: two crossed sets of units.

x_tr = μ + a_t + b_r + e_tr for topic t and repeat r. The variance of a system's mean is that of its
means by topic, over topics, and σ_b²/K of its K repeats. Repeats of different systems are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.sampling_designs.repeated_scores import RepeatedJudgedScores, RepeatedScores
from confir.errors import UnsupportedMethodError
from confir.resampling.distribution import Fields, SamplingDistribution, SamplingScheme
from confir.resampling.judged_datasets import JudgedDatasets
from confir.resampling.judged_sample import JudgedSample
from confir.resampling.pair_draws import Moves, PairBlocks, PairDraws
from confir.resampling.repeat_variances import (
    judged_repeat_variances,
    repeat_shares,
    repeat_variances,
)
from confir.resampling.sample import Knowledge, Sample
from confir.resampling.topic_sample import TopicSample

OverTopics = TopicSample | JudgedSample | JudgedDatasets


class RepeatDraws(NamedTuple):
    """What replicates draw.

    Attributes
    ----------
    topics
        What the sample of topics draws.
    effects, parts
        How far repeats move each system's mean, and the variance that the replicate estimates for
        it: replicates × systems and measures.
    """

    topics: Any
    effects: Floats
    parts: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RepeatSample(Sample):
    """Means of systems over topics and over repeats, or differences between them.

    Attributes
    ----------
    support
        As in `Sample`.
    over_topics
        The means over repeats, by topic.
    parts
        Variance σ_b²/K that repeats add to the mean of each system and measure.
    residuals
        Variance MS_e/(T·K) that topics and repeats have together, a part of that over topics.
    spare
        Degrees of freedom of each: K - 1.
    usual
        The mean of ``parts`` over systems, by measure.
    shares
        Share of the repeats in the variance of differences between systems, on average, by measure.
    plus, minus
        Which of these each column adds, and which it subtracts; the latter None for means.
    values
        The scores of the repeats, of one judge: topics × systems × repeats × measures; else none.
    """

    support: Booleans = field()
    over_topics: OverTopics
    parts: Floats
    residuals: Floats
    spare: Floats
    usual: Floats
    shares: Floats
    plus: Integers
    minus: Integers | None = None
    values: tuple[Floats, ...] = ()

    knowledge: ClassVar = frozenset(
        {Knowledge.COVARIANCE, Knowledge.TOPICS, Knowledge.DRAWS, Knowledge.TOPIC_VARIANCE}
    )
    kind: ClassVar = "means over repeats"
    reason: ClassVar = "the effect of a repeat is shared by all topics"

    @classmethod
    def of(cls, over_topics: TopicSample, scores: RepeatedScores) -> Self:
        """Return the sample of scores whose means over repeats are prepared."""
        return cls._of_cells(over_topics, scores.repeats, scores.repeat_counts)

    @classmethod
    def _of_cells(cls, over_topics: TopicSample, cells: Floats, counts: Integers) -> Self:
        """Return the sample of scores of repeats: topics × systems × repeats × measures."""
        found = [
            repeat_variances(over_topics, cells[:, system, :count])
            for system, count in enumerate(counts.tolist())
        ]
        return replace(cls.made(over_topics, counts, found), values=(cells,))

    @classmethod
    def of_judged(
        cls, over_topics: JudgedSample | JudgedDatasets, scores: RepeatedJudgedScores
    ) -> Self:
        """Return the sample of scores by human and model judgements, whose means over repeats are prepared.

        A repeat moves the mean by human judgements, whatever the weight of the model: so its variance is found with
        the weights of the means over repeats.
        """
        found = [
            judged_repeat_variances(over_topics, scores, system)
            for system in range(len(scores.runs))
        ]
        return cls.made(over_topics, scores.repeat_counts, found)

    @classmethod
    def made(cls, over_topics: OverTopics, counts: Integers, variances: Sequence[Floats]) -> Self:
        """Return the sample with σ_b² and MS_e/T of each system: 2 × measures."""
        found = [own / count for own, count in zip(variances, counts.tolist(), strict=True)]
        measures = len(variances[0][0])
        parts, residuals = np.stack(found, axis=1).reshape(2, -1)
        spare = np.repeat(counts - 1.0, measures)
        usual = np.tile(parts.reshape(len(counts), -1).mean(axis=0), len(counts))
        shares = repeat_shares(over_topics, parts, (len(counts), measures))
        labels, shape, support = over_topics.labels, over_topics.shape, over_topics.support
        plus = np.arange(len(parts))
        return cls(
            labels, shape, support, over_topics, parts, residuals, spare, usual, shares, plus
        )

    def sampled_again(
        self, draw: Callable[[np.random.Generator], Integers], rng: np.random.Generator
    ) -> Self:
        """Return a sample of the topics, or of whole clusters, and of the repeats of each system."""
        if not self.values:
            raise UnsupportedMethodError(
                "repeats whose scores are by model and human judgements cannot be resampled as a population; "
                "expected those of one judge"
            )
        (cells,) = self.values
        topics = cast("TopicSample", self.over_topics)  # as `_of_cells` has it
        wide = replace(topics, values=(cells.reshape(len(cells), -1),))
        drawn = wide.sampled_again(draw, rng)
        again = drawn.values[0].reshape(-1, *cells.shape[1:])
        counts = np.sum(~np.isnan(cells[0, :, :, 0]), axis=1)
        for system, count in enumerate(counts.tolist()):
            chosen = rng.integers(0, count, count)
            again[:, system, :count] = again[:, system, chosen]
        means = np.nanmean(again, axis=2).reshape(len(again), -1)
        over_topics = replace(drawn, values=(np.ascontiguousarray(means),))
        return self._of_cells(over_topics, again, counts)

    @property
    def topics(self) -> int:
        """Number of topics."""
        return self.over_topics.topics

    @property
    def scheme(self) -> SamplingScheme:
        """How topics are drawn; clusters are not counted, as repeats are units, too."""
        return self.over_topics.scheme._replace(clusters=0, flips=False)

    @property
    def without_repeats(self) -> Sample:
        """The means over repeats as if no repeat varied."""
        return self.over_topics

    @property
    def model_weight(self) -> Floats | None:
        """The weight of the model in each column; None where there is one judge."""
        return self.over_topics.model_weight

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom that a difference between columns can have."""
        return self.over_topics.largest_df + float(self.spare.sum())

    def repeat_variance(self) -> Floats:
        """Return the variance that repeats add to each column, σ_b²/K."""
        return self._over_both(self.parts)

    def residual_variance(self) -> Floats:
        """Return the part of each column's variance that more topics and more repeats reduce."""
        return self._over_both(self.residuals)

    def _over_both(self, values: Floats, sign: float = 1.0) -> Floats:
        """Return what each column adds up of both systems: … × columns."""
        own: Floats = values[..., self.plus]
        return own if self.minus is None else own + sign * values[..., self.minus]

    def fixed_variance(self) -> Floats:
        """Return the variance of each column that more topics do not reduce."""
        return self.repeat_variance()

    @property
    def provided(self) -> frozenset[str]:
        """The fields that the distribution has."""
        return frozenset({"se", "replicates", "replicate_se"}) & self.over_topics.provided

    def draw(self, replicates: int, rng: np.random.Generator, needs: Fields = ()) -> RepeatDraws:
        """Return what the topics draw, and effects of the repeats."""
        return RepeatDraws(
            self.over_topics.draw(replicates, rng, needs), *self._draw_repeats(replicates, rng)
        )

    def _draw_repeats(self, replicates: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return normal effects of repeats, and their variances as K repeats would estimate them.

        The variance of K means of repeats varies as χ² with K - 1 degrees of freedom; MS_e/T is taken
        away from it, as in the sample.
        """
        size = replicates, len(self.parts)
        effects = np.sqrt(self.parts) * rng.standard_normal(size)
        spread = rng.chisquare(self.spare, size) / self.spare
        parts = np.maximum(0.0, (self.parts + self.residuals) * spread - self.residuals)
        return effects, parts

    def distribution(
        self,
        columns: slice,
        weights: RepeatDraws | None,
        needs: Fields = ("se", "replicates", "replicate_se"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns; df by Satterthwaite (1946).

        A few repeats may agree by accident: df are at most those with the mean variance of
        the repeats of all systems.
        """
        drawn = None if weights is None else weights.topics
        own = self.over_topics.distribution(columns, drawn, needs)
        part = self.repeat_variance()[columns]
        of_topics = np.square(own.require("se"))
        total = of_topics + part
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.minimum(
                *(
                    self._degrees(of_topics, own.df, each, columns)
                    for each in (self.parts, self.usual)
                )
            )
        replicates, replicate_se = own.replicates, own.replicate_se
        if weights is not None and replicates is not None:
            moved = self._over_both(weights.effects, -1.0)[:, columns]
            replicates = np.asfortranarray(replicates + moved)
            if replicate_se is not None:
                drawn_parts = self._over_both(weights.parts)[:, columns]
                replicate_se = np.sqrt(np.square(replicate_se) + drawn_parts)
        return replace(
            own,
            df=np.where(total > 0, df, own.df),
            sample=None,
            se=np.sqrt(total),
            acceleration=None,
            replicates=replicates,
            replicate_se=replicate_se,
            replicate_skewness=None,
            independent=False,
        )

    def _degrees(self, of_topics: Floats, df: Floats, parts: Floats, columns: slice) -> Floats:
        """Return the degrees of freedom of some columns whose repeats add these variances."""
        total = of_topics + self._over_both(parts)[columns]
        of_repeats = self._over_both(np.square(parts) / self.spare)[columns]
        degrees: Floats = np.square(total) / (np.square(of_topics) / df + of_repeats)
        return degrees

    def chosen(self, columns: Any) -> Self:
        """Return some columns of means, as a one-dimensional sample."""
        return self._of_topics(self.over_topics.chosen(columns), plus=self.plus[columns])

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return the differences between columns of means."""
        differences = self.over_topics.contrast(plus, minus)
        return self._of_topics(differences, plus=self.plus[plus], minus=self.plus[minus])

    def _of_topics(self, over_topics: OverTopics, **changed: Any) -> Self:
        """Return the sample with other columns, which are those of the means over repeats."""
        labels, shape, support = over_topics.labels, over_topics.shape, over_topics.support
        return replace(
            self, labels=labels, shape=shape, support=support, over_topics=over_topics, **changed
        )

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference of each column of a contrast.

        Where all topics show the same one but repeats differ, the two differ by a step: it varies.
        """
        least, most = self.over_topics.extremes()
        varies = (self.repeat_variance() > 0) & (least >= most)
        return least, np.where(varies, most + 1.0, most)

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return on how many topics the differences of a contrast are above, at and below 0."""
        return self.over_topics.wins()

    def unit_counts(self, counts: Integers) -> Floats:
        """Return how many independent units, topics and repeats, variances of differences rest on.

        ``1/n = (1 - s)²/T + s²/K`` with the share s of the repeats in them, T topics or clusters and K
        repeats: few repeats estimate most of a variance badly, however many the topics are.
        """
        topics = self.over_topics.unit_counts(counts)
        share = self.shares[self.plus]
        repeats = 1.0 + 1.0 / float(np.mean(1.0 / self.spare))
        units: Floats = 1.0 / (np.square(1.0 - share) / topics + np.square(share) / repeats)
        return units

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between all columns in replicates, and how many these are."""
        units = float(self.unit_counts(np.array([self.topics]))[0])
        for pairs, size in self.over_topics.pair_draws(replicates, rng):
            effects, parts = (each[:, self.plus].T for each in self._draw_repeats(size, rng))
            yield RepeatedPairDraws(pairs, effects, parts, units), size


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedPairDraws(PairDraws):
    """Differences between systems in resampled topics, with effects of their repeats.

    Attributes
    ----------
    over_topics
        Differences of the means over repeats.
    effects, parts
        How far repeats move each system, and their estimated variance: systems × replicates.
    units
        Number of independent units that the variances rest on.
    """

    over_topics: PairDraws
    effects: Floats
    parts: Floats
    units: float

    @property
    def runs(self) -> int:
        """Number of systems."""
        return self.over_topics.runs

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other systems from one move in a block of replicates."""
        found = self.over_topics.moves(run, others, block).of_means()
        deviation = self.effects[others, block] - self.effects[run, block]
        variance = self.parts[others, block] + self.parts[run, block]
        varies = found.varies | np.any(deviation != 0, axis=1)
        deviation[found.varies] += found.deviation
        variance[found.varies] += found.variance
        return Moves(varies, deviation[varies], variance[varies], self.units, 1.0 / self.units)
