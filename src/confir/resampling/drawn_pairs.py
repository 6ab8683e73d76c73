"""Differences between runs in replicates: pairs of runs, by how topics are drawn.

Each kind of pairs gives, for one run against others, the mean differences of a block of replicates and
their squared t*, for one or more borrowed variances. t* has the factor √(n/(n-1)), by which means of
resampled topics vary too little. Those by human and model judgements are `JudgedPairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.order import TIE
from confir.resampling.borrowed_variance import BorrowedVariance
from confir.resampling.clusters import Clusters
from confir.resampling.judged_pairs import JudgedPairs

# Topics drawn show the same difference where its square is so many times their variance, up to
# rounding; the variance may then be negative, too.
_CONSTANT_RATIO = 1e12


class CompletePairs(NamedTuple):
    """Differences between runs in resampled topics, where no score is missing."""

    centred: Floats  # runs × topics
    weights: Floats  # topics × replicates
    means: Floats  # runs × replicates

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.centred)

    @property
    def scale(self) -> float:
        """What signed squares are still to be multiplied by: n."""
        return float(self.centred.shape[1])

    def ratios(
        self,
        run: int,
        others: Integers,
        square: Floats,
        block: slice,
        borrowed: Sequence[BorrowedVariance],
    ) -> tuple[Floats, list[Floats]]:
        """Return the mean differences of a run from others, and t*² over n, from the mean squares."""
        deviation = self.means[as_rows(others), block] - self.means[run, block]
        return deviation, _ratios(deviation, square, list(map(self.added_variance, borrowed)))

    def topic_squares(self, run: int, others: Integers) -> tuple[Integers, Floats]:
        """Return the runs that vary against one, and the squares of their differences by topic."""
        square = np.square(self.centred[as_rows(others)] - self.centred[run])
        varies = square.max(axis=1) > TIE * TIE
        if not varies.all():
            others, square = others[varies], square[varies]
        return others, square

    def added_variance(self, borrowed: BorrowedVariance) -> float:
        """Return what is added to the variance of a replicate, which has ddof=0."""
        topics = self.centred.shape[1]
        return float(borrowed.of(topics) * (topics - 1.0) / topics)


class ClusterPairs(NamedTuple):
    """Differences between runs in resampled clusters, where no score is missing."""

    clusters: Clusters
    residuals: Floats  # runs × clusters: weighted sums of deviations from the stratum's mean
    mass: Floats  # weight of each cluster
    counts: Floats  # clusters × replicates

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.residuals)

    @property
    def scale(self) -> float:
        """What signed squares are still to be multiplied by.

        Of several strata one cluster less is drawn, which makes up for the factor by itself.
        """
        several = len(self.clusters.share) > 1
        return 1.0 if several else self.clusters.count / (self.clusters.count - 1.0)

    def squares(
        self, run: int, others: Integers, block: slice, borrowed: Sequence[BorrowedVariance]
    ) -> tuple[Integers, Floats, list[Floats]]:
        """Return the runs that vary against one, their mean differences and t*²."""
        apart = self.residuals[others] - self.residuals[run]
        varies = np.abs(apart).max(axis=1) > TIE * self.mass.max()
        others, apart = others[varies], apart[varies]
        deviation: Floats = np.zeros((len(others), block.stop - block.start))
        variance: Floats = np.zeros_like(deviation)
        for inside, share in zip(self.clusters.blocks, self.clusters.share.tolist(), strict=True):
            counts, mass, own = self.counts[inside, block], self.mass[inside], apart[:, inside]
            total, drawn = mass @ counts, counts[:, 0].sum()
            move = (own @ counts) / total
            part = np.square(own) @ counts - 2.0 * move * ((own * mass) @ counts)
            part += np.square(move) * (np.square(mass) @ counts)
            deviation += share * move
            variance += share**2 * drawn / (drawn - 1.0) * part / np.square(total)
        units = self.clusters.count
        added = [one.of(units) / units for one in borrowed]
        return others, deviation, _ratios(deviation, variance + np.square(deviation), added)


class IncompletePairs(NamedTuple):
    """Differences between runs in resampled topics, each pair on the topics that both have."""

    centred: Floats  # runs × topics
    weights: Floats  # topics × replicates

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.centred)

    @property
    def scale(self) -> float:
        """What signed squares are still to be multiplied by."""
        return 1.0

    def squares(
        self, run: int, others: Integers, block: slice, borrowed: Sequence[BorrowedVariance]
    ) -> tuple[Integers, Floats, list[Floats]]:
        """Return the runs that vary against one, their mean differences and t*²."""
        apart = self.centred[others] - self.centred[run]
        shared = ~np.isnan(apart)
        topics = np.maximum(shared.sum(axis=1, keepdims=True), 1)
        apart = np.where(shared, apart - np.nansum(apart, axis=1, keepdims=True) / topics, 0.0)
        varies = (np.abs(apart).max(axis=1) > TIE) & (topics[:, 0] > 1)
        apart, weights = apart[varies], self.weights[:, block]
        share = shared[varies].astype(np.float64) @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.nan_to_num(apart @ weights / share)
            square = np.nan_to_num(np.square(apart) @ weights / share)
        count, units = share * len(self.weights), topics[varies]
        part = 1.0 - 1.0 / np.maximum(count, 1.0)
        ratios = _ratios(deviation, square, [one.of(units) * part for one in borrowed])
        for ratio in ratios:
            scale = (count - 1.0) * units / (units - 1.0)
            np.multiply(ratio, scale, out=ratio, where=np.isfinite(ratio))
        return others[varies], deviation, ratios


def _ratios(deviation: Floats, square: Floats, added: Sequence[Floats | float]) -> list[Floats]:
    """Return mean²/variance of a replicate's differences from the observed mean: t*² over n.

    That needs no roots. It is ∞ where the topics drawn show the same difference, and no variance is
    added.

    Parameters
    ----------
    deviation, square
        Mean and mean square; the latter is overwritten.
    added
        What is added to the variance, one or more times.
    """
    mean_square = deviation * deviation
    variance = np.subtract(square, mean_square, out=square)
    return [_ratio(deviation, mean_square, variance, one) for one in added]


def _ratio(
    deviation: Floats, mean_square: Floats, variance: Floats, added: Floats | float
) -> Floats:
    total = variance + added
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.divide(mean_square, total, out=total)
    if np.min(added, initial=np.inf) <= 0:
        constant = ~((ratio >= 0) & (ratio < _CONSTANT_RATIO))
        ratio[constant] = np.where(np.abs(deviation[constant]) <= TIE, 0.0, np.inf)
    return ratio


class NormalPairs(NamedTuple):
    """Differences between runs in the limit of many topics: normal means with their covariance."""

    means: Floats  # runs × replicates, of variance `covariance`
    covariance: Floats
    topics: int

    @staticmethod
    def draw(
        covariance: Floats, topics: int, replicates: int, rng: np.random.Generator
    ) -> NormalPairs:
        """Return normal means with the covariance that the runs' scores have."""
        return NormalPairs(draw_normal_means(covariance, replicates, rng), covariance, topics)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.means)

    @property
    def scale(self) -> float:
        """What signed squares are still to be multiplied by."""
        return 1.0

    def squares(
        self, run: int, others: Integers, block: slice, borrowed: Sequence[BorrowedVariance]
    ) -> tuple[Integers, Floats, list[Floats]]:
        """Return the runs that vary against one, their mean differences and t*²."""
        variance = self.covariance[run, run] + self.covariance.diagonal()[others]
        variance = variance - 2.0 * self.covariance[run, others]
        varies = variance > TIE * TIE
        deviation = self.means[others[varies], block] - self.means[run, block]
        squares = [
            deviation * deviation / (variance[varies] + one.of(self.topics))[:, None]
            for one in borrowed
        ]
        return others[varies], deviation, squares


def draw_normal_means(covariance: Floats, replicates: int, rng: np.random.Generator) -> Floats:
    """Return normal numbers of some covariance: runs × replicates."""
    size, axes = np.linalg.eigh(covariance)
    drawn = rng.standard_normal((len(covariance), replicates))
    means: Floats = (axes * np.sqrt(np.maximum(size, 0.0))) @ drawn
    return means


def as_rows(numbers: Integers) -> slice | Integers:
    """Return ascending numbers as a slice where none is left out, which copies nothing."""
    first, last = int(numbers[0]), int(numbers[-1])
    return slice(first, last + 1) if last - first + 1 == len(numbers) else numbers


Pairs = CompletePairs | IncompletePairs | ClusterPairs | NormalPairs | JudgedPairs
