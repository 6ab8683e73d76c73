"""What would the means be by human judgements, if there are few of them and many by a model?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

import numpy as np

from confir.arguments import as_generator, as_level, check_replicates
from confir.arrays import Floats
from confir.data.chart_marks import LIMITS_LINE, IntervalChart, Mark, dot, numbers, texts
from confir.data.experiment import Experiment, as_experiment, on_its_scheduler
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.data.result import Result, axis, constant, over, result
from confir.data.sampling_designs.judged_scores import RANDOM_DOCUMENTS, JudgedScores, check_sample
from confir.data.table_columns import LIMITS, MEASURE_AND_RUN, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import InvalidValueError, counted, enumerate_names
from confir.intervals.confidence_intervals import confidence_interval, find_intervals
from confir.intervals.interval import Interval
from confir.intervals.method_list import DEFAULT_METHOD, METHODS, find_method
from confir.measures.evaluation import evaluate
from confir.number_text import percent
from confir.pairs.verdict_words import model_notes
from confir.parallel import Progress
from confir.resampling.judged_sample import clip_parts
from confir.resampling.kinds import as_sample, as_topic_sample
from confir.resampling.replicates import Rng


@result
class CorrectedMeans(Result):
    """Means by human judgements, estimated from a model's and a few human ones.

    Arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    human_topics, model_topics
        Topics that humans (and the model) judged, and further ones that the model judged alone.
    mean, low, high
        The corrected mean with its limits.
    human_mean, human_low, human_high
        The mean over the human topics alone, with limits by the same method.
    model_mean
        The mean by the model's judgements over all topics.
    bias, bias_low, bias_high
        Mean by the model minus mean by human judgements, over the human topics.
    weight
        The weight λ of the model: 0 where its judgements carry no information.
    worth
        How many further human topics the model's judgements are worth: ``n·V_human/V - n``, at most
        as many as it judged alone.
    level, methods
        Confidence level, and the method of each interval.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    human_topics: int = constant()
    model_topics: int = constant()
    mean: Floats = over("run", "measure")
    low: Floats = over("run", "measure")
    high: Floats = over("run", "measure")
    level: float = constant()
    methods: tuple[tuple[str, ...], ...] = over("run", "measure", column="method")
    human_mean: Floats = over("run", "measure")
    human_low: Floats = over("run", "measure")
    human_high: Floats = over("run", "measure")
    model_mean: Floats = over("run", "measure")
    bias: Floats = over("run", "measure")
    bias_low: Floats = over("run", "measure")
    bias_high: Floats = over("run", "measure")
    weight: Floats = over("run", "measure")
    worth: Floats = over("run", "measure")

    row_order = ("measure", "run")
    best_by = "mean"

    def table_columns(self) -> TableColumns:
        """Return how the columns read; one measure is the heading of its means."""
        title = self.measures[0] if len(self.measures) == 1 else "mean"
        return {
            **MEASURE_AND_RUN,
            "mean": TableColumn(Role.SCORE, title, LIMITS),
            "model_mean": TableColumn(Role.SCORE, "model"),
            "bias": TableColumn(Role.DIFFERENCE, others=("bias_low", "bias_high")),
            "weight": TableColumn(Role.NUMBER, format=".2f"),
            "worth": TableColumn(Role.NUMBER, format=".1f"),
        }

    def interval_chart(self) -> IntervalChart:
        """Return its chart, with the means by human judgements alone and by the model alone."""
        by = f" by {self.measures[0]}" if len(self.measures) == 1 else ""
        return IntervalChart(
            f"Means{by}, corrected by human judgements",
            self.to_records(),
            marks=(
                Mark("human_low", "human_high", size=5, colour="grey", opacity=0.35),
                LIMITS_LINE,
                dot("mean"),
                dot("model_mean", "orange", "cross"),
            ),
            axis=f"mean with {percent(self.level)} interval",
            tooltip=(
                *texts("run"),
                *numbers("mean", "low", "high", "human_mean", "model_mean", "weight"),
            ),
            subtitle="grey: human judgements alone; cross: model alone",
            width=280,
        )

    def note(self) -> str:
        """Return what the numbers are, and where the model's judgements carry no information."""
        methods = enumerate_names(sorted({name for row in self.methods for name in row}))
        note = (
            f"mean by human judgements with {percent(self.level)} interval by {methods}, from "
            f"{counted(self.human_topics, 'human-judged topic')} and {self.model_topics:,} "
            "judged by the model alone; model: its own mean; bias: the model's mean minus the human one "
            "on the same topics; weight of the model; worth: how many further human topics its "
            "judgements are worth"
        )
        return "\n".join([note, *self.model_notes()])

    def model_notes(self) -> list[str]:
        """Return where the model's judgements do not make means more precise."""
        return model_notes(self.measures, self.worth <= 0, self.model_topics)


