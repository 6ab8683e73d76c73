"""What if other topics had been asked? The bootstrap over topics.

All columns of a call share the same replicate weights, so that the bootstrap means of all runs and
measures are one matrix product, and runs stay paired.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.errors import FormatError, InvalidValueError, UnknownNameError
from confir.measures.catalogue import is_bounded
from confir.measures.summary import SUMMARIES, logit
from confir.parallel import run_in_threads
from confir.resampling.distribution import SamplingDistribution

DEFAULT_REPLICATES = 9_999

# Var* below this share of the second moment is rounding, not variance.
ROUNDING = 1e-13

# Topics drawn together: their numbers take less room than the weights of many replicates.
_DRAWN_AT_ONCE = 1 << 20

# Weights of more replicates and topics are not drawn: 8 GB.
_MOST_WEIGHTS = 1 << 30

Rng = int | np.random.Generator | None
WeightedStatistic = Callable[[Floats, Floats], Floats]
ScoresLike = Scores | Floats | Sequence[Any]


def topic_weights(topics: int, replicates: int, rng: np.random.Generator) -> Floats:
    """Return replicate weights, the share of draws that fell on each topic: B × topics."""
    if replicates * topics > _MOST_WEIGHTS:
        raise InvalidValueError(
            f"{replicates:,} replicates of {topics:,} topics need "
            f"{8 * replicates * topics / 2**30:,.0f} GB; expected fewer replicates, or a method "
            "that draws none, such as t or beta-logit"
        )
    weights = np.empty((replicates, topics))
    rows = max(1, _DRAWN_AT_ONCE // topics)
    for start in range(0, replicates, rows):
        drawn = topic_draws(topics, min(rows, replicates - start), rng)
        drawn += np.arange(len(drawn))[:, None] * topics
        counts = np.bincount(drawn.reshape(-1), minlength=drawn.size)
        np.divide(counts.reshape(drawn.shape), topics, out=weights[start : start + rows])
    return weights


def topic_draws(topics: int, replicates: int, rng: np.random.Generator) -> Integers:
    """Return the topics that the replicates draw: B × topics."""
    return rng.integers(0, topics, (replicates, topics), dtype=np.int64)


def bootstrap_topics(
    scores: ScoresLike,
    *,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
    replicates: int = DEFAULT_REPLICATES,
    rng: Rng = None,
) -> SamplingDistribution:
    """Return the distribution of a statistic over resampled topics.

    Parameters
    ----------
    scores
        `Scores`, or an array of scores: topics, or topics × columns.
    statistic
        "mean", "geometric-mean" or "logit-mean" of each run; "difference", "ratio" or
        "logit-difference" of each run's mean against the baseline's; or a function of weights
        (replicates × topics, rows sum to 1) and scores (topics × columns) that returns
        replicates × columns.
    baseline
        The run that the others are compared with.
    replicates
        Number of replicates, B.
    rng
        Seed or generator.
    """
    sample = topic_sample(scores, statistic=statistic, baseline=baseline)
    check_replicates(replicates)
    generator = np.random.default_rng(rng)
    seed = own_seed(generator)
    weights = topic_weights(sample.topics, replicates, generator)
    (distribution,) = run_in_threads(lambda w: sample.distribution(slice(None), w), [weights])
    return replace(distribution, seed=seed, draws=replicates)


def own_seed(rng: np.random.Generator) -> int:
    """Return a seed for methods that draw numbers of their own; the generator stays as it is."""
    return int(rng.spawn(1)[0].integers(2**63))


def check_replicates(replicates: int) -> None:
    """Raise where a number of replicates makes no bootstrap."""
    if replicates < 1:
        raise InvalidValueError(f"replicates is {replicates}; expected 1 or more")


@dataclass(frozen=True, slots=True)
class Statistic:
    """A smooth function of means over topics.

    Attributes
    ----------
    name
        Its name in options and results.
    variables
        From scores and, for a comparison, those of the baseline, to what is averaged.
    value, slopes
        The statistic as a function of those averages, and its partial derivatives.
    compares
        Whether it needs a baseline.
    bounded
        Whether it stays in [0, 1] when the scores do.
    linear
        Whether it is the mean of one variable.
    """

    name: str
    variables: Callable[[Floats, Floats], tuple[Floats, ...]]
    value: Callable[..., Floats]
    slopes: Callable[..., tuple[Floats, ...]]
    compares: bool = False
    bounded: bool = False
    linear: bool = False


UNIT: Floats = np.ones(1)


def _one(_: Floats) -> tuple[Floats, ...]:
    return (UNIT,)


def _ratio_slopes(mean: Floats, other: Floats) -> tuple[Floats, ...]:
    return 1.0 / other, -mean / other**2


def _logit_slopes(mean: Floats, other: Floats) -> tuple[Floats, ...]:
    return 1.0 / (mean * (1.0 - mean)), -1.0 / (other * (1.0 - other))


def _summary_statistic(name: str) -> Statistic:
    summary = SUMMARIES[name]
    return Statistic(
        name,
        variables=lambda scores, _: (summary.forward(scores),),
        value=summary.back,
        slopes=_one if name != "geometric-mean" else lambda mean: (summary.slope(mean),),
        bounded=name != "logit-mean",
        linear=name != "geometric-mean",
    )


STATISTICS = {
    statistic.name: statistic
    for statistic in (
        _summary_statistic("mean"),
        _summary_statistic("geometric-mean"),
        _summary_statistic("logit-mean"),
        Statistic(
            "difference", lambda x, y: (x - y,), np.positive, _one, compares=True, linear=True
        ),
        Statistic("ratio", lambda x, y: (x, y), np.divide, _ratio_slopes, compares=True),
        Statistic(
            "logit-difference",
            lambda x, y: (x, y),
            lambda mean, other: logit(mean) - logit(other),
            _logit_slopes,
            compares=True,
        ),
    )
}


@dataclass(frozen=True, slots=True, eq=False)
class TopicSample:
    """Scores by topic, prepared for the bootstrap of a statistic.

    Attributes
    ----------
    labels
        (run, measure) of each column.
    shape
        The columns' shape in results: runs × measures, or that of an array.
    values
        What is averaged, or the scores for a function: topics × columns each, NaN where missing.
    statistic
        A statistic of the list, or a function of weights and scores.
    support
        Columns whose statistic lies in [0, 1].
    """

    labels: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    values: tuple[Floats, ...]
    statistic: Statistic | WeightedStatistic
    support: Booleans

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.values[0])

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.labels)

    @property
    def averages(self) -> bool:
        """Whether the statistic is the mean of one variable, of which no value is missing."""
        linear = isinstance(self.statistic, Statistic) and self.statistic.linear
        return linear and not bool(np.isnan(self.values[0]).any())

    def selected(self, columns: slice) -> TopicSample:
        """Return some columns, as one row of them."""
        values = tuple(np.ascontiguousarray(value[:, columns]) for value in self.values)
        labels = self.labels[columns]
        return TopicSample(labels, (len(labels),), values, self.statistic, self.support[columns])

    def drawn(self, topics: Integers) -> TopicSample:
        """Return the sample made of some topics, which may be drawn more than once."""
        return replace(self, values=tuple(value[topics] for value in self.values))

    def drawn_often(self, topics: Integers) -> TopicSample:
        """Return several samples side by side, a row of topics each, as columns of one."""
        samples, size = topics.shape
        values = tuple(value[topics.T].reshape(size, -1) for value in self.values)
        shape = (samples, *self.shape)
        support = np.tile(self.support, samples)
        return TopicSample(self.labels * samples, shape, values, self.statistic, support)

    def provides(self, need: str) -> bool:
        """Whether the distribution of this statistic has a field."""
        if not isinstance(self.statistic, Statistic):
            return need in ("se", "acceleration", "replicates")
        return self.statistic.linear or need not in ("sample", "replicate_skewness")

    def distribution(
        self,
        columns: slice,
        weights: Floats | None,
        needs: Collection[str] = ("replicates", "replicate_se", "replicate_skewness"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns.

        Parameters
        ----------
        columns
            Which columns.
        weights
            Replicate weights; None where no method resamples.
        needs
            The fields of the distribution that must be filled.
        """
        values = tuple(value[:, columns] for value in self.values)
        labels, support = self.labels[columns], self.support[columns]
        if isinstance(self.statistic, Statistic):
            return _smooth_distribution(self.statistic, values, weights, needs, labels, support)
        return _function_distribution(self.statistic, values[0], weights, labels, support)


