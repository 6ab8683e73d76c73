"""The variance of a mean or a difference that comes from topics, documents, and both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from confir.arguments import as_choices
from confir.arrays import Floats
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.defaults import LOGIT_EPSILON
from confir.errors import InvalidValueError
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import against
from confir.resampling.statistics import SUMMARIES
from confir.studies.collection.collection_topics import check_request


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
    replicates: int

    record_columns = (
        *("run", "against", "measure", "summary"),
        *("topics", "documents", "interaction", "total"),
    )

    @property
    def total(self) -> Floats:
        """The sum of the components: the variance over new topics and a new collection."""
        return self.topics + self.documents + self.interaction

    def derived(self) -> Iterator[Variable]:
        """Yield the sum of the components."""
        yield Variable("total", ("run", "measure", "summary"), self.total)


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
    check_request(sample, epsilon)
    summaries = as_choices("summaries", summaries, SUMMARIES, "summary")
    if len(sample.topics) < 2:
        raise InvalidValueError("there is one topic; a variance over topics needs at least 2")
    parts = []
    for summary in summaries:
        over = CollectionSample.of(sample, summary, epsilon)
        over = over if baseline is None else against(over, baseline)
        parts.append(over.components())

    def stack(name: str) -> Floats:
        return np.stack([getattr(part, name).reshape(over.shape) for part in parts], axis=2)

    return CollectionVariance(
        runs=tuple(run for run in sample.runs if run != baseline),
        measures=sample.measures,
        summaries=tuple(summaries),
        baseline=baseline,
        topics=stack("topics"),
        documents=stack("documents"),
        interaction=stack("interaction"),
        replicates=sample.replicates,
    )
