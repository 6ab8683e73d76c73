"""One decision per difference in words, which every output follows: verdict, evidence, and reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from confir.defaults import NO_FAMILY
from confir.errors import counted
from confir.intervals.simultaneous import is_significant
from confir.number_text import SENTENCE_DECIMALS, bracketed, level_text, signed
from confir.studies.comparison.families import CORRECTION_NAMES
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.pairs import LEAST_TOPICS
from confir.studies.comparison.verdicts import (
    EQUIVALENT,
    IDENTICAL,
    INCONCLUSIVE,
    OPPOSITE,
    Estimates,
    significant_directions,
)

# The smallest p-value that sentences name.
_SMALLEST_SAID_P = 0.001


class Decision(NamedTuple):
    """What is decided on one difference, and why; or on many, in arrays that broadcast.

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
    family, pairs
        A name in FAMILIES, "none" for single tests, and the number of pairs tested by one measure,
        for which p is adjusted; identical runs are not tested.
    correction
        Of single tests: a name in CORRECTIONS, or that of a test that corrects by itself; else None.
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
    family: str
    pairs: int
    correction: str | None
    margin: float | None
    topics: int
    constant: bool
    open: int = 0
    borderline: bool = False
    resampled: str = "topics"

    def turned(self) -> Decision:
        """Return the same decision from the other run's side."""
        return self._replace(
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
    def estimates(self) -> Estimates:
        """What significance is judged by, beside the test."""
        return Estimates(self.difference, self.low, self.high, self.constant, self.open)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def significant(self) -> int:
        """1 or -1 where the run is significantly better or worse, also within the margin; else 0."""
        return int(
            significant_directions(self.estimates, self.direction, self.p_adjusted, self.level)
        )

    @property
    def lost_by_correction(self) -> bool:
        """Whether the pair would be significant were it the only one."""
        alone = is_significant(self.p, self.level) and self.direction * self.difference > 0
        return bool(alone) and not is_significant(self.p_adjusted, self.level)

    @property
    def reason(self) -> str:
        """What the interval and the verdict leave open; empty where they say all."""
        return str(explain(self).item())

    @property
    def words(self) -> str:
        """The verdict in a few words."""
        words = f"significantly {self.verdict}" if self.verdict in OPPOSITE else self.verdict
        if self.verdict == EQUIVALENT:
            words = f"equivalent within ±{self.margin:g}"
        return words + ", borderline" * self.borderline

    @property
    def interval_text(self) -> str:
        """The difference with its interval, where there is one."""
        difference = f"difference {signed(self.difference)}"
        return f"{difference}, {self._interval('interval')}" if self.has_interval else difference

    def _interval(self, name: str, *decimals: int) -> str:
        """Return level and limits, with what the interval is called."""
        simultaneous = "simultaneous " if self.family != NO_FAMILY and self.pairs > 1 else ""
        low, high = (signed(limit, *decimals) for limit in (self.low, self.high))
        limits = bracketed(low, high, self.open)
        return f"{simultaneous}{level_text(self.level)} {name} {limits}"

    def in_words(self, measure: str) -> str:
        """Return the decision in a sentence without its full stop, as one would say it."""
        if self.verdict == IDENTICAL:
            return f"{self.run} and {self.baseline} are identical in {measure}"
        if self.verdict == EQUIVALENT:
            return f"{self.run} and {self.baseline} are {self.words} in {measure} ({self.evidence})"
        unclear = ", borderline" * self.borderline
        said = f"{self.run} is significantly {self.verdict} than {self.baseline} in {measure}"
        if self.verdict not in OPPOSITE:
            said = f"The difference between {self.run} and {self.baseline} in {measure} is inconclusive"
        return f"{said}{unclear} ({self.evidence})"

    @property
    def evidence(self) -> str:
        """Difference, interval and p-value, and what they leave open: ``+0.021, 95% CI […], p = .02``."""
        parts = [signed(self.difference, SENTENCE_DECIMALS)]
        if self.has_interval:
            parts.append(self._interval("CI", SENTENCE_DECIMALS))
        adjusted = self.pairs > 1 and self.p_adjusted != self.p
        p = self.p_adjusted if adjusted else self.p
        if not math.isnan(p):
            parts.append(f"{'adjusted ' if adjusted else ''}p {_said_p(p)}")
        return "; ".join(filter(None, [", ".join(parts), self.reason]))

    @property
    def sentence(self) -> str:
        """Difference, interval and verdict in one sentence, with the reason in parentheses."""
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.interval_text}: {self.words}{reason}"


