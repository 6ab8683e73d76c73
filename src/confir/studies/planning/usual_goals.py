"""Plans without a goal: topics for the usual half widths and differences, and what those at hand give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable, axis, over, result
from confir.data.scores import Scores
from confir.defaults import ALL_PAIRS, NO_FAMILY
from confir.measures.score_summary import ScoreSummary
from confir.resampling.borrowed_variance import median_variance
from confir.resampling.kinds import against, as_sample
from confir.resampling.sample import Sample, names
from confir.studies.planning.criteria import planned_criterion
from confir.studies.planning.goal_rule import GoalRule, at_topics, largest_difference
from confir.studies.planning.goals import (
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    POWER,
    USUAL_DIFFERENCES,
    USUAL_WIDTHS,
    check_family,
    planned_family,
)
from confir.studies.planning.pilot import Pilot, measure_pilot, pair_spreads, planned_differences
from confir.studies.planning.power import Criterion, family_size
from confir.studies.planning.sentences import overview_sentence

# The run, or pair of runs, that is planned for: by its standard deviation over topics.
MEDIAN, LARGEST = "median", "largest"
SPREADS = (MEDIAN, LARGEST)

_ALONG = ("spread", "aim", "measure")


@result
class PlanOverview(Result):
    """Topics for the usual goals, and what the topics at hand give: spreads × aims × measures.

    Attributes
    ----------
    spreads
        Whether a plan is for the run, or pair of runs, with the "median" or the "largest" standard
        deviation over topics.
    aims
        (goal, size): "half width" of the interval of a mean, "power" at a difference, both of a
        given size; "achieved half width" and "detectable difference" of the topics at hand.
    measures
        Names of the measures.
    run, against
        The run that is planned for, and for a difference the run that it is from, else None.
    topics
        Number of topics, needed or at hand. NaN where none is enough.
    difference, half_width
        Half width or difference, given or the answer; and half width of the interval, at `topics`.
    low, high
        Range of the answer, as the pilot's standard deviation may be off by its sampling error.
    power, level, family, pairs, assurance, judgements_per_topic, model_topics
        As in `Plan`; the family is that of the differences.
    baseline
        The run that the others are compared with, or None where all pairs are.
    """

    spreads: tuple[str, ...] = axis("spread")
    aims: tuple[tuple[str, float], ...] = axis("aim")
    measures: tuple[str, ...] = axis("measure")
    run: Any = over(*_ALONG)
    against: Any = over(*_ALONG, column="baseline")
    topics: Floats = over(*_ALONG)
    difference: Floats = over(*_ALONG)
    low: Floats = over(*_ALONG)
    high: Floats = over(*_ALONG)
    half_width: Floats = over(*_ALONG)
    power: float
    level: float
    family: str
    pairs: int
    assurance: float | None
    judgements_per_topic: int | None
    model_topics: float
    baseline: str | None

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"aim": ("goal", "size")}
    record_columns = (
        "measure",
        "spread",
        "run",
        "baseline",
        "goal",
        "topics",
        "power",
        "difference",
        "low",
        "high",
        "half_width",
        "family",
        "assurance",
        "judgements",
    )
    optional_columns = ("judgements",)
    row_order = ("measure", "aim", "spread")

    def derived(self) -> Iterator[Variable]:
        """Yield whole numbers of topics and judgements, and power and family of the differences."""
        topics = np.vectorize(whole, otypes=[object])(self.topics)
        tested = [goal in (POWER, DETECTABLE) for goal, _ in self.aims]
        yield Variable("topics", _ALONG, topics)
        yield Variable("power", ("aim",), [self.power if one else math.nan for one in tested])
        yield Variable("family", ("aim",), [self.family if one else NO_FAMILY for one in tested])
        yield Variable("assurance", (), self.assurance)
        if self.judgements_per_topic is not None:
            yield Variable("judgements", _ALONG, topics * self.judgements_per_topic)

    def sentences(self) -> list[str]:
        """Return a sentence per measure: what the topics at hand give, and what more would."""
        return [self._sentence(measure) for measure in self.measures]

    def _sentence(self, measure: str) -> str:
        records = self.select(spread=MEDIAN, measure=measure).to_records()
        return overview_sentence(records, self.level)


def plan_usual_goals(
    scores: Scores | ScoreSummary,
    *,
    baseline: str | None,
    family: str | None,
    power: float,
    level: float,
    assurance: float | None,
    judgements_per_topic: int | None,
) -> PlanOverview:
    """Return topics for the usual goals, for typical runs and pairs; parameters as in `plan_topics`."""
    sample = planned_differences(as_sample(scores), None, by_partner=False)
    if family is None and baseline is None and len(scores.runs) > 2:
        family = ALL_PAIRS
    family = planned_family(family, baseline, len(scores.runs))
    check_family(baseline, family, None)
    means = _typical_means(sample, level)
    widths = [(HALF_WIDTH, size) for size in USUAL_WIDTHS] + [(ACHIEVED_WIDTH, math.nan)]
    solver = _Solver(power, assurance, largest_difference(scores, 2 * len(scores.measures)))
    parts = [solver.answer(means, goal, size) for goal, size in widths]
    differences: list[tuple[str, float]] = []
    if len(scores.runs) > 1:
        pairs = (
            _typical_pairs(sample, family, level)
            if baseline is None
            else _typical_differences(sample, baseline, family, level)
        )
        differences = [(POWER, size) for size in USUAL_DIFFERENCES] + [(DETECTABLE, math.nan)]
        parts += [solver.answer(pairs, goal, size) for goal, size in differences]
    found = PlanOverview(
        spreads=SPREADS,
        aims=(*widths, *differences),
        measures=scores.measures,
        **{name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]},
        power=power,
        level=level,
        family=family,
        pairs=family_size(family, len(scores.runs)),
        assurance=assurance,
        judgements_per_topic=judgements_per_topic,
        model_topics=scores.model_topics / len(scores.topics),
        baseline=baseline,
    )
    return found if len(scores.runs) > 1 else found.select(spread=[MEDIAN])


class _Typical(NamedTuple):
    """The columns with the median and the largest sd by each measure: spreads × measures, flat.

    Attributes
    ----------
    run, against
        Their runs, and the runs that they are compared with, or None.
    pilot, criterion
        What the pilot says about them, and how they will be judged.
    """

    run: list[str]
    against: list[str | None]
    pilot: Pilot
    criterion: Criterion


def _typical_means(sample: Sample, level: float) -> _Typical:
    """Return the runs whose scores vary as much as the median run's, and most."""
    every = measure_pilot(sample, level)
    places = _median_and_largest(every.sd.reshape(sample.shape))
    pilot = every.of(_columns(places))
    rule = Criterion(level, freedom=pilot.freedom, fixed=pilot.fixed)
    runs = names(sample)[0]
    return _Typical([runs[place] for place in places.flat], [None] * places.size, pilot, rule)


