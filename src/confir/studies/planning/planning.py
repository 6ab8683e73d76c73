"""How many topics are needed? Planning by Student's t, from the variance of pilot scores."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from confir.arguments import as_integer, as_level, as_real
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL
from confir.errors import DegenerateSampleWarning, InvalidValueError, enumerate_names
from confir.intervals.interval import tail_probabilities
from confir.intervals.quantiles import t_quantile
from confir.measures.bounds import bounded_measures
from confir.measures.evaluation import as_scores
from confir.resampling.topics import TopicSample, topic_sample

HALF_WIDTH, POWER, DETECTABLE = "half width", "power", "detectable difference"

DEFAULT_POWER = 0.8

# More topics than anybody will ever judge: the search ends there.
_MOST_TOPICS = 2**30

# Halvings in the search for a difference: finer than double precision.
_HALVINGS = 60

# The range of a standard deviation needs more topics than these.
_TOO_FEW_FOR_RANGE = 4

# Numbers of topics at which the curve is drawn.
_CURVE_POINTS = 60


@result
class Plan(Result):
    """Topics that a goal needs, or the difference that topics can detect: runs × measures.

    Attributes
    ----------
    runs, measures, baseline
        Runs to be measured; with a baseline, their differences from it.
    goal
        "half width" of an interval, "power" of a paired t test, or "detectable difference".
    topics
        Number of topics: the answer to the first two goals, given for the third. NaN where none
        is enough.
    difference
        Half width or difference: given for the first two goals, the answer to the third. NaN where
        no difference that the measure allows is large enough.
    low, high
        Range of the answer, as the pilot's standard deviation may be off by its sampling error;
        NaN for fewer than 5 topics, and where the measure allows no such difference.
    sd, pilot
        The pilot's standard deviation over topics, and its number of topics.
    power, level
        Power of the test (NaN for a half width); confidence level.
    curve_topics, curve
        Numbers of topics, and for each the half width, the power or the detectable difference.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str | None = constant()
    goal: str = constant()
    topics: Floats = over("run", "measure")
    difference: Floats = over("run", "measure")
    low: Floats = over("run", "measure")
    high: Floats = over("run", "measure")
    sd: Floats = over("run", "measure")
    pilot: Integers = over("run", "measure")
    power: float = constant()
    level: float = constant()
    curve_topics: Integers
    curve: Floats = over("", "run", "measure")

    record_columns = (
        "measure",
        "run",
        "baseline",
        "goal",
        "topics",
        "power",
        "difference",
        "low",
        "high",
    )
    row_order = ("measure", "run")

    def __repr__(self) -> str:
        return f"Plan({self.sentences()[0]})" if self.topics.size == 1 else Result.__repr__(self)

    def derived(self) -> Iterator[Variable]:
        """Yield the topics as whole numbers."""
        topics = [[_whole(number) for number in row] for row in self.topics.tolist()]
        yield Variable("topics", ("run", "measure"), topics)

    def curve_records(self) -> list[Record]:
        """Return a record (measure, run, topics, value) per point of the curve."""
        return [
            {"measure": measure, "run": run, "topics": topics, "value": value}
            for m, measure in enumerate(self.measures)
            for r, run in enumerate(self.runs)
            for topics, value in zip(
                self.curve_topics.tolist(), self.curve[:, r, m].tolist(), strict=True
            )
            if not math.isnan(value)
        ]

    def sentences(self) -> list[str]:
        """Return a sentence per measure and run, in the order of the records."""
        sds = self.sd.T.reshape(-1).tolist()
        return [
            self._sentence(record, sd) for record, sd in zip(self.to_records(), sds, strict=True)
        ]

    def _sentence(self, record: Record, sd: float) -> str:
        against = f" against {self.baseline}" if self.baseline is not None else ""
        what = f"{record['run']}{against} by {record['measure']}"
        if math.isnan(sd):
            return f"{what}: nothing can be planned"
        form = ".4f" if self.goal == DETECTABLE else ".0f"
        most = f"to {record['high']:{form}}" if not math.isnan(record["high"]) else "or more"
        allowed = f" (the pilot allows {record['low']:{form}} {most})"
        span = "" if math.isnan(record["low"]) else allowed
        topics = f"{record['topics']:.0f} topics"
        if self.goal == DETECTABLE and math.isnan(record["difference"]):
            return (
                f"{what}: with {topics}, no difference in [0, 1] is large enough to be detected with "
                f"power {self.power:g}"
            )
        if self.goal == DETECTABLE:
            return (
                f"{what}: with {topics}, a true difference of {record['difference']:.4f}{span} is "
                f"detected with power {self.power:g}"
            )
        needed = f"{topics}{span}"
        if math.isnan(record["topics"]):
            needed = "more topics than can be judged"
        if self.goal == HALF_WIDTH:
            interval = f"{100 * self.level:g} % interval of ±{record['difference']:g}"
            return f"{what}: {needed} for a {interval}"
        return (
            f"{what}: {needed} to detect a true difference of {record['difference']:g} with "
            f"power {self.power:g}"
        )


