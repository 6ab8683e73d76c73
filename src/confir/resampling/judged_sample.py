"""The sampling distribution of prediction-powered means: a model's judgements, and a few human ones.

The human-judged topics and the others are resampled separately; the weight of the model is
estimated anew in each replicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.sampling_designs.prediction_powered import (
    CorrectedMoments,
    Judged,
    centre,
    correct_moments,
)
from confir.measures.parsing import bounded_measures
from confir.resampling.distribution import Fields, SamplingDistribution
from confir.resampling.pair_draws import Moves, PairBlocks, PairDraws
from confir.resampling.replicates import draw_topics
from confir.resampling.sample import Knowledge, Sample
from confir.resampling.studentised_maxima import sizes_in_memory
from confir.resampling.topic_distribution import trimmed_fourth_powers
from confir.resampling.topic_sample import tie_steps


class JudgedWeights(NamedTuple):
    """Replicate weights of the human-judged topics, and of those of the model alone."""

    human: Floats
    model: Floats


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSample(Sample):
    """Scores by human and model judgements, prepared for intervals of prediction-powered means.

    Attributes
    ----------
    support
        As in `Sample`.
    values
        Scores by human judgements and by the model, topics × columns.
    tie
        Of a contrast, how near two differences of a column are equal.
    """

    support: Booleans = field()
    values: Judged
    tie: Floats | float = TIE

    knowledge: ClassVar = frozenset(
        {Knowledge.COVARIANCE, Knowledge.TOPICS, Knowledge.DRAWS, Knowledge.TOPIC_VARIANCE}
    )
    kind: ClassVar = "scores by human and model judgements"
    random: ClassVar = False  # no datasets, which might be a sample
    spends_df: ClassVar = True  # by the mean and the weight of the model
    # sample and skewness are of the human scores
    provided: ClassVar = frozenset({"se", "replicates", "replicate_se", "sample", "skewness"})
    reason: ClassVar = "each mean and each difference has a weight of the model of its own"

    @classmethod
    def of(cls, scores: JudgedScores) -> JudgedSample:
        """Return scores by human and model judgements as a sample of corrected means."""
        runs = len(scores.runs)
        labels = tuple((run, measure) for run in scores.runs for measure in scores.measures)
        flat = clip_parts(scores).flat()
        found = flat.corrected()
        # corrections may leave [0, 1]
        kept = (found.weight == 0) | (found.mean > 0.0) & (found.mean < 1.0)
        inside = np.tile(bounded_measures(scores.human), runs) & kept
        return JudgedSample(labels, (runs, len(scores.measures)), inside, flat)

    @property
    def topics(self) -> int:
        """Number of human-judged topics."""
        return len(self.values.human)

    @property
    def rows(self) -> int:
        """Numbers held per column: topics by human judgements and by the model."""
        return len(self.values.human) + len(self.values.rest)

    def draw(self, replicates: int, rng: np.random.Generator, needs: Fields = ()) -> JudgedWeights:
        """Return replicate weights: each part of the topics is drawn from itself."""
        del needs
        human, more = draw_topics(self.topics, replicates, rng).shares(), len(self.values.rest)
        rest = draw_topics(more, replicates, rng).shares() if more else np.empty((replicates, 0))
        return JudgedWeights(human, rest)

    @property
    def parts(self) -> tuple[JudgedSample, ...]:
        """The sample of each dataset: of all topics, where there are none."""
        return (self,)

    def with_values(self, change: Callable[[Floats], Floats]) -> Self:
        """Return the sample of changed scores of both judges: topics × columns."""
        return replace(self, values=Judged(*map(change, self.values)))

    def with_weight(self, values: Judged, weight: Floats) -> tuple[Floats, Floats]:
        """Return means and their variances of columns of other values, with given weights of the model."""
        own, rest = values.human - weight * values.model, weight * values.rest
        mean, variance = own.mean(axis=0), own.var(axis=0, ddof=1) / len(own)
        if len(rest):
            gap = rest.mean(axis=0) - (weight * values.model).mean(axis=0)
            mean = values.human.mean(axis=0) + gap
            variance = variance + rest.var(axis=0, ddof=min(1, len(rest) - 1)) / len(rest)
        return mean, variance

    def population_means(self) -> Floats:
        """Return means by human judgements over the topics that both judged, from which samples are drawn."""
        mean: Floats = self.values.human.mean(axis=0)
        return mean

    def sampled_again(
        self, draw: Callable[[np.random.Generator], Integers], rng: np.random.Generator
    ) -> Self:
        """Return a sample of the topics that both judged: as many by both, and by the model alone."""
        topics, rest = draw(rng), rng.integers(0, self.topics, len(self.values.rest))
        human, model, _ = self.values
        return replace(self, values=Judged(human[topics], model[topics], model[rest]))

    def chosen(self, columns: Any) -> Self:
        """Return some columns, as a one-dimensional sample."""
        places, values = np.arange(len(self.labels))[columns], self.values.columns(columns)
        return self._labelled(places, values=values, support=self.support[columns])

    def distribution(
        self,
        columns: slice,
        weights: JudgedWeights | None,
        needs: Fields = ("replicates", "replicate_se"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of the corrected means of some columns."""
        values = self.values.columns(columns)
        found = values.corrected()
        drawn = None if weights is None else resample_judged(values, weights)
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=found.mean,
            count=np.full(len(found.mean), len(values.human)),
            df=found.df,
            support=self.support[columns],
            sample=values.human,
            se=found.se,
            replicates=None if drawn is None else np.asfortranarray(drawn.mean),
            replicate_se=drawn.se if drawn is not None and "replicate_se" in needs else None,
            dropped=None if drawn is None else np.isnan(drawn.mean).sum(axis=0),
            independent=False,
        )

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return corrected differences between columns, each with the model's weight of its own."""
        return self._labelled(
            plus,
            values=self.values.differences(plus, minus),
            support=np.zeros(len(plus), np.bool_),
            tie=tie_steps(self.values.human, plus, minus),
        )

    def whole_differences(self) -> Floats:
        """Return the differences of a contrast by human judgements, rounded to multiples of a step."""
        return np.rint(self.values.human / self.tie)

    @property
    def model_weight(self) -> Floats | None:
        """The weight of the model in each column."""
        return self.values.corrected().weight

    def simple_columns(self) -> Booleans:
        """Return where the model has no weight, which leaves the mean of human scores."""
        return np.equal(self.values.corrected().weight, 0.0)

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield corrected differences between all columns in replicates, and how many these are."""
        for size in sizes_in_memory(replicates, self.rows, len(self.labels)):
            yield JudgedDraws(self.values, self.draw(size, rng)), size

    def fourth_powers(self, sd: Floats) -> Floats | None:
        """Return sums of fourth powers, of human scores less the model's, with this sd."""
        values = self.values.human - self.values.corrected().weight * self.values.model
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled: Floats = values * (sd / values.std(axis=0, ddof=1))  # of the same shape
        return trimmed_fourth_powers(scaled)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDraws(PairDraws):
    """Corrected differences between runs in resampled topics, each with the model's own weight.

    Attributes
    ----------
    values
        Scores by human judgements and by the model: topics × runs.
    weights
        Of both parts of the topics: replicates × topics.
    """

    values: Judged
    weights: JudgedWeights

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.values.human.shape[1])

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        differences = self.values.differences(others, np.full(len(others), run))
        found = differences.corrected()
        spread = differences.human.max(axis=0) - differences.human.min(axis=0)
        varies = (spread > TIE) & (found.se > 0)
        units = float(len(self.values.human))
        if not varies.any():
            none = np.empty((0, block.stop - block.start))
            return Moves(varies, none, none, units, 1.0 / units)
        weights = JudgedWeights(self.weights.human[block], self.weights.model[block])
        drawn = resample_judged(differences.columns(varies), weights)
        deviation = np.ascontiguousarray((drawn.mean - found.mean[varies]).T)
        deviation *= np.sqrt(units / (units - 1.0))
        return Moves(varies, deviation, np.square(drawn.se.T), units, 1.0 / units)


