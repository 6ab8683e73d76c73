"""A gate for continuous integration, by the decisions on the differences."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from confir.arguments import as_choice, invalid
from confir.arrays import TIE, Booleans, Integers
from confir.errors import InvalidValueError, enumerate_names
from confir.measures.missing_scores import Ranges
from confir.number_text import share_words
from confir.pairs.comparison import Comparison, Place
from confir.pairs.decisions import (
    EQUIVALENT,
    IDENTICAL,
    WORSE,
    Decision,
    Estimates,
    Words,
    significant_directions,
)
from confir.pairs.differences import MeanDifferences
from confir.pairs.families import Adjustment
from confir.pairs.missing_pairs import compare_at_worst, pairs_lacking
from confir.pairs.paired_tests import same_sign_p
from confir.pairs.verdict_words import difference_phrase, reason

Requirement = Literal["not-worse", "non-inferior", "superior"]
# A gate decides by default if either run lacks at most this share of the topics.
MOST_MISSING = 0.10

REQUIREMENTS: tuple[Requirement, ...] = get_args(Requirement)


class GateRule(NamedTuple):
    """What a candidate must fulfil, the loss that does not matter, and how missing scores count.

    See `Gate` and `judge_gate`.
    """

    require: Requirement = "not-worse"
    margin: float = 0.0
    missing: str | None = None
    bounds: Ranges | None = None

    @classmethod
    def of(
        cls,
        require: str | None,
        margin: float | None,
        missing: str | None = None,
        bounds: Ranges | None = None,
    ) -> GateRule:
        """Return the rule of options, which may be left out."""
        return cls(cast("Requirement", require or "not-worse"), margin or 0.0, missing, bounds)


class Candidate(NamedTuple):
    """A run at the gate: the decision on its difference from the baseline, and whether it passes."""

    run: str
    decision: Decision
    passes: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether candidates may replace the baseline, by one measure.

    Attributes
    ----------
    measure, baseline
        What is measured, and the run that the candidates are compared with.
    require
        "not-worse" closes where a candidate is significantly below -margin, "non-inferior" where it
        is not significantly above -margin, "superior" where it is not significantly above 0.
    margin, level
        The loss that does not matter, and the level of the intervals.
    candidates
        All runs but the baseline.
    about
        What is to be known about the decision where it is one of several looks; else empty.
    cautions
        What is to be known before the decision, such as what else has changed since the last look.
    """

    measure: str
    baseline: str
    require: Requirement
    margin: float
    level: float
    candidates: tuple[Candidate, ...]
    about: str = ""
    cautions: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        """Whether any candidate fails."""
        return not all(candidate.passes for candidate in self.candidates)

    def sentence(self) -> str:
        """Return the outcome in one sentence that names every candidate that fails."""
        failing = [candidate for candidate in self.candidates if not candidate.passes]
        if not failing:
            beyond = f" by more than {self.margin:g}" if self.margin else ""
            within = f" (margin {self.margin:g})" if self.margin else ""
            passing = {
                "not-worse": f"no candidate is significantly worse than {self.baseline}{beyond}",
                "non-inferior": f"every candidate is non-inferior to {self.baseline}{within}",
                "superior": f"every candidate is significantly better than {self.baseline}",
            }
            return f"gate open: by {self.measure}, {passing[self.require]}"
        reasons = "; ".join(f"{candidate.run}: {self.failure(candidate)}" for candidate in failing)
        return f"gate closed: by {self.measure} against {self.baseline}, {reasons}"

    def failure(self, candidate: Candidate) -> str:
        """Return why a candidate fails: difference, interval, and what they are compared with."""
        decision = candidate.decision
        margin = 0.0 if self.require == "superior" else self.margin
        bound = f"-{margin:g}" if margin else "0"
        # the verdict's reason is about 0, and about a margin only where all topics agree
        why = reason(decision) if decision.constant or not margin else ""
        side = "significantly below" if self.require == "not-worse" else "not significantly above"
        if self.require != "not-worse" and decision.significant < 0:
            side = "significantly worse; required: significantly above"
        because = f" ({why})" if why else ""
        return f"{difference_phrase(decision)}, is {side} {bound}{because}"


