"""The pivot of a mean that `calibrated-beta` tests, and its quantiles, read from a table.

The pivot is ``U = T + aT² + a²T³/3 + b``, Student's t on the logit scale with a correction of skewness
(Hall 1992). `tables/pivot_quantiles.py` makes the table. Interpolation is linear in all coordinates, so
that quantiles keep their order in the level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np

from confir.arrays import Floats, Integers, distinct, logit
from confir.intervals.quantiles import normal_quantile
from confir.resampling.distribution import SamplingDistribution

TABLE = Path(__file__).with_name("pivot_quantiles.npz")

# Few topics say little about skewness: the beta distribution's has the weight of this many topics.
PRIOR_TOPICS = 100.0

# A pivot of this size is compressed to ½: quantiles at 0.95 are about as large.
PIVOT_SCALE = 3.0

# Dispersions are interpolated by the logit of their share of this: that of 1 would be infinite.
_ABOVE_ONE = 1.05

# The table holds compressed quantiles in as many steps from 0 to 1.
STEPS = 32_767


@dataclass(frozen=True, slots=True, eq=False)
class Pivot:
    """What the pivot of each column is made of: ``T = (centre - logit μ)·scale``, a and b.

    The centre is the logit of the sample's mean.
    """

    centre: Floats
    scale: Floats
    a: Floats
    b: Floats

    @classmethod
    def before_mirrored(cls, sample: SamplingDistribution) -> Self:
        """Return the pivot of the means of a sample, and after it of those of 1-x, which is -U."""
        m, se = sample.estimate, sample.require("se")
        a, b = skewness_terms(sample.count, m, se, sample.require("skewness"))
        centre, scale = logit(m), m * (1.0 - m) / se
        return cls(
            np.concatenate([centre, -centre]),
            np.concatenate([scale, scale]),
            np.concatenate([a, -a]),
            np.concatenate([b, -b]),
        )

    def of_columns(self, columns: Integers) -> Pivot:
        """Return the pivot of some columns."""
        return Pivot(self.centre[columns], self.scale[columns], self.a[columns], self.b[columns])

    def at(self, candidate: Floats) -> tuple[Floats, Floats]:
        """Return U at logits of candidate means, columns or logits × columns.

        And the root of its derivative by T, ``1 + aT``: U is flat where that is 0.
        """
        t = (self.centre - candidate) * self.scale
        bend = self.a * t
        return t * (1.0 + bend * (1.0 + bend / 3.0)) + self.b, 1.0 + bend

    def solve(self, quantile: Floats) -> Floats:
        """Return the logit at which the pivot has a value; -∞ or ∞ where the value is infinite."""
        found = self.centre - solve_cubic(self.a, quantile - self.b) / self.scale
        return np.where(np.isinf(quantile), -quantile, found)


def skewness_terms(
    n: Integers | int, m: Floats, se: Floats, skewness: Floats, prior_topics: float = PRIOR_TOPICS
) -> tuple[Floats, Floats]:
    """Return a and b, the terms of the correction, with the skewness shrunk to the beta's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = 1.0 / (m * (1.0 - m))
        # (1-2m)s/(m(1-m)): the skewness of zeros and ones with this mean and variance
        binary = (1.0 - 2.0 * m) * slope * se * np.sqrt(n)
        beta = 2.0 * binary / (1.0 + n * np.square(se) * slope)
        shrunk = (n * skewness + prior_topics * beta) / (n + prior_topics)
        if np.isinf(prior_topics):
            shrunk = beta
        return (shrunk / 3.0 - binary / 2.0) / np.sqrt(n), shrunk / (6.0 * np.sqrt(n))


