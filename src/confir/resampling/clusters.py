"""The sampling distribution of a statistic of topics that are no simple random sample.

Topics lie in clusters, clusters in strata. The mean is a mean of ratio means over strata, its variance
that of whole clusters within strata (CR1), and a replicate draws whole clusters within strata. So one
matrix of counts, replicates × clusters, serves all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.sampling.design import Design, Layout
from confir.errors import InvalidValueError, TopicMismatchError
from confir.resampling.distribution import Fields, Labels, SamplingDistribution
from confir.resampling.statistics import UNIT, Statistic
from confir.resampling.topic_distribution import ROUNDING, is_constant
from confir.resampling.topic_weights import draw_topics

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


class Ratios:
    """Sums over clusters from which means, standard errors and replicates follow.

    Attributes
    ----------
    mass
        Weight of each cluster's topics with a score: clusters × columns, or × 1 without gaps.
    means
        Mean of each variable (columns).
    residuals
        Of each variable, the weighted sum of each cluster's deviations from its stratum's mean:
        clusters × columns.
    """

    def __init__(self, clusters: Clusters, values: Sequence[Floats]) -> None:
        self.clusters = clusters
        present = ~np.isnan(values[0])
        complete = bool(present.all())
        weight = clusters.topic_weight
        held = weight if complete else weight * present
        self.mass = clusters.totals(held)
        self.stratum_mass = clusters.by_stratum(self.mass)
        self.share = clusters.share[:, None]
        self.means, self.residuals = [], []
        for value in values:
            filled = value if complete else np.where(present, value, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                centre = clusters.by_stratum(clusters.totals(held * filled)) / self.stratum_mass
            deviation = filled - clusters.over_topics(centre)
            self.means.append((self.share * centre).sum(axis=0))
            self.residuals.append(clusters.totals(held * deviation))
        self.groups = clusters.by_stratum(
            np.broadcast_to(self.mass > 0, self.residuals[0].shape).astype(float)
        )

    def moves(self, counts: Floats, strata: Sequence[int] | None = None) -> Floats:
        """Return how far replicates move the mean of the first variable: replicates × columns.

        Of all strata, or of some of them as if they were all; NaN where a column has no score on the
        topics drawn of a stratum.
        """
        chosen = range(len(self.clusters.share)) if strata is None else strata
        shares = self.clusters.share[list(chosen)]
        shares = shares if strata is None else shares / shares.sum()
        total: Floats = np.zeros((len(counts), self.residuals[0].shape[1]))
        for number, share in zip(chosen, shares.tolist(), strict=True):
            block = self.clusters.blocks[number]
            drawn = counts[:, block]
            with np.errstate(invalid="ignore"):
                total += share * (drawn @ self.residuals[0][block]) / (drawn @ self.mass[block])
        return total

    def influence(self, slopes: Sequence[Floats]) -> Floats:
        """Return each cluster's influence on a function of the means: clusters × columns."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = self.clusters.over_clusters(self.share / self.stratum_mass)
        total: Floats = np.zeros_like(self.residuals[0])
        for slope, residual in zip(slopes, self.residuals, strict=True):
            total += slope * residual
        return scale * total

    def variance(self, influence: Floats) -> tuple[Floats, Floats]:
        """Return the variance (CR1), the sum of those of strata, and its degrees of freedom."""
        spare = self.groups - 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = self.groups / spare * self.clusters.by_stratum(np.square(influence))
        variance = parts.sum(axis=0)
        return variance, np.where(variance > 0, summed_df(parts, spare), spare.sum(axis=0))


def summed_df(variances: Floats, df: Floats) -> Floats:
    """Return the degrees of freedom of sums of independent variances, over the first axis.

    Satterthwaite's ``(Σv)²/Σ(v²/df)`` takes the square of an estimated variance for that of the true
    one, which it exceeds by the factor 1 + 2/df on average: many strata of two topics would have far
    too few. So ``(Σv)²/Σ(v²/(df + 2)) - 2``, which is df itself for one variance; NaN where all are 0.
    """
    if len(variances) == 1:
        return np.broadcast_to(df[0], variances.shape[1:]).copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = (np.square(variances) / (df + 2.0)).sum(axis=0)
        found: Floats = np.square(variances.sum(axis=0)) / squares
    return found - 2.0


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