def resample_judged(values: Judged, weights: JudgedWeights) -> CorrectedMoments:
    """Return what the moments of resampled scores give: replicates × columns.

    A topic that is left out of a replicate once may stay in it as a copy, so that leaving out does not
    do there what it does in the sample. So replicates vary about the mean with one weight. They are
    moved to the corrected mean, and spread as much as its standard error is larger: the two means
    differ by O(1/n), and that difference varies by O(n^-1.5), beside a standard error of O(n^-.5).
    """
    y, f, g = (centre(part) for part in values)
    mean_y, mean_f, mean_g = (
        weights.human @ y.deviations,
        weights.human @ f.deviations,
        weights.model @ g.deviations,
    )
    variance_y = _central(weights.human @ np.square(y.deviations), mean_y)
    variance_f = _central(weights.human @ np.square(f.deviations), mean_f)
    variance_g = _central(weights.model @ np.square(g.deviations), mean_g)
    covariance = weights.human @ (y.deviations * f.deviations) - mean_y * mean_f
    gap = (g.mean + mean_g) - (f.mean + mean_f)
    found = correct_moments(
        (len(values.human), len(values.rest)), variance_y, variance_f, variance_g, covariance, gap
    )
    corrected, plain = values.corrected(), values.with_one_weight()
    wider = np.where(plain.se > 0, corrected.se / np.where(plain.se > 0, plain.se, 1.0), 1.0)
    moved = y.mean + mean_y + found.mean - plain.mean
    return found._replace(mean=corrected.mean + wider * moved, se=wider * found.se)


def clip_parts(scores: JudgedScores) -> Judged:
    """Return the scores of both, those of bounded measures in [0, 1]."""
    human, model = (one.clipped(bounded_measures) for one in (scores.human, scores.model))
    return JudgedScores(
        human.topics, human.runs, human.measures, human.values, human.bounded, model=model
    ).judged()


def _central(second: Floats, first: Floats) -> Floats:
    """Return a variance from moments; rounding below 0 is 0."""
    moment: Floats = np.maximum(second - first * first, 0.0)
    return moment
