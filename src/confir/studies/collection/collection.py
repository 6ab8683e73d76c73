"""How much would a score change with another collection of the same kind? ([Cormack2006])

Topics one by one, and their means: MAP, logit MAP and geometric MAP, by the bootstrap of the mean
itself, over new topics too, or by combining the topics' own spreads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choices, as_flag, as_level
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError, UnknownNameError, UnsupportedMethodError
from confir.intervals.catalogue import DEFAULT_SCORE_METHOD, confidence_interval
from confir.intervals.documents import (
    check_epsilon,
    linear_interval,
    logit_limits,
    logit_spread,
    normal_quantile,
)
from confir.intervals.interval import Limits
from confir.intervals.small_r import correct_small_r
from confir.measures.bounds import bounded_measures, definition_bound
from confir.measures.catalogue import MEASURES, parse_measure
from confir.measures.summary import SUMMARIES, clipped_logit
from confir.resampling.document_replicates import DocumentReplicates, check_sample, transform_of


class MeanMethod(NamedTuple):
    """How the interval of a mean over topics is found.

    Attributes
    ----------
    by_topic
        Whether the spreads of the topics' logits are combined, which the small-R correction may
        widen; else the spread of the mean itself counts.
    with_topics
        Whether topics vary as well as documents.
    """

    by_topic: bool = False
    with_topics: bool = False


MEAN_METHODS = {
    "bootstrap": MeanMethod(),
    "parametric": MeanMethod(by_topic=True),
    "bootstrap-with-topics": MeanMethod(with_topics=True),
}
DEFAULT_MEAN_METHODS = ("bootstrap",)
MEAN_SUMMARIES = ("mean", "logit-mean", "geometric-mean")


@result
class CollectionTopics(Result):
    """Each topic's score with its interval over collections: arrays are topics × runs × measures.

    Attributes
    ----------
    runs, topics, measures
        Names.
    score, low, high
        Scores and limits, not clipped; NaN where there is none.
    logit_sd
        Standard deviation of the score's logit; where the small-R correction applied, half the
        corrected interval on that scale, over z.
    relevant
        Relevant documents of each topic, topics × measures.
    relevant_retrieved
        Those in each list.
    corrected
        Where the small-R correction applied.
    dropped
        Replicates without a relevant document, topics × measures.
    level, method, replicates
        Confidence level, method and number of replicates.
    """

    runs: tuple[str, ...] = axis("run")
    topics: tuple[str, ...] = axis("topic")
    measures: tuple[str, ...] = axis("measure")
    score: Floats = over("topic", "run", "measure")
    low: Floats = over("topic", "run", "measure")
    high: Floats = over("topic", "run", "measure")
    logit_sd: Floats = over("topic", "run", "measure")
    relevant: Integers = over("topic", "measure")
    relevant_retrieved: Integers = over("topic", "run", "measure")
    corrected: Booleans = over("topic", "run", "measure")
    dropped: Integers = over("topic", "measure")
    level: float = constant()
    method: str = constant()
    replicates: int

    row_order = ("measure", "run", "topic")
    record_columns = (
        "run",
        "measure",
        "topic",
        "score",
        "low",
        "high",
        "relevant",
        "relevant_retrieved",
        "corrected",
        "level",
        "method",
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the limits, clipped to [0, 1]."""
        yield Variable("low", ("topic", "run", "measure"), np.clip(self.low, 0.0, 1.0))
        yield Variable("high", ("topic", "run", "measure"), np.clip(self.high, 0.0, 1.0))

    def rows(self) -> Integers:
        """Return the rows of the scores that are there."""
        return np.flatnonzero(~np.isnan(self.score.transpose(2, 1, 0)))


@result
class CollectionMeans(Result):
    """Means over topics with intervals over collections.

    Attributes
    ----------
    runs, measures, summaries, methods
        Names.
    mean
        Runs × measures × summaries; the logit mean is a logit.
    low, high
        Limits, not clipped: methods × runs × measures × summaries.
    topics
        Topics that each mean rests on: runs × measures.
    level, replicates
        Confidence level and number of replicates.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    summaries: tuple[str, ...] = axis("summary")
    methods: tuple[str, ...] = axis("method")
    mean: Floats = over("run", "measure", "summary")
    low: Floats = over("method", "run", "measure", "summary")
    high: Floats = over("method", "run", "measure", "summary")
    topics: Integers = over("run", "measure")
    level: float = constant()
    replicates: int

    record_columns = (
        "run",
        "measure",
        "summary",
        "topics",
        "mean",
        "low",
        "high",
        "level",
        "method",
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the limits, clipped to [0, 1] where they are no logits."""
        logits = np.array(self.summaries) == "logit-mean"
        along = ("method", "run", "measure", "summary")
        yield Variable("low", along, np.where(~logits & (self.low < 0.0), 0.0, self.low))
        yield Variable("high", along, np.where(~logits & (self.high > 1.0), 1.0, self.high))


