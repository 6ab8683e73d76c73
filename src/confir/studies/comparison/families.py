"""What makes the decisions on many pairs hold together? A family of them, or single tests corrected.

A family has simultaneous intervals and p-values that agree with them. Single tests have p-values
with a correction, beside intervals of each pair alone.
"""

from __future__ import annotations

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
from confir.intervals.simultaneous import ComparisonFamily, variance_floor
from confir.resampling.studentised_maxima import largest_statistics
from confir.studies.comparison.corrections import adjust_p_values
from confir.studies.comparison.mean_differences import MeanDifferences
from confir.studies.comparison.paired_tests import PairedTest
from confir.studies.comparison.summarised_pairs import AnyPairs

# How p-values of single tests are adjusted where nothing else is said.
_DEFAULT_CORRECTION = "holm"


class TestedPairs(NamedTuple):
    """What is tested of pairs × measures; NaN where a pair is not tested.

    Attributes
    ----------
    p
        p-value of each pair alone.
    distance, se, df
        Mean difference from the value tested, and its standard error with its degrees of freedom;
        for a one-sided test, the distance is positive where it rejects.
    units, constant
        Number of topics or clusters, and whether all of them show the same difference.
    """

    p: Floats
    distance: Floats
    se: Floats
    df: Floats
    units: Floats
    constant: Booleans


class Families(NamedTuple):
    """A family for each measure: the studentised maximum adjusts p-values and intervals alike."""

    by_measure: tuple[ComparisonFamily, ...]

    def limits(self, means: MeanDifferences, _: Limits, level: float) -> Limits:
        """Return the limits that a verdict rests on: simultaneous ones."""
        columns = zip(
            self.by_measure,
            *(part.T for part in (means.difference, means.se, means.units, means.df)),
            strict=True,
        )
        found = [
            family.limits(difference, se, units, level, df)
            for family, difference, se, units, df in columns
        ]
        return Limits(*(np.stack(part, axis=1) for part in zip(*found, strict=True)))

    def adjust(self, tested: TestedPairs, sides: int = 2) -> Floats:
        """Return adjusted p-values; constant differences by Bonferroni's factor.

        One-sided ones, those of equivalence, are for claims on either side: |t*| counts for them,
        too, and identical runs are among the pairs tested.
        """
        adjusted = np.empty(tested.p.shape)
        for m, family in enumerate(self.by_measure):
            count = int(np.sum(~np.isnan(tested.p[:, m])))
            size = family.size if sides == 2 else count
            units = tested.units[:, m]
            t = tested.distance[:, m] / family.standard_errors(tested.se[:, m], units)
            together = replace(family, size=size, sides=sides)
            adjusted[:, m] = together.p_values(t, tested.df[:, m] + 1.0)
        return _replace_constant(adjusted, tested)


class Correction(NamedTuple):
    """Single tests, whose p-values are corrected; intervals are those of each pair alone."""

    name: str | None  # in CORRECTIONS; None for a test that corrects by itself

    def limits(self, _: MeanDifferences, own: Limits, __: float) -> Limits:
        """Return the limits that a verdict rests on: each pair's own."""
        return own

    def adjust(self, tested: TestedPairs, _: int = 2) -> Floats:
        """Return adjusted p-values; constant differences by Bonferroni's factor."""
        adjusted = tested.p if self.name is None else adjust_p_values(tested.p, self.name)
        return adjusted if self.name == "none" else _replace_constant(adjusted, tested)


Adjustment = Families | Correction


def _replace_constant(adjusted: Floats, tested: TestedPairs) -> Floats:
    """Return p-values with those of constant differences times the number of pairs tested."""
    pairs = np.sum(~np.isnan(tested.p), axis=0)
    return np.where(tested.constant, np.minimum(1.0, pairs * tested.p), adjusted)


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
    pairs: AnyPairs, means: MeanDifferences, tested: Integers, replicates: int, seed: int
) -> Families:
    """Return the families of all measures: of all pairs, or of all runs against one.

    Parameters
    ----------
    tested
        Number of pairs that are tested, by measure.
    """
    alone = [int(pairs.first[0])] if len(np.unique(pairs.first)) == 1 else None
    maxima = []
    for m, (size, floor) in enumerate(zip(tested.tolist(), _floors(means), strict=True)):
        if size < 2:
            maxima.append(np.empty(0))
            continue
        rng = np.random.default_rng(seed)  # the same topics for all measures
        values = pairs.run_scores(m)
        maxima.append(largest_statistics(values, replicates, rng, alone, floor, pairs.clusters))
    return families_of_maxima(means, tested, maxima)


def families_of_maxima(
    means: MeanDifferences, tested: Integers, maxima: Sequence[Floats]
) -> Families:
    """Return the families of all measures, from the largest |t*| of each replicate by measure."""
    columns = zip(tested.tolist(), maxima, _floors(means), strict=True)
    return Families(
        tuple(ComparisonFamily.of(size, drawn, floor=floor) for size, drawn, floor in columns)
    )


def _floors(means: MeanDifferences) -> list[float]:
    """Return the least variance of each measure's family."""
    return [variance_floor(column) for column in (np.square(means.se) * means.units).T]


def simultaneous_limits(adjustment: Adjustment, means: MeanDifferences, level: float) -> Limits:
    """Return the limits that hold for a family at once; NaN for single tests."""
    none = np.full(means.se.shape, np.nan)
    return adjustment.limits(means, Limits(none, none), level)
