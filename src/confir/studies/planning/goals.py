"""What a number of topics gives: half width, power, detectable difference; and how many a goal takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_real
from confir.arrays import Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.defaults import NO_FAMILY, OBSERVED
from confir.errors import InvalidValueError
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.resampling.pair_draws import BorrowedVariance

# What topics are needed for, and what a number of topics gives.
HALF_WIDTH, POWER = "half width", "power"
DETECTABLE, ACHIEVED_POWER = "detectable difference", "achieved power"
ACHIEVED_WIDTH = "achieved half width"
# Goals whose answer is a number of topics, and goals about the power of a test.
NEEDED, OF_POWER = (HALF_WIDTH, POWER), (POWER, ACHIEVED_POWER)

# Half widths of means, and differences, that topics are planned for where no goal is given.
USUAL_WIDTHS = (0.01, 0.02, 0.05)
USUAL_DIFFERENCES = (0.01, 0.02, 0.03, 0.05)

# More topics than anybody will ever judge: the search ends there.
MOST_TOPICS = 2**30

# Halvings in the search for a difference: finer than double precision.
_HALVINGS = 60

# Probabilities at which the distribution of a sample's variance is evaluated, and their weights.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_PROBABILITIES, _PROBABILITY_WEIGHTS = (1.0 + _NODES) / 2.0, _WEIGHTS / 2.0


class Terms(NamedTuple):
    """What a plan takes as given, whatever its goal: arguments of `plan_topics`, and its family."""

    baseline: str | None
    family: str
    power: float
    level: float
    assurance: float | None
    judgements_per_topic: int | None


class Freedom(NamedTuple):
    """Degrees of freedom of the standard error of columns.

    Attributes
    ----------
    cluster_size
        Topics per independent unit: 1, or by a design those of a cluster.
    taken
        Degrees that estimated numbers take: 1 for a mean, 2 for a mean and a weight of the model.
    """

    cluster_size: float | Floats = 1.0
    taken: float | Floats = 1.0

    def of(self, columns: Integers) -> Freedom:
        """Return the degrees of freedom of some columns."""
        return Freedom(*(one[columns] if isinstance(one, np.ndarray) else one for one in self))


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
class Criterion:
    """How a mean or a difference will be tested, by the rule of `compare_runs`.

    Attributes
    ----------
    level
        Two-sided level of the t quantile that is the critical value, of each column or of all.
    comparisons
        Number of comparisons in the family, m.
    median
        Median variance of the family's differences over topics, M, of each column; 0 for none.
    certain
        The self-normalised sum from which on the sign of a difference is significant by itself.
    freedom
        Degrees of freedom of each column's standard error.
    fixed
        Variance of each column's mean that more topics do not reduce.
    """

    level: float | Floats
    comparisons: int = 1
    median: float | Floats = 0.0
    certain: float = math.inf
    freedom: Freedom = Freedom()  # noqa: RUF009 - immutable
    fixed: float | Floats = 0.0

    def critical_value(self, topics: Integers) -> tuple[Floats, Floats]:
        """Return the critical value with a number of topics, and the degrees of freedom, at least 1."""
        from scipy.special import stdtrit

        df = np.maximum(topics / self.freedom.cluster_size - self.freedom.taken, 1.0)
        return np.asarray(-stdtrit(df, (1.0 - self.level) / 2.0)), np.asarray(df)

    def total_variance(self, sd: Floats, topics: Integers) -> Floats:
        """Return the variance over topics with what it borrows from the family.

        What topics do not reduce counts as if it were theirs: n times as much.
        """
        units = np.maximum(topics / self.freedom.cluster_size, 1.0)
        borrowed = BorrowedVariance(self.comparisons, 1.0).of(units) * self.median
        return np.asarray(np.square(sd) + borrowed + topics * self.fixed)

    def of(self, columns: Integers) -> Criterion:
        """Return how some columns will be tested."""
        level, median, fixed = (
            one[columns] if isinstance(one, np.ndarray) else one
            for one in (self.level, self.median, self.fixed)
        )
        freedom = self.freedom.of(columns)
        return replace(self, level=level, median=median, fixed=fixed, freedom=freedom)

    def half_width(self, sd: Floats, topics: Integers) -> Floats:
        """Return the half width of the interval: ``c·√((sd² + u·M)/n)``."""
        critical, _ = self.critical_value(topics)
        return critical * np.sqrt(self.total_variance(sd, topics) / topics)

    def power_function(self, sd: Floats, topics: Integers) -> Callable[[float | Floats], Floats]:
        """Return the function from true differences to the power, for normal differences over topics.

        By the noncentral t for a single comparison. In a family the sample's variance is averaged
        over, as the borrowed one does not vary with it. What does not depend on the difference is
        computed once for all calls.
        """
        critical, df = self.critical_value(topics)
        sd = np.sqrt(np.square(sd) + topics * self.fixed)
        if self.comparisons < 2:
            return partial(_power_of_t, sd, topics, df, critical)
        from scipy.special import chdtri

        shape = np.broadcast_shapes(np.shape(sd), np.shape(df))
        column = _PROBABILITIES.reshape(-1, *[1] * len(shape))
        spread = sd * np.sqrt(chdtri(df, column) / df)  # of samples
        units = topics / self.freedom.cluster_size
        borrowed = self.total_variance(np.zeros(1), topics) - topics * self.fixed
        needed = critical * np.sqrt(np.square(spread) + borrowed)
        needed = np.minimum(needed, spread * _t_of_sums(self.certain, units))
        return partial(_power_in_family, sd, topics, needed)

    def detectable(self, sd: Floats, topics: Integers, power: float) -> Floats:
        """Return the smallest true difference that is detected with the given power."""
        error = np.sqrt(self.total_variance(sd, topics) / topics)
        known = np.isfinite(error)
        power_at = self.power_function(sd, topics)
        low, high = np.zeros_like(error), np.where(known, error, 0.0)
        while (short := known & (power_at(high) < power)).any():
            high = np.where(short, 2.0 * high, high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            enough = power_at(middle) >= power
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(known, high, np.nan)


def _power_of_t(
    sd: Floats, topics: Integers, df: Floats, critical: Floats, difference: float | Floats
) -> Floats:
    """Return the power of a single comparison, by the noncentral t."""
    from scipy.special import nctdtr

    with np.errstate(divide="ignore"):
        shift = difference * np.sqrt(topics) / sd
    # nctdtr gives NaN for probabilities too small for a double
    missed = np.nan_to_num(nctdtr(df, shift, critical))
    wrong_side = np.nan_to_num(nctdtr(df, shift, -critical))
    return np.where(np.isnan(shift), np.nan, 1.0 - missed + wrong_side)


def _power_in_family(
    sd: Floats, topics: Integers, needed: Floats, difference: float | Floats
) -> Floats:
    """Return the power, given the differences × √n that samples of each variance need."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        shift = difference * np.sqrt(topics)
        beyond = ndtr((shift - needed) / sd) + ndtr((-shift - needed) / sd)
    power: Floats = np.tensordot(_PROBABILITY_WEIGHTS, beyond, axes=1)
    return power