def summarise_topics(
    sample: DocumentReplicates,
    *,
    level: float = LEVEL,
    method: str = DEFAULT_SCORE_METHOD,
    small_r: bool = True,
    epsilon: float = LOGIT_EPSILON,
) -> CollectionTopics:
    """Return each topic's score with its interval over collections.

    Parameters
    ----------
    sample
        What `resample_documents` returns; with its jackknife for BCa.
    level
        Confidence level.
    method
        Name of a method over documents.
    small_r
        Whether AP near 0 and near 1 is corrected for few relevant documents.
    epsilon
        How far logits keep from 0 and 1.
    """
    check_sample(sample)
    as_flag("small_r", small_r)
    level = as_level(level)
    check_epsilon(epsilon)
    check_bounded(sample)
    parts = [_topic_intervals(sample, m, level, method, small_r, epsilon) for m in sample.measures]
    return CollectionTopics(
        runs=sample.runs,
        topics=sample.topics,
        measures=sample.measures,
        score=sample.scores.values,
        low=np.stack([part.limits.low for part in parts]).T,
        high=np.stack([part.limits.high for part in parts]).T,
        logit_sd=np.stack([part.logit_sd for part in parts]).T,
        relevant=sample.relevant.T,
        relevant_retrieved=sample.relevant_retrieved.T,
        corrected=np.stack([part.corrected for part in parts]).T,
        dropped=sample.dropped.T,
        level=level,
        method=method,
        replicates=sample.replicates,
    )


class _TopicIntervals(NamedTuple):
    """Intervals of the scores by one measure: runs × topics each."""

    limits: Limits
    logit_sd: Floats
    corrected: Booleans


def _topic_intervals(
    sample: DocumentReplicates,
    measure: str,
    level: float,
    method: str,
    small_r: bool,
    epsilon: float,
) -> _TopicIntervals:
    place = sample.measure_place(measure)
    estimate = sample.estimates(place)
    distribution = sample.topic_distribution(measure, epsilon=epsilon)
    interval = confidence_interval(distribution, level=level, method=method)
    limits = Limits(interval.low.reshape(estimate.shape), interval.high.reshape(estimate.shape))
    sd = logit_spread(sample.values[place], epsilon)
    corrected = np.zeros(estimate.shape, bool)
    if small_r and is_average_precision(measure):
        relevant, depth = sample.relevant[place], _measured_depth(measure, sample.depth)
        limits, corrected = correct_small_r(limits, estimate, relevant, depth, level)
        z = normal_quantile(level)
        by_logit = logit_limits(estimate, sd, z, epsilon)
        wide, _ = correct_small_r(by_logit, estimate, relevant, depth, level)
        width = clipped_logit(wide.high, epsilon) - clipped_logit(wide.low, epsilon)
        sd = np.where(corrected, width / (2.0 * z), sd)
    return _TopicIntervals(limits, sd, corrected)


def is_average_precision(measure: str) -> bool:
    """Whether a name means AP, with any cutoff and lowest gain."""
    try:
        return parse_measure(measure).definition is MEASURES["AP"]
    except (UnknownNameError, InvalidValueError):
        return False


def _measured_depth(measure: str, depth: Integers) -> Integers:
    """Return how many documents of each list AP looks at."""
    cutoff = parse_measure(measure).cutoff
    return depth if cutoff is None else np.minimum(depth, cutoff)


def check_bounded(sample: DocumentReplicates) -> None:
    """Raise where a measure's scores are not in [0, 1]."""
    for place in np.flatnonzero(~bounded_measures(sample.scores)):
        raise _unbounded(sample.measures[place])


def check_bounded_measure(measure: str) -> None:
    """Raise where scores by a measure do not lie in [0, 1] by its definition."""
    if definition_bound(measure) is False:
        raise _unbounded(measure)


