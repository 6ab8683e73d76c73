"""What may be said of a difference? Verdicts in words that do not overstate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.order import TIE

BETTER, WORSE, EQUIVALENT, NOT_SHOWN = "better", "worse", "equivalent", "not shown"

Words = np.ndarray[tuple[Any, ...], np.dtype[np.str_]]


def judge_differences(
    low: Floats, high: Floats, p_adjusted: Floats, p_equivalence: Floats | None, level: float
) -> Words:
    """Return the verdict on each difference.

    A difference is shown where its interval excludes 0 and the adjusted p-value is at most
    1 - level, both. One shown to lie within the margin is equivalent, whatever its sign.
    """
    error = 1.0 - level
    shown = p_adjusted <= error
    verdict = np.full(p_adjusted.shape, NOT_SHOWN, dtype="<U10")
    verdict[shown & (low > 0)] = BETTER
    verdict[shown & (high < 0)] = WORSE
    if p_equivalence is not None:
        verdict[np.broadcast_to(p_equivalence <= error, verdict.shape)] = EQUIVALENT
    return verdict


class Finding(NamedTuple):
    """What is known of one difference.

    Attributes
    ----------
    verdict
        One of the four words.
    difference, se, low, high
        The mean difference, its standard error and its interval.
    p, p_adjusted
        Its p-value, and that adjusted for all pairs.
    topics
        Number of topics that both runs have.
    """

    verdict: str
    difference: float
    se: float
    low: float
    high: float
    p: float
    p_adjusted: float
    topics: int

    def phrase(self, test: str, correction: str, level: float, margin: float | None) -> str:
        """Return the verdict in a few words, with what else the data allow."""
        if self.verdict in (BETTER, WORSE):
            return f"{self.verdict} on these topics"
        if self.verdict == EQUIVALENT:
            excludes = "" if self.low <= 0 <= self.high else ", though the interval excludes 0"
            return f"equivalent within ±{margin:g}{excludes}"
        if self.topics < 2:
            return "not compared: fewer than 2 topics in common"
        if math.isnan(self.low) or math.isnan(self.high):
            if abs(self.difference) < TIE:
                return "the same score on every topic"
            varies = self.se > TIE * abs(self.difference)
            return f"no interval{'' if varies else ': the same difference on every topic'}"
        if self.low <= 0 <= self.high:
            allowed = f"the interval allows {signed(self.low)} to {signed(self.high)}"
            return f"no difference shown; {allowed}"
        if self.p <= 1.0 - level:
            return f"no difference shown, once corrected for all pairs by {correction}"
        return f"no difference shown by the {test} test"

    def sentence(self, phrase: str, level: float) -> str:
        """Return difference, interval and verdict as one sentence."""
        if math.isnan(self.low) or self.verdict == NOT_SHOWN:
            return f"difference {signed(self.difference)}: {phrase}"
        return (
            f"difference {signed(self.difference)}, {100 * level:g} % interval "
            f"[{signed(self.low)}, {signed(self.high)}]: {phrase}"
        )


def signed(value: float) -> str:
    """Return a difference with its sign in four decimals; more where those would hide the sign."""
    if math.isnan(value):
        return "–"
    if abs(value) < TIE:
        return "0.0000"
    if abs(value) < 0.00005:
        return f"{value:+.0e}"
    return f"{value:+.4f}" if abs(value) < 10 else f"{value:+.1f}"
