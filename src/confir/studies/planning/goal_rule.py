"""Topics that a goal takes, and what a number of topics gives, for the columns of a pilot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.scores import Scores
from confir.measures.bounded_measures import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.studies.planning.goals import ACHIEVED_POWER, ACHIEVED_WIDTH, HALF_WIDTH, POWER
from confir.studies.planning.power import Criterion, fewest_topics


@dataclass(frozen=True, slots=True)
class GoalRule:
    """What a number of topics gives, and how many a goal takes, for columns of a pilot.

    Attributes
    ----------
    goal, half_width, difference, power
        The goal; the half width, differences (NaN where none) and power that it is about.
    criterion
        How means and differences will be judged.
    largest
        The largest difference that the measure of each column allows.
    factor
        Half widths that the goal's width takes. A run in the confidence set of the best is at most
        one half width below each other run as observed, so at most two with its error: 2 for the
        best set, 1 for all else.
    """

    goal: str
    half_width: float | None
    difference: Floats
    power: float
    criterion: Criterion
    largest: Floats
    factor: float

    def value(self, sd: Floats, topics: Integers) -> Floats:
        """Return what the curve shows: half width, power or detectable difference."""
        if self.goal in (HALF_WIDTH, ACHIEVED_WIDTH):
            return self.factor * self.criterion.half_width(sd, topics)
        if self.goal in (POWER, ACHIEVED_POWER):
            return self.criterion.power(sd, topics, self.difference)
        found = self.criterion.detectable(sd, topics, self.power)
        return np.where(found > self.largest, np.nan, found)

    def solve(self, sd: Floats, topics: Integers) -> Floats:
        """Return the answer: the topics that the goal needs, or what the topics given yield."""
        if self.goal == HALF_WIDTH and self.half_width is not None:
            width = self.half_width
            return fewest_topics(lambda n: self.value(sd, n) <= width, len(sd))
        if self.goal == POWER:
            return fewest_topics(lambda n: self.value(sd, n) >= self.power, len(sd))
        return self.value(sd, topics)

    def over_differences(
        self, sd: Floats, topics: Integers, least: Floats, most: Floats
    ) -> tuple[Floats, Floats]:
        """Return the answers at the largest and the smallest difference of an interval."""
        first = replace(self, difference=most).solve(sd, topics)
        return first, replace(self, difference=least).solve(sd, topics)

    def aim(self, answer: Floats) -> Floats:
        """Return the half widths or differences that the plan is about."""
        if self.goal == HALF_WIDTH and self.half_width is not None:
            return np.full_like(answer, self.half_width)
        return self.difference if self.goal in (POWER, ACHIEVED_POWER) else answer


def at_topics(topics: Floats, value: Callable[[Integers], Floats]) -> Floats:
    """Return what numbers of topics give; NaN where there is none."""
    known = ~np.isnan(topics)
    return np.where(known, value(np.where(known, topics, 2.0).astype(np.int64)), np.nan)


def largest_difference(scores: Scores | ScoreSummary, columns: int) -> Floats:
    """Return the largest difference that the measure of each column allows."""
    largest = np.where(bounded_measures(scores), 1.0, np.inf)
    return np.tile(largest, columns // len(scores.measures))
