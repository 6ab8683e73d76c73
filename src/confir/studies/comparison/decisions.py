"""One decision per pair, which every output follows: is the difference significant, and which way?

Where all topics show the same difference there is neither a t nor an interval: the exact sign-flip
test decides in their place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.defaults import NO_FAMILY
from confir.intervals.interval import Limits
from confir.order import TIE, signed
from confir.studies.comparison.families import Adjustment, Correction, TestedPairs
from confir.studies.comparison.mean_differences import MeanDifferences
from confir.studies.comparison.paired_tests import (
    Outcome,
    PairedTest,
    equivalence_p_values,
    same_sign_p,
)
from confir.studies.comparison.pairs import LEAST_TOPICS
from confir.studies.comparison.reasons import Evidence, explain
from confir.studies.comparison.significance import (
    Estimates,
    is_significant,
    judge_differences,
    significant_directions,
)
from confir.studies.comparison.verdicts import (
    EQUIVALENT,
    IDENTICAL,
    OPPOSITE,
    Words,
)


class Family(NamedTuple):
    """The pairs for which p-values are adjusted: which they are, how many, and by what.

    Attributes
    ----------
    name
        A name in FAMILIES: "none" for single tests.
    pairs
        Number of pairs tested by one measure; identical runs are not tested.
    correction
        Of single tests: a name in CORRECTIONS, or that of a test that corrects by itself; else None.
    """

    name: str
    pairs: int
    correction: str | None

    @property
    def simultaneous(self) -> bool:
        """Whether the interval beside a verdict holds for all pairs at once."""
        return self.name != NO_FAMILY and self.pairs > 1


class Decisions(NamedTuple):
    """The decisions on all differences: arrays are tests × pairs × measures unless stated.

    Attributes
    ----------
    p, p_adjusted
        p-values, and those adjusted for the pairs of the measure.
    direction
        What the test's own statistic favours: 1 the run, -1 the baseline, 0 neither.
    verdict
        One of VERDICTS.
    p_equivalence, p_equivalence_adjusted
        Of two one-sided tests against the margin, pairs × measures; None without a margin.
    """

    p: Floats
    p_adjusted: Floats
    direction: Integers
    verdict: Words
    p_equivalence: Floats | None
    p_equivalence_adjusted: Floats | None


def decide(
    tests: list[tuple[PairedTest, Outcome]],
    means: MeanDifferences,
    own: Limits,
    adjustment: Adjustment,
    *,
    margin: float | None,
    level: float,
) -> Decisions:
    """Return the decisions on all pairs and measures by each test.

    A difference is significant where its adjusted p-value is at most 1 - level, its interval
    excludes 0, and the test favours the run with the higher mean. Equivalence takes precedence.
    """
    p = np.stack([_replace_constant(outcome.p, means) for _, outcome in tests])
    direction = np.stack(
        [np.where(means.constant, means.sign, outcome.direction) for _, outcome in tests]
    )
    adjusted = np.stack(
        [
            adjust_p(part, means, Correction(None) if test.corrected else adjustment)
            for (test, _), part in zip(tests, p, strict=True)
        ]
    )
    equivalence = equivalence_adjusted = None
    if margin is not None:
        equivalence = equivalence_p_values(means, margin)
        distance = margin - np.abs(means.difference)
        equivalence_adjusted = adjustment.adjust(_statistics(equivalence, distance, means), 1)
    limits = adjustment.limits(means, own, level)
    estimates = Estimates(means.difference, *limits, means.constant)
    verdict = give_verdicts(
        estimates, direction, adjusted, level, means.identical, equivalence_adjusted
    )
    return Decisions(p, adjusted, direction, verdict, equivalence, equivalence_adjusted)


def count_tested(means: MeanDifferences) -> Integers:
    """Return the number of pairs that are tested, by measure: identical runs are not."""
    tested: Integers = np.sum((means.topics >= LEAST_TOPICS) & ~means.identical, axis=0)
    return tested


def give_verdicts(
    estimates: Estimates,
    direction: Integers,
    p_adjusted: Floats,
    level: float,
    identical: Booleans,
    p_equivalence: Floats | None,
) -> Words:
    """Return the verdicts at a level, equivalence before all others: tests × pairs × measures."""
    verdict = judge_differences(estimates, direction, p_adjusted, level)
    verdict[:, identical] = IDENTICAL
    if p_equivalence is not None:
        verdict[:, is_significant(p_equivalence, level)] = EQUIVALENT
    return verdict


def _replace_constant(p: Floats, means: MeanDifferences) -> Floats:
    """Return p-values with those of the sign-flip test where all topics show the same difference."""
    flipped = np.where(means.identical, 1.0, same_sign_p(means.units))
    return np.where(means.constant, flipped, p)


def adjust_p(p: Floats, means: MeanDifferences, adjustment: Adjustment) -> Floats:
    """Return p-values adjusted for the pairs tested, which exclude identical runs."""
    tested = np.where(means.identical, np.nan, p)
    adjusted = adjustment.adjust(_statistics(tested, means.difference, means))
    return np.where(means.identical, p, adjusted)


def _statistics(p: Floats, distance: Floats, means: MeanDifferences) -> TestedPairs:
    return TestedPairs(p, distance, means.se, means.df, means.units, means.constant)


def sides_of_bound(
    means: MeanDifferences, limits: Limits, bound: float, adjustment: Adjustment, level: float
) -> Integers:
    """Return 1 or -1 where a difference is significantly above or below a bound, else 0.

    By a t test of the difference from the bound, adjusted for all pairs as the verdicts are, and by
    the interval; where all topics show the same difference, by the exact sign-flip test.
    Arrays are pairs × measures.
    """
    from scipy.special import stdtr

    shifted = means.difference - bound
    apart = np.abs(shifted) > TIE * np.maximum(1.0, np.abs(means.difference))
    p = 2.0 * stdtr(means.df, -np.abs(shifted) / means.se)
    flipped = np.where(apart, same_sign_p(means.units), 1.0)
    alone = np.where(means.constant, flipped, p)
    adjusted = adjustment.adjust(_statistics(alone, shifted, means))
    moved = Estimates(shifted, limits.low - bound, limits.high - bound, means.constant)
    sides: Integers = significant_directions(
        moved, np.where(apart, np.sign(shifted), 0), adjusted, level
    )
    return sides


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided on one difference, and why.

    Attributes
    ----------
    baseline, run
        Names of the two runs.
    verdict
        One of VERDICTS.
    difference, low, high, level
        The mean difference and the interval that the verdict rests on.
    test, direction, p, p_adjusted
        The test, what its own statistic favours (1 the run, -1 the baseline), and its p-values.
    family
        The pairs for which p is adjusted.
    margin
        Margin of equivalence, or None.
    topics, constant
        Topics that both runs have, and whether all of them show the same difference.
    """

    baseline: str
    run: str
    verdict: str
    difference: float
    low: float
    high: float
    level: float
    test: str
    direction: int
    p: float
    p_adjusted: float
    family: Family
    margin: float | None
    topics: int
    constant: bool

    @property
    def possible(self) -> bool:
        """Whether there is an interval, or the same difference on all topics, to decide by."""
        return self.constant or not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def significant(self) -> int:
        """1 or -1 where the run is significantly better or worse, also within the margin; else 0."""
        estimates = Estimates(self.difference, self.low, self.high, self.constant)
        return int(significant_directions(estimates, self.direction, self.p_adjusted, self.level))

    @property
    def lost_by_correction(self) -> bool:
        """Whether the pair would be significant were it the only one."""
        alone = is_significant(self.p, self.level) and self.direction * self.difference > 0
        return bool(alone) and not is_significant(self.p_adjusted, self.level)

    @property
    def reason(self) -> str:
        """What the interval and the verdict leave open; empty where they say all."""
        family = (self.family.pairs, self.family.correction)
        given = (getattr(self, name) for name in Evidence._fields[len(family) :])
        return str(explain(Evidence(*family, *given)).item())

    @property
    def phrase(self) -> str:
        """The verdict in a few words, with the reason in parentheses."""
        words = f"significantly {self.verdict}" if self.verdict in OPPOSITE else self.verdict
        if self.verdict == EQUIVALENT:
            words = f"equivalent within ±{self.margin:g}"
        return f"{words} ({self.reason})" if self.reason else words

    @property
    def interval_text(self) -> str:
        """The difference with its interval, where there is one."""
        if math.isnan(self.low) or math.isnan(self.high):
            return f"difference {signed(self.difference)}"
        simultaneous = "simultaneous " if self.family.simultaneous else ""
        return (
            f"difference {signed(self.difference)}, {simultaneous}{100 * self.level:g} % interval "
            f"[{signed(self.low)}, {signed(self.high)}]"
        )

    @property
    def sentence(self) -> str:
        """Difference, interval and verdict in one sentence."""
        return f"{self.interval_text}: {self.phrase}"
