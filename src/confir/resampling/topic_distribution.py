"""Replicates of a statistic over resampled topics, and the distribution of any function of weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_reals
from confir.arrays import Booleans, Floats
from confir.errors import InvalidValueError
from confir.resampling.distribution import Fields, Labels, SamplingDistribution
from confir.resampling.replicates import TopicWeights, resampled_means
from confir.resampling.statistics import Statistic, WeightedStatistic

# A variance below this share of the second moment is rounding error.
ROUNDING = 1e-13

# A trimmed mean needs more values than these.
_TOO_FEW_TO_TRIM = 4

# Columns whose influence values are combined at once, so that they stay in the processor's cache.
_COLUMNS_AT_ONCE = 24


class _Replicates(NamedTuple):
    """Weights of topics in replicates, and the share of the draws of topics with a score.

    Attributes
    ----------
    weights
        Replicates × topics.
    share
        Columns × replicates; None where every topic has a score.
    """

    weights: Floats | TopicWeights
    share: Floats | None

    def means(self, values: Sequence[Floats], columns: slice = slice(None)) -> list[Floats]:
        """Return the means of variables of some columns, 0 where missing: columns × replicates."""
        joined = values[0] if len(values) == 1 else np.concatenate(values, axis=1)
        means = np.split(resampled_means(joined, self.weights), len(values))
        return means if self.share is None else [mean / self.share[columns] for mean in means]


def replicate_fields(
    statistic: Statistic,
    means: list[Floats],
    deviations: list[Floats],
    present: Booleans,
    weights: Floats | TopicWeights,
    needs: Fields,
) -> dict[str, Any]:
    """Return the fields of the sampling distribution that replicates give, as far as needed.

    They follow from moments of the resampled scores, which are matrix products: columns × replicates.
    Deviations from the sample mean are resampled rather than scores, to avoid cancellation in the
    variance of a replicate.
    """
    share = None if present.all() else resampled_means(present.astype(np.float64), weights)
    drawn = _Replicates(weights, share)
    moved = drawn.means(deviations)
    parts = zip(means, deviations, moved, strict=True)
    resampled = [_exact_at_ends(m, d, m[:, None] + move) for m, d, move in parts]
    replicates = np.asarray(statistic.value(*resampled), np.float64).T
    fields = {"replicates": replicates, "dropped": np.isnan(replicates).sum(axis=0)}
    skewed = "replicate_skewness" in needs and statistic.linear
    if not skewed and "replicate_se" not in needs:
        return fields
    if len(deviations) > 1:
        variance = _influence_variance(statistic, resampled, deviations, moved, drawn)
    else:
        (variance,) = drawn.means([np.square(deviations[0])])
        square = np.square(moved[0])
        variance -= square
        square *= ROUNDING
        variance[variance <= square] = 0.0
    if skewed:
        fields["replicate_skewness"] = _skewness(deviations[0], moved[0], variance, drawn)
    if "replicate_se" in needs:
        if len(deviations) == 1 and not statistic.linear:
            variance *= np.square(statistic.slopes(*resampled)[0])
        topics = len(present)
        variance /= max(topics - 1, 1) if share is None else np.maximum(topics * share - 1.0, 1.0)
        fields["replicate_se"] = np.sqrt(variance, out=variance).T
    return fields


def _influence_variance(
    statistic: Statistic,
    means: list[Floats],
    deviations: list[Floats],
    moved: list[Floats],
    drawn: _Replicates,
) -> Floats:
    """Return the variance of the influence values of each replicate; rounding error is set to 0."""
    variances: Floats = np.zeros_like(moved[0])
    for start in range(0, len(variances), _COLUMNS_AT_ONCE):
        columns = slice(start, start + _COLUMNS_AT_ONCE)
        variance, total = variances[columns], np.zeros_like(variances[columns])
        slopes = statistic.slopes(*(mean[columns] for mean in means))
        pairs = [(i, j) for i in range(len(slopes)) for j in range(i + 1)]
        own = [deviation[:, columns] for deviation in deviations]
        products = drawn.means([own[i] * own[j] for i, j in pairs], columns)
        for (i, j), product in zip(pairs, products, strict=True):
            second = product * slopes[i]
            second *= slopes[j] if i == j else 2.0 * slopes[j]
            variance += second
            total += np.abs(second, out=second)
        mean = sum(slope * move[columns] for slope, move in zip(slopes, moved, strict=True))
        variance -= np.square(mean)
        total *= ROUNDING
        variance[variance <= total] = 0.0
    return variances


def _skewness(deviations: Floats, mean: Floats, variance: Floats, drawn: _Replicates) -> Floats:
    """Return the skewness of each replicate's scores, 0 where they are all equal."""
    # E(x-m)³ = E x³ - 3 m E x² + 2 m³ = E x³ - m (3 Var x + m²)
    third = np.square(mean)
    third += 3.0 * variance
    third *= mean
    (cubed,) = drawn.means([np.square(deviations) * deviations])
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
        known = column[~np.isnan(column)]
        if len(known) > _TOO_FEW_TO_TRIM:
            trimmed = int(len(known) / (2.0 * np.sqrt(len(known) - 4.0)))
            centre = np.sort(known)[trimmed : len(known) - trimmed].mean()
            sums[place] = ((known - centre) ** 4).sum()
    return sums
