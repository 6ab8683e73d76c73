"""Families of comparisons, whose intervals and p-values hold simultaneously; and single tests.

A family has simultaneous intervals and p-values that agree with them. Single tests have p-values
with a correction, beside intervals of each pair alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans, Floats, Integers
from confir.defaults import ALL_PAIRS, BASELINE, BEST, FAMILIES, NO_FAMILY
from confir.errors import InvalidValueError
from confir.intervals.interval import Limits
from confir.intervals.method import Method
from confir.intervals.simultaneous import ComparisonFamily, SimultaneousLimits, positive
from confir.resampling.borrowed_variance import BorrowedVariance, median_variance
from confir.resampling.further_replicates import FURTHER, can_draw_further, levels_to_settle
from confir.resampling.studentised_maxima import largest_statistics
from confir.studies.comparison.corrections import adjust_p_values
from confir.studies.comparison.mean_differences import MeanDifferences
from confir.studies.comparison.paired_tests import Outcome, PairedTest
from confir.studies.comparison.pairs import Pairs

# How p-values of single tests are adjusted where nothing else is said.
_DEFAULT_CORRECTION = "holm"


class TestedPairs(NamedTuple):
    """What is tested of pairs × measures; NaN where a pair is not tested.

    Attributes
    ----------
    p, p_error
        p-value of each pair alone, and its Monte-Carlo error; 0 where it is exact.
    distance, se, df
        Mean difference from the value tested, and its standard error with its degrees of freedom;
        for a one-sided test, the distance is positive where it rejects.
    units, constant
        Number of topics or clusters, and whether all of them show the same difference.
    self_normalised
        Sum of the differences over the root of the sum of their squares; 0 where it says nothing of
        the value tested.
    """

    p: Floats
    p_error: Floats
    distance: Floats
    se: Floats
    df: Floats
    units: Floats
    constant: Booleans
    self_normalised: Floats


class Families(NamedTuple):
    """A family for each measure: the studentised maximum adjusts p-values and intervals alike."""

    by_measure: tuple[ComparisonFamily, ...]

    def limits(self, means: MeanDifferences, _: Limits, level: float) -> SimultaneousLimits:
        """Return the limits that a verdict rests on: simultaneous ones."""
        parts = (means.difference, means.se, means.units, means.df, means.self_normalised)
        columns = zip(self.by_measure, *(part.T for part in parts), strict=True)
        found = [
            family.limits(difference, se, units, level, df, sums)
            for family, difference, se, units, df, sums in columns
        ]
        low, high, open_end = (np.stack(part, axis=1) for part in zip(*found, strict=True))
        none = means.identical  # they are not in the family
        return SimultaneousLimits(
            np.where(none, np.nan, low), np.where(none, np.nan, high), open_end
        )

    def adjust(self, tested: TestedPairs, sides: int = 2, errors: float = 0.0) -> Floats:
        """Return adjusted p-values, moved by some Monte-Carlo errors.

        One-sided ones, those of equivalence, are for claims on either side: |t*| counts for them,
        too, and identical runs are among the pairs tested. Constant differences are then judged by
        the exact sign-flip test, times the number of pairs.
        """
        adjusted = np.empty(tested.p.shape)
        for m, family in enumerate(self.by_measure):
            column = TestedPairs._make(part[:, m] for part in tested)
            adjusted[:, m] = _adjust_in_family(family, column, sides, errors)
        return adjusted


def _adjust_in_family(
    family: ComparisonFamily, tested: TestedPairs, sides: int, errors: float
) -> Floats:
    """Return the adjusted p-values of one measure."""
    count = int(np.sum(~np.isnan(tested.p)))
    together = replace(family, size=family.size if sides == 2 else count, sides=sides)
    errors_of = family.standard_errors(tested.distance, tested.se, tested.units, tested.df)
    t = tested.distance / errors_of
    p = together.p_values(t, tested.df, tested.self_normalised, errors)
    exact = tested.constant & (np.isnan(t) | (sides == 1))
    if together.size > 1 and sides == 2:  # the self-normalised sum decides in a family
        exact &= tested.self_normalised == 0
    p = np.where(exact, np.minimum(1.0, max(count, 1) * tested.p), p)
    adjusted: Floats = positive(np.where(np.isnan(tested.p), np.nan, p))
    return adjusted


class Correction(NamedTuple):
    """Single tests, whose p-values are corrected; intervals are those of each pair alone."""

    name: str | None  # in CORRECTIONS; None for a test that corrects by itself

    def limits(self, _: MeanDifferences, own: Limits, __: float) -> SimultaneousLimits:
        """Return the limits that a verdict rests on: each pair's own."""
        return SimultaneousLimits(*own, np.zeros(own.low.shape, np.int64))

    def adjust(self, tested: TestedPairs, _: int = 2, errors: float = 0.0) -> Floats:
        """Return adjusted p-values, moved by some Monte-Carlo errors.

        Constant differences by Bonferroni's factor.
        """
        p = np.clip(tested.p + errors * tested.p_error, 0.0, 1.0)
        adjusted = p if self.name is None else adjust_p_values(p, self.name)
        if self.name in (None, "none"):
            return adjusted
        pairs = np.sum(~np.isnan(tested.p), axis=0)
        return np.where(tested.constant, np.minimum(1.0, pairs * tested.p), adjusted)


