"""The variance of a mean or a difference that comes from topics, documents, and both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.arguments import as_choices
from confir.arrays import Floats
from confir.data.result import Result, axis, constant, over, result
from confir.defaults import LOGIT_EPSILON
from confir.errors import InvalidValueError
from confir.intervals.standard_error import check_document_replicates
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import against
from confir.resampling.statistics import SUMMARIES


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
