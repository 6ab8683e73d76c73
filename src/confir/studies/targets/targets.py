"""Is a run good enough? Means against targets, by their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arguments import as_level, as_real, as_text, invalid
from confir.arrays import Floats
from confir.data.chart_marks import LIMITS_LINE, IntervalChart, dot, numbers, texts
from confir.data.experiment import on_its_scheduler
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, SEED
from confir.errors import InvalidValueError, UnknownNameError, counted
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.method import Method
from confir.intervals.method_list import METHODS
from confir.measures.missing_scores import Ranges, treat_missing
from confir.measures.parsing import bounded_measures, canonical_name
from confir.measures.score_summary import ScoreSummary
from confir.number_text import limits_words, p_words, percent, score_words
from confir.pairs.next_step import NextStep, Subject, find_next_step, next_step_words
from confir.pairs.power import Criterion, known_or_none, pilot_of
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.kinds import as_sample, needs
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge, Sample

REACHED, MISSED, INCONCLUSIVE = "reached", "missed", "inconclusive"
TARGET_VERDICTS = (REACHED, MISSED, INCONCLUSIVE)  # named by cli/records.json

# Of more verdicts, no sentences are written.
_MOST_IN_WORDS = 12

# p-values are found between these, to about three digits.
_LEAST_P, _MOST_P, _HALVINGS = 1e-12, 0.999, 40


class Target(NamedTuple):
    """A mean that runs are to reach by a measure."""

    measure: str
    value: float


@result
class TargetVerdicts(Result):
    """Whether the means of runs reach targets: arrays are targets × runs.

    Attributes
    ----------
    runs, targets
        Names of the runs; measures with the means that are to be reached.
    mean, low, high
        The mean with its limits, which decide: reached where the lower one is at least the target,
        missed where the upper one is below it, else inconclusive.
    p
        The smallest 1 - level at which the verdict is not inconclusive; NaN for methods that need
        replicates.
    verdict
        "reached", "missed" or "inconclusive".
    topics
        Number of topics.
    detectable, needed
        The next step after inconclusive verdicts, as in `NextStep`; NaN after others.
    level, together
        Level of the limits, and that at which all verdicts hold together.
    methods
        The method of the interval by each target.
    unit
        What a topic is called.
    """

    runs: tuple[str, ...] = axis("run")
    targets: tuple[Target, ...] = axis("goal")
    mean: Floats = over("goal", "run")
    low: Floats = over("goal", "run")
    high: Floats = over("goal", "run")
    p: Floats = over("goal", "run")
    verdict: Any = over("goal", "run")
    topics: Any = over("goal", "run")
    detectable: Floats = over("goal", "run")
    needed: Floats = over("goal", "run", column="topics_needed")
    level: float = constant()
    together: float
    methods: tuple[str, ...] = over("goal", column="method")
    unit: str

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"goal": ("measure", "target")}
    row_order = ("goal", "run")
    best_by = "mean"
    record_columns = (
        *("run", "measure", "target", "mean", "low", "high", "level", "method", "p", "topics"),
        *("verdict", "detectable", "topics_needed"),
    )

    def derived(self) -> Any:
        """Yield the next steps."""
        along = ("goal", "run")
        yield Variable("detectable", along, known_or_none(self.detectable))
        yield Variable("topics_needed", along, known_or_none(self.needed, int))

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": TableColumn(Role.NAME),
            "run": TableColumn(Role.NAME),
            "target": TableColumn(Role.NUMBER, format="g"),
            "verdict": TableColumn(Role.VERDICT, bold=lambda record: record["verdict"] == REACHED),
            "mean": TableColumn(Role.SCORE, others=LIMITS),
            "p": TableColumn(Role.P),
        }

    def interval_chart(self) -> IntervalChart:
        """Return its chart: means with their intervals, and the targets as diamonds."""
        colours = {REACHED: "#0072b2", INCONCLUSIVE: "#6b7280", MISSED: "#d55e00"}
        return IntervalChart(
            "Means and targets",
            self.to_records(),
            marks=(LIMITS_LINE, dot("mean"), dot("target", "grey", "diamond")),
            axis=f"mean with {percent(self.level, 4)} interval; diamond: target",
            tooltip=(
                *texts("run", "measure", "verdict"),
                *numbers("mean", "low", "high", "target"),
            ),
            words=("verdict", colours),
        )

    def sentences(self) -> list[str]:
        """Return a sentence for each run by each target, and the next step after inconclusive ones."""
        said = []
        few = self.verdict.size <= _MOST_IN_WORDS
        for place in range(len(self.targets)):
            best = np.argsort(-self.mean[place], kind="stable").tolist()
            if few:
                said += [self.sentence(run, place) for run in best]
                said.append(self._next_step(best, place))
            else:
                said.append(self._counted(place))
        return list(filter(None, said))

    def _counted(self, place: int) -> str:
        """Return how many runs reach and miss a target."""
        target, words = self.targets[place], self.verdict[place].tolist()
        reached, missed = words.count(REACHED), words.count(MISSED)
        rest = len(words) - reached - missed
        return (
            f"{reached:,} of {counted(len(words), 'run')} {'reaches' if reached == 1 else 'reach'} "
            f"{target.value:g} in {target.measure}, {missed:,} {'misses' if missed == 1 else 'miss'} it, "
            f"{rest:,} {'is' if rest == 1 else 'are'} inconclusive"
        )

    def sentence(self, run: int, place: int) -> str:
        """Return whether a run reaches a target, as one would say it."""
        name, target = self.runs[run], self.targets[place]
        goal = f"{target.value:g} in {target.measure}"
        word = str(self.verdict[place, run])
        said = {
            REACHED: f"{name} reaches {goal}",
            MISSED: f"{name} misses {goal}",
            INCONCLUSIVE: f"{name}: whether it reaches {goal} is inconclusive",
        }[word]
        mean, low, high, p = (
            float(array[place, run]) for array in (self.mean, self.low, self.high, self.p)
        )
        parts = [score_words(mean)]
        if not math.isnan(low):
            parts.append(f"{percent(self.level, 4)} CI {limits_words(low, high)}")
        parts += [] if math.isnan(p) else [p_words(p)]
        return f"{said} ({', '.join(parts)})"

    def _next_step(self, runs: Sequence[int], place: int) -> str:
        chosen = [run for run in runs if self.verdict[place, run] == INCONCLUSIVE]
        chosen = [run for run in chosen if self.high[place, run] > self.low[place, run]]
        steps = [
            NextStep(
                topics=float(self.topics[place, run]),
                detectable=float(self.detectable[place, run]),
                needed=float(self.needed[place, run]),
                needed_high=math.nan,
            )
            for run in chosen
        ]
        sizes = [float(self.mean[place, run]) - self.targets[place].value for run in chosen]
        names = [self.runs[run] for run in chosen]
        subject = Subject(f"{self.unit}s", "distance from the target")
        return next_step_words(steps, sizes, names, subject)

    def note(self) -> str:
        """Return what decides, and at which level."""
        by = ", ".join(dict.fromkeys(self.methods))
        interval = f"mean with {percent(self.level, 4)} confidence interval (CI) by {by}"
        parts = [
            interval,
            "reached: the lower limit is at least the target; missed: the upper one is below it",
        ]
        if self.verdict.size > 1:
            parts.append(
                f"{percent(self.level, 4)} for each of {self.verdict.size:,} verdicts, so that all hold "
                f"together with {percent(self.together)}; for the claim that all are reached alone, it "
                "is higher than it need be"
            )
        parts += [
            f"above level {METHODS[name].tabled_level:g} {name} {METHODS[name].beyond}"
            for name in dict.fromkeys(self.methods)
            if self.level > METHODS[name].tabled_level
        ]
        return "; ".join(parts)


def parse_targets(texts: Sequence[str], option: str) -> list[Target]:
    """Return the targets in texts such as ``nDCG@10=0.8``."""
    found = []
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not math.isfinite(number):
            raise InvalidValueError(
                f"{option} is {text!r}; expected MEASURE=TARGET, such as nDCG@10=0.8"
            )
        found.append(Target(name.strip(), number))
    return found


@on_its_scheduler
@needs(Knowledge.TOPIC_VARIANCE, "a target")
def judge_target(
    scores: ScoresSource,
    targets: Mapping[str, float] | Sequence[Target] | float,
    *,
    level: float = LEVEL,
    method: str | None = None,
    bounds: Ranges | None = None,
    rng: Rng = SEED,
) -> TargetVerdicts:
    """Return whether the mean of each run reaches a target: reached, missed or inconclusive.

    A mean above the target may be so by the luck of the topics. It is reached where the confidence
    interval lies above the target, missed where it lies below.

    Parameters
    ----------
    scores
        Scores of runs, or what `as_scores` makes them of; missing ones count as the lowest possible.
    targets
        The mean that is to be reached by each measure, or by the only one.
    level, method
        Level at which the verdicts on all runs and targets hold together, by Bonferroni; and the
        method of the intervals, by default that of the measure. For scores that fail rarely
        docs/targets.md names "gaffke".
    bounds
        Lowest and highest score by measures that confir does not know, for missing scores.
    rng
        Seed or generator, for methods that resample.

    Examples
    --------
    >>> scores = {"a": [0.7, 0.9, 0.8, 0.9, 0.8], "b": [0.2, 0.5, 0.1, 0.3, 0.4]}
    >>> confir.judge_target(scores, 0.6).verdict.ravel().tolist()
    ['reached', 'missed']
    """
    level = as_level(level)
    held = scores
    wanted = _as_targets(held, targets)
    held = held.select(measure=list(dict.fromkeys(target.measure for target in wanted)))
    if isinstance(held, ScoreSummary) and (held.topic_counts() < len(held.topics)).any():
        raise InvalidValueError(
            "runs lack topics in a summary of scores, where missing ones cannot count as the lowest "
            "possible; expected the scores themselves"
        )
    if isinstance(held, Scores) and np.isnan(held.values).any():
        held = treat_missing(held, "worst", None, bounds)
    single = 1.0 - (1.0 - level) / (len(held.runs) * len(wanted))
    columns = [held.measures.index(target.measure) for target in wanted]
    interval = confidence_interval(held, level=single, method=method, rng=rng)
    mean, low, high = (
        array.reshape(len(held.runs), -1)[:, columns]
        for array in (interval.estimate, interval.low, interval.high)
    )
    values = np.array([target.value for target in wanted])
    verdict = np.full(mean.shape, INCONCLUSIVE, object)
    verdict[low >= values] = REACHED
    verdict[high < values] = MISSED
    sample = as_sample(held)
    methods = tuple(interval.methods[column] for column in columns)
    steps = _next_steps(held, sample, wanted, columns, verdict, single)
    return TargetVerdicts(
        runs=held.runs,
        targets=tuple(wanted),
        mean=mean.T,
        low=low.T,
        high=high.T,
        p=_p_values(sample, wanted, columns, methods, verdict, single).T,
        verdict=verdict.T,
        topics=interval.topics.reshape(len(held.runs), -1)[:, columns].T,
        detectable=steps.detectable.T,
        needed=steps.needed.T,
        level=single,
        together=level,
        methods=methods,
        unit=held.unit_name,
    )


def _as_targets(scores: Scores | ScoreSummary, given: Any) -> list[Target]:
    """Return the targets, by measures of the scores; raise where one is not inside of its bounds."""
    if isinstance(given, Real) and not isinstance(given, bool):
        if len(scores.measures) > 1:
            raise InvalidValueError(
                f"one target is given for {len(scores.measures)} measures; expected measure → target"
            )
        given = {scores.measures[0]: given}
    pairs: list[Any] = []
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, list | tuple):
        pairs = [pair for pair in given if isinstance(pair, tuple) and len(pair) == 2]
    if not pairs or len(pairs) < len(given):
        raise invalid("targets", given, "a number, or a mapping measure → target")
    bounded = dict(zip(scores.measures, bounded_measures(scores).tolist(), strict=True))
    wanted = []
    for name, value in pairs:
        measure = as_text("a measure of targets", name)
        measure = measure if measure in bounded else canonical_name(measure)
        if measure not in bounded:
            raise UnknownNameError("measure of targets", measure, scores.measures)
        number = as_real(f"the target of {measure} (targets)", value)
        if bounded[measure] and not 0.0 < number < 1.0:
            raise InvalidValueError(
                f"the target of {measure} is {number:g}; expected a number between 0 and 1, between "
                "which the measure lies"
            )
        wanted.append(Target(measure, number))
    if len(set(wanted)) < len(wanted):
        raise InvalidValueError("a target is given twice; expected each once")
    return wanted


def _p_values(
    sample: Sample,
    targets: Sequence[Target],
    columns: Sequence[int],
    methods: Sequence[str],
    verdict: Any,
    level: float,
) -> Floats:
    """Return the smallest 1 - level at which each verdict would not be inconclusive.

    Those of decided verdicts are at most 1 - level, and those of others above it.
    """
    found = np.full(verdict.shape, np.nan)
    error = 1.0 - level
    for place, (target, column, name) in enumerate(zip(targets, columns, methods, strict=True)):
        method = METHODS[name]
        if not method.closed_form:
            continue
        for run in range(len(verdict)):
            number = run * sample.shape[1] + column
            own = sample.distribution(slice(number, number + 1), None, method.needs)
            p = _smallest_error(own, method, target.value)
            decided = verdict[run, place] != INCONCLUSIVE
            found[run, place] = min(p, error) if decided else max(p, math.nextafter(error, 1.0))
    return found


def _smallest_error(own: SamplingDistribution, method: Method, target: float) -> float:
    """Return the smallest 1 - level at which the interval of one mean does not hold the target."""
    if own.degenerate[0] and not method.any_sample:
        return 1.0
    reaching = float(own.estimate[0]) >= target

    def decides(error: float) -> bool:
        low, high = method.compute(own, 1.0 - error)
        return bool(low[0] >= target if reaching else high[0] < target)

    if not decides(_MOST_P):
        return 1.0
    low, high = math.log(_LEAST_P), math.log(_MOST_P)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if decides(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _next_steps(
    scores: Scores | ScoreSummary,
    sample: Sample,
    targets: Sequence[Target],
    columns: Sequence[int],
    verdict: Any,
    level: float,
) -> NextStep:
    """Return the next step after inconclusive verdicts, by t; NaN elsewhere."""
    every = pilot_of(sample)
    steps = NextStep(*np.full((4, *verdict.shape), np.nan))
    bounded = bounded_measures(scores)
    for place, (target, column) in enumerate(zip(targets, columns, strict=True)):
        numbers = np.arange(len(verdict)) * sample.shape[1] + column
        undecided = (verdict[:, place] == INCONCLUSIVE) & (every.sd[numbers] > 0)
        if not undecided.any():
            continue
        pilot = every.of(numbers[undecided])
        criterion = Criterion(level, freedom=pilot.freedom, fixed=pilot.fixed)
        room = max(target.value, 1.0 - target.value) if bounded[column] else math.inf
        sizes = np.abs(pilot.mean - target.value)
        found = find_next_step(criterion, pilot, sizes, np.zeros(len(sizes)), room)
        for array, values in zip(steps, found, strict=True):
            array[undecided, place] = values
    return steps
