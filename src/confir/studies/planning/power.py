"""What does a number of topics give? Half width, power and detectable difference of the t test."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.defaults import ALL_PAIRS, BASELINE, BEST, NO_FAMILY
from confir.errors import InvalidValueError
from confir.intervals.quantiles import t_quantile

# More topics than anybody will ever judge: the search ends there.
_MOST_TOPICS = 2**30

# Halvings in the search for a difference: finer than double precision.
_HALVINGS = 60


class Freedom(NamedTuple):
    """Degrees of freedom of the standard error of columns.

    Attributes
    ----------
    cluster_size
        Topics per independent unit: 1, or by a design those of a cluster.
    taken
        Degrees that estimated numbers take: 1 for a mean, 2 for a mean and a weight of the model.
    """

    cluster_size: float | Floats = 1.0
    taken: float | Floats = 1.0

    def at(self, topics: Integers) -> Floats:
        """Return the degrees of freedom that a number of topics gives, at least 1."""
        return np.asarray(np.maximum(topics / self.cluster_size - self.taken, 1.0))


# That of a mean over a simple random sample of topics.
MEAN = Freedom()


def family_level(level: float, family: str, runs: int) -> float:
    """Return the level of a two-sided t interval that makes a family of intervals hold at a level.

    The Bonferroni-t bound: with ``α = 1 - level`` and K runs, t at 1-α/(2m) for m differences (K-1
    from a baseline, K(K-1)/2 of all pairs); at 1-α/(K-1), one-sided, for the best run (Hsu 1984).
    Critical values from replicates are no larger, so that a plan by this bound needs no fewer
    topics.
    """
    if family == NO_FAMILY:
        return level
    pairs = family_size(family, runs) / (2 if family == BEST else 1)
    if 1.0 - level >= pairs:
        raise InvalidValueError(
            f"level is {level:g}; expected more than 0.5 for the best of two runs, one-sided"
        )
    return 1.0 - (1.0 - level) / pairs


def family_size(family: str, runs: int) -> int:
    """Return how many differences of a number of runs hold together; for the best, of each run."""
    if family == NO_FAMILY:
        return 1
    if runs < 2:
        raise InvalidValueError(f"family {family!r} is for differences of runs; there is one run")
    return {BASELINE: runs - 1, ALL_PAIRS: runs * (runs - 1) // 2, BEST: runs - 1}[family]


def half_width_at(sd: Floats, topics: Integers, level: float, freedom: Freedom = MEAN) -> Floats:
    """Return the half width of the t interval: ``t · sd / √n``, with n-1 degrees of freedom, or fewer."""
    width: Floats = t_quantile(freedom.at(topics), level) * sd / np.sqrt(topics)
    return width


def power_at(
    sd: Floats,
    topics: Integers,
    difference: float | Floats,
    level: float,
    freedom: Freedom = MEAN,
) -> Floats:
    """Return the power of the two-sided paired t test at a true difference."""
    with np.errstate(divide="ignore"):
        return _power(freedom.at(topics), difference * np.sqrt(topics) / sd, level)


def detectable_at(
    sd: Floats,
    topics: Integers,
    power: float,
    level: float,
    freedom: Freedom = MEAN,
) -> Floats:
    """Return the smallest true difference that is detected with the given power."""
    every = np.asarray(freedom.at(topics))
    df, places = np.unique(every, return_inverse=True)  # mostly one number for all runs
    shift: Floats = np.zeros(len(df))
    reached = np.full(len(df), 1.0)
    while (_power(df, reached, level) < power).any():
        reached = np.where(_power(df, reached, level) < power, 2.0 * reached, reached)
    for _ in range(_HALVINGS):
        middle = (shift + reached) / 2.0
        enough = _power(df, middle, level) >= power
        shift, reached = np.where(enough, shift, middle), np.where(enough, middle, reached)
    difference: Floats = reached[places].reshape(every.shape) * sd / np.sqrt(topics)
    return difference


def fewest_topics(reaches: Callable[[Integers], Booleans], size: int) -> Floats:
    """Return the smallest number of topics, 2 or more, that reaches a goal; NaN where none does."""
    short, enough = np.ones(size, np.int64), np.full(size, 2, np.int64)
    while ((~reaches(enough)) & (enough < _MOST_TOPICS)).any():
        reached = reaches(enough)
        short, enough = np.where(reached, short, enough), np.where(reached, enough, 2 * enough)
    found = reaches(enough)
    while (enough - short > 1).any():
        middle = (short + enough) // 2
        reached = reaches(middle) & (middle > 1)
        short, enough = np.where(reached, short, middle), np.where(reached, middle, enough)
    return np.where(found, enough, np.nan)


def _power(df: Floats, shift: Floats, level: float) -> Floats:
    """Return the power at a true difference of ``shift`` standard errors, by the noncentral t."""
    from scipy.special import nctdtr

    critical = t_quantile(df, level)
    # nctdtr gives NaN for probabilities too small for a double
    missed = np.nan_to_num(nctdtr(df, shift, critical))
    wrong_side = np.nan_to_num(nctdtr(df, shift, -critical))
    power: Floats = np.where(np.isnan(shift), np.nan, 1.0 - missed + wrong_side)
    return power
