"""Scores on resampled collections: those of every topic, run and measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans, Floats, Integers
from confir.data.run_scores import RunScores
from confir.data.scores import Scores
from confir.defaults import LOGIT_EPSILON
from confir.measures.parsing import bounded_measures
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import SUMMARIES, Transform, clipped_logit
from confir.resampling.variance_components import VarianceComponents, spread


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DocumentReplicates(RunScores):
    """Scores on every topic, and on every resampled collection: a kind of scores for all verbs.

    Attributes
    ----------
    scores
        The observed scores: topics × runs × measures; NaN where a topic has no relevant document
        for the measure, or the run lacks the topic and missing topics are dropped.
    values
        The score on each replicate, measures × runs × topics × replicates; NaN as above, and where
        the replicate has no relevant document.
    relevant, relevant_retrieved
        Relevant documents of each topic, measures × topics, and those in each list, measures ×
        runs × topics.
    depth
        Length of each list, runs × topics.
    acceleration
        Acceleration of BCa, measures × runs × topics; None if not requested.
    seed
        Seed of the counts, and of topics that are drawn with them.
    left_out
        Topics without a relevant document, which have no score on any collection.
    """

    scores: Scores
    values: Floats
    relevant: Integers
    relevant_retrieved: Integers
    depth: Integers
    acceleration: Floats | None
    seed: int
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        measures, runs, topics, replicates = self.values.shape
        sizes = f"run: {runs}, measure: {measures}, topic: {topics}, replicate: {replicates}"
        return f"DocumentReplicates({sizes})"

    @property
    def topics(self) -> tuple[str, ...]:
        """Topic ids."""
        return self.scores.topics

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self.scores.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self.scores.measures

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return len(self.values[0, 0, 0])

    in_memory: ClassVar[bool] = False
    resampled: ClassVar[str] = "documents"
    title: ClassVar[str] = "a resampled collection"

    @property
    def design(self) -> None:
        """How topics were drawn: they are not, documents are."""
        return

    @property
    def bounded(self) -> bool | None:
        """Whether unknown measures lie in [0, 1], as stated."""
        return self.scores.bounded

    @property
    def inside(self) -> tuple[bool, ...]:
        """Whether all scores of each measure lie in [0, 1]."""
        return self.scores.inside

    @property
    def observed(self) -> Scores:
        """The scores on the collection itself."""
        return self.scores

    def narrowed(self, observed: Scores) -> DocumentReplicates:
        """Return the scores for the runs and measures that are left of those observed."""
        return self.select(run=observed.runs, measure=observed.measures)

    def mean(self) -> Floats:
        """Return the means of the observed scores: runs × measures."""
        return self.scores.mean()

    def topic_counts(self) -> Integers:
        """Return how many topics each mean is over: runs × measures."""
        return self.scores.topic_counts()

    def pair_means(self, first: int, second: int) -> Floats | None:
        """Return the means of two runs over the topics that both have: 2 × measures."""
        return self.scores.pair_means(first, second)

    def difference_spread(
        self, first: Integers, second: Integers, difference: Floats, se: Floats, topics: Integers
    ) -> Floats:
        """Return the standard deviation over topics of the differences of pairs of runs."""
        del difference, topics
        differences = self.scores.values[:, second] - self.scores.values[:, first]
        sd = spread(np.moveaxis(differences, 0, -1))
        return np.where(np.isnan(se) | (sd == 0), np.nan, sd)

    def sampling_note(self, _seed: int | None = None) -> str:
        """Return what varies."""
        return "over similar collections: documents are resampled, topics stay"

    def select(
        self, *, run: str | Sequence[str] | None = None, measure: str | Sequence[str] | None = None
    ) -> DocumentReplicates:
        """Return the scores of some runs by some measures, in the order given."""
        labels = {"run": run, "measure": measure}
        scores = self.scores.select(**{n: one for n, one in labels.items() if one is not None})
        runs = [self.runs.index(name) for name in scores.runs]
        measures = [self.measures.index(name) for name in scores.measures]
        cells = np.ix_(measures, runs)
        return replace(
            self,
            scores=scores,
            values=self.values[cells],
            relevant=self.relevant[measures],
            relevant_retrieved=self.relevant_retrieved[cells],
            depth=self.depth[runs],
            acceleration=None if self.acceleration is None else self.acceleration[cells],
        )

    def on_topics(self, kept: Booleans) -> DocumentReplicates:
        """Return the scores on some topics."""
        topics = [topic for topic, one in zip(self.topics, kept.tolist(), strict=True) if one]
        return replace(
            self,
            scores=self.scores.select(topic=topics),
            values=self.values[:, :, kept],
            relevant=self.relevant[:, kept],
            relevant_retrieved=self.relevant_retrieved[:, :, kept],
            depth=self.depth[:, kept],
            acceleration=None if self.acceleration is None else self.acceleration[:, :, kept],
        )

    @property
    def dropped(self) -> Integers:
        """Replicates in which a topic has no relevant document: measures × topics."""
        undefined = np.isnan(self.values).sum(axis=3)
        dropped: Integers = undefined.min(axis=1)
        return dropped

    def measure_place(self, measure: str) -> int:
        """Return the index of a measure."""
        return self.measures.index(as_choice("measure", measure, self.measures))

    def run_place(self, run: str) -> int:
        """Return the index of a baseline."""
        return self.runs.index(as_choice("baseline", run, self.runs, "run"))

    def estimates(self, measure: int) -> Floats:
        """Return the scores by one measure: runs × topics."""
        return np.ascontiguousarray(self.scores.values[:, :, measure].T)

    def topic_distribution(
        self, measure: str, *, epsilon: float = LOGIT_EPSILON
    ) -> SamplingDistribution:
        """Return the distribution of each topic's score: one column per run and topic.

        Scores are clipped to [epsilon, 1 - epsilon] before the logit.
        """
        place = self.measure_place(measure)
        estimate = self.estimates(place).reshape(-1)
        acceleration = None if self.acceleration is None else self.acceleration[place].reshape(-1)
        values = self.values[place].reshape(len(estimate), -1)
        labels = tuple((run, topic) for run in self.runs for topic in self.topics)
        support = np.full(len(estimate), bounded_measures(self.scores)[place])
        distribution = collection_distribution(
            labels, estimate, values, support, acceleration=acceleration
        )
        return replace(distribution, epsilon=epsilon)


def transform_of(summary: str, epsilon: float = LOGIT_EPSILON) -> Transform:
    """Return the transformation that a summary averages, scores clipped by epsilon for logits."""
    as_choice("summary", summary, SUMMARIES)
    if summary == "logit-mean":
        return lambda score: clipped_logit(score, epsilon)
    return SUMMARIES[summary].forward


def collection_distribution(
    labels: tuple[tuple[str, str], ...],
    estimate: Floats,
    values: Floats,
    support: Booleans,
    count: Integers | None = None,
    *,
    acceleration: Floats | None = None,
    components: VarianceComponents | None = None,
) -> SamplingDistribution:
    """Return a sampling distribution from columns × replicates; with components, also over topics."""
    return SamplingDistribution(
        labels=labels,
        estimate=estimate,
        count=np.ones(len(estimate), np.int64) if count is None else count,
        df=np.full(len(estimate), np.inf) if components is None else components.df,
        support=support,
        resampled=frozenset({"documents"} if components is None else {"topics", "documents"}),
        se=spread(values) if components is None else np.sqrt(components.total),
        acceleration=acceleration,
        replicates=values.T,
        dropped=np.isnan(values).sum(axis=1),
    )
