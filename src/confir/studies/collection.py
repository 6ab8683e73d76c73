"""How far would a score move with another collection of the same kind? ([Cormack2006])

Topics one by one, and their means: MAP, logit MAP and geometric MAP, by the bootstrap of the mean
itself, over new topics too, or by combining the topics' own spreads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_choices, as_flag, as_level
from confir.arrays import Booleans, Floats, Integers
from confir.data.frames import columns_from_records, frame_from_records
from confir.data.scores import Record
from confir.errors import InvalidValueError, UnknownNameError, UnsupportedMethodError
from confir.intervals.documents import (
    check_margin,
    document_interval,
    linear_interval,
    logit_spread,
    normal_quantile,
)
from confir.intervals.interval import Limits
from confir.intervals.small_r import correct_small_r
from confir.measures.bounds import bounded_measures, definition_bound
from confir.measures.catalogue import MEASURES, parse_measure
from confir.measures.summary import LOGIT_MARGIN, SUMMARIES, clipped_logit
from confir.resampling.document_replicates import DocumentReplicates, check_sample, transform_of

MEAN_METHODS = ("bootstrap", "parametric", "bootstrap-with-topics")
DEFAULT_MEAN_METHODS = ("bootstrap",)
MEAN_SUMMARIES = ("mean", "logit-mean", "geometric-mean")


@dataclass(frozen=True, slots=True, eq=False)
class CollectionTopics:
    """Each topic's score with its interval over collections: arrays are measures × runs × topics.

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
        Relevant documents of each topic, measures × topics.
    relevant_retrieved
        Those in each list.
    corrected
        Where the small-R correction applied.
    dropped
        Replicates without a relevant document, measures × topics.
    level, method, replicates
        Confidence level, method and number of replicates.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[str, ...]
    score: Floats
    low: Floats
    high: Floats
    logit_sd: Floats
    relevant: Integers
    relevant_retrieved: Integers
    corrected: Booleans
    dropped: Integers
    level: float
    method: str
    replicates: int

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record per run, measure and topic; limits are clipped to [0, 1]."""
        low, high = np.clip(self.low, 0.0, 1.0), np.clip(self.high, 0.0, 1.0)
        return [
            {
                "run": run,
                "measure": measure,
                "topic": topic,
                "score": float(self.score[m, r, t]),
                "low": float(low[m, r, t]),
                "high": float(high[m, r, t]),
                "relevant": int(self.relevant[m, t]),
                "relevant_retrieved": int(self.relevant_retrieved[m, r, t]),
                "corrected": bool(self.corrected[m, r, t]),
                "level": self.level,
                "method": self.method,
            }
            for m, measure in enumerate(self.measures)
            for r, run in enumerate(self.runs)
            for t, topic in enumerate(self.topics)
            if not np.isnan(self.score[m, r, t])
        ]

    def to_dict(self) -> dict[str, dict[str, dict[str, Record]]]:
        """Return run → measure → topic → record."""
        result: dict[str, dict[str, dict[str, Record]]] = {}
        for record in self.to_records():
            by_measure = result.setdefault(record["run"], {})
            by_measure.setdefault(record["measure"], {})[record["topic"]] = record
        return result

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


@dataclass(frozen=True, slots=True, eq=False)
class CollectionMeans:
    """Means over topics with intervals over collections.

    Attributes
    ----------
    runs, measures, summaries, methods
        Names.
    mean
        Measures × runs × summaries; the logit mean is a logit.
    low, high
        Limits, not clipped: methods × measures × runs × summaries.
    topics
        Topics that each mean rests on: measures × runs.
    level, replicates
        Confidence level and number of replicates.
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    summaries: tuple[str, ...]
    methods: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    topics: Integers
    level: float
    replicates: int

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record per run, measure, summary and method; means are clipped to [0, 1]."""
        records = []
        for r, run in enumerate(self.runs):
            for m, measure in enumerate(self.measures):
                for s, summary in enumerate(self.summaries):
                    for k, method in enumerate(self.methods):
                        low, high = float(self.low[k, m, r, s]), float(self.high[k, m, r, s])
                        if summary != "logit-mean":
                            low, high = max(low, 0.0), min(high, 1.0)
                        records.append(
                            {
                                "run": run,
                                "measure": measure,
                                "summary": summary,
                                "topics": int(self.topics[m, r]),
                                "mean": float(self.mean[m, r, s]),
                                "low": low,
                                "high": high,
                                "level": self.level,
                                "method": method,
                            }
                        )
        return records

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return columns_from_records(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def summarise_topics(
    sample: DocumentReplicates,
    *,
    level: float = 0.95,
    method: str = "logit",
    small_r: bool = True,
    margin: float = LOGIT_MARGIN,
) -> CollectionTopics:
    """Return each topic's score with its interval over collections.

    Parameters
    ----------
    sample
        What `resample_documents` returns; with its jackknife for BCa.
    level
        Confidence level.
    method
        A name in DOCUMENT_METHODS.
    small_r
        Whether AP near 0 and near 1 is corrected for few relevant documents.
    margin
        How far logits keep from 0 and 1.
    """
    check_sample(sample)
    as_flag("small_r", small_r)
    level = as_level(level)
    check_margin(margin)
    check_bounded(sample)
    parts = [_topic_intervals(sample, m, level, method, small_r, margin) for m in sample.measures]
    return CollectionTopics(
        runs=sample.runs,
        topics=sample.topics,
        measures=sample.measures,
        score=sample.scores.values.transpose(2, 1, 0),
        low=np.stack([part.limits.low for part in parts]),
        high=np.stack([part.limits.high for part in parts]),
        logit_sd=np.stack([part.logit_sd for part in parts]),
        relevant=sample.relevant,
        relevant_retrieved=sample.relevant_retrieved,
        corrected=np.stack([part.corrected for part in parts]),
        dropped=sample.dropped,
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
    margin: float,
) -> _TopicIntervals:
    place = sample.measure_place(measure)
    estimate = sample.estimates(place)
    distribution = sample.topic_distribution(measure)
    interval = document_interval(distribution, level=level, method=method, margin=margin)
    limits = Limits(interval.low.reshape(estimate.shape), interval.high.reshape(estimate.shape))
    sd = logit_spread(sample.values[place], margin)
    corrected = np.zeros(estimate.shape, bool)
    if small_r and is_average_precision(measure):
        relevant, depth = sample.relevant[place], _seen_depth(measure, sample.depth)
        limits, corrected = correct_small_r(limits, estimate, relevant, depth, level)
        if method != "logit":
            by_logit = document_interval(distribution, level=level, method="logit", margin=margin)
            shaped = (end.reshape(estimate.shape) for end in (by_logit.low, by_logit.high))
            wide, _ = correct_small_r(Limits(*shaped), estimate, relevant, depth, level)
        else:
            wide = limits
        width = clipped_logit(wide.high, margin) - clipped_logit(wide.low, margin)
        sd = np.where(corrected, width / (2.0 * normal_quantile(level)), sd)
    return _TopicIntervals(limits, sd, corrected)


def is_average_precision(measure: str) -> bool:
    """Whether a name means AP, with whatever cutoff and lowest gain."""
    try:
        return parse_measure(measure).definition is MEASURES["AP"]
    except (UnknownNameError, InvalidValueError):
        return False


def _seen_depth(measure: str, depth: Integers) -> Integers:
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
    level: float = 0.95,
    methods: Sequence[str] = DEFAULT_MEAN_METHODS,
    summaries: Sequence[str] = MEAN_SUMMARIES,
    small_r: bool = True,
    margin: float = LOGIT_MARGIN,
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
    small_r, margin
        As in `summarise_topics`.
    """
    check_sample(sample)
    as_flag("small_r", small_r)
    level = as_level(level)
    check_margin(margin)
    check_bounded(sample)
    methods = as_choices("methods", methods, MEAN_METHODS, "method for means")
    summaries = as_choices("summaries", summaries, SUMMARIES, "summary")
    spreads = [
        _topic_intervals(sample, measure, level, "logit", small_r, margin).logit_sd
        if "parametric" in methods
        else None
        for measure in sample.measures
    ]
    estimates, limits = [], []
    for m, measure in enumerate(sample.measures):
        for summary in summaries:
            forward, back = transform_of(summary, margin), SUMMARIES[summary].back
            estimates.append(back(_row_means(forward(sample.estimates(m)))))
            for method in methods:
                low, high = (
                    _parametric_limits(sample.estimates(m), spreads[m], summary, level, margin)
                    if method == "parametric"
                    else linear_interval(
                        sample.summary_distribution(
                            measure,
                            summary,
                            with_topics=method == "bootstrap-with-topics",
                            margin=margin,
                        ),
                        level,
                    )
                )
                limits.append((back(low), back(high)))
    shape = (len(sample.measures), len(summaries), len(methods), 2, len(sample.runs))
    ends = np.array(limits).reshape(shape).transpose(3, 2, 0, 4, 1)
    mean = np.array(estimates).reshape(len(sample.measures), len(summaries), -1)
    return CollectionMeans(
        runs=sample.runs,
        measures=sample.measures,
        summaries=tuple(summaries),
        methods=tuple(methods),
        mean=mean.transpose(0, 2, 1),
        low=ends[0],
        high=ends[1],
        topics=(~np.isnan(sample.scores.values)).sum(axis=0).T,
        level=level,
        replicates=sample.replicates,
    )


def _row_means(values: Floats) -> Floats:
    """Return the mean over the topics that have a score: runs × topics → runs."""
    with np.errstate(invalid="ignore"):
        means: Floats = np.nansum(values, axis=1) / (~np.isnan(values)).sum(axis=1)
    return means


def _parametric_limits(
    score: Floats, logit_sd: Floats | None, summary: str, level: float, margin: float
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
    mean = _row_means(transform_of(summary, margin)(score))
    return Limits(mean - half, mean + half)