def plan_topics(
    scores: ScoresSource,
    *,
    baseline: str | None = None,
    half_width: float | None = None,
    difference: float | None = None,
    topics: int | None = None,
    power: float = DEFAULT_POWER,
    level: float = LEVEL,
) -> Plan:
    """Return the topics that a goal needs, or the difference that a number of topics can detect.

    Parameters
    ----------
    scores
        Pilot scores of the runs, or of runs like them; anything that `as_scores` takes.
    baseline
        The run that the others are compared with; needed for power.
    half_width
        Goal: an interval no wider than ± this, of the mean or, with a baseline, the difference.
    difference
        Goal: a true difference of this size is shown with the given power.
    topics
        Goal: the smallest difference that this many topics detect with the given power; by default
        the topics of the pilot.
    power, level
        Power of the test; confidence level, of the range too.
    """
    scores = as_scores(scores)
    goal = _choose_goal(baseline, half_width, difference, topics)
    level = as_level(level)
    as_real("power", power, above=0.0, below=1.0, like=", such as 0.8")
    sample = topic_sample(
        scores, statistic="mean" if baseline is None else "difference", baseline=baseline
    )
    if sample.topics < 2:
        raise InvalidValueError("there is one topic; a pilot needs at least 2")
    largest = _largest_difference(scores, sample, difference)
    pilot = _measure_pilot(sample, level)
    at_hand = pilot.topics if topics is None else np.full_like(pilot.topics, topics)
    value, solve = _rule(goal, half_width, difference, at_hand, power, level, largest)
    answer, low, high = (solve(sd) for sd in (pilot.sd, pilot.sd_low, pilot.sd_high))
    needed = at_hand.astype(np.float64) if goal == DETECTABLE else answer
    given = half_width if goal == HALF_WIDTH else difference
    grid = _curve_topics(needed, pilot.topics)
    return Plan(
        runs=tuple(run for run in scores.runs if run != baseline),
        measures=scores.measures,
        baseline=baseline,
        goal=goal,
        topics=needed.reshape(sample.shape),
        difference=(answer if given is None else np.full_like(answer, given)).reshape(sample.shape),
        low=low.reshape(sample.shape),
        high=high.reshape(sample.shape),
        sd=pilot.sd.reshape(sample.shape),
        pilot=pilot.topics.reshape(sample.shape),
        power=math.nan if goal == HALF_WIDTH else power,
        level=level,
        curve_topics=grid,
        curve=value(pilot.sd, grid[:, None]).reshape(len(grid), *sample.shape),
    )


def _whole(number: float) -> int | float:
    """Return a number of topics; NaN stays NaN."""
    return number if math.isnan(number) else int(number)


def half_width_at(sd: Floats, topics: Integers, level: float) -> Floats:
    """Return the half width of the t interval: ``t_{n-1} · sd / √n``."""
    width: Floats = t_quantile(_degrees(topics), level) * sd / np.sqrt(topics)
    return width


