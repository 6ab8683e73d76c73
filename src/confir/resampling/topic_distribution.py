"""The distribution of a statistic over resampled topics, from moments of the resampled scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from confir.arguments import as_reals
from confir.arrays import Booleans, Floats
from confir.errors import InvalidValueError
from confir.resampling.distribution import Fields, Labels, SamplingDistribution
from confir.resampling.replicates import TopicWeights, resampled_means
from confir.resampling.statistics import UNIT, Statistic, WeightedStatistic

# A variance below this share of the second moment is rounding error.
ROUNDING = 1e-13

# A trimmed mean needs more values than these.
_TOO_FEW_TO_TRIM = 4

# Columns whose influence values are combined at once, so that they stay in the processor's cache.
_COLUMNS_AT_ONCE = 24


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
    complete = bool(present.all())
    count = present.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        filled = [value if complete else np.where(present, value, 0.0) for value in values]
        means = [value.sum(axis=0) / count for value in filled]
        deviations = [value - mean for value, mean in zip(values, means, strict=True)]
        if not complete:
            deviations = [np.where(present, d, 0.0) for d in deviations]
        slopes = statistic.slopes(*means)
        influence = deviations[0]
        if slopes[0] is not UNIT:
            influence = np.zeros_like(influence)
            for slope, deviation in zip(slopes, deviations, strict=True):
                influence += slope * deviation
        powers = np.square(influence)
        squares = powers.sum(axis=0)
        powers *= influence
        estimate = np.asarray(statistic.value(*means), np.float64)
        se = np.sqrt(squares / (count * (count - 1.0)))
        # Constant differences and ratios may still vary by rounding.
        size = sum(np.abs(slope * mean) for slope, mean in zip(slopes, means, strict=True))
        se = np.where(is_constant(values) | (se <= ROUNDING * size), 0.0, se)
        acceleration = powers.sum(axis=0) / (6.0 * squares**1.5)
        drawn = {}
        if weights is not None:
            drawn = _Moments(statistic, means, deviations, present, weights).fields(needs)
        return SamplingDistribution(
            labels=labels,
            estimate=estimate,
            count=count,
            df=count - 1.0,
            support=support,
            sample=values[0] if statistic.linear else None,
            se=se,
            acceleration=acceleration,
            **drawn,
        )


def is_constant(values: Sequence[Floats]) -> Booleans:
    """Whether all scores of a column are equal; missing ones are ignored."""
    varies = [np.fmin.reduce(v, axis=0) < np.fmax.reduce(v, axis=0) for v in values]
    constant: Booleans = ~np.any(varies, axis=0)
    return constant


class _Moments:
    """Moments of the resampled scores, as matrix products: columns × replicates.

    Deviations from the sample mean are resampled rather than scores, to avoid cancellation in the
    variance of a replicate.
    """

    def __init__(
        self,
        statistic: Statistic,
        means: list[Floats],
        deviations: list[Floats],
        present: Booleans,
        weights: Floats | TopicWeights,
    ) -> None:
        self.statistic = statistic
        self.means = means
        self.deviations = deviations
        self.weights = weights
        self.topics = len(present)
        # The share of draws of topics with a score, by replicate.
        self.share = None
        if not present.all():
            self.share = resampled_means(present.astype(np.float64), weights)
        self.first = self._resample(deviations)

    def fields(self, needs: Fields) -> dict[str, Any]:
        """Return the fields of the sampling distribution that replicates give, as far as needed."""
        value = self.statistic.value(*self._replicate_means)
        replicates = np.asarray(value, np.float64).T
        skewed = "replicate_skewness" in needs and self.statistic.linear
        return {
            "replicates": replicates,
            "replicate_se": self._se() if "replicate_se" in needs else None,
            "replicate_skewness": self._skewness() if skewed else None,
            "dropped": np.isnan(replicates).sum(axis=0),
        }

    def _resample(self, values: list[Floats], columns: slice = slice(None)) -> list[Floats]:
        """Return the means of variables of some columns over replicates: columns × replicates."""
        joined = values[0] if len(values) == 1 else np.concatenate(values, axis=1)
        means = np.split(resampled_means(joined, self.weights), len(values))
        return means if self.share is None else [mean / self.share[columns] for mean in means]

    @cached_property
    def _replicate_means(self) -> list[Floats]:
        return [
            _exact_at_ends(m, d, m[:, None] + f)
            for m, d, f in zip(self.means, self.deviations, self.first, strict=True)
        ]

    def _se(self) -> Floats:
        """Return the standard error of the statistic on each replicate, by influence values."""
        if len(self.deviations) == 1:
            variance = self.central_second.copy()
            (slope,) = self.statistic.slopes(*self._replicate_means)
            if slope is not UNIT:
                variance *= np.square(slope)
        else:
            variance = self._influence_variance()
        if self.share is None:
            variance /= max(self.topics - 1, 1)
        else:
            variance /= np.maximum(self.topics * self.share - 1.0, 1.0)
        return np.sqrt(variance, out=variance).T

    @cached_property
    def central_second(self) -> Floats:
        """The variance (ddof=0) of the variable on each replicate; rounding error is set to 0."""
        mean = self.first[0]
        (variance,) = self._resample([np.square(self.deviations[0])])
        square = np.square(mean)
        variance -= square
        square *= ROUNDING
        variance[variance <= square] = 0.0
        return variance

    def _influence_variance(self) -> Floats:
        """Return the variance of the influence values of each replicate."""
        variance: Floats = np.zeros_like(self.first[0])
        for start in range(0, len(variance), _COLUMNS_AT_ONCE):
            columns = slice(start, start + _COLUMNS_AT_ONCE)
            self._add_influence_variance(columns, variance[columns])
        return variance

    def _add_influence_variance(self, columns: slice, variance: Floats) -> None:
        """Add the variance of the influence values to zeros; rounding error is set to 0."""
        slopes = self.statistic.slopes(*(mean[columns] for mean in self._replicate_means))
        deviations = [d[:, columns] for d in self.deviations]
        total: Floats = np.zeros_like(variance)
        pairs = [(i, j) for i in range(len(slopes)) for j in range(i + 1)]
        products = self._resample([deviations[i] * deviations[j] for i, j in pairs], columns)
        for (i, j), product in zip(pairs, products, strict=True):
            second = product * slopes[i]
            second *= slopes[j] if i == j else 2.0 * slopes[j]
            variance += second
            total += np.abs(second, out=second)
        mean = sum(slope * first[columns] for slope, first in zip(slopes, self.first, strict=True))
        variance -= np.square(mean)
        total *= ROUNDING
        variance[variance <= total] = 0.0

    def _skewness(self) -> Floats:
        """Return the skewness of each replicate's scores, 0 where they are all equal."""
        d, mean = self.deviations[0], self.first[0]
        variance = self.central_second
        # E(x-m)³ = E x³ - 3 m E x² + 2 m³ = E x³ - m (3 Var x + m²)
        third = np.square(mean)
        third += 3.0 * variance
        third *= mean
        (cubed,) = self._resample([np.square(d) * d])
        np.subtract(cubed, third, out=third)
        scale = np.sqrt(variance)
        scale *= variance
        return np.divide(third, scale, out=np.zeros_like(third), where=scale > 0).T


