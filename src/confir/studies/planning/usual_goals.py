"""Plans without a goal: topics for usual half widths and differences, and what the pilot's topics give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.result import Record, Result, Variable, axis, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import NO_FAMILY
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.pairs.power import Criterion, Pilot, whole_numbers
from confir.resampling.kinds import against, as_sample
from confir.resampling.pair_draws import median_variance
from confir.resampling.sample import Sample, names
from confir.studies.planning.goals import (
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    NEEDED,
    POWER,
    USUAL_DIFFERENCES,
    USUAL_WIDTHS,
    GoalRule,
    Terms,
)
from confir.studies.planning.pilot import (
    family_size,
    measure_pilot,
    pair_spreads,
    planned_criterion,
    planned_differences,
    sd_range,
)
from confir.studies.planning.sentences import (
    answer_text,
    overview_note,
    overview_sentence,
    range_text,
)

# The columns that records of all plans by `plan_topics` end with.
PLAN_COLUMNS = (
    *("baseline", "goal", "topics", "power", "difference", "low", "high", "half_width"),
    *("family", "assurance", "judgements"),
)

# The run, or pair of runs, that is planned for: by its standard deviation over topics.
MEDIAN, LARGEST = "median", "largest"
SPREADS = (MEDIAN, LARGEST)

_ALONG = ("spread", "aim", "measure")

_AIMS = {
    HALF_WIDTH: "half width of a mean",
    ACHIEVED_WIDTH: "half width at present",
    POWER: "difference",
    DETECTABLE: "detectable at present",
}


@result
class PlanOverview(Result):
    """Topics for the usual goals, and what the pilot's topics give: spreads × aims × measures.

    Attributes
    ----------
    spreads
        Whether a plan is for the run, or pair of runs, with the "median" or the "largest" standard
        deviation over topics.
    aims
        (goal, size): "half width" of the interval of a mean, "power" at a difference, both of a
        given size; "achieved half width" and "detectable difference" of the pilot's topics.
    measures
        Names of the measures.
    run, against
        The run that is planned for, and for a difference the run that it is from, else None.
    topics
        Number of topics, needed or of the pilot. NaN where none is enough.
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
    record_columns = ("measure", "spread", "run", *PLAN_COLUMNS)
    optional_columns = ("judgements",)
    row_order = ("measure", "aim", "spread")

    def derived(self) -> Iterator[Variable]:
        """Yield whole numbers of topics and judgements, and power and family of the differences."""
        topics = whole_numbers(self.topics)
        tested = [goal in (POWER, DETECTABLE) for goal, _ in self.aims]
        yield Variable("topics", _ALONG, topics)
        yield Variable("power", ("aim",), [self.power if one else math.nan for one in tested])
        yield Variable("family", ("aim",), [self.family if one else NO_FAMILY for one in tested])
        yield Variable("assurance", (), self.assurance)
        if self.judgements_per_topic is not None:
            yield Variable("judgements", _ALONG, topics * self.judgements_per_topic)

    def table_columns(self) -> TableColumns:
        """Return how the columns read: goals, what they take, and what the largest spread takes."""
        columns = {
            "measure": TableColumn(Role.NAME),
            "goal": TableColumn(Role.NAME, words=_AIMS),
            "difference": TableColumn(Role.SCORE, "size", text=_size_text),
            "topics": TableColumn(Role.COUNT),
            "low": TableColumn(Role.RANGE, "range", text=range_text),
        }
        if self.judgements_per_topic is not None:
            columns["judgements"] = TableColumn(Role.COUNT)
        if len(self.spreads) > 1 and (self.run[0] != self.run[1]).any():
            columns["largest"] = TableColumn(
                Role.NUMBER, "at the largest sd", text=lambda record: answer_text(record["largest"])
            )
        return columns

    def table_records(self) -> list[Record]:
        """Return a record per measure and goal, for the median spread, with that for the largest."""
        every, step = self.to_records(), len(self.spreads)
        pairs = zip(every[::step], every[step - 1 :: step], strict=True)
        return [own | {"largest": largest} for own, largest in pairs]

    def note(self) -> str:
        """Return what the rows are for, and how far they can be trusted."""
        return overview_note(self)

    def sentences(self) -> list[str]:
        """Return a sentence per measure: what the pilot's topics give, and what more would."""
        of_measures = [self.select(spread=MEDIAN, measure=name) for name in self.measures]
        return [overview_sentence(one.to_records(), self.level) for one in of_measures]


