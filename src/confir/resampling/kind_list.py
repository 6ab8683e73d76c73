"""The kinds of samples beside plain scores and designs: which scores make them, and how.

`confir.resampling.kinds` loads this where scores are of another type than `Scores`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.sampling_designs.repeated_scores import RepeatedJudgedScores, RepeatedScores
from confir.data.tables.published_files import PublishedMeans
from confir.data.votes import Votes
from confir.measures.score_summary import ScoreSummary
from confir.measures.strengths import Strengths
from confir.resampling.clustered_sample import ClusteredSample
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.influence_sample import VoteSample
from confir.resampling.judged_clusters import ClusteredJudgedSample, JudgedClusters
from confir.resampling.judged_datasets import JudgedDatasets
from confir.resampling.judged_sample import JudgedSample
from confir.resampling.kinds import as_topic_sample
from confir.resampling.published_sample import PublishedSample
from confir.resampling.repeat_sample import RepeatSample
from confir.resampling.sample import Sample
from confir.resampling.summary_sample import SummarisedTopics
from confir.resampling.topic_sample import TopicSample

# Every kind of sample of scores, on each of which the contract tests run every verb; strengths by votes
# have tests of their own.
KINDS: tuple[type[Sample], ...] = (
    TopicSample,
    ClusteredSample,
    JudgedSample,
    ClusteredJudgedSample,
    JudgedDatasets,
    RepeatSample,
    SummarisedTopics,
    CollectionSample,
    PublishedSample,
)


def _kind_judged(scores: JudgedScores) -> type[Sample]:
    """Return the kind of scores by human and model judgements."""
    if scores.model.datasets:
        return JudgedDatasets
    return JudgedSample if scores.model.design is None else ClusteredJudgedSample


def _judged(scores: JudgedScores) -> JudgedSample:
    """Return scores by human and model judgements on one dataset as a sample."""
    plain, design = JudgedSample.of(scores), scores.model.design
    if design is None:
        return plain
    return ClusteredJudgedSample(**plain.fields(), clusters=JudgedClusters.of(scores, design))


def _judged_datasets(scores: JudgedScores) -> JudgedDatasets:
    """Return scores by human and model judgements on several datasets as a sample."""
    return JudgedDatasets.of(scores, _judged)


def _repeated(scores: Any) -> RepeatSample:
    """Return scores of systems with their repeats as a sample, by one judge or by two."""
    if not scores.corrected:
        return RepeatSample.of(as_topic_sample(scores), scores)
    make = _judged_datasets if scores.datasets else _judged
    return RepeatSample.of_judged(make(scores), scores)


# Which kind scores of a type are, and how it is made of them.
GIVEN: dict[type, Callable[[Any], type[Sample]]] = {
    Votes: lambda _: VoteSample,
    Strengths: lambda _: VoteSample,
    ScoreSummary: lambda _: SummarisedTopics,
    DocumentReplicates: lambda _: CollectionSample,
    PublishedMeans: lambda _: PublishedSample,
    RepeatedScores: lambda _: RepeatSample,
    RepeatedJudgedScores: lambda _: RepeatSample,
    JudgedScores: _kind_judged,
}
MAKERS: dict[type[Sample], Callable[[Any], Sample]] = {
    SummarisedTopics: SummarisedTopics.of_means,
    VoteSample: VoteSample.of,
    CollectionSample: CollectionSample.of,
    PublishedSample: PublishedSample.of,
    RepeatSample: _repeated,
    JudgedSample: _judged,
    ClusteredJudgedSample: _judged,
    JudgedDatasets: _judged_datasets,
}
