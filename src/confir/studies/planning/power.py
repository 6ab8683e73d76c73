"""What a number of topics gives: half width, power and detectable difference, as runs are compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.defaults import ALL_PAIRS, BASELINE, BEST, NO_FAMILY
from confir.errors import InvalidValueError
from confir.resampling.borrowed_variance import BorrowedVariance

# More topics than anybody will ever judge: the search ends there.
_MOST_TOPICS = 2**30

# Halvings in the search for a difference: finer than double precision.
_HALVINGS = 60

# Probabilities at which the distribution of a sample's variance is looked at, and their weights.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_PROBABILITIES = (1.0 + _NODES) / 2.0, _WEIGHTS / 2.0


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

    def of(self, columns: Integers) -> Freedom:
        """Return the degrees of freedom of some columns."""
        return Freedom(*(one[columns] if isinstance(one, np.ndarray) else one for one in self))


@dataclass(frozen=True, slots=True)
class Criterion:
    """How a mean or a difference will be judged, as in `compare_runs`: what plans rest on.

    Attributes
    ----------
    level
        Two-sided level of the t quantile that is the critical value, of each column or of all.
    comparisons
        Number of comparisons in the family, m.
    median
        Median variance of the family's differences over topics, M, of each column; 0 for none.
    certain
        The self-normalised sum from which on the sign of a difference is significant by itself.
    freedom
        Degrees of freedom of each column's standard error.
    fixed
        Variance of each column's mean that more topics do not reduce.
    """

    level: float | Floats
    comparisons: int = 1
    median: float | Floats = 0.0
    certain: float = math.inf
    freedom: Freedom = Freedom()  # noqa: RUF009 - immutable
    fixed: float | Floats = 0.0

    def critical_value(self, topics: Integers) -> Floats:
        """Return the critical value with a number of topics."""
        from scipy.special import stdtrit

        return np.asarray(-stdtrit(self.freedom.at(topics), (1.0 - self.level) / 2.0))

    def total_variance(self, sd: Floats, topics: Integers) -> Floats:
        """Return the variance over topics with what it borrows from the family.

        What topics do not reduce counts as if it were theirs: n times as much.
        """
        units = np.maximum(topics / self.freedom.cluster_size, 1.0)
        borrowed = BorrowedVariance(self.comparisons, 1.0).of(units) * self.median
        return np.asarray(np.square(sd) + borrowed + topics * self.fixed)

    def half_width(self, sd: Floats, topics: Integers) -> Floats:
        """Return the half width of the interval: ``c·√((sd² + u·M)/n)``."""
        return self.critical_value(topics) * np.sqrt(self.total_variance(sd, topics) / topics)

    def power(self, sd: Floats, topics: Integers, difference: float | Floats) -> Floats:
        """Return the power at a true difference, for normal differences over topics.

        By the noncentral t for a single comparison. In a family the sample's variance is averaged
        over, as the borrowed one does not vary with it.
        """
        return self._power_at(sd, topics, np.shape(difference))(difference)

    def _power_at(
        self, sd: Floats, topics: Integers, shape: tuple[int, ...]
    ) -> Callable[[float | Floats], Floats]:
        """Return the function from true differences of a shape to the power.

        What does not depend on the difference is computed once for all of its calls.
        """
        df = self.freedom.at(topics)
        sd = np.sqrt(np.square(sd) + topics * self.fixed)
        if self.comparisons < 2:
            return _power_of_t(df, self.level, topics, sd)
        from scipy.special import chdtri, ndtr

        nodes, weights = _PROBABILITIES
        shape = np.broadcast_shapes(np.shape(sd), np.shape(df), shape)
        column = nodes.reshape(-1, *[1] * len(shape))
        spread = sd * np.sqrt(chdtri(df, column) / df)  # of samples
        units = topics / self.freedom.cluster_size
        borrowed = self.total_variance(np.zeros(1), topics) - topics * self.fixed
        needed = self.critical_value(topics) * np.sqrt(np.square(spread) + borrowed)
        needed = np.minimum(needed, spread * _t_of_sums(self.certain, units))

        def power(difference: float | Floats) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                shift = difference * np.sqrt(topics)
                beyond = ndtr((shift - needed) / sd) + ndtr((-shift - needed) / sd)
            found: Floats = np.tensordot(weights, beyond, axes=1)
            return found

        return power

    def detectable(self, sd: Floats, topics: Integers, power: float) -> Floats:
        """Return the smallest true difference that is detected with the given power."""
        error = np.sqrt(self.total_variance(sd, topics) / topics)
        known = np.isfinite(error)
        power_at = self._power_at(sd, topics, error.shape)
        low, high = np.zeros_like(error), np.where(known, error, 0.0)
        while (short := known & (power_at(high) < power)).any():
            high = np.where(short, 2.0 * high, high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            enough = power_at(middle) >= power
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(known, high, np.nan)


def _t_of_sums(certain: float, units: Floats) -> Floats:
    """Return the t from which on the self-normalised sum is large enough; ∞ where it never is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = certain * np.sqrt((units - 1.0) / (units - certain**2))
    return np.where(units > certain**2, t, np.inf)


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


