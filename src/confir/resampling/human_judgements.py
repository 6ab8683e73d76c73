"""Judgements by a model, and a few by people: prediction-powered means over topics.

n topics are judged by people and by the model, N further ones by the model alone. With scores y by
people and f by the model, the mean is ``λ·mean_N(f) + mean_n(y - λf)`` ([Angelopoulos2023], PPI++):
unbiased for the mean by people whatever the model is worth, and the more precise the better it is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats
from confir.resampling.distribution import Resampled, SamplingDistribution
from confir.resampling.moments import ROUNDING
from confir.resampling.topics import topic_weights

# The residual of two estimated numbers, mean and weight, needs as many topics to vary.
LEAST_HUMAN_TOPICS = 3

# The fields of a sampling distribution that corrected means have.
PROVIDED = frozenset({"se", "replicates", "replicate_se"})


class JudgedWeights(NamedTuple):
    """Replicate weights of the topics that people judged, and of those of the model alone."""

    human: Floats
    model: Floats


class CorrectedMoments(NamedTuple):
    """What follows from the moments of scores by people and by a model: arrays of one shape."""

    mean: Floats
    weight: Floats
    se: Floats


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSample:
    """Scores by people and by a model, prepared for intervals of prediction-powered means.

    Attributes
    ----------
    labels
        (run, measure) of each column.
    human, model
        Scores on the topics that people judged, by people and by the model: n × columns.
    rest
        Scores by the model on topics that only it judged: N × columns.
    support
        Columns whose mean lies in [0, 1].
    """

    labels: tuple[tuple[str, str], ...]
    human: Floats
    model: Floats
    rest: Floats
    support: Booleans

    def draw(self, replicates: int, rng: np.random.Generator) -> JudgedWeights:
        """Return replicate weights: each part of the topics is drawn from itself."""
        human = topic_weights(len(self.human), replicates, rng)
        return JudgedWeights(human, topic_weights(len(self.rest), replicates, rng))

    def corrected(self) -> CorrectedMoments:
        """Return the corrected means, the weights of the model, and standard errors."""
        even = (np.full((1, len(part)), 1.0 / len(part)) for part in (self.human, self.rest))
        whole = self._resampled(JudgedWeights(*even))
        return CorrectedMoments(*(array[0] for array in whole))

    def distribution(
        self, weights: JudgedWeights | None, needs: Collection[str] = ("replicates", "replicate_se")
    ) -> SamplingDistribution:
        """Return the sampling distribution of the corrected means.

        Parameters
        ----------
        weights
            Replicate weights; None where no method resamples. The weight of the model is estimated
            anew in each replicate.
        needs
            The fields of the distribution that must be filled.
        """
        found = self.corrected()
        drawn = None if weights is None else self._resampled(weights)
        n = len(self.human)
        resampled: frozenset[Resampled] = frozenset({"topics"})
        inside = (found.mean > 0.0) & (found.mean < 1.0)
        return SamplingDistribution(
            labels=self.labels,
            estimate=found.mean,
            count=np.full(len(self.labels), n),
            df=np.where(found.weight > 0, n - 2.0, n - 1.0),
            support=self.support & inside,
            resampled=resampled,
            se=found.se,
            replicates=None if drawn is None else np.asfortranarray(drawn.mean),
            replicate_se=drawn.se if drawn is not None and "replicate_se" in needs else None,
            dropped=None if drawn is None else np.isnan(drawn.mean).sum(axis=0),
            independent=False,
        )

    def _resampled(self, weights: JudgedWeights) -> CorrectedMoments:
        """Return what the moments of resampled scores give: replicates × columns."""
        centres = [part.mean(axis=0) for part in (self.human, self.model, self.rest)]
        y, f, g = (
            part - centre
            for part, centre in zip((self.human, self.model, self.rest), centres, strict=True)
        )
        mean_y, mean_f, mean_g = weights.human @ y, weights.human @ f, weights.model @ g
        variance_y = _central(weights.human @ np.square(y), mean_y, mean_y)
        variance_f = _central(weights.human @ np.square(f), mean_f, mean_f)
        variance_g = _central(weights.model @ np.square(g), mean_g, mean_g)
        covariance = weights.human @ (y * f) - mean_y * mean_f
        gap = (centres[2] + mean_g) - (centres[1] + mean_f)
        found = correct_moments(
            (len(self.human), len(self.rest)), variance_y, variance_f, variance_g, covariance, gap
        )
        mean = centres[0] + mean_y + found.mean
        return CorrectedMoments(mean, found.weight, found.se)


def correct_moments(
    topics: tuple[int, int],
    variance_y: Floats,
    variance_f: Floats,
    variance_g: Floats,
    covariance: Floats,
    gap: Floats,
) -> CorrectedMoments:
    """Return the correction of the mean by people, the model's weight λ, and the standard error.

    ``λ = cov(y, f) / ((1 + n/N) var f)``, clipped to [0, 1], var f over all n + N topics;
    ``Var = λ² var f/N + s²_{y-λf}/n`` ([Angelopoulos2023] §6), with ddof 2, as λ is estimated, too.
    With λ = 0 it is the variance of the mean by people.

    Parameters
    ----------
    topics
        n and N.
    variance_y, variance_f, variance_g, covariance
        Of scores by people and by the model on the n topics, and by the model on the N: ddof 0.
    gap
        Mean by the model on the N topics minus that on the n.
    """
    n, more = topics
    pooled = n * variance_f + more * variance_g + n * more / (n + more) * np.square(gap)
    pooled /= n + more - 1.0
    constant = pooled <= ROUNDING
    slope = covariance / np.where(constant, 1.0, (1.0 + n / more) * pooled)
    weight = np.where(constant, 0.0, np.clip(slope, 0.0, 1.0))
    rest = variance_y - 2.0 * weight * covariance + np.square(weight) * variance_f
    rest = np.where(rest <= ROUNDING * variance_y, 0.0, rest)
    freedom = np.where(weight > 0, n - 2.0, n - 1.0)
    variance = np.square(weight) * pooled / more + rest / freedom
    return CorrectedMoments(weight * gap, weight, np.sqrt(variance))


def _central(second: Floats, first: Floats, other: Floats) -> Floats:
    """Return a central second moment; rounding below 0 is 0."""
    moment: Floats = np.maximum(second - first * other, 0.0)
    return moment