def topic_sample(
    scores: ScoresLike, *, statistic: str | WeightedStatistic = "mean", baseline: str | None = None
) -> TopicSample:
    """Return scores prepared for the bootstrap of a statistic over topics."""
    chosen: Statistic | WeightedStatistic
    if isinstance(statistic, str):
        if statistic not in STATISTICS:
            raise UnknownNameError("statistic", statistic, STATISTICS)
        chosen = STATISTICS[statistic]
    else:
        chosen = statistic
    compares = isinstance(chosen, Statistic) and chosen.compares
    if compares and (baseline is None or not isinstance(scores, Scores)):
        raise InvalidValueError(f"{statistic!r} compares runs: it needs Scores and a baseline")
    if baseline is not None and not compares:
        raise InvalidValueError(f"{statistic!r} compares no runs: it takes no baseline")
    if not isinstance(scores, Scores):
        return _array_sample(scores, chosen)
    reference = scores.values
    if baseline is not None:
        reference = scores.select(runs=[baseline]).values
        scores = scores.select(runs=[run for run in scores.runs if run != baseline])
        if not scores.runs:
            raise InvalidValueError(f"there is no run to compare with the baseline {baseline!r}")
    bounded = [is_bounded(name, scores.values[:, :, m]) for m, name in enumerate(scores.measures)]
    flat = scores.values.reshape(len(scores.topics), -1)
    other = np.broadcast_to(reference, scores.values.shape).reshape(flat.shape)
    labels = tuple((run, measure) for run in scores.runs for measure in scores.measures)
    support = np.tile(np.array(bounded, bool), len(scores.runs))
    return _prepare(chosen, labels, scores.values.shape[1:], flat, other, support)


