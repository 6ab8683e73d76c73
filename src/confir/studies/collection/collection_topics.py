"""Scores of topics with intervals over similar collections.

[Cormack2006] §5, with the small-R correction of §7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from confir.arguments import as_flag, as_level
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError, UnknownNameError
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Limits
from confir.intervals.method_list import DEFAULT_SCORE_METHOD
from confir.intervals.small_r import correct_small_r
from confir.intervals.standard_error import (
    check_document_replicates,
    logit_limits,
    logit_spread,
    two_sided_normal,
)
from confir.measures.measure_list import MEASURES
from confir.measures.parsing import parse_measure
from confir.number_text import percent
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.statistics import clipped_logit


@result
class CollectionTopics(Result):
    """Each topic's score with its interval over collections: arrays are topics × runs × measures.

    Attributes
    ----------
    runs, topics, measures
        Names.
    score, low, high
        Scores and limits, not clipped; NaN where undefined.
    logit_sd
        Standard deviation of the score's logit; where the small-R correction applied, half the
        width of the corrected interval on that scale, divided by z.
    relevant
        Relevant documents of each topic, topics × measures.
    relevant_retrieved
        Relevant documents in each list.
    corrected
        Whether the small-R correction applied.
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
        *("run", "measure", "topic", "score", "low", "high", "relevant"),
        *("relevant_retrieved", "corrected", "level", "method"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the limits, clipped to [0, 1]."""
        yield Variable("low", ("topic", "run", "measure"), np.clip(self.low, 0.0, 1.0))
        yield Variable("high", ("topic", "run", "measure"), np.clip(self.high, 0.0, 1.0))

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        several = len(self.measures) > 1
        return {
            "run": TableColumn(Role.NAME),
            "measure": TableColumn(Role.NAME, if_several=True),
            "topic": TableColumn(Role.NAME),
            "score": TableColumn(Role.SCORE, "" if several else self.measures[0], LIMITS),
            "relevant": TableColumn(Role.COUNT),
            "relevant_retrieved": TableColumn(Role.COUNT, "retrieved"),
            "corrected": TableColumn(Role.FLAG, "small R", words={True: "yes", False: ""}),
        }

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"score with {percent(self.level)} interval over collections by {self.method}; relevant "
            "documents, those in the list, and where the interval is corrected for few of them"
        )

    def rows(self) -> Integers:
        """Return the rows that have a score."""
        return np.flatnonzero(~np.isnan(self.score.transpose(2, 1, 0)))


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
        What `resample_documents` returns; with ``jackknife=True`` for BCa.
    level
        Confidence level.
    method
        Name of a method over documents.
    small_r
        Whether to correct AP near 0 and 1 for few relevant documents.
    epsilon
        Distance from 0 and 1 to which scores are clipped before the logit.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> drawn = confir.resample_documents(sample.qrels, sample.runs[2:4], "AP", replicates=50)
    >>> confir.summarise_topics(drawn)
    CollectionTopics(run: 2, topic: 50, measure: 1, level=0.95, method='logit')
    """
    check_document_replicates(sample, epsilon)
    as_flag("small_r", small_r)
    level = as_level(level)
    parts = [topic_intervals(sample, m, level, method, small_r, epsilon) for m in sample.measures]
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


class TopicIntervals(NamedTuple):
    """Intervals of the scores by one measure: runs × topics each."""

    limits: Limits
    logit_sd: Floats
    corrected: Booleans


def topic_intervals(
    sample: DocumentReplicates,
    measure: str,
    level: float,
    method: str,
    small_r: bool,
    epsilon: float,
) -> TopicIntervals:
    """Return the intervals of the scores by one measure."""
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
        z = two_sided_normal(level)
        by_logit = logit_limits(estimate, sd, z, epsilon)
        wide, _ = correct_small_r(by_logit, estimate, relevant, depth, level)
        width = clipped_logit(wide.high, epsilon) - clipped_logit(wide.low, epsilon)
        sd = np.where(corrected, width / (2.0 * z), sd)
    return TopicIntervals(limits, sd, corrected)


def is_average_precision(measure: str) -> bool:
    """Whether a measure is AP, with any cutoff and ``rel``."""
    try:
        return parse_measure(measure).definition is MEASURES["AP"]
    except (UnknownNameError, InvalidValueError):
        return False


def _measured_depth(measure: str, depth: Integers) -> Integers:
    """Return the number of documents of each list that AP takes into account."""
    cutoff = parse_measure(measure).cutoff
    return depth if cutoff is None else np.minimum(depth, cutoff)
