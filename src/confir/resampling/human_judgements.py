"""Judgements by a model, and a few by people: how do prediction-powered means vary over topics?

The topics that people judged and the others are resampled separately; the weight of the model is
estimated anew in each replicate.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans, Floats
from confir.data.experiment import Experiment
from confir.data.sampling.judged_scores import (
    CorrectedMoments,
    Judged,
    JudgedScores,
    centre,
    correct_moments,
)
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.bounds import bounded_measures, clip_to_range
from confir.measures.evaluation import as_scores
from confir.resampling.distribution import Resampled, SamplingDistribution, TopicColumns
from confir.resampling.statistics import WeightedStatistic
from confir.resampling.topic_weights import topic_weights
from confir.resampling.topics import ScoresLike, TopicSample, topic_sample

# The fields of a sampling distribution that corrected means have; sample and skewness are people's.
PROVIDED = frozenset({"se", "replicates", "replicate_se", "sample", "skewness"})

# Statistics that are means of one variable: people's scores can correct the model's.
_LINEAR = ("mean", "difference")


class JudgedWeights(NamedTuple):
    """Replicate weights of the topics that people judged, and of those of the model alone."""

    human: Floats
    model: Floats


def judged_weights(judged: Judged, replicates: int, rng: np.random.Generator) -> JudgedWeights:
    """Return replicate weights: each part of the topics is drawn from itself."""
    human = topic_weights(len(judged.human), replicates, rng)
    more = len(judged.rest)
    rest = topic_weights(more, replicates, rng) if more else np.empty((replicates, 0))
    return JudgedWeights(human, rest)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSample(TopicColumns):
    """Scores by people and by a model, prepared for intervals of prediction-powered means.

    Attributes
    ----------
    labels
        (run, measure) of each column.
    shape
        The columns' shape in results.
    values
        Scores by people and by the model, topics × columns.
    support
        Columns whose mean lies in [0, 1].
    """

    labels: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    values: Judged
    support: Booleans

    @property
    def topics(self) -> int:
        """Number of topics that people judged."""
        return len(self.values.human)

    @property
    def independent(self) -> bool:
        """Whether topics are one simple random sample: here they are two."""
        return False

    def provides(self, need: str) -> bool:
        """Whether the distribution of the means has a field of this name."""
        return need in PROVIDED

    def draw(
        self, replicates: int, rng: np.random.Generator, _: Collection[str] = ()
    ) -> JudgedWeights:
        """Return replicate weights."""
        return judged_weights(self.values, replicates, rng)

    def corrected(self) -> CorrectedMoments:
        """Return the corrected means, the weights of the model, and standard errors."""
        return self.values.corrected()

    def distribution(
        self,
        columns: slice,
        weights: JudgedWeights | None,
        needs: Collection[str] = ("replicates", "replicate_se"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of the corrected means of some columns.

        Parameters
        ----------
        columns
            Which columns.
        weights
            Replicate weights; None where no method resamples.
        needs
            The fields of the distribution that must be filled.
        """
        values = self.values.columns(columns)
        found = values.corrected()
        drawn = None if weights is None else resample_judged(values, weights)
        n = len(values.human)
        resampled: frozenset[Resampled] = frozenset({"topics"})
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=found.mean,
            count=np.full(len(found.mean), n),
            df=found.df,
            support=self.support[columns],
            resampled=resampled,
            sample=values.human,
            se=found.se,
            replicates=None if drawn is None else np.asfortranarray(drawn.mean),
            replicate_se=drawn.se if drawn is not None and "replicate_se" in needs else None,
            dropped=None if drawn is None else np.isnan(drawn.mean).sum(axis=0),
            independent=False,
        )


def resample_judged(values: Judged, weights: JudgedWeights) -> CorrectedMoments:
    """Return what the moments of resampled scores give: replicates × columns.

    A topic that is left out of a replicate once may stay in it as a copy, so that leaving out does not
    do there what it does in the sample. So replicates vary about the mean with one weight. They are
    moved to the corrected mean, and spread as much as its standard error is larger: the two means
    differ by O(1/n), and that difference varies by O(n^-1.5), beside a standard error of O(n^-.5).
    """
    y, f, g = (centre(part) for part in values)
    mean_y, mean_f, mean_g = (
        weights.human @ y.apart,
        weights.human @ f.apart,
        weights.model @ g.apart,
    )
    variance_y = _central(weights.human @ np.square(y.apart), mean_y)
    variance_f = _central(weights.human @ np.square(f.apart), mean_f)
    variance_g = _central(weights.model @ np.square(g.apart), mean_g)
    covariance = weights.human @ (y.apart * f.apart) - mean_y * mean_f
    gap = (g.mean + mean_g) - (f.mean + mean_f)
    found = correct_moments(
        (len(values.human), len(values.rest)), variance_y, variance_f, variance_g, covariance, gap
    )
    corrected, plain = values.corrected(), values.with_one_weight()
    wider = np.where(plain.se > 0, corrected.se / np.where(plain.se > 0, plain.se, 1.0), 1.0)
    moved = y.mean + mean_y + found.mean - plain.mean
    return found._replace(mean=corrected.mean + wider * moved, se=wider * found.se)


def any_sample(
    scores: ScoresLike, *, statistic: str | WeightedStatistic = "mean", baseline: str | None = None
) -> TopicSample | JudgedSample:
    """Return what `topic_sample` does, also of scores by people and by a model."""
    if isinstance(scores, Experiment | JudgedScores):
        scores = as_scores(scores, human=True)
    if not isinstance(scores, JudgedScores):
        return topic_sample(scores, statistic=statistic, baseline=baseline)
    if statistic not in _LINEAR:
        raise UnsupportedMethodError(
            f"the statistic {statistic!r} is not corrected by people's judgements; expected "
            f"{' or '.join(_LINEAR)}"
        )
    if (baseline is not None) != (statistic == "difference"):
        raise InvalidValueError(f"the statistic is {statistic!r} and the baseline {baseline!r}")
    return judged_sample(scores, baseline)


def judged_sample(scores: JudgedScores, baseline: str | None = None) -> JudgedSample:
    """Return scores by people and by a model as a sample of means, or of differences from a run."""
    judged = clip_parts(scores)
    support = bounded_measures(scores.human)
    runs = scores.runs
    if baseline is not None:
        place = scores.runs.index(as_choice("baseline", baseline, scores.runs, "run"))
        runs = tuple(run for run in scores.runs if run != baseline)
        judged = Judged(*(np.delete(part - part[:, [place]], place, axis=1) for part in judged))
        support = np.zeros_like(support)
    labels = tuple((run, measure) for run in runs for measure in scores.measures)
    flat = judged.flat()
    found = flat.corrected()
    kept = (found.weight == 0) | (found.mean > 0.0) & (found.mean < 1.0)  # corrections may leave it
    inside = np.tile(support, len(runs)) & kept
    return JudgedSample(labels, (len(runs), len(scores.measures)), flat, inside)


def clip_parts(scores: JudgedScores) -> Judged:
    """Return the scores of both, those of bounded measures in [0, 1]."""
    human, model = clip_to_range(scores.human), clip_to_range(scores.model)
    return JudgedScores(
        human.topics, human.runs, human.measures, human.values, human.bounded, model=model
    ).judged()


def _central(second: Floats, first: Floats) -> Floats:
    """Return a variance from moments; rounding below 0 is 0."""
    moment: Floats = np.maximum(second - first * first, 0.0)
    return moment