def _array_sample(scores: Any, statistic: Statistic | WeightedStatistic) -> TopicSample:
    try:
        array = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise FormatError("scores are no numbers; expected an array, topics × columns") from None
    if array.ndim == 0 or array.size == 0:
        raise FormatError(f"scores have shape {array.shape}; expected topics, or topics × columns")
    flat = array.reshape(len(array), -1)
    labels = tuple((f"column {i + 1}", "score") for i in range(flat.shape[1]))
    inside: Booleans = np.all(np.isnan(flat) | ((flat >= 0) & (flat <= 1)), axis=0)
    return _prepare(statistic, labels, array.shape[1:], flat, flat, inside)


def _prepare(
    statistic: Statistic | WeightedStatistic,
    labels: tuple[tuple[str, str], ...],
    shape: tuple[int, ...],
    scores: Floats,
    reference: Floats,
    support: Booleans,
) -> TopicSample:
    if np.isinf(scores).any() or np.isinf(reference).any():
        raise FormatError("a score is infinite; expected finite numbers, NaN where missing")
    if not isinstance(statistic, Statistic):
        if np.isnan(scores).any():
            raise InvalidValueError("a statistic given as a function takes no missing scores")
        return TopicSample(labels, shape, (scores,), statistic, np.zeros_like(support))
    variables = statistic.variables(scores, reference)
    missing = np.isnan(scores) | np.isnan(reference)
    values = tuple(np.where(missing, np.nan, variable) for variable in variables)
    return TopicSample(labels, shape, values, statistic, support & statistic.bounded)


