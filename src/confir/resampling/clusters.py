"""The clusters of topics that are no simple random sample: sums over them, and how they are drawn.

Topics lie in clusters, clusters in strata.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.sampling_designs.design import Design, Layout
from confir.errors import InvalidValueError
from confir.resampling.replicates import draw_topics

# In reproductions/clusters.py, 20 clusters of unequal sizes have an unevenness of 0.043, and 95% intervals
# by t with CR1 cover 92 to 94%; 50 such clusters have 0.019, and 93 to 95%. The limit lies between.
_UNEVEN = 0.03


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of a design, those of a stratum next to each other.

    Attributes
    ----------
    order
        The topics in the order of their clusters.
    starts
        The place in that order at which each cluster starts.
    weight
        Weight of each topic, in that order.
    strata
        The first cluster of each stratum, and at the end the number of clusters.
    share
        Of each stratum in the mean; their sum is 1.
    names
        Of the strata.
    words
        The design in words.
    """

    order: Integers
    starts: Integers
    weight: Floats
    strata: Integers
    share: Floats
    names: tuple[str, ...]
    words: str = ""

    @classmethod
    def of(cls, design: Design) -> Clusters:
        """Return the clusters of a design; raise where a stratum has one alone."""
        what = "dataset" if design.random_datasets else "cluster"
        return replace(cls.of_layout(design.layout(), what), words=design.describe())

    @classmethod
    def of_layout(cls, layout: Layout, what: str = "cluster") -> Clusters:
        """Return the clusters of a design in numbers."""
        order = np.lexsort((layout.cluster, layout.stratum))
        cluster, stratum = layout.cluster[order], layout.stratum[order]
        starts = np.flatnonzero(np.append(True, (np.diff(cluster) != 0) | (np.diff(stratum) != 0)))
        strata = np.searchsorted(stratum[starts], np.arange(len(layout.share) + 1))
        few = np.flatnonzero(np.diff(strata) < 2)
        if len(few):
            name = layout.names[few[0]]
            where = f"stratum {name!r} has" if name else "the design has"
            raise InvalidValueError(f"{where} one {what}; a variance needs at least 2")
        return cls(order, starts, layout.weight[order], strata, layout.share, layout.names)

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(self.starts)

    @property
    def sizes(self) -> Integers:
        """Number of clusters in each stratum."""
        return np.diff(self.strata)

    @property
    def studentises(self) -> bool:
        """Whether replicates have standard errors: two clusters of several strata draw one alone."""
        return len(self.share) == 1 or bool((self.sizes > 2).all())

    @property
    def uneven(self) -> bool:
        """Whether few clusters weigh so much more than others that t with CR1 is too optimistic.

        Judged by the sum of the clusters' squared shares in the mean, less what it is where they
        weigh alike: 1/G* - 1/G with Kish's effective number of clusters G*, in one stratum.
        """
        mass = self.totals(self.topic_weight)
        share = mass / self.over_clusters(self.by_stratum(mass))
        excess = self.by_stratum(np.square(share))[:, 0] - 1.0 / self.sizes
        return bool(np.square(self.share) @ excess > _UNEVEN)

    @property
    def blocks(self) -> list[slice]:
        """The clusters of each stratum."""
        edges = self.strata.tolist()
        return [slice(low, high) for low, high in pairwise(edges)]

    def kept(self, topics: Integers) -> Clusters:
        """Return the clusters of some topics; raise where a stratum keeps one alone."""
        place = np.full(len(self.order), -1)
        place[topics] = np.arange(len(topics))
        lengths = np.diff(np.append(self.starts, len(self.order)))
        cluster = np.repeat(np.arange(self.count), lengths)
        stratum = np.repeat(np.arange(len(self.share)), self.sizes)[cluster]
        inside = place[self.order] >= 0
        layout = Layout(
            self.weight[inside], cluster[inside], stratum[inside], self.share, self.names
        )
        found = Clusters.of_layout(layout)
        return replace(found, order=place[self.order][inside][found.order], words=self.words)

    def resampled(self, rng: np.random.Generator) -> tuple[Clusters, Integers]:
        """Return a sample of as many clusters in each stratum, and the topics in them.

        A cluster that is drawn twice is two clusters of the sample.
        """
        numbers = [
            rng.integers(block.start, block.stop, block.stop - block.start) for block in self.blocks
        ]
        drawn = np.concatenate(numbers)
        ends = np.append(self.starts, len(self.order))
        lengths = np.diff(ends)[drawn]
        starts = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(self.starts[drawn] - starts, lengths)
        sample = replace(
            self, order=np.arange(len(places)), starts=starts, weight=self.weight[places]
        )
        return sample, self.order[places]

    def totals(self, values: Floats) -> Floats:
        """Return the sums of topics' values in each cluster: clusters × columns."""
        ordered = values[self.order]
        return (
            ordered if len(self.starts) == len(ordered) else np.add.reduceat(ordered, self.starts)
        )

    def by_stratum(self, values: Floats) -> Floats:
        """Return the sums of clusters' values in each stratum: strata × columns."""
        return np.add.reduceat(values, self.strata[:-1])

    def over_clusters(self, values: Floats) -> Floats:
        """Return strata's values for each cluster."""
        return np.repeat(values, self.sizes, axis=0)

    def over_topics(self, values: Floats) -> Floats:
        """Return strata's values for each topic, in the topics' own order."""
        lengths = np.diff(np.append(self.starts, len(self.order)))
        ordered = np.repeat(self.over_clusters(values), lengths, axis=0)
        result = np.empty_like(ordered)
        result[self.order] = ordered
        return result

    @property
    def mean_weight(self) -> Floats:
        """What each topic counts in a mean without missing scores, topics × 1; the sum is 1."""
        weight = self.topic_weight
        total = self.by_stratum(self.totals(weight))
        return weight * self.over_topics(self.share[:, None] / total)

    @property
    def topic_weight(self) -> Floats:
        """Weight of each topic, topics × 1, in the topics' own order."""
        weight = np.empty(len(self.order))
        weight[self.order] = self.weight
        return weight[:, None]


def cluster_contributions(clusters: Clusters, values: Floats) -> Floats:
    """Return what each cluster adds to the mean of values: clusters × columns.

    Of topics without a value, the others of the stratum take the weight.
    """
    present = ~np.isnan(values)
    held = clusters.topic_weight * present
    mass = clusters.by_stratum(clusters.totals(held))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = clusters.over_clusters(clusters.share[:, None] / mass)
    contributions: Floats = scale * clusters.totals(held * np.where(present, values, 0.0))
    return contributions


def cluster_counts(clusters: Clusters, replicates: int, rng: np.random.Generator) -> Floats:
    """Return how often each cluster is drawn: B × clusters.

    With one stratum, as many clusters as there are; with several, one less in each (Rao & Wu 1988),
    as plain resampling would halve the variance of strata with two clusters.
    """
    parts = []
    for size in clusters.sizes.tolist():
        draws = size if len(clusters.share) == 1 else size - 1
        parts.append(draw_topics(size, replicates, rng, draws).counts)
    return np.concatenate(parts, axis=1, dtype=np.float64)
