"""One decision per pair, which every output follows: whether it is significant, and in which direction.

Where all topics show the same difference, a single pair has neither a t nor an interval: the exact
sign-flip test decides in their place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.defaults import NO_FAMILY
from confir.intervals.interval import Limits
from confir.intervals.simultaneous import (
    MONTE_CARLO_ERRORS,
    SimultaneousLimits,
    is_significant,
    positive,
)
from confir.order import TIE, bracketed, level_text, signed
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
    judge_differences,
    significant_directions,
)
from confir.studies.comparison.verdicts import (
    EQUIVALENT,
    IDENTICAL,
    OPPOSITE,
    Words,
)

# Decimals of numbers in sentences, and the smallest p-value that they name.
_SAID_DECIMALS = 3
_SMALLEST_SAID_P = 0.001


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
    p, p_error, p_adjusted
        p-values, their Monte-Carlo errors, and those adjusted for the pairs of the measure.
    direction
        What the test's own statistic favours: 1 the run, -1 the baseline, 0 neither.
    verdict
        One of VERDICTS.
    p_equivalence, p_equivalence_adjusted
        Of two one-sided tests against the margin, pairs × measures; None without a margin.
    borderline
        Whether other replicates might change the verdict.
    """

    p: Floats
    p_error: Floats
    p_adjusted: Floats
    direction: Integers
    verdict: Words
    p_equivalence: Floats | None
    p_equivalence_adjusted: Floats | None
    borderline: Booleans


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
    p: Floats = positive(
        np.stack(
            [
                outcome.p if test.corrected else _replace_constant(outcome.p, means)
                for test, outcome in tests
            ]
        )
    )
    direction = np.stack(
        [np.where(means.constant, means.sign, outcome.direction) for _, outcome in tests]
    )
    errors = np.stack(
        [np.zeros_like(p[0]) if found.p_error is None else found.p_error for _, found in tests]
    )
    alone = [(test, *own) for (test, _), *own in zip(tests, p, errors, strict=True)]
    adjusted = np.stack(
        [adjust_p(own_p, means, by_itself(test, adjustment)) for test, own_p, _ in alone]
    )
    equivalence = equivalence_adjusted = None
    if margin is not None:
        equivalence = equivalence_p_values(means, margin)
        distance = margin - np.abs(means.difference)
        equivalence_adjusted = adjustment.adjust(_statistics(equivalence, distance, means), 1)
    low, high, open_end = adjustment.limits(means, own, level)
    estimates = Estimates(means.difference, low, high, means.constant, open_end)
    verdict = give_verdicts(
        estimates, direction, adjusted, level, means.identical, equivalence_adjusted
    )
    unclear = find_borderline(alone, means, adjustment, verdict, level)
    return Decisions(
        p, errors, adjusted, direction, verdict, equivalence, equivalence_adjusted, unclear
    )


def find_borderline(
    tests: Sequence[tuple[PairedTest, Floats, Floats | None]],
    means: MeanDifferences,
    adjustment: Adjustment,
    verdict: Words,
    level: float,
) -> Booleans:
    """Return which verdicts might change with other replicates: tests × pairs × measures.

    Parameters
    ----------
    tests
        Tests with their p-values, and the Monte-Carlo errors of these.
    """
    found = []
    for test, p, p_error in tests:
        adjust = partial(adjust_p, p, means, by_itself(test, adjustment), p_error)
        lower, upper = (
            is_significant(adjust(errors), level)
            for errors in (-MONTE_CARLO_ERRORS, MONTE_CARLO_ERRORS)
        )
        found.append(lower != upper)
    settled = (verdict == IDENTICAL) | (verdict == EQUIVALENT)
    unclear: Booleans = np.stack(found) & ~settled
    return unclear


def by_itself(test: PairedTest, adjustment: Adjustment) -> Adjustment:
    """Return what adjusts the p-values of a test: itself, if it accounts for all pairs."""
    return Correction(None) if test.corrected else adjustment


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


def adjust_p(
    p: Floats,
    means: MeanDifferences,
    adjustment: Adjustment,
    p_error: Floats | None = None,
    errors: float = 0.0,
) -> Floats:
    """Return p-values adjusted for the pairs tested, which exclude identical runs.

    They are moved by some Monte-Carlo errors.
    """
    tested = np.where(means.identical, np.nan, p)
    statistics = _statistics(tested, means.difference, means, p_error, means.self_normalised)
    return np.where(means.identical, p, adjustment.adjust(statistics, 2, errors))


def _statistics(
    p: Floats,
    distance: Floats,
    means: MeanDifferences,
    p_error: Floats | None = None,
    self_normalised: Floats | None = None,
) -> TestedPairs:
    none = np.zeros(p.shape)
    return TestedPairs(
        p=p,
        p_error=none if p_error is None else p_error,
        distance=distance,
        se=means.se,
        df=means.df,
        units=means.units,
        constant=means.constant,
        self_normalised=none if self_normalised is None else self_normalised,
    )


