"""Summary statistics of differences between runs, in one pass: one column per pair, as means have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.long_tables.column_moments import Moments


@dataclass(frozen=True, slots=True, eq=False)
class Comoments:
    """Means of runs and sums of products of their deviations, by one measure or several.

    Attributes
    ----------
    count
        Number of topics with any score, by measure.
    mean
        Measures × runs.
    products
        Measures × runs × runs; NaN by a measure with topics that some runs have and others lack.
    """

    count: Floats
    mean: Floats
    products: Floats

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return the co-moments of values: measures × runs × topics."""
        empty = np.isnan(values).all(axis=1, keepdims=True)
        count = np.sum(~empty, axis=2)[:, 0].astype(np.float64)
        filled = np.where(empty, 0.0, values) if empty.any() else values
        mean = filled.sum(axis=2) / np.maximum(count, 1.0)[:, None]
        deviation = values - mean[:, :, None]
        if empty.any():
            deviation = np.where(empty, 0.0, deviation)
        return cls(count, mean, deviation @ deviation.transpose(0, 2, 1))

    def merge(self, other: Self) -> Self:
        """Return the co-moments of both (Chan et al. 1983)."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1.0)
        delta = other.mean - self.mean
        outer = delta[:, :, None] * delta[:, None, :]
        products = self.products + other.products + outer * (self.count * share)[:, None, None]
        return type(self)(count, self.mean + delta * share[:, None], products)


@dataclass(frozen=True, slots=True, eq=False)
class PairTotals:
    """Summary statistics of pairs of runs: the second one's score minus the first one's.

    Attributes
    ----------
    differences
        Moments of the differences: pairs × measures, flattened.
    wins, ties, losses
        Topics that the second run wins, ties and loses, likewise.
    least, most
        The smallest and the largest difference in steps of what counts as a tie, likewise.
    runs
        Means and products of the runs themselves.
    """

    differences: Moments
    wins: Integers
    ties: Integers
    losses: Integers
    least: Floats
    most: Floats
    runs: Comoments

    @classmethod
    def of(cls, values: Floats, first: Integers, second: Integers, tie: Floats) -> Self:
        """Return the totals of some topics.

        Parameters
        ----------
        values
            Scores, runs × measures × topics; NaN where missing.
        first, second
            Numbers of the two runs of each pair.
        tie
            How near two scores are equal: pairs × measures.
        """
        parts = [
            cls._of_pair(values[b] - values[a], step)
            for a, b, step in zip(first.tolist(), second.tolist(), tie, strict=True)
        ]
        moments, counts, least, most = zip(*parts, strict=True)
        joined = (np.concatenate(arrays) for arrays in zip(*map(_fields, moments), strict=True))
        wins, ties, losses = np.concatenate(counts, axis=1)
        runs = Comoments.of(values.transpose(1, 0, 2))
        return cls(
            Moments(*joined), wins, ties, losses, np.concatenate(least), np.concatenate(most), runs
        )

    @staticmethod
    def _of_pair(difference: Floats, step: Floats) -> tuple[Moments, Integers, Floats, Floats]:
        """Return the totals of one pair by all measures."""
        moments = Moments.of(difference)
        # half a step and less is a tie, as a difference rounded to whole steps
        half = step[:, None] / 2.0
        wins = np.count_nonzero(difference > half, axis=1)
        losses = np.count_nonzero(difference < -half, axis=1)
        ties = moments.count.astype(np.int64) - wins - losses
        counts = np.stack([wins, ties, losses])
        return moments, counts, np.rint(moments.least / step), np.rint(moments.most / step)

    def merge(self, other: Self) -> Self:
        """Return the totals of both."""
        return type(self)(
            self.differences.merge(other.differences),
            self.wins + other.wins,
            self.ties + other.ties,
            self.losses + other.losses,
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
            self.runs.merge(other.runs),
        )


def _fields(moments: Moments) -> tuple[Floats, ...]:
    return tuple(getattr(moments, name) for name in moments.__slots__)
