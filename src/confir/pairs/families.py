"""Families of comparisons, whose intervals and p-values are simultaneous; and corrections of single tests.

A family has simultaneous intervals and p-values that agree with them. Single tests have corrected
p-values, and intervals that are not adjusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats
from confir.defaults import ALL_PAIRS, BASELINE, BEST, FAMILIES, NO_FAMILY
from confir.errors import InvalidValueError, counted
from confir.intervals.interval import Limits
from confir.intervals.method import Method
from confir.pairs.differences import MeanDifferences, Pairs
from confir.pairs.paired_tests import PairedTest
from confir.pairs.sign_flips import flip_limits
from confir.pairs.simultaneous import (
    ComparisonFamily,
    SimultaneousLimits,
    borderline_decisions,
    order_statistic,
    positive,
)
from confir.resampling.pair_draws import BorrowedVariance, median_variance
from confir.resampling.replicates import FURTHER, can_draw_further, levels_to_settle
from confir.resampling.sample import Sample
from confir.resampling.studentised_maxima import largest_statistics

# How p-values of single tests are adjusted where nothing else is said.
_DEFAULT_CORRECTION = "holm"


class Families(NamedTuple):
    """A family for each measure: the studentised maximum adjusts p-values and intervals alike."""

    by_measure: tuple[ComparisonFamily, ...]

    @property
    def by_flips(self) -> bool:
        """Whether clusters are so few that sign flips of whole clusters decide."""
        return any(family.by_flips for family in self.by_measure)

    def limits(self, means: MeanDifferences, level: float) -> SimultaneousLimits:
        """Return the simultaneous limits, which verdicts rest on; NaN where a pair has none."""
        found = [
            family.decide(own.evidence, level, unsigned=_flipped_limits(family, own, level))
            for family, own in zip(self.by_measure, means.columns(), strict=True)
        ]
        none = means.identical  # they are not in the family
        low, high, open_end = (
            np.stack([getattr(one, name) for one in found], axis=1)
            for name in ("low", "high", "open")
        )
        return SimultaneousLimits(
            np.where(none, np.nan, low), np.where(none, np.nan, high), open_end
        )

    def adjust(
        self,
        p: Floats,
        means: MeanDifferences,
        *,
        sides: int = 2,
        errors: float = 0.0,
        p_error: Floats | None = None,  # noqa: ARG002 - as `Correction.adjust` takes it
    ) -> Floats:
        """Return adjusted p-values, moved by some Monte-Carlo errors.

        One-sided ones, those of equivalence, are for claims on either side: |t*| counts for them,
        too, and identical runs are among the pairs tested. Constant differences are then judged by
        the exact sign-flip test, times the number of pairs.

        Parameters
        ----------
        p
            p-value of each pair alone: pairs × measures; NaN where a pair is not tested.
        means
            Distances from the value tested, positive where a one-sided test rejects; their
            self-normalised sums are 0 where they say nothing of that value.
        sides, errors, p_error
            Of the test; by how many of the Monte-Carlo errors p-values are moved; and these.
        """
        columns = []
        for family, own_p, own in zip(self.by_measure, p.T, means.columns(), strict=True):
            count = int(np.sum(~np.isnan(own_p)))
            size = family.size if sides == 2 else count
            together = replace(family, size=size, sides=sides)
            found = together.adjusted(own.evidence, errors)
            if sides == 1:
                found = np.where(own.constant, np.minimum(1.0, max(count, 1) * own_p), found)
            columns.append(positive(np.where(np.isnan(own_p), np.nan, found)))
        return np.stack(columns, axis=1)


def _flipped_limits(family: ComparisonFamily, own: MeanDifferences, level: float) -> Limits | None:
    """Return the limits of one measure by sign flips of clusters, where these decide; else None."""
    if not family.by_flips:
        return None
    found = flip_limits(own.parts, own.weights, (1.0 - level) / (2.0 * max(family.size, 1)))
    return Limits(*(np.where(own.constant, np.nan, one) for one in found))


class Correction(NamedTuple):
    """Single tests, whose p-values are corrected; intervals are those of each pair alone."""

    name: str | None  # in CORRECTIONS; None for a test that corrects by itself

    def limits(self, means: MeanDifferences, _: float) -> SimultaneousLimits:
        """Return no simultaneous limits: verdicts rest on each pair's own."""
        none = np.full(means.se.shape, np.nan)
        return SimultaneousLimits(none, none, np.zeros(none.shape, np.int64))

    def adjust(
        self,
        p: Floats,
        means: MeanDifferences,
        *,
        sides: int = 2,  # noqa: ARG002 - as `Families.adjust` takes it
        errors: float = 0.0,
        p_error: Floats | None = None,
    ) -> Floats:
        """Return adjusted p-values, as `Families.adjust`; constant differences by Bonferroni's factor."""
        moved = np.clip(p if p_error is None else p + errors * p_error, 0.0, 1.0)
        if self.name in (None, "none"):
            return moved
        pairs = np.sum(~np.isnan(p), axis=0)
        adjusted = adjust_p_values(moved, str(self.name))
        return np.where(means.constant, np.minimum(1.0, pairs * p), adjusted)


class PermutedRanges(NamedTuple):
    """The randomised Tukey HSD test alone: intervals are of the same permutations as its p-values.

    Attributes
    ----------
    by_measure
        The largest difference between the means of any two runs after each permutation, ascending.
    """

    by_measure: tuple[Floats, ...]

    def limits(self, means: MeanDifferences, level: float) -> SimultaneousLimits:
        """Return the simultaneous limits: the largest differences that are not significant."""
        half = np.array([order_statistic(ranges, level) for ranges in self.by_measure])
        nowhere = np.zeros(means.difference.shape, np.int64)
        return SimultaneousLimits(means.difference - half, means.difference + half, nowhere)

    def adjust(self, p: Floats, means: MeanDifferences, **how: Any) -> Floats:
        """Return the p-values of the test, which is adjusted for all pairs by itself."""
        return Correction(None).adjust(p, means, **how)