def designed_distribution(
    clusters: Clusters,
    statistic: Statistic,
    values: tuple[Floats, ...],
    counts: Floats | None,
    needs: Fields,
    labels: Labels,
    support: Booleans,
) -> SamplingDistribution:
    """Return the distribution of a smooth function of means, by clusters within strata.

    Parameters
    ----------
    clusters
        Of the design.
    statistic, values, needs, labels, support
        As in `smooth_distribution`.
    counts
        How often each replicate draws each cluster; None where no method resamples.
    """
    present = ~np.isnan(values[0])
    ratios = Ratios(clusters, values)
    _check_strata(ratios, labels)
    slopes = statistic.slopes(*ratios.means)
    influence = ratios.influence(slopes)
    variance, df = ratios.variance(influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = sum(np.abs(slope * mean) for slope, mean in zip(slopes, ratios.means, strict=True))
        se = np.sqrt(variance)
        se = np.where(is_constant(values) | (se <= ROUNDING * size), 0.0, se)
        squares = np.square(influence).sum(axis=0)
        acceleration = (influence**3).sum(axis=0) / (6.0 * squares**1.5)
        effective = _topic_variance(ratios, values, slopes) / np.square(se)
        replicates, replicate_se = _replicates(statistic, ratios, counts, "replicate_se" in needs)
    return SamplingDistribution(
        labels=labels,
        estimate=np.asarray(statistic.value(*ratios.means), np.float64),
        count=present.sum(axis=0),
        df=df,
        support=support,
        se=se,
        acceleration=acceleration,
        replicates=replicates,
        replicate_se=replicate_se,
        dropped=None if replicates is None else np.isnan(replicates).sum(axis=0),
        independent=False,
        effective=effective,
    )


def _check_strata(ratios: Ratios, labels: Sequence[tuple[str, str]]) -> None:
    """Raise where a column has scores in fewer than two clusters of a stratum, but in others."""
    scored = ratios.groups.sum(axis=0) > 0
    few = np.argwhere((ratios.groups < 2) & scored)
    if len(few):
        (stratum, column), several = few[0], len(ratios.clusters.share) > 1
        run, measure = labels[column]
        where = f"of {ratios.clusters.names[stratum]!r}" if several else "of the design"
        raise TopicMismatchError(
            f"run {run!r} has {measure} on fewer than two clusters {where}; expected at least 2 in "
            "each stratum, or the run left out"
        )


def _topic_variance(ratios: Ratios, values: Sequence[Floats], slopes: Sequence[Floats]) -> Floats:
    """Return the variance that topics would have if they were drawn one by one, from all of them."""
    share = ratios.clusters.over_topics(ratios.share / ratios.stratum_mass)
    total = sum(s * (v - m) for s, v, m in zip(slopes, values, ratios.means, strict=True))
    count = (~np.isnan(values[0])).sum(axis=0)
    weight = share * ratios.clusters.topic_weight
    variance: Floats = np.nansum(weight * np.square(total), axis=0) * count / (count - 1.0)
    return variance


def _replicates(
    statistic: Statistic, ratios: Ratios, counts: Floats | None, studentised: bool
) -> tuple[Floats | None, Floats | None]:
    """Return the statistic and its standard error on each replicate: replicates × columns."""
    if counts is None:
        return None, None
    drawn = [
        _Stratum(counts[:, block].T, ratios, block, float(share))
        for block, share in zip(ratios.clusters.blocks, ratios.clusters.share, strict=True)
    ]
    means = []
    for k, mean in enumerate(ratios.means):
        moved = mean[:, None] + sum(one.share * one.moves[k] for one in drawn)
        whole = np.rint(moved)  # exactly 0 or 1 where all topics drawn score so
        means.append(np.where(np.abs(moved - whole) <= ROUNDING, whole, moved))
    replicates = np.asarray(statistic.value(*means), np.float64).T
    if not studentised or not ratios.clusters.studentises:
        return replicates, None
    slopes = statistic.slopes(*means)
    variance = sum(one.variance(slopes) for one in drawn)
    return replicates, np.sqrt(variance).T


class _Stratum:
    """The clusters of one stratum in replicates: arrays are columns × replicates."""

    def __init__(self, counts: Floats, ratios: Ratios, block: slice, share: float) -> None:
        self.counts, self.share = counts, share
        self.mass = ratios.mass[block]
        self.residuals = [residual[block] for residual in ratios.residuals]
        self.total = self.mass.T @ counts
        self.moves = [(residual.T @ counts) / self.total for residual in self.residuals]

    def variance(self, slopes: Sequence[Floats]) -> Floats:
        """Return the stratum's part of each replicate's variance: CR1 with the clusters drawn."""
        drawn = (self.mass > 0).T.astype(float) @ self.counts
        if slopes[0] is UNIT:
            (residual,), (move,) = self.residuals, self.moves
            second = np.square(residual).T @ self.counts
            total = second - 2.0 * move * ((residual * self.mass).T @ self.counts)
            total += np.square(move) * (np.square(self.mass).T @ self.counts)
        else:
            total = second = np.zeros_like(self.moves[0])
            for slope, residual, move in zip(slopes, self.residuals, self.moves, strict=True):
                for other, rest, turn in zip(slopes, self.residuals, self.moves, strict=True):
                    part = (residual * rest).T @ self.counts
                    part -= move * ((rest * self.mass).T @ self.counts)
                    part -= turn * ((residual * self.mass).T @ self.counts)
                    part += move * turn * (np.square(self.mass).T @ self.counts)
                    total = total + slope * other * part
                    second = second + np.abs(slope * other * ((residual * rest).T @ self.counts))
        total = np.where(total <= ROUNDING * second, 0.0, total)
        scale = self.share**2 * drawn / np.maximum(drawn - 1.0, 1.0)
        variance: Floats = scale * total / np.square(self.total)
        return variance
