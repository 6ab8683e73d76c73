"""The test that `calibrated-beta` inverts, and the first means that it rejects on one side.

All functions look for a lower limit; an upper one is the lower one of the mirrored scores, 1-x. Means
are written as logits. A mean is rejected where the pivot U exceeds its upper quantile q; on the way
out from the sample's mean U rises, but q may rise, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.beta_logit import remove_skewness, skewness_terms, solve_cubic
from confir.intervals.dirichlet_means import FarthestLimits
from confir.intervals.pivot_quantiles import (
    PIVOT_SCALE,
    compress,
    compression_slope,
    expand,
    interpolate_rows,
    relative_excess,
)
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import logit

# Where U - q, relative to q, rises by less than `flat_slope` per unit of logit μ, a small change of a
# score would move the first mean rejected far: up to 30 topics by less than 0.09, and of very few, or
# of more topics, whose U has larger quantiles or is hardly ever flat, by these over n³ and n².
_FLAT, _FLAT_OF_FEW, _FLAT_OF_MANY = 0.09, 12.0, 81.0

# A limit that lies farther out than this from the sample's mean, as a logit, is 0 up to rounding.
_FARTHEST = 50.0

# Means at which that is looked at, from the sample's mean to the farthest that a limit may be.
_PLACES = 129

# Means of the table that are looked at first, outwards from the sample's: 2, and this over √n, are
# mostly enough.
_NEAR = 18.0

# Columns that are worked on together: few enough for the processor's cache.
_TOGETHER = 1024

# A limit is found to this share of the gap between two means of the table, in so many steps at most.
_PRECISE, _STEPS = 2.0**-40, 80


@dataclass(frozen=True, slots=True, eq=False)
class PivotTest:
    """What the pivot of each column is made of: ``T = (centre - logit μ)·scale``, a and b.

    ``U = T + aT² + a²T³/3 + b``, where the centre is the logit of the sample's mean.
    """

    centre: Floats
    scale: Floats
    a: Floats
    b: Floats

    @classmethod
    def before_mirrored(cls, sample: SamplingDistribution) -> Self:
        """Return the test of the means of a sample, and after it of those of 1-x, whose pivot is -U."""
        m, se = sample.estimate, sample.require("se")
        a, b = skewness_terms(sample.count, m, se, sample.require("skewness"))
        centre, scale = logit(m), m * (1.0 - m) / se
        return cls(
            np.concatenate([centre, -centre]),
            np.concatenate([scale, scale]),
            np.concatenate([a, -a]),
            np.concatenate([b, -b]),
        )

    def of_columns(self, columns: Integers) -> PivotTest:
        """Return the test of some columns."""
        return PivotTest(
            self.centre[columns], self.scale[columns], self.a[columns], self.b[columns]
        )

    def pivot_and_slope(self, candidate: Floats) -> tuple[Floats, Floats]:
        """Return U at the logit of a candidate mean; at several, logits × columns.

        And the root of its derivative by T, ``1 + aT``: U is flat where that is 0.
        """
        t = (self.centre - candidate) * self.scale
        bend = self.a * t
        return remove_skewness(t, bend, self.b), 1.0 + bend

    def solve(self, quantile: Floats) -> Floats:
        """Return the logit at which the pivot has a value; -∞ or ∞ where the value is infinite."""
        found = self.centre - solve_cubic(self.a, quantile - self.b) / self.scale
        return np.where(np.isinf(quantile), -quantile, found)


def flat_slope(count: Integers) -> Floats:
    """Return the slope below which U - q counts as flat, of samples of so many topics."""
    n = np.maximum(count, 1.0)
    slope: Floats = np.minimum(_FLAT, _FLAT_OF_MANY / n**2) + _FLAT_OF_FEW / n**3
    return slope


def first_rejected(
    test: PivotTest,
    logits: Floats,
    rows: Floats,
    count: Integers,
    farthest: FarthestLimits,
) -> tuple[Floats, Booleans]:
    """Return the highest logit below the sample's mean at which the pivot exceeds its quantile.

    And whether U - q rises steeply from the sample's mean to the first mean that no limit reaches:
    there a limit is the first mean rejected.

    Parameters
    ----------
    test
        The test of each column.
    logits
        Logits of means, ascending; beyond their ends quantiles stay as they are there.
    rows
        Compressed quantiles: columns × logits. If there are more columns than rows, they go on with
        the first row.
    count
        Number of topics of each column.
    farthest
        What no limit lies beyond, as upper limits of the mirrored scores.
    """
    rest = np.arange(len(test.centre))
    found, steep = np.empty(len(rest)), np.zeros(len(rest), np.bool_)
    fewest = max(1, int(count.min())) if len(count) else 1
    for number in (2 + int(_NEAR / np.sqrt(fewest)), len(logits)):
        undecided = []
        for start in range(0, len(rest), _TOGETHER):
            part = rest[start : start + _TOGETHER]
            found[part], rejected, steep[part] = _look_outwards(
                test, logits, rows, count, farthest, part, number
            )
            undecided.append(part[~(rejected & steep[part])])
        rest = np.concatenate([rest[:0], *undecided])
    return found, steep


def _look_outwards(
    test: PivotTest,
    logits: Floats,
    rows: Floats,
    count: Integers,
    farthest: FarthestLimits,
    columns: Integers,
    number: int,
) -> tuple[Floats, Booleans, Booleans]:
    """Return `first_rejected` of some columns among as many means of the table, nearest first.

    In between, whether one is rejected at all. Between two means of the table U is flattest at one
    of them, but for the place where it is flat altogether, and q is steepest at one of them.
    """
    test, own, row = test.of_columns(columns), np.arange(len(columns)), columns % len(rows)
    places = np.searchsorted(logits, test.centre) - 1 - np.arange(number)[:, None]
    always = np.ones((1, len(columns)), np.bool_)
    inside = np.concatenate([always, places >= 0])
    places = np.maximum(places, 0)
    at_centre = interpolate_rows(logits, rows, row, test.centre)
    means = np.concatenate([test.centre[None], logits[places]])
    quantiles = np.concatenate([at_centre[None], rows[row, places]])
    pivot, root = test.pivot_and_slope(means)
    excess = compress(pivot) - quantiles

    exceeds = (excess > 0) & inside
    first = np.argmax(exceeds, axis=0)
    rejected = exceeds[first, own]
    found = np.where(rejected, test.centre, test.solve(expand(rows[row, 0])))
    crossed = np.flatnonzero(rejected & (first > 0))
    ends = np.stack([first[crossed], first[crossed] - 1]), crossed
    found[crossed] = _crossing(test.of_columns(crossed), means[ends], quantiles[ends], excess[ends])

    slope = test.scale * np.square(root)
    least = np.where(root[:-1] * root[1:] > 0, np.minimum(slope[:-1], slope[1:]), 0.0)
    most = np.maximum(np.abs(pivot[:-1]), np.abs(pivot[1:]))
    rise = np.maximum(np.diff(quantiles, axis=0), 0.0) / (means[:-1] - means[1:])
    room = 1.0 - np.maximum(np.abs(quantiles[:-1]), np.abs(quantiles[1:]))
    flat = flat_slope(count[columns])
    steep = inside[1:] & (least * room - rise * (PIVOT_SCALE + most) >= flat)
    # From here on nothing matters: no limit lies there, or means are rejected by too much.
    surely = relative_excess(pivot[1:], quantiles[1:]) >= flat * _FARTHEST
    mirrored = -np.log1p(np.exp(logits))  # ln(1-μ)
    beyond = farthest.lie_within(-logits[places], mirrored[places], columns)
    ended = np.logical_or.accumulate((beyond | surely) & inside[1:])
    passed = np.concatenate([always, ~ended[:-1]])
    return found, rejected, ended[-1] & (steep | ~passed).all(axis=0)


def _crossing(test: PivotTest, logits: Floats, quantiles: Floats, excess: Floats) -> Floats:
    """Return where the pivot crosses compressed quantiles that are linear between two logits.

    By Newton's steps from where a straight line crosses them; a step that leaves the gap is
    replaced by halving it.

    Parameters
    ----------
    test
        The test of each column.
    logits, quantiles, excess
        At both ends: the compressed pivot exceeds the quantile at the first, not at the second.
    """
    (left, right), (at_left, at_right) = logits, quantiles
    width, rise = right - left, at_right - at_left
    exceeds, holds = np.zeros_like(width), np.ones_like(width)
    share = excess[0] / (excess[0] - excess[1])
    for _ in range(_STEPS):
        pivot, root = test.pivot_and_slope(left + share * width)
        beyond = compress(pivot) - (at_left + share * rise)
        exceeds = np.where(beyond > 0, share, exceeds)
        holds = np.where(beyond > 0, holds, share)
        slope = compression_slope(pivot) * -test.scale * np.square(root)
        step = share - beyond / (slope * width - rise)
        leaves = (step < exceeds) | (step > holds)
        step = np.where(leaves, (exceeds + holds) / 2.0, step)
        moves = np.abs(step - share) > _PRECISE
        if not moves.any():
            break
        share = np.where(moves, step, share)  # which other columns there are changes no bit
    crossing: Floats = left + share * width
    return crossing


def softly_rejected(
    test: PivotTest, logits: Floats, rows: Floats, count: Integers, farthest: Floats
) -> Floats:
    """Return the lower limit where U - q may be flat: a continuous function of the scores.

    With d the distance from the sample's mean, and e the greatest excess of U up to there, if above
    0, the limit lies where ``d - e/flat`` is greatest: at the first mean rejected where the excess
    rises steeply from there, and farther out where it does not.

    Parameters
    ----------
    test, logits, rows, count
        As in `first_rejected`.
    farthest
        The lowest logit that the limit may be.
    """
    distance = np.linspace(0.0, 1.0, _PLACES)[:, None] * (test.centre - farthest)
    candidate = test.centre - distance
    quantile = interpolate_rows(logits, rows, np.arange(len(rows)), candidate)
    pivot, _ = test.pivot_and_slope(candidate)
    excess = relative_excess(pivot, quantile)
    exceeded = np.maximum.accumulate(np.maximum(excess, 0.0), axis=0)
    softly = (distance - exceeded / flat_slope(count)).max(axis=0)
    limit: Floats = test.centre - np.maximum(softly, _first_above(distance, excess))
    return limit


def _first_above(distance: Floats, excess: Floats) -> Floats:
    """Return the distance at which an excess first passes 0, linear in between; else the last."""
    columns, right = np.arange(excess.shape[1]), np.argmax(excess > 0, axis=0)
    left = np.maximum(right - 1, 0)
    low, high = excess[left, columns], excess[right, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(right > 0, low / (low - high), 0.0)
    before, after = distance[left, columns], distance[right, columns]
    found: Floats = np.where(high > 0, before + share * (after - before), distance[-1])
    return found
