"""Goals of plans: what is asked for, and the answer for each column of a pilot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_real
from confir.arrays import Floats, Integers
from confir.data.scores import Scores
from confir.defaults import NO_FAMILY, OBSERVED
from confir.errors import InvalidValueError
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.pairs.power import Criterion, fewest_topics

# What topics are needed for, and what a number of topics gives.
HALF_WIDTH, POWER = "half width", "power"
DETECTABLE, ACHIEVED_POWER = "detectable difference", "achieved power"
ACHIEVED_WIDTH = "achieved half width"
# Goals whose answer is a number of topics, and goals about the power of a test.
NEEDED, OF_POWER = (HALF_WIDTH, POWER), (POWER, ACHIEVED_POWER)

# Half widths of means, and differences, that topics are planned for where no goal is given.
USUAL_WIDTHS = (0.01, 0.02, 0.05)
USUAL_DIFFERENCES = (0.01, 0.02, 0.03, 0.05)


class Terms(NamedTuple):
    """What a plan takes as given, whatever its goal: arguments of `plan_topics`, and its family."""

    baseline: str | None
    family: str
    power: float
    level: float
    assurance: float | None
    judgements_per_topic: int | None


def choose_goal(
    scores: Scores | ScoreSummary,
    terms: Terms,
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
    if half_width is not None:
        as_real("half width", half_width, above=0.0)
        return HALF_WIDTH
    if difference is not None and not (isinstance(difference, str) and difference == OBSERVED):
        size = as_real("difference", difference, above=0.0, like=f", or {OBSERVED!r}")
        if size > 1.0:
            for measure, bounded in zip(scores.measures, bounded_measures(scores), strict=True):
                if bounded:
                    raise InvalidValueError(
                        f"difference is {size:g}, but two means by {measure}, which lies in [0, 1], "
                        "cannot differ by more than 1; expected a smaller difference"
                    )
    if terms.baseline is not None:
        if difference is not None:
            return POWER if topics is None else ACHIEVED_POWER
        return DETECTABLE
    if difference is not None or (topics is None and terms.family == NO_FAMILY):
        raise InvalidValueError(
            "a difference needs a baseline to differ from; expected one (--baseline RUN), or the half "
            "width of a mean"
        )
    return ACHIEVED_WIDTH


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

    def answer(
        self,
        sd: Floats,
        at_hand: Integers,
        ends: Iterable[Floats],
        reach: Floats | None = None,
    ) -> dict[str, Any]:
        """Return topics, difference, range of the answer and half width of each column.

        Parameters
        ----------
        sd, at_hand
            The standard deviations planned with; the topics given, for goals that do not ask for them.
        ends
            The limits of the standard deviations, which give the range.
        reach
            In their place, half widths of the intervals of observed differences.
        """
        found = self.solve(sd, at_hand)
        if reach is None:
            low, high = (self.solve(end, at_hand) for end in ends)
        else:  # the interval may contain 0
            sizes = self.size + reach, np.maximum(self.size - reach, 0.0)
            low, high = (replace(self, size=size).solve(sd, at_hand) for size in sizes)
        if self.goal == ACHIEVED_POWER:  # it falls as the sd rises, all other answers rise with it
            low, high = np.fmin(low, high), np.fmax(low, high)
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
