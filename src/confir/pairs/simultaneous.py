"""The decision on a difference in its family: adjusted p-value, simultaneous interval and direction together.

Every question takes its decisions from `ComparisonFamily.decide` and `ComparisonFamily.adjusted`, so that they
do not contradict each other. A difference d with standard error se lies in d ± c·se. The critical value c is the level quantile of
the family's largest |t*| over replicates, at least the t quantile of a single comparison and at most
Bonferroni's. A second bound needs no variance, for differences that are symmetric about 0: overwhelming
evidence for one pair is not weakened by the variance of the others. On few units, no p-value of a family
is below that of the pair's own exact sign flips; of few clusters, sign flips of whole clusters decide alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.interval import Limits
from confir.resampling.pair_draws import NOTHING_BORROWED, BorrowedVariance

# Adjusted p-values are products of p-values: those so near to 1 - level are equal to it.
_ROUNDING = 1e-9

# 1/(4Φ(-√2)), the least factor by which a normal tail bounds that of T (Bentkus & Dzindzalieta 2015).
_SYMMETRIC_FACTOR = 1.0 / (2.0 * math.erfc(1.0))

# A decision is borderline where so many Monte-Carlo errors of its p-value would change it. Two seeds'
# p-values differ by √2 errors: an unmarked verdict is contradicted by another seed with p < .003.
MONTE_CARLO_ERRORS = 3.0 * math.sqrt(2.0)


class SimultaneousLimits(NamedTuple):
    """Simultaneous limits of a family.

    Attributes
    ----------
    low, high
        The limits; NaN where there is no standard error.
    open
        1 where the lower limit is 0 and excluded, -1 where the upper one is, else 0: the sign of the
        difference is certain by `symmetric_bound`, its size only by d ± c·se.
    """

    low: Floats
    high: Floats
    open: Integers

    @property
    def limits(self) -> Limits:
        """The limits alone."""
        return Limits(self.low, self.high)


class Evidence(NamedTuple):
    """What is known of the differences of a family: arrays that broadcast.

    Attributes
    ----------
    difference
        Differences, less the bound that they are compared with if it is not 0; 0 up to rounding is 0.
    se, df
        Their standard errors, 0 or NaN where all units show the same difference; degrees of freedom.
    units
        Numbers of independent units; infinite where they have none.
    self_normalised
        T, the sum of what units add over the root of the sum of its squares; 0 where it does not exist.
    flips
        The share of sign flips that give as large a difference on its side; NaN where it is not known.
    """

    difference: Any
    se: Any
    units: Any
    df: Any
    self_normalised: Any = 0.0
    flips: Any = math.nan


class Decided(NamedTuple):
    """What is decided on differences at a level: p-values, limits and directions that agree.

    Attributes
    ----------
    p
        Adjusted p-values: at most 1 - level exactly where a difference is significant.
    low, high, open
        As in `SimultaneousLimits`: 0 is excluded exactly where a difference is significant.
    direction
        1 or -1 where the difference is significant, else 0.
    """

    p: Floats
    low: Floats
    high: Floats
    open: Integers
    direction: Integers


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonFamily:
    """Comparisons with simultaneous limits and adjusted p-values.

    Attributes
    ----------
    size
        Number of comparisons, m.
    maxima
        The largest t* of the family in each replicate, ascending; empty where a single comparison
        needs none. For critical values alone, families of one size may be side by side:
        replicates × families.
    sides
        2 where |t*| counts, 1 where t* does.
    borrowed
        What is added to each variance.
    by_flips
        Whether clusters are so few that sign flips of whole clusters decide alone: p is that of the flips
        times the comparisons.
    """

    size: int
    maxima: Floats
    sides: int = 2
    borrowed: BorrowedVariance = NOTHING_BORROWED
    by_flips: bool = False

    @classmethod
    def of(
        cls,
        size: int,
        maxima: Floats,
        sides: int = 2,
        borrowed: BorrowedVariance = NOTHING_BORROWED,
    ) -> ComparisonFamily:
        """Return the family with its maxima in order; a single comparison is a plain t test."""
        return cls(size, np.sort(maxima) if size > 1 else np.empty(0), sides, borrowed)

    def critical_value(self, df: Any, level: float) -> Any:
        """Return c: the replicates' order statistic, between a single t and Bonferroni's.

        Parameters
        ----------
        df
            Degrees of freedom of the comparisons' t.
        level
            Confidence level of the whole family.
        """
        from scipy.special import stdtrit

        tail = (1.0 - level) / self.sides
        bonferroni = -stdtrit(df, tail / max(self.size, 1))
        if self.size < 2:
            return bonferroni
        return np.clip(order_statistic(self.maxima, level), -stdtrit(df, tail), bonferroni)

    def standard_errors(
        self, difference: Any, se: Floats, units: Any, df: Any, flips: Any = math.nan
    ) -> Floats:
        """Return standard errors with the borrowed variance; NaN where there is none at all.

        Differences that are the same on all n units, whose se is NaN or 0, have the borrowed one
        alone. Where their sign flips are not known, it is at least so much that t is no stronger evidence
        than n equal signs: two topics decide nothing.
        """
        from scipy.special import stdtrit

        enough = np.asarray(units) > 1
        count = np.where(enough, units, 2.0)
        own = np.nan_to_num(se)
        total = np.sqrt(np.square(own) + self.borrowed.of(count) / count)
        signs = np.abs(difference) / -stdtrit(df, np.exp2(-count))
        by_signs = (own == 0) & (total > 0) & np.isnan(flips)
        total = np.where(by_signs, np.fmax(total, signs), total)
        return np.where(enough & (total > 0), total, np.nan)

    def statistics(self, found: Evidence) -> Floats:
        """Return t: differences over `standard_errors`; NaN where there is none."""
        t: Floats = found.difference / self.standard_errors(
            found.difference, found.se, found.units, found.df, found.flips
        )
        return t

    def adjusted(self, found: Evidence, errors: float = 0.0) -> Floats:
        """Return the adjusted p-values that decide, moved by some Monte-Carlo errors; 1 where equal.

        One-sided ones are of positive differences. Where all units show the same difference, and neither t nor
        T exists, the sign flips decide, times the comparisons.
        """
        shown = np.not_equal(found.difference, 0) & (
            (self.sides == 2) | ~np.less(found.difference, 0)
        )
        many = max(self.size, 1)
        if self.by_flips:
            p = np.where(shown, self.sides * many * np.asarray(found.flips), 1.0)
            return np.asarray(positive(np.minimum(p, 1.0)))
        t = self.statistics(found)
        p = self.p_values(t, found.df, found.self_normalised, errors)
        constant = (np.nan_to_num(found.se) == 0) & (np.asarray(found.units) > 1)
        signs = self.sides * np.exp2(-np.where(np.isinf(found.units), 1.0, found.units))
        exact = (
            constant
            & (np.isnan(t) | (many < 2))
            & ((many < 2) | (np.asarray(found.self_normalised) == 0))
        )
        p = np.where(exact, np.where(shown, np.minimum(1.0, many * signs), 1.0), p)
        if many > 1:
            p = np.fmax(p, self.sides * np.asarray(found.flips))
        return np.asarray(
            positive(np.where(np.equal(found.difference, 0), 1.0, np.minimum(p, 1.0)))
        )

    def decide(self, found: Evidence, level: float, unsigned: Limits | None = None) -> Decided:
        """Return the decisions on differences at a level, with their simultaneous limits.

        Parameters
        ----------
        found
            The differences.
        level
            Confidence level of the whole family.
        unsigned
            The limits by sign flips, where these decide; else they are d ± c·se.
        """
        p = self.adjusted(found)
        if unsigned is None:
            errors = self.standard_errors(
                found.difference, found.se, found.units, found.df, found.flips
            )
            half = self.critical_value(found.df, level) * errors
            unsigned = Limits(found.difference - half, found.difference + half)
        return settle(found.difference, p, unsigned, level)

    def limits(
        self,
        difference: Floats,
        se: Floats,
        units: Integers | Floats,
        level: float,
        df: Floats | None = None,
        self_normalised: Floats | None = None,
    ) -> SimultaneousLimits:
        """Return the simultaneous limits of differences; NaN where there is no standard error.

        Degrees of freedom are units - 1 by default. Infinitely many units give normal limits.
        """
        freedom = units - 1.0 if df is None else df
        sums = 0.0 if self_normalised is None else self_normalised
        found = self.decide(Evidence(difference, se, units, freedom, sums), level)
        return SimultaneousLimits(found.low, found.high, found.open)

    def symmetric_bound(self, difference: Floats, self_normalised: Floats | None) -> Any:
        """Return the bound on the p-value that the self-normalised sums T give; 1 without them.

        ``m·2·3.1787·Φ(-|T|)``, half of that one-sided: for differences that are symmetric about 0.
        A single comparison has an exact test instead.
        """
        if self_normalised is None or self.size < 2:
            return np.ones(np.shape(difference))
        return symmetric_bound(self_normalised, self.size, self.sides)

    def p_values(
        self, t: Floats, df: Any, self_normalised: Floats | None = None, errors: float = 0.0
    ) -> Floats:
        """Return adjusted p-values: at most 1 - level where |t| exceeds c, or T is large enough.

        t is the difference over `standard_errors`; where it is NaN, T alone decides. The share of
        maxima that reach t is moved by some Monte-Carlo errors.
        """
        from scipy.special import stdtr

        size = np.abs(t) if self.sides == 2 else t
        single = self.sides * stdtr(df, -size)
        family = self.size * single
        if self.size > 1 and len(self.maxima):
            reached = len(self.maxima) - np.searchsorted(self.maxima, size, side="left")
            share = np.asarray((1.0 + reached) / (len(self.maxima) + 1.0), np.float64)
            family = np.minimum(family, share + errors * monte_carlo_error(share, len(self.maxima)))
        family = np.clip(family, single, 1.0)
        if self_normalised is None:
            return np.where(np.isnan(t), np.nan, family)
        p: Floats = np.fmin(family, self.symmetric_bound(t, self_normalised))
        return p

    def borderline(
        self, t: Floats, df: Any, level: float, self_normalised: Floats | None = None
    ) -> Booleans:
        """Return where a decision might change with another seed.

        There the p-value of the maxima lies within `MONTE_CARLO_ERRORS` of what decides.
        """
        return borderline_decisions(
            lambda errors: self.p_values(t, df, self_normalised, errors), level
        )


def settle(difference: Any, p: Any, limits: Limits, level: float) -> Decided:
    """Return decisions by p-values, with limits that agree with them.

    Where rounding, or evidence other than d ± c·se, would let the two differ, the limit near 0 is 0: excluded
    where the difference is significant, included where it is not. A p-value that equals 1 - level up to
    rounding is 1 - level.
    """
    decided = is_significant(p, level)
    sign = np.where(decided, np.sign(difference), 0.0).astype(np.int64)
    low, high = limits
    above, below = (sign > 0) & (low <= 0), (sign < 0) & (high >= 0)
    low = np.where(above | ((sign <= 0) & (low > 0)), 0.0, low)
    high = np.where(below | ((sign >= 0) & (high < 0)), 0.0, high)
    least = np.where(decided, np.minimum(p, 1.0 - level), p)
    return Decided(least, low, high, above.astype(np.int64) - below, sign)


def order_statistic(ascending: Floats, level: float) -> Any:
    """Return the ⌈(B+1)·level⌉-th smallest of B values, by column; ∞ where there are too few."""
    place = math.ceil(round((len(ascending) + 1) * level, 9))
    return ascending[place - 1] if place <= len(ascending) else math.inf


def monte_carlo_error(p: Floats, replicates: int) -> Floats:
    """Return the standard error that a p-value has from the number of replicates."""
    error: Floats = np.sqrt(p * (1.0 - p) / (replicates + 1.0))
    return error


def symmetric_bound(self_normalised: Any, comparisons: int, sides: int) -> Any:
    """Return a bound on adjusted p-values from T, the sum over the root of the sum of squares.

    For differences that are symmetric about 0 (Bentkus & Dzindzalieta 2015), times the comparisons.
    """
    from scipy.special import ndtr

    size = np.abs(self_normalised) if sides == 2 else self_normalised
    return np.minimum(1.0, comparisons * sides * _SYMMETRIC_FACTOR * ndtr(-size))


def largest_bound_sum(comparisons: int, sides: int, level: float) -> float:
    """Return the T from which on `symmetric_bound` is at most 1 - level."""
    from scipy.special import ndtri

    share = (1.0 - level) / (comparisons * sides * _SYMMETRIC_FACTOR)
    return float(-ndtri(share))


def positive(p: Any) -> Any:
    """Return p-values with those that underflow raised to the smallest number of full precision."""
    return np.maximum(p, np.finfo(np.float64).tiny)


def is_significant(p: Any, level: float) -> Any:
    """Whether p-values are at most 1 - level, up to rounding."""
    error = 1.0 - level
    return (p < error) | (abs(p - error) <= _ROUNDING * error)


def borderline_decisions(moved: Callable[[float], Floats], level: float) -> Booleans:
    """Return where a decision changes with p-values moved by some Monte-Carlo errors, up or down."""
    lower, upper = (
        is_significant(moved(errors), level) for errors in (-MONTE_CARLO_ERRORS, MONTE_CARLO_ERRORS)
    )
    unclear: Booleans = lower != upper
    return unclear
