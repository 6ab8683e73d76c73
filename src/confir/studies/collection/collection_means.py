"""Means over similar collections ([Cormack2006] §8): their intervals, and where their variance comes from.

MAP, logit MAP and geometric MAP: by the bootstrap of the mean, over new topics as well, or from the
standard deviations of the single topics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choices, as_flag, as_level
from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError
from confir.intervals.interval import Limits
from confir.intervals.method_list import DEFAULT_SCORE_METHOD
from confir.intervals.standard_error import (
    check_document_replicates,
    t_interval,
    two_sided_normal,
)
from confir.number_text import percent, topics_text
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import against
from confir.resampling.statistics import SUMMARIES
from confir.resampling.variance_components import mean_over_topics
from confir.studies.collection.collection_topics import topic_intervals


class MeanMethod(NamedTuple):
    """How the interval of a mean over topics is computed.

    Attributes
    ----------
    by_topic
        Whether the standard deviations of the topics' logits, small-R corrected, are combined;
        otherwise that of the mean itself is used.
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

# The names of the summaries of AP.
_MAP_NAMES = {"mean": "MAP", "logit-mean": "L-MAP", "geometric-mean": "GMAP"}


def summary_name(summary: str, measures: tuple[str, ...]) -> str:
    """Return the name of a summary: MAP, L-MAP and GMAP for AP."""
    return _MAP_NAMES[summary] if measures == ("AP",) else summary.replace("-", " ")


@result
class CollectionMeans(Result):
    """Means over topics with intervals over collections.

    Attributes
    ----------
    runs, measures, summaries, methods
        Names.
    mean
        Runs × measures × summaries; the logit mean stays on the logit scale.
    low, high
        Limits, not clipped: methods × runs × measures × summaries.
    topics
        Number of topics of each mean: runs × measures.
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
        *("run", "measure", "summary", "topics"),
        *("mean", "low", "high", "level", "method"),
    )

    def note(self) -> str:
        """Return what the means are."""
        over = topics_text(self.topics)
        return f"mean over {over} with {percent(self.level)} interval over collections"

    def derived(self) -> Iterator[Variable]:
        """Yield the limits, clipped to [0, 1] unless they are logits."""
        logits = np.array(self.summaries) == "logit-mean"
        along = ("method", "run", "measure", "summary")
        yield Variable("low", along, np.where(~logits & (self.low < 0.0), 0.0, self.low))
        yield Variable("high", along, np.where(~logits & (self.high > 1.0), 1.0, self.high))


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
        One name or several: "bootstrap" uses the standard deviation of the mean over collections,
        "parametric" combines those of the topics' logits, "bootstrap-with-topics" lets topics vary
        as well.
    summaries
        Names in SUMMARIES: MAP is "mean", L-MAP "logit-mean", GMAP "geometric-mean".
    small_r, epsilon
        As in `summarise_topics`.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> drawn = confir.resample_documents(sample.qrels, sample.runs[2:4], "AP", replicates=50)
    >>> confir.summarise_means(drawn)
    CollectionMeans(run: 2, measure: 1, summary: 3, method: 1, level=0.95)
    """
    check_document_replicates(sample, epsilon)
    as_flag("small_r", small_r)
    level = as_level(level)
    methods = as_choices("methods", methods, MEAN_METHODS, "method for means")
    chosen = [MEAN_METHODS[name] for name in methods]
    summaries = as_choices("summaries", summaries, SUMMARIES, "summary")
    by_topic = any(method.by_topic for method in chosen)
    logit_sd = [
        topic_intervals(sample, measure, level, DEFAULT_SCORE_METHOD, small_r, epsilon).logit_sd
        for measure in sample.measures
        if by_topic
    ]
    estimates, limits = [], []
    for summary in summaries:
        back, over = SUMMARIES[summary].back, CollectionSample.of(sample, summary, epsilon)
        estimates.append(back(mean_over_topics(over.scores.T)))
        for method in chosen:
            found = (
                _parametric_limits(sample, np.stack(logit_sd, axis=1), over.scores, summary, level)
                if method.by_topic
                else t_interval(
                    over.distribution_with_topics()
                    if method.with_topics
                    else over.distribution(slice(None)),
                    level,
                )
            )
            limits.append([back(limit) for limit in found])
    shape = (len(summaries), len(methods), 2, *over.shape)
    ends = np.array(limits).reshape(shape).transpose(2, 1, 3, 4, 0)
    mean = np.array(estimates).reshape(len(summaries), *over.shape)
    return CollectionMeans(
        runs=sample.runs,
        measures=sample.measures,
        summaries=tuple(summaries),
        methods=tuple(methods),
        mean=mean.transpose(1, 2, 0),
        low=ends[0],
        high=ends[1],
        topics=sample.scores.topic_counts(),
        level=level,
        replicates=sample.replicates,
    )


