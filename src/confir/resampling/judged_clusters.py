"""Human and model judgements of topics in clusters, such as the turns of conversations.

The corrected mean is that of independent topics; its variance is that of whole clusters. A cluster adds
the deviations of its human-judged topics, y - λf, over n, and λ times those of its other topics over N:
one influence value per cluster, whether all of its topics are human-judged, some or none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.sampling_designs.design import Design
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.sampling_designs.prediction_powered import Judged, centre
from confir.errors import InvalidValueError, UnsupportedMethodError, counted
from confir.resampling.distribution import Fields, SamplingDistribution, SamplingScheme
from confir.resampling.judged_sample import JudgedSample
from confir.resampling.pair_draws import PairBlocks
from confir.resampling.replicates import draw_topics

# A mean and a weight of the model are estimated from the clusters with human-judged topics.
_LEAST_CLUSTERS = 3


class JudgedClusters(NamedTuple):
    """The cluster of each topic, by number.

    Attributes
    ----------
    human, rest
        Of the human-judged topics, and of those that only the model did.
    size
        Number of clusters.
    words
        The design in words.
    """

    human: Integers
    rest: Integers
    size: int
    words: str

    @classmethod
    def of(cls, scores: JudgedScores, design: Design) -> Self:
        """Return the clusters of a design; raise where it has more than clusters."""
        if design.stratum is not None or design.weight is not None or design.dataset is not None:
            raise UnsupportedMethodError(
                "human judgements correct a model's on topics that count alike; expected a design of "
                "clusters alone"
            )
        cluster = design.layout().cluster
        places = {topic: place for place, topic in enumerate(design.topics)}
        both = np.array([places[topic] for topic in scores.topics])
        rest = np.setdiff1d(np.arange(len(places)), both)
        _, numbers = np.unique(cluster, return_inverse=True)
        found = cls(numbers[both], numbers[rest], int(numbers.max()) + 1, design.describe())
        if found.judged < _LEAST_CLUSTERS:
            raise InvalidValueError(
                f"human judgements cover {counted(found.judged, 'cluster')}; expected "
                f"{_LEAST_CLUSTERS} or more"
            )
        return found

    @property
    def judged(self) -> int:
        """Number of clusters with human-judged topics."""
        return len(np.unique(self.human))

    def totals(self, human: Floats, rest: Floats) -> Floats:
        """Return sums over the topics of each cluster: clusters × columns."""
        sums = np.zeros((self.size, human.shape[1]))
        np.add.at(sums, self.human, human)
        np.add.at(sums, self.rest, rest)
        return sums


class Influence(NamedTuple):
    """Corrected means with what each cluster adds to them.

    Attributes
    ----------
    mean, df
        Of each column.
    rows
        Clusters × columns: their sum is 0, the sum of their squares the variance.
    """

    mean: Floats
    df: Floats
    rows: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredJudgedSample(JudgedSample):
    """Scores by human and model judgements, on topics in clusters.

    Attributes
    ----------
    clusters
        The cluster of each topic.
    """

    clusters: JudgedClusters = field(kw_only=True)

    kind: ClassVar = "scores by human and model judgements in clusters"
    provided: ClassVar = frozenset({"se", "replicates", "replicate_se"})
    spends_df: ClassVar = False  # degrees of freedom are those of clusters

    @property
    def scheme(self) -> SamplingScheme:
        """The design of the clusters."""
        return SamplingScheme(self.clusters.words)

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom that a difference between columns can have."""
        return self.clusters.judged - 1.0

    def unit_counts(self, counts: Integers) -> Floats:
        """Return the number of clusters with human-judged topics."""
        return np.full(counts.shape, float(self.clusters.judged))

    def simple_columns(self) -> Booleans:
        """Return that no column is the mean of a simple random sample."""
        return np.zeros(len(self.labels), np.bool_)

    def draw(  # type: ignore[override]  # clusters, in place of topics of two parts
        self, replicates: int, rng: np.random.Generator, needs: Fields = ()
    ) -> Floats:
        """Return the share of each cluster in the draws: replicates × clusters."""
        del needs
        return draw_topics(self.clusters.size, replicates, rng).shares()

    def distribution(  # type: ignore[override]  # of clusters drawn, as `draw` returns them
        self, columns: slice, weights: Floats | None, needs: Fields = ("replicate_se",)
    ) -> SamplingDistribution:
        """Return the sampling distribution of the corrected means of some columns."""
        found = influence_of(self.values.columns(columns), self.clusters)
        units = self.clusters.size
        replicates = replicate_se = None
        if weights is not None:
            moved = units * (weights @ found.rows)
            replicates = np.asfortranarray(found.mean + moved)
            if "replicate_se" in needs:
                second = units * (weights @ np.square(found.rows)) - np.square(moved) / units
                replicate_se = np.sqrt(np.maximum(second, 0.0))
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=found.mean,
            count=np.full(len(found.mean), self.topics),
            df=found.df,
            support=self.support[columns],
            se=np.sqrt(np.square(found.rows).sum(axis=0)),
            replicates=replicates,
            replicate_se=replicate_se,
            independent=False,
        )

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield nothing: Bonferroni's t is used.

        Linear replicates, with one weight of the model, are too narrow: 10 to 12 judged clusters gave
        a family-wise error of .10 at level .95, Bonferroni's t of .01 to .02.
        """
        del replicates, rng
        yield from ()

    def with_weight(self, values: Judged, weight: Floats) -> tuple[Floats, Floats]:
        """Return means and their variances over clusters, with given weights of the model."""
        mean, _ = JudgedSample.with_weight(self, values, weight)
        y, f, g = (centre(part).deviations for part in values)
        judged, others = self.clusters.judged, len(np.unique(self.clusters.rest))
        human = np.sqrt(judged / (judged - 1.0)) * (y - weight * f) / len(y)
        rest = np.sqrt(others / max(others - 1.0, 1.0)) * weight * g / max(len(g), 1)
        return mean, np.square(self.clusters.totals(human, rest)).sum(axis=0)

    def fourth_powers(self, sd: Floats) -> Floats | None:
        """Return nothing: the spread of topics is not that of clusters."""
        del sd
        return None


def influence_of(values: Judged, clusters: JudgedClusters) -> Influence:
    """Return corrected means, and what each cluster adds to them.

    The human-judged part is enlarged by G/(G-2), as mean and weight are estimated from its G clusters
    (G/(G-1), where the model has no weight), the other by G/(G-1) of its own.
    """
    corrected = values.corrected()
    weight, (n, more) = corrected.weight, (len(values.human), len(values.rest))
    y, f, g = (centre(part).deviations for part in values)
    judged, others = clusters.judged, len(np.unique(clusters.rest))
    df = np.where(weight > 0, judged - 2.0, judged - 1.0)
    human = np.sqrt(judged / df) * (y - weight * f) / n
    rest = np.sqrt(others / max(others - 1.0, 1.0)) * weight * g / max(more, 1)
    return Influence(corrected.mean, df, clusters.totals(human, rest))
