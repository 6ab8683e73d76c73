"""Goals of a plan: what topics are needed for, and what a budget of topics gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arguments import as_choice, as_integer, as_real
from confir.arrays import Floats, Integers
from confir.data.scores import Scores
from confir.defaults import BASELINE, BEST, FAMILIES, NO_FAMILY, OBSERVED
from confir.errors import InvalidValueError
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.studies.planning.power import Criterion, fewest_topics

# What topics are needed for, and what a number of topics gives.
HALF_WIDTH, POWER = "half width", "power"
DETECTABLE, ACHIEVED_POWER = "detectable difference", "achieved power"
ACHIEVED_WIDTH = "achieved half width"
# Goals whose answer is a number of topics, and goals about the power of a test.
NEEDED, OF_POWER = (HALF_WIDTH, POWER), (POWER, ACHIEVED_POWER)

# Half widths of means, and differences, that topics are planned for where no goal is given.
USUAL_WIDTHS = (0.01, 0.02, 0.05)
USUAL_DIFFERENCES = (0.01, 0.02, 0.03, 0.05)


def planned_family(family: str | None, baseline: str | None, runs: int) -> str:
    """Return the family planned for: by default that in which the runs will be compared.

    Several runs against a baseline are a family; a single one, or means, are none.
    """
    if family is None:
        return BASELINE if baseline is not None and runs > 2 else NO_FAMILY
    return as_choice("family", family, FAMILIES)


def choose_goal(
    baseline: str | None,
    family: str,
    half_width: float | None,
    difference: float | str | None,
    topics: int | None,
) -> str:
    """Return the one goal that is asked for; by default what the pilot's topics can detect."""
    if half_width is not None and (difference is not None or topics is not None):
        raise InvalidValueError(
            "several goals are given; expected one of half width, difference and topics, or topics "
            "with a difference"
        )
    check_family(baseline, family, difference)
    observed = isinstance(difference, str) and difference == OBSERVED
    if difference is not None and not observed:
        as_real("difference", difference, above=0.0, like=f", or {OBSERVED!r}")
    if half_width is not None:
        as_real("half width", half_width, above=0.0)
        return HALF_WIDTH
    if baseline is not None:
        if difference is not None:
            return POWER if topics is None else ACHIEVED_POWER
        return DETECTABLE
    if difference is not None or (topics is None and family == NO_FAMILY):
        raise InvalidValueError(
            "a difference needs a baseline to differ from; without one only a half width can be "
            "planned"
        )
    return ACHIEVED_WIDTH


def check_family(baseline: str | None, family: str, difference: float | str | None) -> None:
    """Raise where a family does not go with what is planned."""
    if family == BASELINE and baseline is None:
        raise InvalidValueError("family 'baseline' needs a baseline")
    if family == BEST and (baseline is not None or difference is not None):
        raise InvalidValueError(
            "family 'best' takes no baseline and no difference: it is for a half width, or for what "
            "a number of topics gives"
        )


def topics_of_budget(
    topics: int | None, judgements: int | None, judgements_per_topic: int | None
) -> int | None:
    """Return the topics of a budget that is given in topics, or in judgements."""
    if judgements_per_topic is not None:
        as_integer("judgements per topic", judgements_per_topic)
    if topics is not None:
        as_integer("topics", topics, lowest=2)
    if judgements is None:
        return topics
    as_integer("judgements", judgements)
    if topics is not None or judgements_per_topic is None:
        raise InvalidValueError(
            "judgements are a budget in place of topics, and need judgements per topic"
        )
    if judgements < 2 * judgements_per_topic:
        raise InvalidValueError(
            f"judgements is {judgements}, fewer than 2 topics with {judgements_per_topic} each take"
        )
    return judgements // judgements_per_topic


@dataclass(frozen=True, slots=True)
class GoalRule:
    """What a number of topics gives, and how many a goal takes, for columns of a pilot.

    Attributes
    ----------
    goal, size, power
        The goal; the half width or difference (NaN where none) of each column, and the power, that
        it is about.
    criterion
        How means and differences will be tested.
    largest
        The largest difference that the measure of each column allows.
    factor
        Half widths that the goal's width takes. A run in the confidence set of the best is at most
        one half width below each other run as observed, so at most two with its error: 2 for the
        best set, 1 for all else.
    """

    goal: str
    size: Floats
    power: float
    criterion: Criterion
    largest: Floats
    factor: float = 1.0

    def value(self, sd: Floats, topics: Integers) -> Floats:
        """Return what the curve shows: half width, power or detectable difference."""
        if self.goal in (HALF_WIDTH, ACHIEVED_WIDTH):
            return self.factor * self.criterion.half_width(sd, topics)
        if self.goal in OF_POWER:
            return self.criterion.power_function(sd, topics)(self.size)
        found = self.criterion.detectable(sd, topics, self.power)
        return np.where(found > self.largest, np.nan, found)

    def solve(self, sd: Floats, topics: Integers) -> Floats:
        """Return the answer: the topics that the goal needs, or what the topics given yield."""
        if self.goal == HALF_WIDTH:
            return fewest_topics(lambda n: self.value(sd, n) <= self.size, len(sd))
        if self.goal == POWER:
            return fewest_topics(lambda n: self.value(sd, n) >= self.power, len(sd))
        return self.value(sd, topics)

    def answer(self, sd: Floats, ends: Sequence[Floats], at_hand: Integers) -> dict[str, Floats]:
        """Return topics, difference, range of the answer and half width of each column.

        Parameters
        ----------
        sd, ends
            The standard deviations planned with, and the ends of their range.
        at_hand
            The topics given, for goals that do not ask for them.
        """
        found, low, high = (self.solve(one, at_hand) for one in (sd, *ends))
        topics = found if self.goal in NEEDED else at_hand.astype(np.float64)
        return {
            "topics": topics,
            "difference": self.size if self.goal in (HALF_WIDTH, *OF_POWER) else found,
            "low": low,
            "high": high,
            "half_width": at_topics(topics, lambda n: self.criterion.half_width(sd, n)),
        }


def at_topics(topics: Floats, value: Callable[[Integers], Floats]) -> Floats:
    """Return what numbers of topics give; NaN where there is none."""
    known = ~np.isnan(topics)
    return np.where(known, value(np.where(known, topics, 2.0).astype(np.int64)), np.nan)


def largest_difference(scores: Scores | ScoreSummary, columns: int) -> Floats:
    """Return the largest difference that the measure of each column allows."""
    largest = np.where(bounded_measures(scores), 1.0, np.inf)
    return np.tile(largest, columns // len(scores.measures))


def whole_numbers(numbers: Floats) -> Any:
    """Return numbers of topics as integers; NaN stays NaN."""
    whole: Any = numbers.astype(object)
    known = ~np.isnan(numbers)
    whole[known] = numbers[known].astype(np.int64)
    return whole