def power_at(sd: Floats, topics: Integers, difference: float, level: float) -> Floats:
    """Return the power of the two-sided paired t test at a true difference."""
    with np.errstate(divide="ignore"):
        return _power(topics, difference * np.sqrt(topics) / sd, level)


def detectable_at(sd: Floats, topics: Integers, power: float, level: float) -> Floats:
    """Return the smallest true difference that is detected with the given power."""
    shift: Floats = np.zeros(np.shape(topics))
    reached = np.full(np.shape(topics), 1.0)
    while (_power(topics, reached, level) < power).any():
        reached = np.where(_power(topics, reached, level) < power, 2.0 * reached, reached)
    for _ in range(_HALVINGS):
        middle = (shift + reached) / 2.0
        enough = _power(topics, middle, level) >= power
        shift, reached = np.where(enough, shift, middle), np.where(enough, middle, reached)
    difference: Floats = reached * sd / np.sqrt(topics)
    return difference


def _power(topics: Integers, shift: Floats, level: float) -> Floats:
    """Return the power at a true difference of ``shift`` standard errors, by the noncentral t."""
    from scipy.special import nctdtr

    df = _degrees(topics)
    critical = t_quantile(df, level)
    # nctdtr gives NaN for probabilities too small for a double
    missed = np.nan_to_num(nctdtr(df, shift, critical))
    wrong_side = np.nan_to_num(nctdtr(df, shift, -critical))
    power: Floats = np.where(np.isnan(shift), np.nan, 1.0 - missed + wrong_side)
    return power


def _degrees(topics: Integers) -> Floats:
    """Return the degrees of freedom of the standard error."""
    return topics.astype(np.float64) - 1.0


def _fewest_topics(reaches: Callable[[Integers], Booleans], size: int) -> Floats:
    """Return the smallest number of topics, 2 or more, that reaches a goal; NaN where none does."""
    short, enough = np.ones(size, np.int64), np.full(size, 2, np.int64)
    while ((~reaches(enough)) & (enough < _MOST_TOPICS)).any():
        reached = reaches(enough)
        short, enough = np.where(reached, short, enough), np.where(reached, enough, 2 * enough)
    found = reaches(enough)
    while (enough - short > 1).any():
        middle = (short + enough) // 2
        reached = reaches(middle) & (middle > 1)
        short, enough = np.where(reached, short, middle), np.where(reached, middle, enough)
    return np.where(found, enough, np.nan)


class _Pilot(NamedTuple):
    """What a pilot says about each column: standard deviation, its range, number of topics."""

    sd: Floats
    sd_low: Floats
    sd_high: Floats
    topics: Integers


Value = Callable[[Floats, Integers], Floats]


def _choose_goal(
    baseline: str | None, half_width: float | None, difference: float | None, topics: int | None
) -> str:
    """Return the one goal that is asked for; by default what the pilot's topics can detect."""
    given = [
        goal
        for goal, value in ((HALF_WIDTH, half_width), (POWER, difference), (DETECTABLE, topics))
        if value is not None
    ]
    if len(given) > 1:
        raise InvalidValueError(
            "several goals are given; expected one of half width, difference and topics"
        )
    goal = given[0] if given else DETECTABLE
    if goal != HALF_WIDTH and baseline is None:
        raise InvalidValueError(
            "a difference needs a baseline to differ from; without one only a half width can be "
            "planned"
        )
    for name, value in (("half width", half_width), ("difference", difference)):
        if value is not None:
            as_real(name, value, above=0.0)
    if topics is not None:
        as_integer("topics", topics, lowest=2)
    return goal