class PermutedRanges(NamedTuple):
    """The randomised Tukey HSD test alone: intervals are of the same permutations as its p-values.

    Attributes
    ----------
    by_measure
        The largest difference between the means of any two runs after each permutation, ascending.
    """

    by_measure: tuple[Floats, ...]

    def limits(self, means: MeanDifferences, _: Limits, level: float) -> SimultaneousLimits:
        """Return the limits that a verdict rests on: differences that are not significant."""
        half = np.array([_order_statistic(ranges, level) for ranges in self.by_measure])
        nowhere = np.zeros(means.difference.shape, np.int64)
        return SimultaneousLimits(means.difference - half, means.difference + half, nowhere)

    def adjust(self, tested: TestedPairs, sides: int = 2, errors: float = 0.0) -> Floats:
        """Return the p-values of the test, which is adjusted for all pairs by itself."""
        return Correction(None).adjust(tested, sides, errors)


def permuted_ranges(
    outcomes: Sequence[tuple[PairedTest, Outcome]],
) -> PermutedRanges | None:
    """Return the ranges of a test of all runs at once where it is the only test; else None.

    Nor are there any where scores are missing: such a test looks at the topics that all runs have,
    the difference of a pair at those that both have.
    """
    if len(outcomes) != 1 or outcomes[0][1].ranges is None:
        return None
    return PermutedRanges(outcomes[0][1].ranges)


def _order_statistic(ordered: Floats, level: float) -> float:
    """Return the ⌈(B+1)·level⌉-th smallest value; ∞ where there are too few."""
    place = math.ceil(round((len(ordered) + 1) * level, 9))
    return float(ordered[place - 1]) if place <= len(ordered) else math.inf


Adjustment = Families | Correction | PermutedRanges


def choose_family(
    family: str | None,
    correction: str | None,
    baseline: str | None,
    tests: Sequence[PairedTest],
    method: Method,
) -> tuple[str, str | None]:
    """Return the family, and the correction of single tests where there is none.

    The question decides where nothing is said: a baseline makes a family of all runs against it. A
    family rests on t, and on intervals that the standard error alone makes.
    """
    if family is not None and correction is not None:
        raise InvalidValueError(
            "family and correction are both given; expected one: a family is corrected by its own "
            "maximum, a correction is for single tests"
        )
    fitting = ALL_PAIRS if baseline is None else BASELINE
    serves = method.takes_se_alone and all(test.studentised for test in tests)
    if family is None:
        single = correction is not None or not serves
        return (NO_FAMILY, correction or _DEFAULT_CORRECTION) if single else (fitting, None)
    if as_choice("family", family, FAMILIES) == NO_FAMILY:
        return NO_FAMILY, "none"
    if family == BEST:
        raise InvalidValueError(
            "the family 'best' asks which run is best, which find_best answers; expected all-pairs, "
            "baseline or none"
        )
    if family != fitting:
        raise InvalidValueError(
            "the family is baseline, and there is none; expected a baseline, the run to compare with"
            if baseline is None
            else f"the family is {family}, and the baseline {baseline!r}; expected one of them"
        )
    if not serves:
        raise InvalidValueError(
            f"the family {family} rests on t tests and t intervals; for other tests and methods, "
            "give a correction in its place"
        )
    return family, None


def form_families(
    pairs: Pairs,
    means: MeanDifferences,
    tested: Integers,
    replicates: int,
    seed: int,
    level: float,
) -> Families:
    """Return the families of all measures: of all pairs, or of all runs against one.

    Where a decision at the level, or at a usual one, is borderline, ten times as many replicates are drawn.

    Parameters
    ----------
    tested
        Number of pairs that are tested, by measure.
    """
    alone = [int(pairs.first[0])] if len(np.unique(pairs.first)) == 1 else None

    def draw(measure: int, borrowed: BorrowedVariance, size: int) -> Floats:
        rng = np.random.default_rng(seed)  # the same topics for all measures
        return largest_statistics(pairs.sample.of_measure(measure), size, rng, borrowed, alone)

    found = []
    for m, borrowed in enumerate(borrowed_variances(means, tested)):
        size = int(tested[m])
        family = ComparisonFamily.of(
            size, draw(m, borrowed, replicates) if size > 1 else np.empty(0), borrowed=borrowed
        )
        if can_draw_further(size, int(means.topics[:, m].max()), replicates) and any(
            _borderline(family, means, m, one).any() for one in levels_to_settle(level)
        ):
            maxima = draw(m, borrowed, FURTHER * replicates)
            family = ComparisonFamily.of(size, maxima, borrowed=borrowed)
        found.append(family)
    return Families(tuple(found))


def _borderline(
    family: ComparisonFamily, means: MeanDifferences, measure: int, level: float
) -> Booleans:
    """Return which decisions of one measure might change with other replicates."""
    parts = means.difference, means.se, means.units, means.df, means.self_normalised
    difference, se, units, df, sums = (part[:, measure] for part in parts)
    t = difference / family.standard_errors(difference, se, units, df)
    return family.borderline(t, df, level, sums)


def borrowed_variances(means: MeanDifferences, tested: Integers) -> list[BorrowedVariance]:
    """Return what the variances of each measure's family borrow."""
    medians = [median_variance(column) for column in (np.square(means.se) * means.units).T]
    return [BorrowedVariance(*each) for each in zip(tested.tolist(), medians, strict=True)]


def simultaneous_limits(
    adjustment: Adjustment, means: MeanDifferences, level: float
) -> SimultaneousLimits:
    """Return the limits that hold for a family at once; NaN for single tests."""
    none = np.full(means.se.shape, np.nan)
    return adjustment.limits(means, Limits(none, none), level)