@on_its_scheduler
@takes_rules
def correct_judgements(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: Any = None,
    *,
    human: Any,
    human_sample: str,
    level: float = LEVEL,
    method: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> CorrectedMeans:
    """Return means by human judgements, from a model's and a few human ones (PPI++).

    A model's judgements are many but biased, human ones unbiased but few. The means estimate what
    human judgements of all topics would give: unbiased however wrong the model is, and with narrower
    intervals than human judgements alone where it is good.

    Parameters
    ----------
    qrels
        The model's judgements, of all topics, or an `Experiment` by them; as in `evaluate`.
    runs, measures, progress, **rules
        As in `evaluate`.
    human
        Human judgements of some of the topics, three or more.
    human_sample
        How these topics were sampled: "random-topics", or "all" of the model's, whose means are then
        human judgements alone. Topics that were "chosen" are refused.
    level, method
        Confidence level and method of the intervals. By default logit-t for means in [0, 1], but
        calibrated-beta, as for human judgements alone, where the model has no weight; t for others.
    replicates, rng
        Number of replicates, and seed or generator, for methods that resample.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> people = dict(list(sample.qrels.to_dict().items())[:20])
    >>> sampled = {"human": people, "human_sample": "random-topics"}
    >>> confir.correct_judgements(sample.qrels, sample.runs[:1], "AP", **sampled)
    CorrectedMeans(run: 1, measure: 1, human_topics=20, model_topics=30, level=0.95)
    """
    level = as_level(level)
    check_replicates(replicates)
    if check_sample(human_sample) == RANDOM_DOCUMENTS:
        raise InvalidValueError(
            "documents drawn at random correct the scores of each topic, not their means; expected "
            f"evaluate(…, human_sample={RANDOM_DOCUMENTS!r}), and its scores"
        )
    if method is not None:
        find_method(method)
    experiment = as_experiment(qrels, runs, rules, (human, human_sample))
    scores = cast("JudgedScores", evaluate(experiment, measures=measures, progress=progress))
    return correct_scores(scores, level=level, method=method, replicates=replicates, rng=rng)


def correct_scores(
    scores: JudgedScores,
    *,
    level: float = LEVEL,
    method: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> CorrectedMeans:
    """Return what `correct_judgements` does, of scores by human and by model judgements.

    Parameters
    ----------
    scores
        What `evaluate` returns with ``human``.
    level, method, replicates, rng
        As in `correct_judgements`.
    """
    drawing: dict[str, Any] = {"replicates": replicates, "rng": rng}
    corrected = confidence_interval(scores, level=level, method=method, **drawing)
    methods = tuple(METHODS[name] for name in corrected.methods)
    people, generator = as_topic_sample(scores.human), as_generator(rng)
    alone = find_intervals(people, [methods], [level], replicates, generator)[0]
    whole, values = as_sample(scores), clip_parts(scores).flat()
    weight = cast("Floats", whole.model_weight)
    shape = len(scores.runs), len(scores.measures)
    apart = replace(people, values=(values.model - values.human,), support=weight < 0)
    bias = find_intervals(
        apart, [(METHODS[DEFAULT_METHOD],) * len(whole.labels)], [level], 1, generator
    )[0]
    n, more = len(values.human), len(values.rest)
    by_human, by_both = (
        np.square(each.distribution(slice(None), None, ("se",)).require("se"))
        for each in (people, whole)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.minimum(n * by_human / by_both - n, more)
    return CorrectedMeans(
        runs=scores.runs,
        measures=scores.measures,
        human_topics=n,
        model_topics=more,
        **_limits("", corrected, shape),
        level=level,
        methods=_by_run(corrected.methods, shape),
        **_limits("human_", alone, shape),
        model_mean=scores.model.mean(),
        bias=bias.estimate.reshape(shape),
        bias_low=bias.low.reshape(shape),
        bias_high=bias.high.reshape(shape),
        weight=weight.reshape(shape),
        worth=np.where(weight > 0, worth, 0.0).reshape(shape),
    )


def _limits(name: str, interval: Interval, shape: tuple[int, int]) -> dict[str, Any]:
    arrays = {"mean": interval.estimate, "low": interval.low, "high": interval.high}
    return {f"{name}{end}": array.reshape(shape) for end, array in arrays.items()}


def _by_run(methods: Sequence[str], shape: tuple[int, int]) -> tuple[tuple[str, ...], ...]:
    runs, measures = shape
    return tuple(tuple(methods[r * measures : (r + 1) * measures]) for r in range(runs))
