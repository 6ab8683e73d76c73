"""Moments of many columns in one pass: parts of the topics are summed up, and merged pairwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.long_tables.id_hashes import Words, mix_words
from confir.data.long_tables.score_blocks import TopicBlock, smallest_keys


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
    def of(cls, block: TopicBlock, size: int) -> Self:
        """Return the sample of a block."""
        places = smallest_keys(block.keys, size)
        return cls(block.keys[places], block.values[:, places], len(block.keys))

    def merge(self, other: Self, size: int) -> Self:
        """Return the sample of both."""
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(mix_words(keys), kind="stable")[:size]
        values = np.concatenate([self.values, other.values], axis=1)
        return type(self)(keys[order], values[:, order], self.topics + other.topics)
