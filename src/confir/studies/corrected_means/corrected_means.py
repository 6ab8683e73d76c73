"""What would the means be by people's judgements, of which there are few beside a model's?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Unpack

import numpy as np

from confir.arguments import as_choice, as_generator, as_level
from confir.arrays import Booleans, Floats
from confir.data.experiment import (
    Experiment,
    ReadingOptions,
    ReadingRules,
    as_experiment,
    takes_rules,
)
from confir.data.formats.objects import qrels_called
from confir.data.qrels import Qrels
from confir.data.result import Result, axis, constant, over, result
from confir.data.scores import Scores
from confir.defaults import LEVEL, REPLICATES
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.intervals.catalogue import (
    confidence_interval,
    find_method,
    methods_over,
    misfit,
)
from confir.intervals.interval import Interval
from confir.measures.bounds import bounded_measures
from confir.measures.evaluation import chosen_measures, evaluate, parse_measures
from confir.parallel import Progress
from confir.resampling.human_judgements import LEAST_HUMAN_TOPICS, PROVIDED, JudgedSample
from confir.resampling.topics import Rng, check_replicates
from confir.studies.judgements.judge_effects import mean_limits
from confir.studies.judgements.judges import by_judge

RANDOM_TOPICS = "random-topics"
# How the topics that people judged came about: only a random sample speaks for the others.
HUMAN_SAMPLES = (RANDOM_TOPICS, "chosen")

# Human topics whose scores by the model differ from the others' as rarely as this are no sample.
_RARELY = 0.05


@result
class CorrectedMeans(Result):
    """Means by people's judgements, estimated from those of a model and a few of people.

    Arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    human_topics, model_topics
        Topics that people (and the model) judged, and further ones that the model judged alone.
    mean, low, high
        The corrected mean with its limits.
    human_mean, human_low, human_high
        The mean over the human topics alone, with limits by the same rule.
    model_mean
        The mean by the model's judgements over all topics.
    bias, bias_low, bias_high
        Mean by the model minus mean by people, over the human topics.
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

    row_order: ClassVar[tuple[str, ...]] = ("run", "measure")


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
    rng: Rng = None,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> CorrectedMeans:
    """Return means by people's judgements, from a model's and a few of people (PPI++).

    Parameters
    ----------
    qrels
        The model's judgements, of all topics, or an `Experiment` by them; as in `evaluate`.
    runs, measures, progress, **rules
        As in `evaluate`.
    human
        People's judgements of some of the topics, three or more.
    human_sample
        How these topics came about: "random-topics". Topics that were "chosen" are refused.
    level, method
        Confidence level and method of the intervals; by default logit-t for means in [0, 1].
    replicates, rng
        Number of replicates, and seed or generator, for methods that resample.
    """
    check_sample(human_sample)
    level = as_level(level)
    check_replicates(replicates)
    if method is not None:
        check_method(method)
    experiment = as_experiment(qrels, runs, ReadingRules(**rules))
    reading, judged = experiment.rules, experiment.qrels
    people = _shared_topics(judged, qrels_called("human", human, reading.intents))
    wanted = chosen_measures(experiment, measures)
    parse_measures(wanted, reading.rel)  # before runs are read
    lists = experiment.lists(progress)
    kept = np.isin(np.array(judged.topics, object), np.array(people.topics, object))
    other = Experiment(people, (), **reading.keywords())
    other.kept.update(lists=lists.restrict(kept).judged_by(people), sources=())
    people_scores, model_scores = by_judge(
        lambda one: evaluate(one, measures=wanted), ("people", "model"), (other, experiment)
    )
    return correct_scores(
        people_scores, model_scores, level=level, method=method, replicates=replicates, rng=rng
    )


def check_sample(human_sample: Any) -> None:
    """Raise where people's judgements are no random sample."""
    as_choice("human_sample", human_sample, HUMAN_SAMPLES, "way to choose human topics")
    if human_sample != RANDOM_TOPICS:
        raise InvalidValueError(
            "topics that were chosen for human judging say nothing of the others, and nothing "
            f"corrects that; expected topics drawn at random ({RANDOM_TOPICS})"
        )


def check_method(name: str) -> None:
    """Raise where an interval method does not serve corrected means."""
    method = find_method(name)
    if method.independent_topics or not set(method.needs) <= PROVIDED:
        reason = "it is for the mean of one simple random sample of topics"
        fitting = [
            other
            for other in methods_over("topics").values()
            if not other.independent_topics and set(other.needs) <= PROVIDED
        ]
        raise misfit(method, reason, fitting)


