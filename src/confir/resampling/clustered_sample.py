"""Samples of topics in clusters and strata, with weights, and their bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, cast

import numpy as np

from confir.arrays import TIE, Floats, Integers
from confir.errors import UnsupportedMethodError
from confir.resampling.cluster_distribution import Ratios, designed_distribution
from confir.resampling.clusters import Clusters, cluster_contributions, cluster_counts
from confir.resampling.distribution import Fields, SamplingDistribution, SamplingScheme
from confir.resampling.normal_draws import NORMAL_TOPICS
from confir.resampling.pair_draws import Moves, PairBlocks, PairDraws
from confir.resampling.replicates import TopicWeights
from confir.resampling.sample import (
    FEW_CLUSTERS,
    MOST_FLIPPED,
    Knowledge,
    UnitParts,
    self_normalised,
)
from confir.resampling.statistics import Statistic
from confir.resampling.studentised_maxima import sizes_in_memory
from confir.resampling.topic_sample import TopicSample
from confir.resampling.unit_draws import UnitDraws


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredSample(TopicSample):
    """Scores by topic that are no simple random sample: in clusters and strata, with weights.

    Attributes
    ----------
    clusters
        The clusters of the topics' design.
    """

    clusters: Clusters = field(kw_only=True)

    knowledge: ClassVar = TopicSample.knowledge - {Knowledge.SIGNS, Knowledge.VALUES}
    kind: ClassVar = "scores with a design"
    reason: ClassVar = "topics of clusters and of strata are not drawn one by one from all"
    independent: ClassVar = False

    @property
    def scheme(self) -> SamplingScheme:
        """The design, by which clusters are drawn in place of topics."""
        clusters = self.clusters
        flips = clusters.count < min(FEW_CLUSTERS, len(clusters.order))
        return SamplingScheme(clusters.words, clusters.count, uneven=clusters.uneven, flips=flips)

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom: clusters less strata."""
        return float(self.clusters.count - len(self.clusters.share))

    def draw(self, replicates: int, rng: np.random.Generator, needs: Fields = ()) -> Floats:
        """Return how often each cluster is drawn: replicates × clusters."""
        del needs
        return cluster_counts(self.clusters, replicates, rng)

    def drawn(self, topics: Integers) -> Self:
        """Return the sample of some of the topics, each once."""
        values = tuple(value[topics] for value in self.values)
        return replace(self, values=values, clusters=self.clusters.kept(topics))

    def sampled_again(
        self, draw: Callable[[np.random.Generator], Integers], rng: np.random.Generator
    ) -> Self:
        """Return a sample of whole clusters in each stratum, whatever draws topics."""
        del draw
        clusters, topics = self.clusters.resampled(rng)
        values = tuple(value[topics] for value in self.values)
        return replace(self, values=values, clusters=clusters)

    @property
    def provided(self) -> frozenset[str]:
        """The fields that the distribution of this statistic has."""
        always = frozenset({"se", "acceleration", "replicates"})
        return always | {"replicate_se"} if self.clusters.studentises else always

    def distribution(
        self,
        columns: slice,
        weights: TopicWeights | Floats | None,
        needs: Fields = ("replicates", "replicate_se"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        if not isinstance(self.statistic, Statistic):
            raise UnsupportedMethodError("a statistic given as a function takes no design")
        values = tuple(value[:, columns] for value in self.values)
        labels, support = self.labels[columns], self.support[columns]
        counts = cast("Floats | None", weights)  # as `draw` returns them
        return designed_distribution(
            self.clusters, self.statistic, values, counts, needs, labels, support
        )

    def unit_counts(self, counts: Integers) -> Floats:
        """Return the number of clusters for each column."""
        return np.full(counts.shape, float(self.clusters.count))

    def self_normalised(self, difference: Floats, se: Floats, units: Floats) -> Floats:
        """Return the sum of what clusters add to each contrast over the root of its squares."""
        del difference, se, units
        return self_normalised(cluster_contributions(self.clusters, self.values[0]))

    def unit_parts(self) -> UnitParts | None:
        """Return what clusters add to the differences of a contrast; None of more than a few."""
        if self.clusters.count > MOST_FLIPPED:
            return None
        values = self.values[0]
        ones = np.where(np.isnan(values), np.nan, 1.0)
        parts, weights = (cluster_contributions(self.clusters, one).T for one in (values, ones))
        return UnitParts(parts, weights)

    def unit_scores(self) -> Floats:
        """Return one row per cluster, which count alike and have the same means.

        Raises where scores are missing, whose weights others would have to take.
        """
        if np.isnan(self.values[0]).any():
            raise UnsupportedMethodError(
                "sign flips of clusters need a score of every run on every topic; take the test t"
            )
        weighted = self.clusters.mean_weight * self.values[0]
        return self.clusters.count * self.clusters.totals(weighted)

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between all columns in replicates of clusters, and how many these are.

        There are none where replicates have no standard errors, or scores are missing.
        """
        clusters, values = self.clusters, self.values[0]
        if np.isnan(values).any() or not clusters.studentises or clusters.count >= NORMAL_TOPICS:
            return
        ratios = Ratios(clusters, (values,))
        residuals, mass = np.ascontiguousarray(ratios.residuals[0].T), ratios.mass[:, 0]
        alike = len(clusters.share) == 1 and np.ptp(mass) <= TIE * mass.max()
        for size in sizes_in_memory(replicates, clusters.count, len(self.labels)):
            counts = np.ascontiguousarray(cluster_counts(clusters, size, rng).T)
            if alike:  # clusters are then what topics are elsewhere
                shares, units = counts / clusters.count, float(clusters.count)
                yield UnitDraws(residuals / mass[0], shares, units), size
            else:
                yield ClusterDraws(clusters, residuals, mass, counts), size


@dataclass(frozen=True, slots=True, eq=False)
class ClusterDraws(PairDraws):
    """Differences between runs in resampled clusters of any weight, where no score is missing.

    Attributes
    ----------
    clusters
        Of the design.
    residuals
        Weighted sums of deviations from the stratum's mean: runs × clusters.
    mass
        Weight of each cluster.
    counts
        How often each is drawn: clusters × replicates.
    """

    clusters: Clusters
    residuals: Floats
    mass: Floats
    counts: Floats

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.residuals)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        differences = self.residuals[others] - self.residuals[run]
        varies = np.abs(differences).max(axis=1) > TIE * self.mass.max()
        differences = differences[varies]
        deviation: Floats = np.zeros((len(differences), block.stop - block.start))
        variance: Floats = np.zeros_like(deviation)
        for inside, share in zip(self.clusters.blocks, self.clusters.share.tolist(), strict=True):
            counts, mass, own = (
                self.counts[inside, block],
                self.mass[inside],
                differences[:, inside],
            )
            total, drawn = mass @ counts, counts[:, 0].sum()
            move = (own @ counts) / total
            part = np.square(own) @ counts - 2.0 * move * ((own * mass) @ counts)
            part += np.square(move) * (np.square(mass) @ counts)
            deviation += share * move
            variance += share**2 * drawn / (drawn - 1.0) * part / np.square(total)
        units = float(self.clusters.count)
        # with several strata, one cluster less is drawn of each, which corrects the size
        if len(self.clusters.share) == 1:
            deviation *= np.sqrt(units / (units - 1.0))
        return Moves(varies, deviation, variance, units, 1.0 / units)