def sides_of_bound(
    means: MeanDifferences,
    limits: SimultaneousLimits,
    bound: float,
    adjustment: Adjustment,
    level: float,
) -> Integers:
    """Return 1 or -1 where a difference is significantly above or below a bound, else 0.

    By a t test of the difference from the bound, adjusted for all pairs as the verdicts are, and by
    the interval; where all topics show the same difference, by the exact sign-flip test. What shows
    that a difference is beyond 0 shows that it is beyond any bound on the other side of 0.
    Arrays are pairs × measures.
    """
    from scipy.special import stdtr

    shifted = means.difference - bound
    apart = np.abs(shifted) > TIE * np.maximum(1.0, np.abs(means.difference))
    p = 2.0 * stdtr(means.df, -np.abs(shifted) / means.se)
    flipped = np.where(apart, same_sign_p(means.units), 1.0)
    alone = np.where(means.constant, flipped, p)
    beyond = np.where(means.difference * bound <= 0, means.self_normalised, 0.0)
    adjusted = adjustment.adjust(_statistics(alone, shifted, means, self_normalised=beyond))
    low, high = limits.low - bound, limits.high - bound
    moved = Estimates(shifted, low, high, means.constant, limits.open)
    sides: Integers = significant_directions(
        moved, np.where(apart, np.sign(shifted), 0), adjusted, level
    )
    return sides


def _said_p(p: float) -> str:
    """Return a p-value for a sentence: ``= .02``, ``< .001``."""
    if p < _SMALLEST_SAID_P:
        return "< .001"
    return "= 1" if p >= 1.0 else f"= {p:.3f}".replace("0.", ".", 1)


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
    open
        1 where the lower limit is 0 and excluded, -1 where the upper one is, else 0.
    borderline
        Whether other replicates might change the verdict.
    resampled
        What replicates draw.
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
    open: int = 0
    borderline: bool = False
    resampled: str = "topics"

    def turned(self) -> Decision:
        """Return the same decision from the other run's side."""
        return replace(
            self,
            baseline=self.run,
            run=self.baseline,
            verdict=OPPOSITE.get(self.verdict, self.verdict),
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            direction=-self.direction,
            open=-self.open,
        )

    @property
    def possible(self) -> bool:
        """Whether there is an interval, or the same difference on all topics, to decide by."""
        return self.constant or not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def significant(self) -> int:
        """1 or -1 where the run is significantly better or worse, also within the margin; else 0."""
        estimates = Estimates(self.difference, self.low, self.high, self.constant, self.open)
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
        if self.borderline:
            words += ", borderline"
        return f"{words} ({self.reason})" if self.reason else words

    @property
    def interval_text(self) -> str:
        """The difference with its interval, where there is one."""
        if math.isnan(self.low) or math.isnan(self.high):
            return f"difference {signed(self.difference)}"
        simultaneous = "simultaneous " if self.family.simultaneous else ""
        return (
            f"difference {signed(self.difference)}, {simultaneous}{level_text(self.level)} interval "
            f"{bracketed(signed(self.low), signed(self.high), self.open)}"
        )

    def in_words(self, measure: str) -> str:
        """Return the decision in a sentence without its full stop, as one would say it."""
        unclear = ", borderline" if self.borderline else ""
        if self.verdict == IDENTICAL:
            return f"{self.run} and {self.baseline} are identical in {measure}"
        if self.verdict == EQUIVALENT:
            within = f"equivalent within ±{self.margin:g}{unclear}"
            return f"{self.run} and {self.baseline} are {within} in {measure} ({self.evidence})"
        if self.verdict in OPPOSITE:
            words = f"significantly {self.verdict} than {self.baseline} in {measure}{unclear}"
            return f"{self.run} is {words} ({self.evidence})"
        return (
            f"The difference between {self.run} and {self.baseline} in {measure} is "
            f"inconclusive{unclear} ({self.evidence})"
        )

    @property
    def verdict_and_evidence(self) -> str:
        """The verdict in a few words, with difference, interval and p-value in parentheses."""
        words = f"significantly {self.verdict}" if self.verdict in OPPOSITE else self.verdict
        if self.verdict == EQUIVALENT:
            words = f"equivalent within ±{self.margin:g}"
        unclear = ", borderline" if self.borderline else ""
        return f"{words}{unclear} ({self.evidence})"

    @property
    def evidence(self) -> str:
        """Difference, interval and p-value, and what they leave open: ``+0.021, 95% CI […], p = .02``."""
        parts = [signed(self.difference, _SAID_DECIMALS)]
        if not (math.isnan(self.low) or math.isnan(self.high)):
            simultaneous = "simultaneous " if self.family.simultaneous else ""
            low, high = (signed(limit, _SAID_DECIMALS) for limit in (self.low, self.high))
            parts.append(
                f"{simultaneous}{level_text(self.level)} CI {bracketed(low, high, self.open)}"
            )
        adjusted = self.family.pairs > 1 and self.p_adjusted != self.p
        p = self.p_adjusted if adjusted else self.p
        if not math.isnan(p):
            parts.append(f"{'adjusted ' if adjusted else ''}p {_said_p(p)}")
        return "; ".join([", ".join(parts), *([self.reason] if self.reason else [])])

    @property
    def sentence(self) -> str:
        """Difference, interval and verdict in one sentence."""
        return f"{self.interval_text}: {self.phrase}"