def correct_scores(
    human: Scores,
    model: Scores,
    *,
    level: float = LEVEL,
    method: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = None,
) -> CorrectedMeans:
    """Return what `correct_judgements` does, of scores by people and by the model.

    Parameters
    ----------
    human
        Scores by people's judgements; all of their topics are among the model's.
    model
        Scores of the same runs by the model's judgements.
    level, method, replicates, rng
        As in `correct_judgements`.
    """
    sample = _judged_sample(human, model)
    _warn_of_other_topics(sample, model)
    resamples = method is not None and find_method(method).resamples
    weights = sample.draw(replicates, as_generator(rng)) if resamples else None
    corrected = confidence_interval(sample.distribution(weights), level=level, method=method)
    alone = confidence_interval(human, level=level, method=method, replicates=replicates, rng=rng)
    found = sample.corrected()
    shape = len(human.runs), len(human.measures)
    if method is None:  # without weight, it is the interval of people's judgements alone
        corrected = _with_alone(corrected, alone, found.weight == 0)
    bias, (bias_low, bias_high) = mean_limits(sample.model - sample.human, level)
    n = len(sample.human)
    people_variance = np.square(sample.human.std(axis=0, ddof=1)) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.minimum(n * people_variance / np.square(found.se) - n, len(sample.rest))
    return CorrectedMeans(
        runs=human.runs,
        measures=human.measures,
        human_topics=n,
        model_topics=len(sample.rest),
        **_limits("", corrected, shape),
        level=level,
        methods=_by_run(corrected.methods, shape),
        **_limits("human_", alone, shape),
        model_mean=model.mean(),
        bias=bias.reshape(shape),
        bias_low=bias_low.reshape(shape),
        bias_high=bias_high.reshape(shape),
        weight=found.weight.reshape(shape),
        worth=np.where(found.weight > 0, worth, 0.0).reshape(shape),
    )


def _with_alone(corrected: Interval, alone: Interval, without: Booleans) -> Interval:
    """Return intervals of which some are those of people's judgements alone."""
    low, high = (
        np.where(without, one.reshape(-1), other)
        for one, other in ((alone.low, corrected.low), (alone.high, corrected.high))
    )
    pairs = zip(without.tolist(), alone.methods, corrected.methods, strict=True)
    methods = tuple(one if chosen else other for chosen, one, other in pairs)
    return replace(corrected, low=low, high=high, methods=methods)


def _limits(name: str, interval: Interval, shape: tuple[int, int]) -> dict[str, Any]:
    arrays = {"mean": interval.estimate, "low": interval.low, "high": interval.high}
    return {f"{name}{end}": array.reshape(shape) for end, array in arrays.items()}


def _by_run(methods: Sequence[str], shape: tuple[int, int]) -> tuple[tuple[str, ...], ...]:
    runs, measures = shape
    return tuple(tuple(methods[r * measures : (r + 1) * measures]) for r in range(runs))


def _shared_topics(model: Qrels, human: Qrels) -> Qrels:
    """Return people's judgements of topics that the model judged, too."""
    known = set(model.topics)
    beyond = [topic for topic in human.topics if topic not in known]
    shared = len(human.topics) - len(beyond)
    if shared < LEAST_HUMAN_TOPICS:
        raise TopicMismatchError(
            f"people judged {counted(shared, 'topic')} that the model judged, too; expected "
            f"{LEAST_HUMAN_TOPICS} or more"
        )
    if len(known) - shared < 2:
        raise TopicMismatchError(
            f"the model judged {counted(len(known) - shared, 'topic')} beyond those of people; "
            "expected 2 or more: without them, people's judgements stand for themselves"
        )
    if not beyond:
        return human
    warn_caller(
        f"people judged {counted(len(beyond), 'topic')} that the model did not "
        f"({enumerate_names(beyond, 5)}), left out",
        TopicWarning,
    )
    kept = np.array([topic in known for topic in human.topics])
    return human.only(kept[human.document_topics])


def _judged_sample(human: Scores, model: Scores) -> JudgedSample:
    """Return the scores of topics that people judged, and of those of the model alone."""
    if np.isnan(human.values).any() or np.isnan(model.values).any():
        raise InvalidValueError(
            "a run lacks topics; corrected means need all of them: expected missing topics to "
            "score 0 (--missing zero)"
        )
    places = {topic: place for place, topic in enumerate(model.topics)}
    of_people = np.array([places[topic] for topic in human.topics])
    rest = np.setdiff1d(np.arange(len(model.topics)), of_people)
    flat = model.values.reshape(len(model.topics), -1)
    labels = tuple((run, measure) for run in human.runs for measure in human.measures)
    support = np.tile(bounded_measures(human), len(human.runs))
    values = human.values.reshape(len(human.topics), -1)
    return JudgedSample(labels, values, flat[of_people], flat[rest], support)


def _warn_of_other_topics(sample: JudgedSample, model: Scores) -> None:
    """Warn where human topics differ from the others by the model's scores (Welch's t test)."""
    from scipy.stats import ttest_ind

    measures = len(model.measures)
    drawn, rest = (
        part.reshape(len(part), -1, measures).mean(axis=1) for part in (sample.model, sample.rest)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.asarray(ttest_ind(drawn, rest, equal_var=False).pvalue)
    unlike = np.flatnonzero(p * measures < _RARELY).tolist()
    if unlike:
        place = unlike[0]
        warn_caller(
            f"by the model's judgements, topics that people judged have a mean "
            f"{model.measures[place]} of {drawn[:, place].mean():.4f}, the others "
            f"{rest[:, place].mean():.4f} (p = {p[place]:.2g}): topics drawn at random rarely "
            "differ as much; if they were chosen otherwise, the corrected means are wrong",
            TopicWarning,
        )
