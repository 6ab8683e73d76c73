"""Summary statistics of blocks of topics, which are merged pairwise: one pass over a long table.

Moments of columns (runs × measures), differences between pairs of runs, and a sample of the topics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.ids import Words, mix_words
from confir.data.long_tables.score_blocks import NAMED_TOPICS, TopicBlock, smallest_keys


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Number, mean and central moments of columns, and their range; all arrays have one per column.

    Attributes
    ----------
    count
        Values that are not missing.
    mean
        0 where there is none.
    second, third, fourth
        Sums of the powers of deviations from the mean.
    least, most
        The smallest and the largest value; ∞ and -∞ where there is none.
    """

    count: Floats
    mean: Floats
    second: Floats
    third: Floats
    fourth: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return the moments of values, columns × topics; NaN are missing."""
        present = ~np.isnan(values)
        complete = bool(present.all())
        count = present.sum(axis=1).astype(np.float64)
        filled = values if complete else np.where(present, values, 0.0)
        mean = filled.sum(axis=1) / np.maximum(count, 1.0)
        deviation = values - mean[:, None]
        if not complete:
            deviation[~present] = 0.0
        square = np.square(deviation)
        second = square.sum(axis=1)
        third = np.einsum("ct,ct->c", square, deviation)
        fourth = np.einsum("ct,ct->c", square, square)
        least = np.fmin.reduce(values, axis=1, initial=np.inf)
        most = np.fmax.reduce(values, axis=1, initial=-np.inf)
        return cls(count, mean, second, third, fourth, least, most)

    def merge(self, other: Self) -> Self:
        """Return the moments of both (Chan et al. 1983; third and fourth: Pébay 2008)."""
        a, b = self.count, other.count
        n = np.maximum(a + b, 1.0)
        delta = other.mean - self.mean
        step = delta / n
        second = self.second + other.second + delta * step * a * b
        third = self.third + other.third + delta * step**2 * a * b * (a - b)
        third += 3.0 * step * (a * other.second - b * self.second)
        fourth = self.fourth + other.fourth + delta * step**3 * a * b * (a * a - a * b + b * b)
        fourth += 6.0 * step**2 * (a * a * other.second + b * b * self.second)
        fourth += 4.0 * step * (a * other.third - b * self.third)
        return type(self)(
            a + b,
            np.where(a == 0, other.mean, self.mean + step * b),
            second,
            third,
            fourth,
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )

    def select(self, columns: Integers) -> Self:
        """Return the moments of some columns."""
        parts = (getattr(self, name) for name in self.__slots__)
        return type(self)(*(part[columns] for part in parts))


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
        joined = (
            np.concatenate([getattr(one, name) for one in moments]) for name in Moments.__slots__
        )
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


@dataclass(frozen=True, slots=True, eq=False)
class SampledTopics:
    """The topics whose mixed keys are the smallest: a sample that no order of the rows changes.

    Attributes
    ----------
    keys, values
        Of these topics, in any order.
    topics
        Number of all topics.
    """

    keys: Words
    values: Floats
    topics: int

    @classmethod
    def of(cls, block: TopicBlock) -> Self:
        """Return the sample of a block."""
        places = smallest_keys(block.keys, NAMED_TOPICS)
        return cls(block.keys[places], block.values[:, places], len(block.keys))

    def merge(self, other: Self) -> Self:
        """Return the sample of both."""
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(mix_words(keys), kind="stable")[:NAMED_TOPICS]
        values = np.concatenate([self.values, other.values], axis=1)
        return type(self)(keys[order], values[:, order], self.topics + other.topics)


class ColumnTotals(NamedTuple):
    """Moments of all columns of a table, and a sample of its topics."""

    moments: Moments
    sample: SampledTopics

    @classmethod
    def of(cls, block: TopicBlock) -> Self:
        """Return the totals of a block."""
        return cls(Moments.of(block.values), SampledTopics.of(block))

    def merge(self, other: Self, /) -> Self:
        """Return the totals of both."""
        return type(self)(self.moments.merge(other.moments), self.sample.merge(other.sample))


class TotalsWithPairs(NamedTuple):
    """Totals of all columns of a table, and of pairs of its runs."""

    columns: ColumnTotals
    pairs: PairTotals

    def merge(self, other: Self, /) -> Self:
        """Return the totals of both."""
        return type(self)(self.columns.merge(other.columns), self.pairs.merge(other.pairs))