def _unbounded(measure: str) -> UnsupportedMethodError:
    return UnsupportedMethodError(
        f"intervals over collections are for measures in [0, 1], which {measure} is not"
    )


def summarise_means(
    sample: DocumentReplicates,
    *,
    level: float = LEVEL,
    methods: Sequence[str] = DEFAULT_MEAN_METHODS,
    summaries: Sequence[str] = MEAN_SUMMARIES,
    small_r: bool = True,
    epsilon: float = LOGIT_EPSILON,
) -> CollectionMeans:
    """Return means over topics with their intervals over collections ([Cormack2006] §8).

    Parameters
    ----------
    sample
        What `resample_documents` returns.
    level
        Confidence level.
    methods
        One name or several: "bootstrap" takes the spread of the mean over collections; "parametric"
        combines the spreads of the topics' logits; "bootstrap-with-topics" lets topics vary too.
    summaries
        Names in SUMMARIES: MAP is "mean", L-MAP "logit-mean", GMAP "geometric-mean".
    small_r, epsilon
        As in `summarise_topics`.
    """
    check_sample(sample)
    as_flag("small_r", small_r)
    level = as_level(level)
    check_epsilon(epsilon)
    check_bounded(sample)
    methods = as_choices("methods", methods, MEAN_METHODS, "method for means")
    chosen = [MEAN_METHODS[name] for name in methods]
    summaries = as_choices("summaries", summaries, SUMMARIES, "summary")
    spreads = [
        _topic_intervals(sample, measure, level, DEFAULT_SCORE_METHOD, small_r, epsilon).logit_sd
        if any(method.by_topic for method in chosen)
        else None
        for measure in sample.measures
    ]
    estimates, limits = [], []
    for m, measure in enumerate(sample.measures):
        for summary in summaries:
            forward, back = transform_of(summary, epsilon), SUMMARIES[summary].back
            estimates.append(back(_row_means(forward(sample.estimates(m)))))
            for method in chosen:
                low, high = (
                    _parametric_limits(sample.estimates(m), spreads[m], summary, level, epsilon)
                    if method.by_topic
                    else linear_interval(
                        sample.summary_distribution(
                            measure,
                            summary,
                            with_topics=method.with_topics,
                            epsilon=epsilon,
                        ),
                        level,
                    )
                )
                limits.append((back(low), back(high)))
    shape = (len(sample.measures), len(summaries), len(methods), 2, len(sample.runs))
    ends = np.array(limits).reshape(shape).transpose(3, 2, 4, 0, 1)
    mean = np.array(estimates).reshape(len(sample.measures), len(summaries), -1)
    return CollectionMeans(
        runs=sample.runs,
        measures=sample.measures,
        summaries=tuple(summaries),
        methods=tuple(methods),
        mean=mean.transpose(2, 0, 1),
        low=ends[0],
        high=ends[1],
        topics=sample.scores.topic_counts(),
        level=level,
        replicates=sample.replicates,
    )


def _row_means(values: Floats) -> Floats:
    """Return the mean over the topics that have a score: runs × topics → runs."""
    with np.errstate(invalid="ignore"):
        means: Floats = np.nansum(values, axis=1) / (~np.isnan(values)).sum(axis=1)
    return means


def _parametric_limits(
    score: Floats, logit_sd: Floats | None, summary: str, level: float, epsilon: float
) -> Limits:
    """Return ``mean ± z · √(Σ (w_t σ_t)²) / T``, w_t how the mean's term moves with the logit.

    ``s - s²`` for the mean, 1 for the logit mean, ``1 - s`` for the mean of ln s. A score in [0, 1]
    of mean s has a standard deviation of at most ``√(s - s²)``, which wide logits would exceed.
    """
    if logit_sd is None:
        raise InvalidValueError("the parametric interval needs the topics' spreads")
    weights = {
        "mean": score - score**2,
        "logit-mean": np.ones_like(score),
        "geometric-mean": 1.0 - score,
    }
    sd = weights[summary] * logit_sd
    if summary == "mean":
        sd = np.minimum(sd, np.sqrt(weights[summary]))
    variance = np.nansum(np.square(sd), axis=1)
    topics = (~np.isnan(score)).sum(axis=1)
    half = normal_quantile(level) * np.sqrt(variance) / topics
    mean = _row_means(transform_of(summary, epsilon)(score))
    return Limits(mean - half, mean + half)