Adjustment = Families | Correction | PermutedRanges


def choose_family(
    family: str | None,
    correction: str | None,
    baseline: str | None,
    tests: Sequence[PairedTest],
    method: Method,
    flips: bool = False,
) -> tuple[str, str | None]:
    """Return the family, and the correction of single tests where there is none.

    The question decides where nothing is said: a baseline makes a family of all runs against it. A
    family rests on t, and on intervals that the standard error alone makes; of few clusters, it rests on
    their sign flips.
    """
    if family is not None and correction is not None:
        raise InvalidValueError(
            "family and correction are both given; expected one: a family is corrected by its own "
            "maximum, a correction is for single tests"
        )
    fitting = ALL_PAIRS if baseline is None else BASELINE
    serves = method.needs == ("se",) and all(
        test.studentised or (flips and test.flips) for test in tests
    )
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
            "the family 'baseline' requires a baseline, the run to compare with"
            if baseline is None
            else f"the family {family} has no baseline, but {baseline!r} is named as one; leave one of them out"
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
    replicates: int,
    seed: int,
    level: float,
    by_flips: bool = False,
) -> Families:
    """Return the families of all measures: of all pairs, or of all runs against one.

    Where a decision at the level, or at a usual one, is borderline, ten times as many replicates are drawn.
    By sign flips of few clusters, nothing is drawn.
    """
    alone = [int(pairs.first[0])] if len(np.unique(pairs.first)) == 1 else None

    def draw(measure: int, borrowed: BorrowedVariance, size: int) -> Floats:
        rng = np.random.default_rng(seed)  # the same topics for all measures
        return largest_statistics(pairs.sample.of_measure(measure), size, rng, borrowed, alone)

    found = []
    for m, own in enumerate(means.columns()):
        size = int(means.tested[m])
        if by_flips:
            found.append(ComparisonFamily(size, np.empty(0), by_flips=True))
            continue
        borrowed = BorrowedVariance(size, median_variance(np.square(own.se) * own.units))
        family = ComparisonFamily.of(
            size, draw(m, borrowed, replicates) if size > 1 else np.empty(0), borrowed=borrowed
        )
        if can_draw_further(size, int(own.topics.max()), replicates) and any(
            _is_borderline(family, own, one) for one in levels_to_settle(level)
        ):
            maxima = draw(m, borrowed, FURTHER * replicates)
            family = ComparisonFamily.of(size, maxima, borrowed=borrowed)
        found.append(family)
    return Families(tuple(found))


def _is_borderline(family: ComparisonFamily, own: MeanDifferences, level: float) -> bool:
    """Whether another seed might change a decision of one measure."""
    return bool(borderline_decisions(partial(family.adjusted, own.evidence), level).any())


def check_collections(sample: Sample, level: float) -> None:
    """Raise where collections were resampled too rarely for decisions on differences over documents.

    With too few replicates of topics, Bonferroni's bound on their standard errors decides. Standard
    errors over collections are those of the replicates: of two, they are as good as nothing.
    """
    drawn = sample.scheme.replicates
    least = math.ceil(round(level / (1.0 - level), 9))  # or the largest t* has no quantile
    if drawn < least:
        raise InvalidValueError(
            f"there {'is' if drawn == 1 else 'are'} {counted(drawn, 'replicate')} of the collection; "
            f"differences at level {level:g} need at least {least:,}"
        )


def adjust_p_values(p: Floats, correction: str) -> Floats:
    """Return p-values adjusted for the tests in the same column.

    Parameters
    ----------
    p
        p-values, tests × columns; NaN where there was no test, which then does not count.
    correction
        A name in CORRECTIONS.
    """
    adjust = find_correction(correction)
    adjusted = np.full(p.shape, np.nan)
    for column in range(p.shape[1]):
        tested = np.flatnonzero(~np.isnan(p[:, column]))
        order = tested[np.argsort(p[tested, column], kind="stable")]
        adjusted[order, column] = np.minimum(adjust(p[order, column]), 1.0)
    return adjusted


def find_correction(name: str) -> Callable[[Floats], Floats]:
    """Return the correction of a name; an unknown one raises, with the nearest names."""
    return CORRECTIONS[as_choice("correction", name, CORRECTIONS)]


def _uncorrected(ascending: Floats) -> Floats:
    return ascending


def _bonferroni(ascending: Floats) -> Floats:
    """Each p times the number of tests."""
    return len(ascending) * ascending


def _holm(ascending: Floats) -> Floats:
    """Each p times the number of tests that are not smaller, never below an earlier one."""
    return np.maximum.accumulate(np.arange(len(ascending), 0, -1) * ascending)


def _benjamini_hochberg(ascending: Floats) -> Floats:
    """Each p times the number of tests over its rank, never above a later one."""
    tests = len(ascending)
    scaled = ascending * tests / np.arange(1, tests + 1)
    smallest: Floats = np.minimum.accumulate(scaled[::-1])[::-1]
    return smallest


# From p-values in ascending order to adjusted ones. The first two keep the probability of any false
# difference below 1 - level, the third the expected share of false ones among those found.
CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "benjamini-hochberg": _benjamini_hochberg,
    "none": _uncorrected,
}

CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "benjamini-hochberg": "Benjamini and Hochberg's correction",
}