def _exact_at_ends(mean: Floats, deviations: Floats, replicates: Floats) -> Floats:
    """Return replicate means, exactly 0 or 1 where all topics drawn score 0 or 1.

    Rounding would leave 1e-18 for 0, with a finite logit. Any other replicate is further from the
    bound than half the contribution of the next score to a mean.
    """
    for nearest, none, beyond in ((np.min, np.inf, np.less), (np.max, -np.inf, np.greater)):
        extreme = nearest(deviations, axis=0)
        end = mean + extreme
        end = np.where(np.abs(end - 1.0) <= ROUNDING, 1.0, end)
        ending = np.flatnonzero((end == 0.0) | (end == 1.0))
        if not len(ending):
            continue
        end, extreme, others = end[ending], extreme[ending], deviations[:, ending]
        following = nearest(np.where(others == extreme, none, others), axis=0)
        reach = end + (following - extreme) / (2.0 * len(deviations))
        some = replicates[ending]
        replicates[ending] = np.where(beyond(some, reach[:, None]), end[:, None], some)
    return replicates


def function_distribution(
    function: WeightedStatistic,
    scores: Floats,
    weights: Floats | None,
    labels: Labels,
    support: Booleans,
) -> SamplingDistribution:
    """Return the distribution of a user-defined statistic; se and acceleration by the jackknife."""

    def statistic(drawn: Floats) -> Floats:
        result = as_reals("what the statistic returned", function(drawn, scores))
        if result.shape != (len(drawn), scores.shape[1]):
            raise InvalidValueError(
                f"the statistic returned an array of shape {result.shape} for weights of shape "
                f"{drawn.shape} and scores of shape {scores.shape}; expected "
                f"{(len(drawn), scores.shape[1])}: replicates × columns"
            )
        return result

    return jackknife_distribution(statistic, len(scores), weights, labels, support)


def jackknife_distribution(
    statistic: Callable[[Floats], Floats],
    topics: int,
    weights: Floats | None,
    labels: Labels,
    support: Booleans,
) -> SamplingDistribution:
    """Return the distribution of any statistic of weighted topics.

    Parameters
    ----------
    statistic
        From weights, replicates × topics, rows of which sum to 1, to replicates × columns.
    topics
        Number of topics.
    weights
        Replicate weights; None where no method resamples.
    labels, support
        What each column is, and whether it lies in [0, 1].
    """
    even = np.full((1, topics), 1.0 / topics)
    without_one = (1.0 - np.eye(topics)) / max(topics - 1, 1)
    estimate = statistic(even)[0]
    influence = (topics - 1) * (estimate - statistic(without_one))
    influence -= influence.mean(axis=0)
    squares = np.square(influence).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        se = np.sqrt(squares / (topics * (topics - 1.0)))
        se = np.where(se <= ROUNDING * np.abs(estimate), 0.0, se)
        acceleration = (influence**3).sum(axis=0) / (6.0 * squares**1.5)
    replicates = None if weights is None else np.asfortranarray(statistic(weights))
    return SamplingDistribution(
        labels=labels,
        estimate=estimate,
        count=np.full(len(estimate), topics),
        df=np.full(len(estimate), topics - 1.0),
        support=support,
        se=se,
        acceleration=acceleration,
        replicates=replicates,
        dropped=None if replicates is None else np.isnan(replicates).sum(axis=0),
    )


def trimmed_fourth_powers(values: Floats) -> Floats:
    """Return sums of fourth powers of deviations from a trimmed mean, by column (Bonett 2006).

    ``n/(2√(n-4))`` values are trimmed on either side; NaN for fewer than 5 values.
    """
    sums = np.full(values.shape[1], np.nan)
    for place, column in enumerate(values.T):
        there = column[~np.isnan(column)]
        if len(there) > _TOO_FEW_TO_TRIM:
            trimmed = int(len(there) / (2.0 * np.sqrt(len(there) - 4.0)))
            centre = np.sort(there)[trimmed : len(there) - trimmed].mean()
            sums[place] = ((there - centre) ** 4).sum()
    return sums