def _rule(
    goal: str,
    half_width: float | None,
    difference: float | None,
    topics: Integers,
    power: float,
    level: float,
    largest: Floats,
) -> tuple[Value, Callable[[Floats], Floats]]:
    """Return what the curve shows at a number of topics, and how the goal is solved."""
    if goal == HALF_WIDTH and half_width is not None:
        width = half_width
        return (
            lambda sd, n: half_width_at(sd, n, level),
            lambda sd: _fewest_topics(lambda n: half_width_at(sd, n, level) <= width, len(sd)),
        )
    if goal == POWER and difference is not None:
        step = difference
        return (
            lambda sd, n: power_at(sd, n, step, level),
            lambda sd: _fewest_topics(lambda n: power_at(sd, n, step, level) >= power, len(sd)),
        )
    return (
        lambda sd, n: _reachable(detectable_at(sd, n, power, level), largest),
        lambda sd: _reachable(detectable_at(sd, topics, power, level), largest),
    )


def _largest_difference(scores: Scores, sample: TopicSample, difference: float | None) -> Floats:
    """Return the largest difference that the measure of each column allows; raise beyond it."""
    largest = np.where(bounded_measures(scores), 1.0, np.inf)
    for place in np.flatnonzero(largest < (difference or 0.0))[:1]:
        raise InvalidValueError(
            f"difference is {difference:g}, but two means by {scores.measures[place]}, which lies "
            "in [0, 1], cannot differ by more than 1; expected a smaller difference"
        )
    return np.tile(largest, sample.columns // len(scores.measures))


def _reachable(difference: Floats, largest: Floats) -> Floats:
    """Return differences that can be; NaN for those beyond what the measure allows."""
    return np.where(difference > largest, np.nan, difference)


def _measure_pilot(sample: TopicSample, level: float) -> _Pilot:
    """Return the standard deviations over topics with their limits; warn where there are none."""
    distribution = sample.distribution(slice(None), None, ("se",))
    root = np.sqrt(distribution.count)
    sd = np.where(distribution.degenerate, np.nan, distribution.require("se") * root)
    samples = zip(distribution.require("sample").T, sd.tolist(), strict=True)
    limits = [_spread_limits(column[~np.isnan(column)], one, level) for column, one in samples]
    low, high = np.array(limits).T
    few = distribution.count < 2
    for columns, cause in (
        (np.isnan(sd) & few, "the pilot has fewer than two scores"),
        (np.isnan(sd) & ~few, "the pilot's scores are all equal"),
    ):
        names = [" ".join(sample.labels[i]) for i in np.flatnonzero(columns)]
        if names:
            warnings.warn(
                f"nothing can be planned for {enumerate_names(names, 5)}: {cause}",
                DegenerateSampleWarning,
                stacklevel=3,
            )
    return _Pilot(sd, low, high, distribution.count)


def _spread_limits(values: Floats, sd: float, level: float) -> tuple[float, float]:
    """Return the limits of a standard deviation, for scores that are not normal (Bonett 2006).

    ``ln(c s²) ± z c √((γ - (n-3)/n) / (n-1))`` with the kurtosis γ around a trimmed mean and
    ``c = n/(n-z)``; NaN for fewer than 5 topics.
    """
    from scipy.special import ndtri

    topics = len(values)
    z = float(ndtri(tail_probabilities(level)[1]))
    if topics <= max(_TOO_FEW_FOR_RANGE, z) or math.isnan(sd):
        return math.nan, math.nan
    trimmed = int(topics / (2.0 * math.sqrt(topics - 4.0)))
    centre = np.sort(values)[trimmed : topics - trimmed].mean()
    kurtosis = float(((values - centre) ** 4).sum()) / (topics * (sd**2 * (1 - 1 / topics)) ** 2)
    c = topics / (topics - z)
    reach = z * c * math.sqrt((kurtosis - (topics - 3.0) / topics) / (topics - 1.0))
    return sd * math.sqrt(c) * math.exp(-reach / 2.0), sd * math.sqrt(c) * math.exp(reach / 2.0)


def _curve_topics(needed: Floats, pilot: Integers) -> Integers:
    """Return the numbers of topics of a curve, around those needed and those of the pilot."""
    numbers = np.append(needed[np.isfinite(needed)], pilot)
    bottom, top = max(3.0, numbers.min() / 8.0), max(6.0, numbers.max() * 2.0)
    return np.unique(np.rint(np.geomspace(bottom, top, _CURVE_POINTS)).astype(np.int64))
