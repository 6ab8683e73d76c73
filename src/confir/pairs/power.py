"""The power of comparisons: what a number of topics shows, how many a difference takes, and the next step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.resampling.pair_draws import BorrowedVariance
from confir.resampling.sample import Sample

# More topics than anybody will ever judge: the search ends there.
MOST_TOPICS = 2**30

# Halvings in the search for a difference: finer than double precision.
_HALVINGS = 60

# Probabilities at which the distribution of a sample's variance is evaluated, and their weights.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_PROBABILITIES, _PROBABILITY_WEIGHTS = (1.0 + _NODES) / 2.0, _WEIGHTS / 2.0


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

    def of(self, columns: Integers) -> Freedom:
        """Return the degrees of freedom of some columns."""
        return Freedom(*(one[columns] if isinstance(one, np.ndarray) else one for one in self))


class Pilot(NamedTuple):
    """What a pilot says about each column, runs × measures.

    Attributes
    ----------
    mean, sd
        Mean over topics of the scores or differences, and their standard deviation.
    topics, df
        Number of topics, and degrees of freedom of the standard deviation.
    freedom
        Degrees of freedom that another number of topics would give.
    fixed
        Variance of the mean that more topics do not reduce.
    """

    mean: Floats
    sd: Floats
    topics: Integers
    df: Floats
    freedom: Freedom
    fixed: Floats

    def upper_sd(self, assurance: float) -> Floats:
        """Return the sd that the true one exceeds with probability 1 - assurance.

        ``s √((n-1) / χ²_{1-assurance; n-1})``, the upper confidence limit for normal scores.
        """
        from scipy.special import chdtri

        limit: Floats = self.sd * np.sqrt(self.df / chdtri(self.df, assurance))
        return limit

    def of(self, columns: Integers) -> Pilot:
        """Return what it says about some columns."""
        own = self._replace(freedom=self.freedom.of(columns))
        arrays = (name for name in self._fields if name != "freedom")
        return own._replace(**{name: getattr(self, name)[columns] for name in arrays})


def pilot_of(sample: Sample) -> Pilot:
    """Return what a sample says about each column; NaN as the sd of those that do not vary.

    By human and model judgements: the sd of human-judged topics which would have as large a
    standard error by themselves.
    """
    distribution = sample.distribution(slice(None), None, ("se",))
    fixed = sample.fixed_variance()
    of_topics = np.maximum(np.square(distribution.require("se")) - fixed, 0.0)
    sd = np.where(distribution.degenerate, np.nan, np.sqrt(of_topics * distribution.count))
    count, df = distribution.count, distribution.df
    # strata whose variances happen to be equal have more degrees of freedom than topics
    spent = np.asarray(count - df) if sample.spends_df else None
    size = np.maximum(count / np.maximum(df + 1.0, 1.0), 1.0)
    freedom = Freedom(cluster_size=size) if spent is None else Freedom(taken=spent)
    return Pilot(distribution.estimate, sd, count, df, freedom, fixed)


@dataclass(frozen=True, slots=True)
class Criterion:
    """How a mean or a difference will be tested, by the rule of `compare_runs`.

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

    def critical_value(self, topics: Integers) -> tuple[Floats, Floats]:
        """Return the critical value with a number of topics, and the degrees of freedom, at least 1."""
        from scipy.special import stdtrit

        df = np.maximum(topics / self.freedom.cluster_size - self.freedom.taken, 1.0)
        return np.asarray(-stdtrit(df, (1.0 - self.level) / 2.0)), np.asarray(df)

    def total_variance(self, sd: Floats, topics: Integers) -> Floats:
        """Return the variance over topics with what it borrows from the family.

        What topics do not reduce counts as if it were theirs: n times as much.
        """
        units = np.maximum(topics / self.freedom.cluster_size, 1.0)
        borrowed = BorrowedVariance(self.comparisons, 1.0).of(units) * self.median
        return np.asarray(np.square(sd) + borrowed + topics * self.fixed)

    def of(self, columns: Integers) -> Criterion:
        """Return how some columns will be tested."""
        level, median, fixed = (
            one[columns] if isinstance(one, np.ndarray) else one
            for one in (self.level, self.median, self.fixed)
        )
        freedom = self.freedom.of(columns)
        return replace(self, level=level, median=median, fixed=fixed, freedom=freedom)

    def half_width(self, sd: Floats, topics: Integers) -> Floats:
        """Return the half width of the interval: ``c·√((sd² + u·M)/n)``."""
        critical, _ = self.critical_value(topics)
        return critical * np.sqrt(self.total_variance(sd, topics) / topics)

    def power_function(self, sd: Floats, topics: Integers) -> Callable[[float | Floats], Floats]:
        """Return the function from true differences to the power, for normal differences over topics.

        By the noncentral t for a single comparison. In a family the sample's variance is averaged
        over, as the borrowed one does not vary with it. What does not depend on the difference is
        computed once for all calls.
        """
        critical, df = self.critical_value(topics)
        sd = np.sqrt(np.square(sd) + topics * self.fixed)
        if self.comparisons < 2:
            return partial(_power_of_t, sd, topics, df, critical)
        from scipy.special import chdtri

        shape = np.broadcast_shapes(np.shape(sd), np.shape(df))
        column = _PROBABILITIES.reshape(-1, *[1] * len(shape))
        spread = sd * np.sqrt(chdtri(df, column) / df)  # of samples
        units = topics / self.freedom.cluster_size
        borrowed = self.total_variance(np.zeros(1), topics) - topics * self.fixed
        needed = critical * np.sqrt(np.square(spread) + borrowed)
        needed = np.minimum(needed, spread * _t_of_sums(self.certain, units))
        return partial(_power_in_family, sd, topics, needed)

    def detectable(self, sd: Floats, topics: Integers, power: float) -> Floats:
        """Return the smallest true difference that is detected with the given power."""
        error = np.sqrt(self.total_variance(sd, topics) / topics)
        known = np.isfinite(error)
        power_at = self.power_function(sd, topics)
        low, high = np.zeros_like(error), np.where(known, error, 0.0)
        while (short := known & (power_at(high) < power)).any():
            high = np.where(short, 2.0 * high, high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            enough = power_at(middle) >= power
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(known, high, np.nan)


def _power_of_t(
    sd: Floats, topics: Integers, df: Floats, critical: Floats, difference: float | Floats
) -> Floats:
    """Return the power of a single comparison, by the noncentral t."""
    from scipy.special import nctdtr

    with np.errstate(divide="ignore"):
        shift = difference * np.sqrt(topics) / sd
    # nctdtr gives NaN for probabilities too small for a double
    missed = np.nan_to_num(nctdtr(df, shift, critical))
    wrong_side = np.nan_to_num(nctdtr(df, shift, -critical))
    return np.where(np.isnan(shift), np.nan, 1.0 - missed + wrong_side)


def _power_in_family(
    sd: Floats, topics: Integers, needed: Floats, difference: float | Floats
) -> Floats:
    """Return the power, given the differences × √n that samples of each variance need."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        shift = difference * np.sqrt(topics)
        beyond = ndtr((shift - needed) / sd) + ndtr((-shift - needed) / sd)
    power: Floats = np.tensordot(_PROBABILITY_WEIGHTS, beyond, axes=1)
    return power


def _t_of_sums(certain: float, units: Floats) -> Floats:
    """Return the t from which on the self-normalised sum is large enough; ∞ where it never is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = certain * np.sqrt((units - 1.0) / (units - certain**2))
    return np.where(units > certain**2, t, np.inf)


def fewest_topics(reaches: Callable[[Integers], Booleans], size: int) -> Floats:
    """Return the smallest number of topics, 2 or more, that reaches a goal; NaN where none does."""
    short, enough = np.ones(size, np.int64), np.full(size, 2, np.int64)
    found = reaches(enough)
    while (~found & (enough < MOST_TOPICS)).any():
        short, enough = np.where(found, short, enough), np.where(found, enough, 2 * enough)
        found = reaches(enough)
    while (enough - short > 1).any():
        middle = (short + enough) // 2
        reached = reaches(middle) & (middle > 1)
        short, enough = np.where(reached, short, middle), np.where(reached, middle, enough)
    return np.where(found, enough, np.nan)


def whole_numbers(numbers: Floats) -> Any:
    """Return numbers of topics as integers; NaN where there is none."""
    whole: Any = np.full(numbers.shape, np.nan, object)
    known = np.isfinite(numbers)
    whole[known] = numbers[known].astype(np.int64)
    return whole


def known_or_none(numbers: Floats, kind: type[int | float] = float) -> Any:
    """Return numbers for records, those that do not exist as None."""
    known: Any = np.full(numbers.shape, None, object)
    exist = np.isfinite(numbers)
    known[exist] = [kind(number) for number in numbers[exist].tolist()]
    return known