def _size_text(record: Record) -> str:
    """Return the size of a half width or difference: as given, or as the pilot's topics allow."""
    return f"{record['difference']:g}" if record["goal"] in NEEDED else answer_text(record)


def plan_usual_goals(scores: Scores | ScoreSummary, terms: Terms) -> PlanOverview:
    """Return topics for the usual goals, for typical runs and pairs."""
    baseline, level = terms.baseline, terms.level
    sample = planned_differences(as_sample(scores), None, by_partner=False)
    aims = [(HALF_WIDTH, size) for size in USUAL_WIDTHS] + [(ACHIEVED_WIDTH, math.nan)]
    typical = [_typical(sample, None, NO_FAMILY, level)] * len(aims)
    if len(scores.runs) > 1:
        differences = [(POWER, size) for size in USUAL_DIFFERENCES] + [(DETECTABLE, math.nan)]
        pairs = (
            _typical_pairs(sample, terms.family, level)
            if baseline is None
            else _typical(sample, baseline, terms.family, level)
        )
        typical += [pairs] * len(differences)
        aims += differences
    largest = np.where(np.tile(bounded_measures(scores), len(SPREADS)), 1.0, np.inf)
    parts = [_answer(one, *aim, terms, largest) for one, aim in zip(typical, aims, strict=True)]
    arrays: dict[str, Any] = {
        name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]
    }
    found = PlanOverview(
        spreads=SPREADS,
        aims=tuple(aims),
        measures=scores.measures,
        **arrays,
        **terms._asdict(),
        pairs=family_size(terms.family, len(scores.runs)),
        model_topics=scores.model_topics / len(scores.topics),
    )
    return found if len(scores.runs) > 1 else found.select(spread=[MEDIAN])


class _Typical(NamedTuple):
    """The columns with the median and the largest sd by each measure: spreads × measures, flat.

    Attributes
    ----------
    run, against
        Their runs, and the runs that they are compared with, or None.
    pilot, sd_range, criterion
        What the pilot says about them, and how they will be tested.
    """

    run: list[str]
    against: list[str | None]
    pilot: Pilot
    sd_range: tuple[Floats, Floats]
    criterion: Criterion


def _answer(
    typical: _Typical, goal: str, size: float, terms: Terms, largest: Floats
) -> dict[str, Any]:
    """Return the fields of `PlanOverview` for one aim: spreads × measures."""
    pilot = typical.pilot
    sd = pilot.sd if terms.assurance is None else pilot.upper_sd(terms.assurance)
    rule = GoalRule(goal, np.full(len(largest), size), terms.power, typical.criterion, largest)
    fields: dict[str, Any] = {
        "run": np.array(typical.run, object),
        "against": np.array(typical.against, object),
        **rule.answer(sd, pilot.topics, typical.sd_range),
    }
    return {name: values.reshape(len(SPREADS), -1) for name, values in fields.items()}


def _typical(sample: Sample, baseline: str | None, family: str, level: float) -> _Typical:
    """Return the runs whose scores, or differences, vary as much as the median run's, and most."""
    varying = sample if baseline is None else against(sample, baseline)
    every = measure_pilot(varying, [baseline] * len(varying.labels) if baseline is not None else ())
    low, high = sd_range(varying, every, level)
    places = _median_and_largest(every.sd.reshape(varying.shape))
    columns = _columns(places)
    rule = planned_criterion(sample, every, family, baseline, level).of(columns)
    runs = [run for run in names(sample)[0] if run != baseline]
    named = [runs[place] for place in places.flat]
    spread = low[columns], high[columns]
    return _Typical(named, [baseline] * places.size, every.of(columns), spread, rule)


def _typical_pairs(sample: Sample, family: str, level: float) -> _Typical:
    """Return the pairs of runs whose difference varies as much as the median one, and most."""
    first, second, spread = pair_spreads(sample)
    places = _median_and_largest(spread)
    sides = first[places], second[places]
    chosen = sample.contrast(*(_columns(side).reshape(places.shape) for side in sides))
    runs = names(sample)[0]
    left, right = ([runs[place] for place in side.flat] for side in sides)
    pilot = measure_pilot(chosen, right)
    rule = planned_criterion(sample, pilot, family, None, level)
    if family != NO_FAMILY:
        of_measure = np.reshape(rule.level, (-1, places.shape[1]))[0]
        medians = [median_variance(np.square(np.maximum(one, 0.0))) for one in spread.T]
        rule = replace(rule, level=np.tile(of_measure, 2), median=np.tile(medians, 2))
    return _Typical(left, list[str | None](right), pilot, sd_range(chosen, pilot, level), rule)


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