def _parametric_limits(
    sample: DocumentReplicates, logit_sd: Floats, terms: Floats, summary: str, level: float
) -> Limits:
    """Return ``mean ± z · √(Σ (w_t σ_t)²) / T``, w_t the derivative of the mean's term by the logit.

    ``s - s²`` for the mean, 1 for the logit mean, ``1 - s`` for the mean of ln s. A score in [0, 1]
    of mean s has a standard deviation of at most ``√(s - s²)``, the cap for wide logits. The
    standard deviations are runs × measures × topics, the terms of means columns × topics.
    """
    score = sample.scores.values.reshape(len(sample.topics), -1).T
    weights = {
        "mean": score - score**2,
        "logit-mean": np.ones_like(score),
        "geometric-mean": 1.0 - score,
    }
    sd = weights[summary] * logit_sd.reshape(score.shape)
    if summary == "mean":
        sd = np.minimum(sd, np.sqrt(weights[summary]))
    variance = np.nansum(np.square(sd), axis=1)
    topics = (~np.isnan(score)).sum(axis=1)
    half = two_sided_normal(level) * np.sqrt(variance) / topics
    mean = mean_over_topics(terms.T)
    return Limits(mean - half, mean + half)


@result
class CollectionVariance(Result):
    """Variance components of means: arrays are runs × measures × summaries.

    Attributes
    ----------
    runs, measures, summaries
        Names.
    baseline
        The run that others are compared with; None for the means themselves.
    topics, documents, interaction
        Variance components: some topics are easier than others; a collection shifts all scores
        alike; a collection suits some topics better than others.
    total
        Their sum: the variance over new topics and a new collection.
    replicates
        Number of replicates.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    summaries: tuple[str, ...] = axis("summary")
    baseline: str | None = constant(column="against")
    topics: Floats = over("run", "measure", "summary")
    documents: Floats = over("run", "measure", "summary")
    interaction: Floats = over("run", "measure", "summary")
    total: Floats = over("run", "measure", "summary")
    replicates: int

    record_columns = (
        *("run", "against", "measure", "summary"),
        *("topics", "documents", "interaction", "total"),
    )


def decompose_variance(
    sample: DocumentReplicates,
    *,
    baseline: str | None = None,
    summaries: Sequence[str] = ("mean", "logit-mean"),
    epsilon: float = LOGIT_EPSILON,
) -> CollectionVariance:
    """Return how much of the variance of means comes from topics, documents, and interaction.

    Parameters
    ----------
    sample
        What `resample_documents` returns.
    baseline
        Decompose differences from this run instead of the means themselves.
    summaries
        Names in SUMMARIES.
    epsilon
        Distance from 0 and 1 to which scores are clipped before the logit.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> drawn = confir.resample_documents(sample.qrels, sample.runs[2:4], "AP", replicates=50)
    >>> confir.decompose_variance(drawn)
    CollectionVariance(run: 2, measure: 1, summary: 2, baseline=None)
    """
    check_document_replicates(sample, epsilon)
    summaries = as_choices("summaries", summaries, SUMMARIES, "summary")
    if len(sample.topics) < 2:
        raise InvalidValueError("there is one topic; a variance over topics needs at least 2")
    parts = []
    for summary in summaries:
        over = CollectionSample.of(sample, summary, epsilon)
        over = over if baseline is None else against(over, baseline)
        found = over.components()
        columns = (found.topics, found.documents, found.interaction)
        parts.append([column.reshape(over.shape) for column in columns])
    topics, documents, interaction = np.moveaxis(np.array(parts), 0, -1)
    return CollectionVariance(
        runs=tuple(run for run in sample.runs if run != baseline),
        measures=sample.measures,
        summaries=tuple(summaries),
        baseline=baseline,
        topics=topics,
        documents=documents,
        interaction=interaction,
        total=topics + documents + interaction,
        replicates=sample.replicates,
    )
