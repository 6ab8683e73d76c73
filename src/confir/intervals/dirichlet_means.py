"""The upper limits of `gaffke` without random numbers: quantiles of Dirichlet-weighted means.

The mean of n scores and a 1, with weights uniform over all that sum to 1, is distributed as a B-spline
with the scores and the 1 as its knots (Curry and Schoenberg 1966). Such weights are exponential numbers
over their sum, so that the mean exceeds h just where ``Σ E_i (x_i - h) > 0``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arrays import Booleans, Floats, Integers, inverse_logit, logit
from confir.intervals.quantiles import normal_quantile
from confir.resampling.distribution import SamplingDistribution

# A limit is found when a step moves it by no more.
_PRECISE = 1e-14
# Steps of the secant method at most; four to seven are usual.
_STEPS = 100
# Pairs of a score above a limit and one below that are looked at: with more, all limits but those of
# gaffke are far inside it.
_MOST_PAIRS = 1_000_000
# Columns that are worked on together: few enough for the processor's cache.
_TOGETHER = 512
# On the logit scale, bounds of all limits lie no farther from the mean, and are found by halving.
_WIDE, _HALVINGS = 64.0, 24
# The greatest number below 1.
_BELOW_ONE = 1.0 - 2.0**-53
# What is less than any difference of two scores.
_NOTHING = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMoments:
    """Moments of the scores of each column.

    Attributes
    ----------
    count, mean
        Number of scores, and their mean.
    second, third
        Sums of the squared and cubed deviations from the mean.
    """

    count: Integers
    mean: Floats
    second: Floats
    third: Floats

    @classmethod
    def after_mirrored(cls, sample: SamplingDistribution) -> ScoreMoments:
        """Return the moments of the scores 1-x of a sample, and after them its own."""
        n, mean = sample.count, sample.estimate
        second = np.square(sample.require("se")) * n * (n - 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # of equal scores
            third = sample.require("skewness") * second * np.sqrt(second / n)
        return cls(
            np.concatenate([n, n]),
            np.concatenate([1.0 - mean, mean]),
            np.concatenate([second, second]),
            np.concatenate([-third, third]),
        )


def least_limit(count: Integers, mean: Floats, tail: float) -> Floats:
    """Return a lower bound of the limits of n scores with this mean: that of equal scores.

    The mean of the distribution is that of the scores and the 1, and a share ``(n/(n+1))^n`` at
    least lies beyond it (Grünbaum 1960). As the n-th root of that share is concave in h, and 0 at 1,
    a share ``((1-h)/(1-m))^n`` at least lies beyond h.
    """
    least: Floats = 1.0 - (1.0 - mean) * tail ** (1.0 / count)
    return least


@dataclass(frozen=True, slots=True, eq=False)
class FarthestLimits:
    """Upper bounds of the limits of any scores with a given mean.

    Scores of 0 and 1 have the greatest moment-generating function of all with their mean, and so
    bound the probability beyond a value h as Chernoff (1952) does: with c the mean of n scores and
    a 1, by ``exp(-(n+1)·(c·ln(c/h) + (1-c)·ln((1-c)/(1-h))))``.

    Attributes
    ----------
    centre
        c of each column, as a logit.
    rest
        1 - c.
    reach
        ``c·ln c + (1-c)·ln(1-c) + ln(tail)/(n+1)``.
    """

    centre: Floats
    rest: Floats
    reach: Floats

    @classmethod
    def of(cls, count: Integers, mean: Floats, tail: float) -> FarthestLimits:
        """Return the bounds for columns of so many scores with these means."""
        centre = (count * mean + 1.0) / (count + 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.nan_to_num((1.0 - centre) * np.log1p(-centre)) + centre * np.log(centre)
        return cls(logit(centre), 1.0 - centre, entropy + np.log(tail) / (count + 1.0))

    def solve(self) -> Floats:
        """Return the bounds themselves."""
        low, high = self.centre, self.centre + _WIDE
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            within = self.lie_within(middle, -np.log1p(np.exp(-middle)), slice(None))
            low, high = np.where(within, low, middle), np.where(within, middle, high)
        return inverse_logit(high)

    def lie_within(self, values: Floats, logarithms: Floats, columns: Integers | slice) -> Booleans:
        """Whether all limits of columns lie within values, given as logits and as logarithms."""
        # c·ln h + (1-c)·ln(1-h) = ln h - (1-c)·logit h
        passed = self.reach[columns] - logarithms + self.rest[columns] * values > 0
        within: Booleans = passed & (values > self.centre[columns])
        return within


def is_within(moments: ScoreMoments, tail: float, value: Floats) -> Booleans:
    """Whether moments suffice to say that a value lies inside the limit.

    Their first three give the gamma distribution's quantile (Wilson and Hilferty 1931), of which more
    is left out than any limit was seen to lack, up to level 0.999: the less, the more of the scores
    lie far from their mean. Of few scores still less is left out, but more than limits of
    `calibrated-beta` that are beyond those of `gaffke` were seen to lack.
    """
    n, to_one = moments.count, 1.0 - moments.mean
    size = n + 1.0
    second = moments.second + np.square(to_one) * n / size
    third = moments.third + to_one * (
        np.square(to_one) * n * (n - 1.0) / size**2 - 3.0 * moments.second / size
    )
    # Dirichlet(1, …, 1) weights of N values
    variance = second / (size * (size + 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = 2.0 * third / (size * (size + 1.0) * (size + 2.0)) / variance**1.5
    quantile = normal_quantile(tail)
    normal = quantile - skewness / 6.0
    bend = skewness * normal / 6.0
    deviation = normal * (1.0 + bend + np.square(bend) / 3.0) * np.sqrt(variance)
    missing = np.maximum((0.7 + 0.75 * quantile) * (1.0 + n / 200.0) / (n + 2.0), 0.025)
    part = 1.0 - np.minimum(missing, 0.06 * quantile**2 / second)
    nearly = moments.mean + to_one / size + part * deviation
    within: Booleans = value <= np.maximum(nearly, least_limit(n, moments.mean, tail))
    return within


def share_above(ordered: Floats, value: Floats) -> Floats:
    """Return the probability that a Dirichlet-weighted mean of scores and a 1 exceeds a value.

    Exponential numbers have no memory: of a term ``E(x-h)`` above 0 and one ``E(y-h)`` below, the
    first outlasts the other with probability ``(x-h)/(x-y)``, and what is left of it is distributed
    as before. So the probability that i terms above 0 outlast j terms below follows from that of i
    and j-1, and that of i-1 and j. No term is negative: nothing cancels, and scores may be equal.

    Parameters
    ----------
    ordered
        Scores in descending order down each column, missing ones (NaN) last: topics × columns.
    value
        One for each column, from 0 to 1.
    """
    if len(value) > _TOGETHER:
        parts = (slice(i, i + _TOGETHER) for i in range(0, len(value), _TOGETHER))
        return np.concatenate([share_above(ordered[:, part], value[part]) for part in parts])
    deviations = np.nan_to_num(ordered - value)
    above = int((deviations > 0).sum(axis=0).max(initial=0))
    first_below = int((deviations >= 0).sum(axis=0).min(initial=0))
    up = np.concatenate([1.0 - value[None], np.maximum(deviations[:above], 0.0)])
    # Terms of 0 change nothing, nor do terms that are negligible next to any other.
    down = np.maximum(-deviations[first_below:], _NOTHING)[::-1]
    share: Floats = np.concatenate([np.zeros_like(value)[None], np.ones_like(up)])
    lasts, ends = np.empty_like(up), np.empty_like(up)
    # Row i + 1 is for i + 1 terms above 0 and total - i + 1 below; 1 as long as there are none.
    for total in range(len(up) + len(down) - 1):
        first, last = max(0, total + 1 - len(down)), min(total + 1, len(up))
        start = len(down) - 1 - total
        own, other, gain = lasts[first:last], ends[first:last], up[first:last]
        np.add(gain, down[start + first : start + last], out=own)
        np.divide(gain, own, out=own)
        np.subtract(1.0, own, out=other)
        other *= share[first:last]
        own *= share[first + 1 : last + 1]
        np.add(own, other, out=share[first + 1 : last + 1])
    result: Floats = share[-1]
    return result


def dirichlet_limit(
    scores: Floats, count: Integers, tail: float, inner: Floats, outer: Floats
) -> Floats:
    """Return the upper limits of `gaffke`, or others where these are nearer.

    Near 1 the probability to exceed h is a power of 1-h, so that their logarithms are nearly linear
    in each other: the secant method finds the limit in a few steps. A step out of the bracket is replaced
    by halving the bracket.

    Parameters
    ----------
    scores
        Scores in [0, 1], NaN where missing: topics × columns.
    count
        Number of scores of each column.
    tail
        Probability beyond the limit.
    inner
        What the limits are known not to lie below, such as `least_limit`.
    outer
        The other limits.
    """
    ordered = -np.sort(-scores, axis=0)
    # No limit lies beyond that of n scores equal to the highest.
    found: Floats = np.minimum(outer, 1.0 - (1.0 - ordered[0]) * tail ** (1.0 / count))
    above = (ordered > found).sum(axis=0)
    few = above * (count - above) <= _MOST_PAIRS
    spread = np.fmin.reduce(ordered, axis=0) < ordered[0]
    moving = np.flatnonzero((found > inner) & few & spread)
    # Logarithms of 1-h: of the limit, of what is inside and outside of it, and before the last step.
    place = np.log1p(-np.minimum(found, _BELOW_ONE))
    inside, outside = np.log1p(-np.minimum(inner, found)), place.copy()
    before, excess_before = np.full_like(place, np.nan), np.full_like(place, np.nan)
    for number in range(_STEPS):
        here = place[moving]
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.log(share_above(ordered[:, moving], -np.expm1(here)) / tail)
        if not number:  # the others are not beyond the limit of gaffke
            moving, here, excess = moving[excess < 0], here[excess < 0], excess[excess < 0]
        if not len(moving):
            break
        inside[moving] = np.where(excess < 0, inside[moving], here)
        outside[moving] = np.where(excess < 0, here, outside[moving])
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (excess - excess_before[moving]) / (here - before[moving])
            step = here - excess / np.where(slope > 0, slope, (count - above)[moving])
        leaves = ~((step > outside[moving]) & (step < inside[moving]))
        step = np.where(leaves, (outside[moving] + inside[moving]) / 2.0, step)
        before[moving], excess_before[moving], place[moving] = here, excess, step
        found[moving] = -np.expm1(step)
        moving = moving[np.abs(np.exp(step) * (step - here)) > _PRECISE]
    return found