def judge_gate(
    comparison: Comparison,
    measure: str,
    *,
    margin: float = 0.0,
    require: Requirement = "not-worse",
    missing: str | None = None,
    bounds: Ranges | None = None,
) -> Gate:
    """Return whether the candidates pass, by the decisions on their differences.

    A build that fails at every lower mean fails by chance half of the time: a gate closes where the
    topics show a loss, or where they do not show enough.

    A change that changes nothing passes, unless it must be superior.

    Parameters
    ----------
    comparison
        A comparison with a baseline; the other runs are the candidates.
    measure
        The measure that decides.
    margin
        A loss up to this does not matter.
    require
        What a candidate must fulfil; see `Gate`.
    missing, bounds
        "drop" leaves out topics that either run lacks. By default it raises if these are more than 10%, or
        if a candidate passes that fails with missing scores at their worst: within the range of the measure,
        of a measure that confir does not know within ``{measure: (low, high)}``.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.judge_gate(confir.compare_runs(scores, baseline="a"), "score").sentence()
    'gate open: by score, no candidate is significantly worse than a'
    """
    baseline, margin = check_gate(comparison, measure, margin, require)
    if missing is not None:
        as_choice("missing", missing, ("drop", "zero", "error", "worst"))
    m = comparison.measures.index(measure)
    cautions = check_coverage(comparison, measure, missing)
    decisions = [_decision(comparison, pair, m) for pair in range(len(comparison.first))]
    passing = passing_runs(GateEvidence.of(comparison), margin, require)[:, m].tolist()
    candidates = tuple(
        Candidate(decision.run, decision, passes)
        for decision, passes in zip(decisions, passing, strict=True)
    )
    gate = Gate(measure, baseline, require, margin, comparison.level, candidates, cautions=cautions)
    if not cautions or missing is not None or not any(one.passes for one in candidates):
        return gate
    worst = judge_gate(
        compare_at_worst(comparison, measure, bounds), measure, margin=margin, require=require
    )
    _check_worst(gate, worst)
    if gate.closed:
        return gate
    said = f"{cautions[0]}; with missing scores at their worst the gate decides alike"
    return replace(gate, cautions=(said,))


def check_coverage(comparison: Comparison, measure: str, missing: str | None) -> tuple[str, ...]:
    """Return which topics a gate leaves out, in a sentence; raise where they are too many. As `judge_gate`."""
    if missing == "worst":
        return (
            "missing scores count at their worst, so that the gate may close more often than 1 - level",
        )
    first, second = comparison.first, comparison.second
    lacking = pairs_lacking(comparison.scores, first, second, comparison.measures.index(measure))
    if not lacking.any():
        return ()
    topics = len(comparison.scores.topics)
    named = [
        f"{comparison.baseline} or {comparison.runs[run]} lacks {measure} on {number:,} of {topics:,} topics "
        f"({share_words(number / topics)})"
        for run, number in zip(second.tolist(), lacking.tolist(), strict=True)
        if number
    ]
    said = enumerate_names(named, 3)
    if missing is None and (lacking > MOST_MISSING * topics).any():
        raise InvalidValueError(
            f"{said}, more than {share_words(MOST_MISSING)}: the gate cannot decide; expected all scores, "
            "or --missing worst, zero or drop (missing=), which says how missing ones count"
        )
    return (f"{said}, left out",)


def _check_worst(gate: Gate, worst: Gate) -> None:
    """Raise where a candidate passes that fails with missing scores at their worst."""
    failing = {one.run: one for one in worst.candidates if not one.passes}
    for candidate in gate.candidates:
        if candidate.passes and candidate.run in failing:
            other = failing[candidate.run].decision
            raise InvalidValueError(
                f"{candidate.run} passes by {gate.measure} ({difference_phrase(candidate.decision)}), and fails "
                f"with missing scores at their worst ({difference_phrase(other)}): the gate cannot decide; "
                "expected all scores, or --missing worst, zero or drop (missing=), which says how missing "
                "ones count"
            )


