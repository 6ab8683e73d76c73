"""The kinds of samples beside plain scores and designs: which scores make them, and how.

`confir.resampling.kinds` loads this where scores are of another type than `Scores`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from confir.data.sampling.judged_scores import JudgedScores
from confir.data.sampling.repeated_scores import RepeatedScores
from confir.data.votes import Votes
from confir.measures.score_summary import ScoreSummary
from confir.measures.strengths import Strengths
from confir.resampling.clustered_topics import ClusteredSample
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.human_judgements import JudgedSample, judged_sample
from confir.resampling.influence import InfluenceSample
from confir.resampling.judged_clusters import ClusteredJudgedSample, JudgedClusters
from confir.resampling.kinds import topic_sample
from confir.resampling.published_means import PublishedMeans, PublishedSample
from confir.resampling.repeat_sample import RepeatSample
from confir.resampling.sample import Sample
from confir.resampling.summarised_topics import SummarisedTopics
from confir.resampling.topic_bootstrap import TopicSample

# Every kind of sample of scores, on each of which the contract tests run every verb; strengths by votes
# have tests of their own.
KINDS: tuple[type[Sample], ...] = (
    TopicSample,
    ClusteredSample,
    JudgedSample,
    ClusteredJudgedSample,
    RepeatSample,
    SummarisedTopics,
    CollectionSample,
    PublishedSample,
)

# Which kind scores of a type are, and how it is made of them.
GIVEN: dict[type, Callable[[Any], type[Sample]]] = {
    Votes: lambda _: InfluenceSample,
    Strengths: lambda _: InfluenceSample,
    ScoreSummary: lambda _: SummarisedTopics,
    DocumentReplicates: lambda _: CollectionSample,
    PublishedMeans: lambda _: PublishedSample,
    RepeatedScores: lambda _: RepeatSample,
    JudgedScores: lambda s: JudgedSample if s.model.design is None else ClusteredJudgedSample,
}
MAKERS: dict[type[Sample], Callable[[Any], Sample]] = {
    SummarisedTopics: SummarisedTopics.of_means,
    InfluenceSample: InfluenceSample.of,
    CollectionSample: CollectionSample.of,
    PublishedSample: PublishedSample.of,
    RepeatSample: lambda scores: RepeatSample.of(topic_sample(scores), scores),
    JudgedSample: judged_sample,
    ClusteredJudgedSample: lambda scores: ClusteredJudgedSample(
        **judged_sample(scores).fields(),
        clusters=JudgedClusters.of(scores, scores.model.design),
    ),
}