def sample_skewness(distribution: SamplingDistribution) -> Floats:
    """Return the skewness of each column's scores (ddof=0)."""
    if distribution.skewness is not None:
        return distribution.skewness
    n = distribution.count
    deviations = np.nan_to_num(distribution.require("sample") - distribution.estimate)
    variance = np.square(distribution.require("se")) * (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness: Floats = (np.square(deviations) * deviations).sum(axis=0) / n / variance**1.5
    return skewness


def solve_cubic(a: Floats, value: Floats) -> Floats:
    """Return the T with ``T + aT² + a²T³/3 = value``: ``(c-1)/a`` with ``c = ∛(1 + 3a·value)``.

    ``c-1 = (c³-1)/(c²+c+1)`` gives it without a division by a, which may be 0.
    """
    root = np.cbrt(1.0 + 3.0 * a * value)
    solution: Floats = 3.0 * value / (np.square(root) + root + 1.0)
    return solution


def pivot_of_moments(
    n: int,
    mean: Floats,
    variance: Floats,
    third: Floats,
    truth: float,
    prior_topics: float = PRIOR_TOPICS,
) -> Floats:
    """Return U at the true mean, of samples with these moments about their mean.

    Equal scores have ±∞, by the side on which they lie.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        skewness, se = third / (variance * (n - 1) / n) ** 1.5, np.sqrt(variance / n)
        a, b = skewness_terms(n, mean, se, skewness, prior_topics)
        of_samples = Pivot(logit(mean), mean * (1.0 - mean) / se, a, b)
        u, _ = of_samples.at(logit(np.array(truth)))
    return np.where(np.isnan(u), np.copysign(np.inf, mean - truth), u)


def compress(pivot: Floats) -> Floats:
    """Return ``U / (3 + |U|)``, from -1 to 1, of pivots that may be infinite."""
    with np.errstate(invalid="ignore"):
        compressed: Floats = pivot / (PIVOT_SCALE + np.abs(pivot))
    return np.where(np.isinf(pivot), np.sign(pivot), compressed)


def expand(compressed: Floats) -> Floats:
    """Return the pivot of a compressed one."""
    with np.errstate(divide="ignore"):
        pivot: Floats = PIVOT_SCALE * compressed / (1.0 - np.abs(compressed))
    return pivot


def relative_excess(pivot: Floats, compressed: Floats) -> Floats:
    """Return ``(U - q)/(1 + |q|/3)`` of a pivot and a compressed quantile, which may be infinite."""
    excess: Floats = pivot * (1.0 - np.abs(compressed)) - PIVOT_SCALE * compressed
    return excess


@dataclass(frozen=True, eq=False)
class PivotQuantiles:
    """Compressed upper quantiles of a pivot over samples of beta distributions.

    Attributes
    ----------
    sizes, logits, dispersions, tails
        Coordinates: topics, logit of the mean, dispersion φ, probability beyond the quantile.
    quantiles
        Sizes × logits × dispersions × tails.
    """

    sizes: Integers
    logits: Floats
    dispersions: Floats
    tails: Floats
    quantiles: Floats

    def rows(self, count: Integers, dispersion: Floats, tail: float) -> Floats:
        """Return each column's compressed quantiles beyond which a tail lies: columns × logits.

        Beyond the ends of the grid dispersions, and fewer than two topics, have those of the end.
        """
        served = np.maximum(count, self.sizes[0])
        sizes = distinct(served)
        which = np.searchsorted(sizes, served)
        slices = np.stack([_slice(self, size, tail) for size in sizes.tolist()])
        grid = logit(self.dispersions / _ABOVE_ONE)
        inside = np.clip(dispersion, self.dispersions[0], self.dispersions[-1]) / _ABOVE_ONE
        place = np.interp(logit(inside), grid, np.arange(len(grid), dtype=np.float64))
        left = np.minimum(place.astype(np.int64), len(grid) - 2)
        share = (place - left)[:, None]
        rows: Floats = (1.0 - share) * slices[which, left] + share * slices[which, left + 1]
        return rows


@lru_cache(maxsize=512)
def _slice(table: PivotQuantiles, size: int, tail: float) -> Floats:
    """Return the quantiles of one size and tail: dispersions × logits.

    Linear in 1/n, and at 0 those of the normal distribution; by these, too, tails are linear.
    """
    normal = [normal_quantile(one) for one in (*table.tails.tolist(), tail)]
    *places, place = compress(np.array(normal)).tolist()
    at_tail = _between(table.quantiles, np.array(places), place)
    endless = np.full_like(at_tail[:1], place)
    by_size = np.moveaxis(np.concatenate([endless, at_tail[::-1]]), 0, -1)
    sizes = np.concatenate([[0.0], 1.0 / table.sizes[::-1]])
    return np.ascontiguousarray(_between(by_size, sizes, 1.0 / size).T)


@lru_cache(maxsize=1)
def pivot_quantiles() -> PivotQuantiles:
    """Return the table that the package ships."""
    with np.load(TABLE) as table:
        quantiles = table["quantiles"] / np.float64(STEPS)
        coordinates = {name: table[name] for name in ("sizes", "logits", "dispersions", "tails")}
    return PivotQuantiles(**coordinates, quantiles=quantiles)


def interpolate_rows(logits: Floats, rows: Floats, row: Integers, candidate: Floats) -> Floats:
    """Return compressed quantiles at the logits of means.

    Parameters
    ----------
    logits
        Logits of the table, ascending; beyond their ends quantiles stay as they are there.
    rows
        Compressed quantiles: any number × logits.
    row
        Which row holds those of each column.
    candidate
        Logits of means: columns, or any number × columns.
    """
    right = np.clip(np.searchsorted(logits, candidate), 1, len(logits) - 1)
    left = right - 1
    share = np.clip((candidate - logits[left]) / (logits[right] - logits[left]), 0.0, 1.0)
    between: Floats = (1.0 - share) * rows[row, left] + share * rows[row, right]
    return between


def _between(values: Floats, grid: Floats, place: float) -> Floats:
    """Return values at a place on the grid of their last axis, linear between its points."""
    right = int(np.clip(np.searchsorted(grid, place), 1, len(grid) - 1))
    share = (place - grid[right - 1]) / (grid[right] - grid[right - 1])
    between: Floats = (1.0 - share) * values[..., right - 1] + share * values[..., right]
    return between
