"""The sampling distribution of a statistic of topics in clusters and strata.

The mean is a mean of ratio means over strata, its variance that of whole clusters within strata (CR1),
and a replicate draws whole clusters within strata. So one matrix of counts, replicates × clusters,
serves all columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.arrays import Booleans, Floats
from confir.errors import TopicMismatchError
from confir.resampling.clusters import Clusters
from confir.resampling.distribution import Fields, Labels, SamplingDistribution
from confir.resampling.statistics import Statistic
from confir.resampling.topic_distribution import ROUNDING


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
        varies = [np.fmin.reduce(v, axis=0) < np.fmax.reduce(v, axis=0) for v in values]
        se = np.where(~np.any(varies, axis=0) | (se <= ROUNDING * size), 0.0, se)
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
    slopes = None if statistic.linear else statistic.slopes(*means)
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

    def variance(self, slopes: Sequence[Floats] | None) -> Floats:
        """Return the stratum's part of each replicate's variance: CR1 with the clusters drawn.

        Of a statistic with some slopes in its means; None for that of one mean.
        """
        drawn = (self.mass > 0).T.astype(float) @ self.counts
        if slopes is None:
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