class BonferroniFamily(NamedTuple):
    """A family of which the columns of a plan, runs × measures, are all that is known.

    Attributes
    ----------
    level
        Two-sided level of the t quantile that is Bonferroni's critical value.
    comparisons, measures
        Number of comparisons by one measure, and number of measures.
    """

    level: float
    comparisons: int
    measures: int

    @staticmethod
    def of(level: float, family: str, runs: int, measures: int) -> BonferroniFamily:
        """Return the family of a number of runs."""
        single = family_level(level, family, runs)
        return BonferroniFamily(single, family_size(family, runs), measures)

    def total(self, variance: Floats, units: Any) -> Floats:
        """Return variances, … × columns, with what they borrow from the median of their measure."""
        by_run = variance.reshape(*variance.shape[:-1], -1, self.measures)
        median = np.nanmedian(by_run, axis=-2, keepdims=True)
        median = np.broadcast_to(median, by_run.shape).reshape(variance.shape)
        total: Floats = variance + BorrowedVariance(self.comparisons, 1.0).of(units) * median
        return total

    def half_width(self, sd: Floats, topics: Integers) -> Floats:
        """Return the half width of the interval of each column with a number of topics."""
        from scipy.special import stdtrit

        critical = -stdtrit(np.maximum(topics - 1.0, 1.0), (1.0 - self.level) / 2.0)
        if self.comparisons < 2:
            return np.asarray(critical * sd / np.sqrt(topics))
        return np.asarray(critical * np.sqrt(self.total(np.square(sd), topics) / topics))


def fewest_topics(reaches: Callable[[Integers], Booleans], size: int) -> Floats:
    """Return the smallest number of topics, 2 or more, that reaches a goal; NaN where none does."""
    short, enough = np.ones(size, np.int64), np.full(size, 2, np.int64)
    found = reaches(enough)
    while (~found & (enough < _MOST_TOPICS)).any():
        short, enough = np.where(found, short, enough), np.where(found, enough, 2 * enough)
        found = reaches(enough)
    while (enough - short > 1).any():
        middle = (short + enough) // 2
        reached = reaches(middle) & (middle > 1)
        short, enough = np.where(reached, short, middle), np.where(reached, middle, enough)
    return np.where(found, enough, np.nan)


def _power_of_t(
    df: Floats, level: float | Floats, topics: Integers, sd: Floats
) -> Callable[[float | Floats], Floats]:
    """Return the function from true differences to the power, by the noncentral t."""
    from scipy.special import nctdtr, stdtrit

    critical = -stdtrit(df, (1.0 - level) / 2.0)

    def power(difference: float | Floats) -> Floats:
        with np.errstate(divide="ignore"):
            shift = difference * np.sqrt(topics) / sd
        # nctdtr gives NaN for probabilities too small for a double
        missed = np.nan_to_num(nctdtr(df, shift, critical))
        wrong_side = np.nan_to_num(nctdtr(df, shift, -critical))
        found: Floats = np.where(np.isnan(shift), np.nan, 1.0 - missed + wrong_side)
        return found

    return power