def _smooth_distribution(
    statistic: Statistic,
    values: tuple[Floats, ...],
    weights: Floats | None,
    needs: Collection[str],
    labels: tuple[tuple[str, str], ...],
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
        influence = _influence(slopes, deviations)
        powers = np.square(influence)
        squares = powers.sum(axis=0)
        powers *= influence
        estimate = np.asarray(statistic.value(*means), np.float64)
        constant = np.array([_constant(value) for value in values]).all(axis=0)
        se = np.sqrt(squares / (count * (count - 1.0)))
        # Differences and ratios that are all equal vary by rounding still.
        size = sum(np.abs(slope * mean) for slope, mean in zip(slopes, means, strict=True))
        se = np.where(constant | (se <= ROUNDING * size), 0.0, se)
        acceleration = powers.sum(axis=0) / (6.0 * squares**1.5)
        resampled = _Moments(statistic, means, deviations, present, weights, needs)
        replicates = resampled.values()
        undefined = None if replicates is None else np.isnan(replicates)
        return SamplingDistribution(
            labels=labels,
            estimate=estimate,
            count=count,
            df=count - 1.0,
            support=support,
            resampled=frozenset({"topics"}),
            sample=values[0] if statistic.linear else None,
            se=se,
            acceleration=acceleration,
            replicates=replicates,
            replicate_se=resampled.se(),
            replicate_skewness=resampled.skewness(),
            dropped=None if undefined is None else undefined.sum(axis=0),
        )


def _influence(slopes: Sequence[Floats], deviations: list[Floats]) -> Floats:
    """Return each topic's influence on the statistic: topics × columns."""
    if slopes[0] is UNIT:
        return deviations[0]
    influence: Floats = np.zeros_like(deviations[0])
    for slope, d in zip(slopes, deviations, strict=True):
        influence += slope * d
    return influence


def _constant(value: Floats) -> Booleans:
    """Whether all scores of a column are equal; missing ones do not count."""
    varies: Booleans = np.fmin.reduce(value, axis=0) < np.fmax.reduce(value, axis=0)
    return ~varies


class _Moments:
    """Moments of the resampled scores, as matrix products: columns × replicates inside.

    Deviations from the sample's mean are resampled rather than scores, which keeps the variance of
    a replicate free of cancellation.
    """

    def __init__(
        self,
        statistic: Statistic,
        means: list[Floats],
        deviations: list[Floats],
        present: Booleans,
        weights: Floats | None,
        needs: Collection[str],
    ) -> None:
        self.statistic = statistic
        self.means = means
        self.deviations = deviations
        self.weights = weights
        self.needs = needs
        self.topics = len(present)
        # The share of a replicate's draws that fell on topics with a score.
        self.share = None if weights is None or present.all() else present.T @ weights.T
        self.first = [] if weights is None else [self._resample(d) for d in deviations]

    def _resample(self, values: Floats) -> Floats:
        """Return the mean of values over each replicate: columns × replicates."""
        if self.weights is None:
            raise AttributeError("no weights")
        product: Floats = values.T @ self.weights.T
        return product if self.share is None else product / self.share

    @cached_property
    def _replicate_means(self) -> list[Floats]:
        return [
            _exact_at_ends(m, d, m[:, None] + f)
            for m, d, f in zip(self.means, self.deviations, self.first, strict=True)
        ]

    def values(self) -> Floats | None:
        if self.weights is None:
            return None
        return np.asarray(self.statistic.value(*self._replicate_means), np.float64).T

    def se(self) -> Floats | None:
        """Return the standard error of the statistic on each replicate, by influence values."""
        if self.weights is None or "replicate_se" not in self.needs:
            return None
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
        """The variance (ddof=0) of the one variable on each replicate; rounding is set to 0."""
        mean = self.first[0]
        variance = self._resample(np.square(self.deviations[0]))
        square = np.square(mean)
        variance -= square
        square *= ROUNDING
        variance[variance <= square] = 0.0
        return variance

    def _influence_variance(self) -> Floats:
        """Return the variance of the influence values of each replicate."""
        slopes = self.statistic.slopes(*self._replicate_means)
        variance: Floats = np.zeros_like(self.first[0])
        total: Floats = np.zeros_like(variance)
        for i, (slope, d, mean) in enumerate(zip(slopes, self.deviations, self.first, strict=True)):
            for j in range(i + 1):
                factor = (1.0 if i == j else 2.0) * slope * slopes[j]
                second = factor * self._resample(d * self.deviations[j])
                variance += second - factor * mean * self.first[j]
                total += np.abs(second)
        variance[variance <= ROUNDING * total] = 0.0
        return variance

    def skewness(self) -> Floats | None:
        """Return the skewness of each replicate's scores, 0 where they are all equal."""
        wanted = self.weights is not None and "replicate_skewness" in self.needs
        if not wanted or not self.statistic.linear:
            return None
        d, mean = self.deviations[0], self.first[0]
        variance = self.central_second
        # E(x-m)³ = E x³ - 3 m E x² + 2 m³ = E x³ - m (3 Var x + m²)
        third = np.square(mean)
        third += 3.0 * variance
        third *= mean
        np.subtract(self._resample(np.square(d) * d), third, out=third)
        scale = np.sqrt(variance)
        scale *= variance
        return np.divide(third, scale, out=np.zeros_like(third), where=scale > 0).T


def _exact_at_ends(mean: Floats, deviations: Floats, replicates: Floats) -> Floats:
    """Set replicate means of 0 and 1 exactly, where all topics drawn score so; return them.

    Rounding would leave 1e-18 where a replicate is 0, whose logit is finite. Any other replicate
    is further from the end than half of the next score's share in a mean.
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


def _function_distribution(
    function: WeightedStatistic,
    scores: Floats,
    weights: Floats | None,
    labels: tuple[tuple[str, str], ...],
    support: Booleans,
) -> SamplingDistribution:
    """Return the distribution of a user's statistic; se and acceleration by the jackknife."""
    topics = len(scores)
    even = np.full((1, topics), 1.0 / topics)
    without_one = (1.0 - np.eye(topics)) / max(topics - 1, 1)
    estimate = _apply(function, even, scores)[0]
    influence = (topics - 1) * (estimate - _apply(function, without_one, scores))
    influence -= influence.mean(axis=0)
    squares = np.square(influence).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        se = np.sqrt(squares / (topics * (topics - 1.0)))
        se = np.where(se <= ROUNDING * np.abs(estimate), 0.0, se)
        acceleration = (influence**3).sum(axis=0) / (6.0 * squares**1.5)
    replicates = None if weights is None else np.asfortranarray(_apply(function, weights, scores))
    return SamplingDistribution(
        labels=labels,
        estimate=estimate,
        count=np.full(len(estimate), topics),
        df=np.full(len(estimate), topics - 1.0),
        support=support,
        resampled=frozenset({"topics"}),
        se=se,
        acceleration=acceleration,
        replicates=replicates,
        dropped=None if replicates is None else np.isnan(replicates).sum(axis=0),
    )


def _apply(function: WeightedStatistic, weights: Floats, scores: Floats) -> Floats:
    """Return a user's statistic on each row of weights, checked for its shape."""
    result = np.asarray(function(weights, scores), np.float64)
    if result.shape != (len(weights), scores.shape[1]):
        raise InvalidValueError(
            f"the statistic returned an array of shape {result.shape} for weights of shape "
            f"{weights.shape} and scores of shape {scores.shape}; expected "
            f"{(len(weights), scores.shape[1])}: replicates × columns"
        )
    return result