def _t_of_sums(certain: float, units: Floats) -> Floats:
    """Return the t from which on the self-normalised sum is large enough; ∞ where it never is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = certain * np.sqrt((units - 1.0) / (units - certain**2))
    return np.where(units > certain**2, t, np.inf)


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


def fewest_topics(reaches: Callable[[Integers], Booleans], size: int) -> Floats:
    """Return the smallest number of topics, 2 or more, that reaches a goal; NaN where none does."""
    short, enough = np.ones(size, np.int64), np.full(size, 2, np.int64)
    found = reaches(enough)
    while (~found & (enough < MOST_TOPICS)).any():
        short, enough = np.where(found, short, enough), np.where(found, enough, 2 * enough)
        found = reaches(enough)
    while (enough - short > 1).any():
        middle = (short + enough) // 2
        reached = reaches(middle) & (middle > 1)
        short, enough = np.where(reached, short, middle), np.where(reached, middle, enough)
    return np.where(found, enough, np.nan)


def at_topics(topics: Floats, value: Callable[[Integers], Floats]) -> Floats:
    """Return what numbers of topics give; NaN where there is none."""
    known = ~np.isnan(topics)
    return np.where(known, value(np.where(known, topics, 2.0).astype(np.int64)), np.nan)


def whole_numbers(numbers: Floats) -> Any:
    """Return numbers of topics as integers; NaN stays NaN."""
    whole: Any = numbers.astype(object)
    known = ~np.isnan(numbers)
    whole[known] = numbers[known].astype(np.int64)
    return whole
