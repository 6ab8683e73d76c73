"""The upper limits of `gaffke` without random numbers: quantiles of Dirichlet-weighted means.

The mean of n scores and a 1, with weights uniform over all that sum to 1, is distributed as a B-spline
with the scores and the 1 as its knots (Curry and Schoenberg 1966). Such weights are exponential numbers
over their sum, so that the mean exceeds h just where ``Σ E_i (x_i - h) > 0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.measures.summary import logit

# A limit is found when a step moves it by no more.
_PRECISE = 1e-14
# Steps of the secant method at most; five to eight are usual.
_STEPS = 100
# Pairs of a score above a limit and one below that are looked at: with more, all limits but those of
# gaffke are far inside it.
_MOST_PAIRS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMoments:
    """What is known of columns without their scores.

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


def least_limit(count: Integers, mean: Floats, tail: float) -> Floats:
    """Return what no limit lies below: that of n scores that are all equal to the mean.

    The mean of the distribution is that of the scores and the 1, and a share ``(n/(n+1))^n`` at
    least lies beyond it (Grünbaum 1960). As the n-th root of that share is concave in h, and 0 at 1,
    a share ``((1-h)/(1-m))^n`` at least lies beyond h.
    """
    least: Floats = 1.0 - (1.0 - mean) * tail ** (1.0 / count)
    return least


@dataclass(frozen=True, slots=True, eq=False)
class FarthestLimits:
    """What the limits of all scores with the same mean have in common.

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
        """Return it for columns of so many scores with these means."""
        centre = (count * mean + 1.0) / (count + 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.nan_to_num((1.0 - centre) * np.log1p(-centre)) + centre * np.log(centre)
        return cls(logit(centre), 1.0 - centre, entropy + np.log(tail) / (count + 1.0))

    def lie_within(self, values: Floats, logarithms: Floats, columns: Integers) -> Booleans:
        """Whether all limits of columns lie within values, given as logits and as logarithms."""
        # c·ln h + (1-c)·ln(1-h) = ln h - (1-c)·logit h
        passed = self.reach[columns] - logarithms + self.rest[columns] * values > 0
        within: Booleans = passed & (values > self.centre[columns])
        return within


def is_within(moments: ScoreMoments, tail: float, value: Floats) -> Booleans:
    """Whether a value surely lies inside the limit, as far as moments tell.

    Their first three give the gamma distribution's quantile (Wilson and Hilferty 1931), of which a
    part is left out that shrinks with the number of scores: what is missing in limits beyond which
    values of `calibrated-beta` lie (`hardening/jumps.py`).
    """
    n, apart = moments.count, 1.0 - moments.mean
    size = n + 1.0
    second = moments.second + np.square(apart) * n / size
    third = moments.third + apart * (
        np.square(apart) * n * (n - 1.0) / size**2 - 3.0 * moments.second / size
    )
    # Dirichlet(1, …, 1) weights of N values
    variance = second / (size * (size + 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = 2.0 * third / (size * (size + 1.0) * (size + 2.0)) / variance**1.5
    normal = -NormalDist().inv_cdf(tail) - skewness / 6.0
    bend = skewness * normal / 6.0
    deviation = normal * (1.0 + bend + np.square(bend) / 3.0) * np.sqrt(variance)
    part = np.minimum(1.0 - 3.0 / (n + 2.0), 0.975)
    nearly = moments.mean + apart / size + part * deviation
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
    apart = np.nan_to_num(ordered - value)
    above = int((apart > 0).sum(axis=0).max(initial=0))
    first_below = int((apart >= 0).sum(axis=0).min(initial=0))
    up = np.concatenate([1.0 - value[None], np.maximum(apart[:above], 0.0)])
    down = np.maximum(-apart[first_below:], 0.0)
    if not len(down):
        return np.ones(len(value))
    terms, steps = len(up), len(up) + len(down) - 1
    # Row i of step k is for i + 1 terms above 0 and k - i + 1 below; before and after, it stays.
    lasts = np.ones((terms, steps + 1, len(value)))
    with np.errstate(invalid="ignore"):
        lasts[:, : len(down)] = up[:, None] / (up[:, None] + down)
    lasts[np.isnan(lasts)] = 1.0  # terms of 0 change nothing
    shifted = lasts.reshape(-1, len(value))[: terms * steps].reshape(terms, steps, -1)
    by_step = np.ascontiguousarray(shifted.swapaxes(0, 1))
    share: Floats = np.concatenate([np.zeros_like(value)[None], np.ones_like(up)])
    for own, other in zip(by_step, 1.0 - by_step, strict=True):
        share[1:] = own * share[1:] + other * share[:-1]
    result: Floats = share[-1]
    return result


def dirichlet_limit(
    scores: Floats, count: Integers, tail: float, inner: Floats, outer: Floats
) -> Floats:
    """Return the upper limits of `gaffke`, or others where these are nearer.

    A straight line through two points of a concave function, the n-th root of the probability to
    exceed h, beyond the limit meets the root of the tail beyond the limit again, but nearer: the
    secant method approaches it from outside.

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
    above = (ordered > outer).sum(axis=0)
    few = above * (count - above) <= _MOST_PAIRS
    goal = tail ** (1.0 / count)
    # No limit lies beyond that of n scores equal to the highest.
    found: Floats = np.minimum(outer, 1.0 - (1.0 - ordered[0]) * goal)
    inner = np.minimum(inner, found)
    beyond, at_beyond = np.ones_like(found), np.zeros_like(found)
    halved = np.zeros(len(found), np.bool_)
    moving = np.flatnonzero((found > inner) & few)
    for _ in range(_STEPS):
        if not len(moving):
            break
        here = found[moving]
        share = _share_above(ordered[:, moving], here) ** (1.0 / count[moving])
        short = share < goal[moving]
        inner[moving] = np.where(short, inner[moving], here)
        done = ~short & ~halved[moving]
        # Where the probability is too small for a number, the way to the inner end is halved.
        halved[moving] = ~short | (share <= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (share - at_beyond[moving]) / (here - beyond[moving])
            step = here + (goal[moving] - share) / slope
        beyond[moving] = np.where(short, here, beyond[moving])
        at_beyond[moving] = np.where(short, share, at_beyond[moving])
        middle = (beyond[moving] + inner[moving]) / 2.0
        step = np.where(halved[moving], middle, np.maximum(step, inner[moving]))
        found[moving] = np.where(done, here, step)
        moving = moving[np.abs(found[moving] - here) > _PRECISE]
    return found


def _share_above(ordered: Floats, value: Floats) -> Floats:
    """Return `share_above` of so many columns at a time that memory suffices."""
    together = max(1, _MOST_PAIRS // len(ordered) ** 2)
    parts = range(0, len(value), together)
    return np.concatenate(
        [share_above(ordered[:, i : i + together], value[i : i + together]) for i in parts]
    )
