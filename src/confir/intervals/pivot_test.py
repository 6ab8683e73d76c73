"""The test that `calibrated-beta` inverts, and the first means that it rejects on one side.

All functions look for a lower limit; an upper one is the lower one of the mirrored scores, 1-x. Means
are written as logits. A mean is rejected where the pivot U exceeds its upper quantile q; on the way
out from the sample's mean U rises, but q may rise, too.
"""

from __future__ import annotations

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.dirichlet_means import FarthestLimits
from confir.intervals.pivot import (
    PIVOT_SCALE,
    Pivot,
    compress,
    expand,
    interpolate_rows,
    relative_excess,
)

# Where U - q, relative to q, rises by less than `flat_slope` per unit of logit μ, a small change of a
# score could move the first rejected mean far. The slope is about 0.09 up to 30 topics: higher for very
# few, whose U has larger quantiles, by 12/n³; and 81/n² for more, whose U is hardly ever flat.
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


def flat_slope(count: Integers) -> Floats:
    """Return the slope below which U - q counts as flat, of samples of so many topics."""
    n = np.maximum(count, 1.0)
    slope: Floats = np.minimum(_FLAT, _FLAT_OF_MANY / n**2) + _FLAT_OF_FEW / n**3
    return slope


def first_rejected(
    pivot: Pivot,
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
    pivot
        The pivot of each column.
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
    rest = np.arange(len(pivot.centre))
    found, steep = np.empty(len(rest)), np.zeros(len(rest), np.bool_)
    fewest = max(1, int(count.min())) if len(count) else 1
    for number in (2 + int(_NEAR / np.sqrt(fewest)), len(logits)):
        undecided = []
        for start in range(0, len(rest), _TOGETHER):
            part = rest[start : start + _TOGETHER]
            found[part], rejected, steep[part] = _look_outwards(
                pivot, logits, rows, count, farthest, part, number
            )
            undecided.append(part[~(rejected & steep[part])])
        rest = np.concatenate([rest[:0], *undecided])
    return found, steep


def _look_outwards(
    pivot: Pivot,
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
    pivot, row = pivot.of_columns(columns), columns % len(rows)
    places = np.searchsorted(logits, pivot.centre) - 1 - np.arange(number)[:, None]
    inside, places = places >= 0, np.maximum(places, 0)
    means = np.concatenate([pivot.centre[None], logits[places]])
    at_centre = interpolate_rows(logits, rows, row, pivot.centre)
    quantiles = np.concatenate([at_centre[None], rows[row, places]])
    u, root = pivot.at(means)
    excess = compress(u) - quantiles
    exceeds = excess > 0
    exceeds[1:] &= inside
    first, rejected, found = np.argmax(exceeds, axis=0), exceeds.any(axis=0), pivot.centre.copy()
    farther, crossed = np.flatnonzero(~rejected), np.flatnonzero(rejected & (first > 0))
    if len(farther):
        found[farther] = pivot.of_columns(farther).solve(expand(rows[row[farther], 0]))
    ends = np.stack([first[crossed], first[crossed] - 1]), crossed
    found[crossed] = _crossing(
        pivot.of_columns(crossed), means[ends], quantiles[ends], excess[ends]
    )
    slope = pivot.scale * np.square(root)
    least = np.where(root[:-1] * root[1:] > 0, np.minimum(slope[:-1], slope[1:]), 0.0)
    most = np.maximum(np.abs(u[:-1]), np.abs(u[1:]))
    rise = np.maximum(np.diff(quantiles, axis=0), 0.0) / (means[:-1] - means[1:])
    room = 1.0 - np.maximum(np.abs(quantiles[:-1]), np.abs(quantiles[1:]))
    flat = flat_slope(count[columns])
    steep = inside & (least * room - rise * (PIVOT_SCALE + most) >= flat)
    # From here on nothing matters: no limit lies there, or means are rejected by too much.
    surely = relative_excess(u[1:], quantiles[1:]) >= flat * _FARTHEST
    beyond = farthest.lie_within(-logits[places], -np.log1p(np.exp(logits))[places], columns)
    ended = np.logical_or.accumulate((beyond | surely) & inside)
    return found, rejected, ended[-1] & steep[0] & (steep[1:] | ended[:-1]).all(axis=0)


def _crossing(pivot: Pivot, logits: Floats, quantiles: Floats, excess: Floats) -> Floats:
    """Return where the pivot crosses compressed quantiles that are linear between two logits.

    By Newton's steps from where a straight line crosses them; a step that leaves the gap is
    replaced by halving it.

    Parameters
    ----------
    pivot
        The pivot of each column.
    logits, quantiles, excess
        At both ends: the compressed pivot exceeds the quantile at the first, not at the second.
    """
    (left, right), (at_left, at_right) = logits, quantiles
    width, rise = right - left, at_right - at_left
    exceeds, holds = np.zeros_like(width), np.ones_like(width)
    share = excess[0] / (excess[0] - excess[1])
    for _ in range(_STEPS):
        u, root = pivot.at(left + share * width)
        beyond = compress(u) - (at_left + share * rise)
        exceeds = np.where(beyond > 0, share, exceeds)
        holds = np.where(beyond > 0, holds, share)
        slope = PIVOT_SCALE / np.square(PIVOT_SCALE + np.abs(u)) * -pivot.scale * np.square(root)
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
    pivot: Pivot, logits: Floats, rows: Floats, count: Integers, farthest: Floats
) -> Floats:
    """Return the lower limit where U - q may be flat: a continuous function of the scores.

    With d the distance from the sample's mean, and e the greatest excess of U up to there, if above
    0, the limit lies where ``d - e/flat`` is greatest: at the first mean rejected where the excess
    rises steeply from there, and farther out where it does not.

    Parameters
    ----------
    pivot, logits, rows, count
        As in `first_rejected`.
    farthest
        The lowest logit that the limit may be.
    """
    distance = np.linspace(0.0, 1.0, _PLACES)[:, None] * (pivot.centre - farthest)
    candidate = pivot.centre - distance
    quantile = interpolate_rows(logits, rows, np.arange(len(rows)), candidate)
    u, _ = pivot.at(candidate)
    excess = relative_excess(u, quantile)
    exceeded = np.maximum.accumulate(np.maximum(excess, 0.0), axis=0)
    softly = (distance - exceeded / flat_slope(count)).max(axis=0)
    limit: Floats = pivot.centre - np.maximum(softly, _first_above(distance, excess))
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
