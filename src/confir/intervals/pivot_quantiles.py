"""Quantiles of a pivot, read from a table, between whose points they are linear.

The table is made by `tables/pivot_quantiles.py`. Interpolation is linear in all coordinates, so that
quantiles keep their order in the level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from confir.arrays import Floats, Integers
from confir.intervals.quantiles import normal_quantile
from confir.order import distinct
from confir.resampling.statistics import logit

TABLE = Path(__file__).with_name("pivot_quantiles.npz")

# A pivot of this size is compressed to ½: quantiles at 0.95 are about as large.
PIVOT_SCALE = 3.0

# Dispersions are interpolated by the logit of their share of this: that of 1 would be infinite.
_ABOVE_ONE = 1.05

# The table holds compressed quantiles in as many steps from 0 to 1.
STEPS = 32_767


def compress(pivot: Floats) -> Floats:
    """Return ``U / (3 + |U|)``, from -1 to 1, of pivots that may be infinite."""
    with np.errstate(invalid="ignore"):
        compressed: Floats = pivot / (PIVOT_SCALE + np.abs(pivot))
    return np.where(np.isinf(pivot), np.sign(pivot), compressed)


def compression_slope(pivot: Floats) -> Floats:
    """Return the derivative of `compress`."""
    slope: Floats = PIVOT_SCALE / np.square(PIVOT_SCALE + np.abs(pivot))
    return slope


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

    @property
    def highest_level(self) -> float:
        """The highest level of a two-sided interval that the tails serve."""
        return 1.0 - 2.0 * float(self.tails[-1])

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
