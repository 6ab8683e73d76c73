"""May a change go through? A gate that the intervals of the differences open or close."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from confir.errors import InvalidValueError, UnknownNameError
from confir.studies.comparison import Comparison
from confir.studies.verdicts import signed

Requirement = Literal["not-worse", "non-inferior", "superior"]
REQUIREMENTS: tuple[Requirement, ...] = get_args(Requirement)


class Candidate(NamedTuple):
    """A run at the gate: its difference from the baseline, the limits, and whether it passes.

    The limits are NaN where every topic shows the same difference.
    """

    run: str
    difference: float
    low: float
    high: float
    passes: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether candidates may replace the baseline, by one measure.

    Attributes
    ----------
    measure, baseline
        What is measured, and the run that the candidates are compared with.
    require
        "not-worse" closes where a candidate's whole interval lies below -margin, "non-inferior"
        where its lower limit does, "superior" where its lower limit is not above 0.
    margin, level
        The loss that does not matter, and the level of the intervals.
    candidates
        All runs but the baseline.
    """

    measure: str
    baseline: str
    require: Requirement
    margin: float
    level: float
    candidates: tuple[Candidate, ...]

    @property
    def closed(self) -> bool:
        """Whether any candidate fails."""
        return not all(candidate.passes for candidate in self.candidates)

    def sentence(self) -> str:
        """Return the outcome in one sentence that names every candidate that fails."""
        failing = [candidate for candidate in self.candidates if not candidate.passes]
        if not failing:
            return f"gate open: by {self.measure}, {self._describe_passing()} than {self.baseline}"
        reasons = "; ".join(
            f"{candidate.run}: {_limits_text(candidate, self.level)} {self._reason()}"
            for candidate in failing
        )
        return f"gate closed: by {self.measure} against {self.baseline}, {reasons}"

    def _describe_passing(self) -> str:
        margin = f"{self.margin:g} " if self.margin else ""
        if self.require == "superior":
            return "every candidate is shown to be better"
        if self.require == "non-inferior":
            return f"every candidate is shown to be {f'at most {margin}' if margin else 'no '}worse"
        return f"no candidate is shown to be {f'more than {margin}' if margin else ''}worse"

    def _reason(self) -> str:
        bound = f"-{self.margin:g}" if self.margin else "0"
        if self.require == "superior":
            return "does not lie above 0"
        if self.require == "non-inferior":
            return f"reaches below {bound}"
        return f"lies below {bound}"


def judge_gate(
    comparison: Comparison,
    measure: str,
    *,
    margin: float = 0.0,
    require: Requirement = "not-worse",
) -> Gate:
    """Return whether the candidates pass, by the intervals of their differences.

    Where all topics show the same difference, there is no interval, and that difference decides: a
    change that changes nothing passes, unless it must be superior.

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
    """
    if comparison.baseline is None:
        raise InvalidValueError("a gate needs a baseline to compare the candidates with")
    if measure not in comparison.measures:
        raise UnknownNameError("measure", measure, comparison.measures)
    if require not in REQUIREMENTS:
        raise UnknownNameError("requirement", require, REQUIREMENTS)
    if not 0.0 <= margin < math.inf:
        raise InvalidValueError(f"margin is {margin}; expected a number of 0 or more")
    m = comparison.measures.index(measure)
    return Gate(
        measure,
        comparison.baseline,
        require,
        margin,
        comparison.level,
        tuple(
            _judge(comparison, pair, m, margin, require) for pair in range(len(comparison.first))
        ),
    )


def _judge(
    comparison: Comparison, pair: int, measure: int, margin: float, require: Requirement
) -> Candidate:
    run = comparison.names(pair)[1]
    difference = float(comparison.difference[pair, measure])
    low, high = float(comparison.low[pair, measure]), float(comparison.high[pair, measure])
    if math.isnan(low) or math.isnan(high):
        if not math.isnan(comparison.se[pair, measure]) or comparison.topics[pair, measure] < 2:
            raise InvalidValueError(
                f"run {run!r} has no interval by {comparison.measures[measure]}: the gate cannot "
                "decide; take another interval method, or more topics"
            )
        lowest = highest = difference
    else:
        lowest, highest = low, high
    passes = {
        "not-worse": not highest < -margin,
        "non-inferior": not lowest < -margin,
        "superior": lowest > 0,
    }[require]
    return Candidate(run, difference, low, high, passes)


def _limits_text(candidate: Candidate, level: float) -> str:
    if math.isnan(candidate.low):
        return f"difference {signed(candidate.difference)}, the same on every topic,"
    return (
        f"difference {signed(candidate.difference)}, {100 * level:g} % interval "
        f"[{signed(candidate.low)}, {signed(candidate.high)}]"
    )