def _typical_differences(sample: Sample, baseline: str, family: str, level: float) -> _Typical:
    """Return the differences from a baseline that vary as much as the median one, and most."""
    differences = against(sample, baseline)
    every = measure_pilot(differences, level)
    rule = planned_criterion(sample, every, family, baseline, level)
    places = _median_and_largest(every.sd.reshape(differences.shape))
    columns = _columns(places)
    pilot = every.of(columns)
    runs = [run for run in names(sample)[0] if run != baseline]
    return _Typical(
        [runs[place] for place in places.flat],
        [baseline] * places.size,
        pilot,
        replace(
            rule,
            level=_of(rule.level, columns),
            median=_of(rule.median, columns),
            freedom=pilot.freedom,
            fixed=pilot.fixed,
        ),
    )


def _typical_pairs(sample: Sample, family: str, level: float) -> _Typical:
    """Return the pairs of runs whose difference varies as much as the median one, and most."""
    first, second, spread = pair_spreads(sample)
    places = _median_and_largest(spread)
    left, right = first[places], second[places]
    shape, measures = places.shape, places.shape[1]
    chosen = sample.contrast(_columns(left).reshape(shape), _columns(right).reshape(shape))
    pilot = measure_pilot(chosen, level)
    rule = planned_criterion(sample, pilot, family, None, level)
    single = np.asarray(rule.level).reshape(-1, measures)[0] if np.ndim(rule.level) else rule.level
    medians = [median_variance(np.square(np.maximum(one, 0.0))) for one in spread.T]
    runs = names(sample)[0]
    return _Typical(
        [runs[place] for place in left.flat],
        [runs[place] for place in right.flat],
        pilot,
        rule
        if family == NO_FAMILY
        else replace(rule, level=np.tile(single, 2), median=np.tile(medians, 2)),
    )


def _median_and_largest(spread: Floats) -> Integers:
    """Return the rows with the median and the largest spread by each measure: 2 × measures.

    Rows without a spread, as of runs that are identical, are left out unless there are no others.
    """
    found = []
    for column in spread.T:
        known = np.flatnonzero(column > 0.0)
        order = known[np.argsort(column[known], kind="stable")] if len(known) else np.zeros(1, int)
        found.append((order[(len(order) - 1) // 2], order[-1]))
    return np.array(found, np.int64).T


def _columns(places: Integers) -> Integers:
    """Return the columns, of runs × measures, of rows for each measure."""
    measures = places.shape[1]
    columns: Integers = (places * measures + np.arange(measures)).reshape(-1)
    return columns


def _of(value: float | Floats, columns: Integers) -> float | Floats:
    """Return the values of some columns; a number holds for all."""
    return value[columns] if isinstance(value, np.ndarray) else value


class _Solver(NamedTuple):
    """What the answers to all goals have in common.

    Attributes
    ----------
    power, assurance
        As in `plan_topics`.
    largest
        The largest difference that the measure of each column allows.
    """

    power: float
    assurance: float | None
    largest: Floats

    def answer(self, typical: _Typical, goal: str, size: float) -> dict[str, Any]:
        """Return the fields of `PlanOverview` for one aim: spreads × measures."""
        pilot = typical.pilot
        sd = pilot.sd if self.assurance is None else pilot.upper_sd(self.assurance)
        sizes = np.full(len(sd), size)
        rule = GoalRule(goal, size, sizes, self.power, typical.criterion, self.largest, 1.0)
        found, low, high = (
            rule.solve(one, pilot.topics) for one in (sd, pilot.sd_low, pilot.sd_high)
        )
        topics = found if goal in (HALF_WIDTH, POWER) else pilot.topics.astype(np.float64)
        fields = {
            "run": np.array(typical.run, object),
            "against": np.array(typical.against, object),
            "topics": topics,
            "difference": rule.aim(found),
            "low": low,
            "high": high,
            "half_width": at_topics(topics, lambda n: typical.criterion.half_width(sd, n)),
        }
        shape = len(SPREADS), len(sd) // len(SPREADS)
        return {name: values.reshape(shape) for name, values in fields.items()}


def whole(number: float) -> int | float:
    """Return a number of topics; NaN stays NaN."""
    return number if math.isnan(number) else int(number)