class GateEvidence(NamedTuple):
    """What gates decide by, of all pairs and measures: arrays are pairs × measures.

    Attributes
    ----------
    means, estimates, adjustment
        Mean differences, these with the limits that verdicts rest on, and what adjusts p-values.
    verdict, significant
        Verdicts of the first test, and 1 or -1 where a run is significantly better or worse, else 0.
    level, margin
        Level of the intervals, and margin of equivalence if any.
    """

    means: MeanDifferences
    estimates: Estimates
    adjustment: Adjustment
    verdict: Words
    significant: Integers
    level: float
    margin: float | None

    @classmethod
    def of(cls, comparison: Comparison) -> GateEvidence:
        """Return what a comparison shows by its first test."""
        estimates, level = comparison.estimates, comparison.level
        test = comparison.direction[0], comparison.p_adjusted[0]
        significant = significant_directions(estimates, *test, level)
        shown = comparison.verdict[0], significant, level, comparison.margin
        return cls(comparison.means, estimates, comparison.adjustment, *shown)


def sides_of_bound(evidence: GateEvidence, bound: float) -> Integers:
    """Return 1 or -1 where a difference is significantly above or below a bound, else 0.

    By a t test of the difference from the bound, adjusted for all pairs as the verdicts are, and by
    the interval; where all topics show the same difference, by the exact sign-flip test. What shows
    that a difference is beyond 0 shows that it is beyond any bound on the other side of 0.
    The result is pairs × measures.
    """
    from scipy.special import stdtr

    means, estimates = evidence.means, evidence.estimates
    shifted = means.beyond(bound)
    apart = np.abs(shifted.difference) > np.maximum(means.step, TIE * abs(bound))
    p = 2.0 * stdtr(means.df, -np.abs(shifted.difference) / means.se)
    alone = np.where(means.constant, np.where(apart, same_sign_p(means.units), 1.0), p)
    beyond = np.where(means.difference * bound <= 0, means.self_normalised, 0.0)
    adjusted = evidence.adjustment.adjust(alone, shifted._replace(self_normalised=beyond))
    moved = estimates._replace(
        difference=shifted.difference, low=estimates.low - bound, high=estimates.high - bound
    )
    sides: Integers = significant_directions(
        moved, np.where(apart, np.sign(shifted.difference), 0), adjusted, evidence.level
    )
    return sides


def check_gate(
    comparison: Comparison, measure: str, margin: float, require: str
) -> tuple[str, float]:
    """Return baseline and margin of a gate; raise where it cannot be one. Parameters as above."""
    if not isinstance(comparison, Comparison):
        raise invalid("comparison", comparison, "what compare_runs returns")
    if comparison.baseline is None:
        raise InvalidValueError("a gate needs a baseline to compare the candidates with")
    as_choice("measure", measure, comparison.measures)
    as_choice("require", require, REQUIREMENTS, "requirement")
    number = isinstance(margin, Real) and not isinstance(margin, bool)
    if not number or not 0.0 <= margin <= sys.float_info.max:
        raise invalid("margin", margin, "a number of 0 or more")
    return comparison.baseline, float(margin)


def _decision(comparison: Comparison, pair: int, measure: int) -> Decision:
    """Return the decision on a candidate; raise where there is none."""
    decision = comparison.decision(Place(0, pair, measure))
    if not (decision.constant or decision.has_interval or comparison.by_flips):
        raise InvalidValueError(
            f"run {comparison.names(pair)[1]!r} has no interval by {comparison.measures[measure]}: "
            "the gate cannot decide; take another interval method, or more topics"
        )
    return decision


def passing_runs(evidence: GateEvidence, margin: float, require: Requirement) -> Booleans:
    """Return which runs pass by which measures: pairs × measures."""
    sides = sides_of_bound(evidence, -margin) if margin else evidence.significant
    equivalence = 0.0 if evidence.margin is None else evidence.margin
    verdict, significant = evidence.verdict, evidence.significant
    return passes(verdict, significant, sides, require, within=equivalence <= margin)


def passes(
    verdict: Any, significant: Any, side: Any, require: Requirement, *, within: bool
) -> Booleans:
    """Whether candidates pass, by their verdicts, by the sides of 0 and of -margin.

    Identical runs lose nothing, and equivalence within the margin shows that little is lost.
    """
    above: Booleans = np.greater(significant, 0)
    loses: Booleans = np.less(side, 0) & np.equal(verdict, WORSE)
    gains: Booleans = np.equal(verdict, IDENTICAL) | above | np.greater(side, 0)
    gains |= np.equal(verdict, EQUIVALENT) & within
    return {"superior": above, "not-worse": ~loses, "non-inferior": gains}[require]