def _said_p(p: float) -> str:
    """Return a p-value for a sentence: ``= .02``, ``< .001``."""
    if p < _SMALLEST_SAID_P:
        return "< .001"
    return "= 1" if p >= 1.0 else f"= {p:.3f}".replace("0.", ".", 1)


def explain(given: Decision) -> Any:
    """Return what intervals and verdicts leave open, as texts; empty where they say all."""
    cases = _cases(given)
    texts = np.full(np.shape(given.verdict), "", object)
    holds = [np.broadcast_to(condition, texts.shape) for condition, _ in cases]
    case = np.argmax(holds, axis=0)  # the first that holds; the last always does
    unclear = np.isin(case, [place for place, (_, say) in enumerate(cases) if say is not _nothing])
    parts = (np.broadcast_to(np.asarray(part), texts.shape)[unclear].tolist() for part in given)
    rows = map(Decision._make, zip(*parts, strict=True))
    texts[unclear] = [cases[place][1](one) for place, one in zip(case[unclear], rows, strict=True)]
    return texts


def _cases(given: Decision) -> list[tuple[Any, Callable[[Decision], str]]]:
    """Return where each case holds, and what is said then; the first case that holds counts."""
    corrected, alone = (
        significant_directions(given.estimates, given.direction, p, given.level) != 0
        for p in (given.p_adjusted, given.p)
    )
    verdict = np.asarray(given.verdict)
    includes = np.less_equal(given.low, 0) & np.greater_equal(given.high, 0)
    includes &= np.equal(given.open, 0)
    significant = is_significant(given.p_adjusted, given.level)
    return [
        (given.topics < LEAST_TOPICS, lambda _: "fewer than 2 topics in common"),
        (given.constant, _constant_reason),
        (np.isnan(given.low) | np.isnan(given.high), lambda _: "no interval"),
        ((verdict == EQUIVALENT) & ~includes, lambda _: "the interval excludes 0"),
        (np.isin(verdict, (EQUIVALENT, *OPPOSITE)), _nothing),
        (significant & (given.direction * given.difference < 0), _opposite_reason),
        (
            significant,
            lambda one: f"the {_title(one)} is significant, but the interval includes 0",
        ),
        (includes, _nothing),
        (alone & ~corrected, _correction_reason),
        (True, lambda one: f"not significant by the {_title(one)}"),
    ]


def _nothing(_: Decision) -> str:
    return ""


def _title(one: Decision) -> str:
    return find_test(one.test).title


def _constant_reason(one: Decision) -> str:
    if one.resampled == "documents":
        return f"the same {'difference' if one.direction else 'mean'} on every resampled collection"
    if one.direction == 0:
        return f"the same score on all {one.topics} topics"
    same = f"the same difference on all {one.topics} topics"
    if one.verdict != INCONCLUSIVE:
        return same
    alone = f"{same}; exact sign-flip test: p {one.p:.2g}"
    if one.p_adjusted <= one.p:
        return alone
    pairs = counted(one.pairs, "pair")
    if one.correction is None:  # the family's own rule, not a multiple of the sign-flip test's p
        return f"{alone} alone, {one.p_adjusted:.2g} by the family of {pairs}"
    return f"{alone}, {one.p_adjusted:.2g} for {pairs}"


def _opposite_reason(one: Decision) -> str:
    favoured, higher = (one.run, one.baseline)[:: 1 if one.direction > 0 else -1]
    return f"the {_title(one)} favours {favoured}, but {higher} has the higher mean"


def _correction_reason(one: Decision) -> str:
    name = CORRECTION_NAMES[str(one.correction)]
    return f"not significant after {name} for {counted(one.pairs, 'pair')}"
