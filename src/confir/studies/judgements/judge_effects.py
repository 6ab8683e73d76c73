"""Effects of judges: runs that gain from one, and the variance of means that is due to them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.intervals.interval import Limits
from confir.intervals.method_list import DEFAULT_METHOD, METHODS, confidence_interval
from confir.intervals.simultaneous import ComparisonFamily
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import STATISTICS
from confir.resampling.topic_bootstrap import TopicSample
from confir.resampling.variance_components import estimate_components
from confir.studies.comparison.verdicts import INCONCLUSIVE, Words
from confir.studies.judgements.grade_agreement import PAIR_PARTS
from confir.studies.judgements.judges import Judges

GAINS, LOSES = "gains", "loses"


@result
class JudgedRuns(Result):
    """The means of runs under two judges: arrays are pairs × runs × measures.

    Attributes
    ----------
    pairs, runs, measures
        Names; a pair is a reference and the judge that is compared with it.
    reference_mean, judge_mean
        Means by both judges, each with limits.
    bias
        The judge's mean minus the reference's, with limits.
    gain
        The bias of the run minus the mean bias of all runs: run × judge interaction. Its limits are
        simultaneous for all runs of a pair and measure.
    effect
        "gains" or "loses" where these limits exclude 0, else "inconclusive".
    level
        Confidence level.
    """

    pairs: tuple[tuple[str, str], ...] = axis("judge_pair")
    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    reference_mean: Floats = over("judge_pair", "run", "measure")
    reference_low: Floats = over("judge_pair", "run", "measure")
    reference_high: Floats = over("judge_pair", "run", "measure")
    judge_mean: Floats = over("judge_pair", "run", "measure")
    judge_low: Floats = over("judge_pair", "run", "measure")
    judge_high: Floats = over("judge_pair", "run", "measure")
    bias: Floats = over("judge_pair", "run", "measure")
    bias_low: Floats = over("judge_pair", "run", "measure")
    bias_high: Floats = over("judge_pair", "run", "measure")
    gain: Floats = over("judge_pair", "run", "measure")
    gain_low: Floats = over("judge_pair", "run", "measure")
    gain_high: Floats = over("judge_pair", "run", "measure")
    effect: Words = over("judge_pair", "run", "measure")
    level: float = constant()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = PAIR_PARTS
    row_order = ("judge_pair", "measure", "run")


@result
class JudgeVariance(Result):
    """Where the variance of a run's mean over new topics and another judge comes from.

    Two-way random effects, as for documents in `VarianceComponents`: arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    topics
        Some topics are easier than others, whoever judges.
    judges
        A judge is lenient or strict on all topics.
    interaction
        What a judge changes for each topic by itself.
    judge_count
        Number of judges.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    topics: Floats = over("run", "measure")
    judges: Floats = over("run", "measure")
    interaction: Floats = over("run", "measure")
    judge_count: int

    record_columns = ("run", "measure", "topics", "judges", "interaction", "total")

    def derived(self) -> Iterator[Variable]:
        """Yield the variance of the mean."""
        yield Variable("total", ("run", "measure"), self.total)

    @property
    def total(self) -> Floats:
        """The variance of the mean of one judge's scores."""
        return self.topics + self.judges + self.interaction


def split_variance(
    values: Floats, runs: tuple[str, ...], measures: tuple[str, ...]
) -> JudgeVariance:
    """Return the components of the variance of means under one judge.

    Parameters
    ----------
    values
        Scores by each judge: judges × topics × runs × measures.
    runs, measures
        Names.
    """
    judges, topics = values.shape[:2]
    parts = estimate_components(
        between=values.var(axis=1, ddof=1).mean(axis=0),
        within=values.var(axis=0, ddof=1).mean(axis=0),
        of_mean=values.mean(axis=1).var(axis=0, ddof=1),
        count=np.full(values.shape[2:], topics),
    )
    return JudgeVariance(runs, measures, parts.topics, parts.documents, parts.interaction, judges)


def simultaneous_limits(values: Floats, weights: Floats, level: float) -> tuple[Floats, Limits]:
    """Return means over topics with limits that hold for all columns at once.

    The largest of the studentised deviations of a replicate bounds all columns; where few topics
    make that bound useless, Bonferroni's takes its place.

    Parameters
    ----------
    values
        Topics × columns.
    weights
        Replicate weights of the topics.
    level
        Confidence level.
    """
    found = _distribution(values, weights)
    se = found.require("se")
    varying = se > 0
    columns = int(varying.sum())
    if not columns:
        nothing = np.full(len(se), np.nan)
        return found.estimate, Limits(nothing, nothing)
    with np.errstate(divide="ignore", invalid="ignore"):
        replicate_se = found.require("replicate_se")[:, varying]
        deviation = np.abs(found.require("replicates") - found.estimate)[:, varying]
        t = np.where(deviation > 0, deviation / replicate_se, 0.0)
    family = ComparisonFamily.of(columns, t.max(axis=1))
    known = np.where(varying, se, np.nan)
    return found.estimate, family.limits(found.estimate, known, found.count, level).limits


def mean_limits(values: Floats, level: float) -> tuple[Floats, Limits]:
    """Return means over topics, each with limits of its own; NaN where all values are equal."""
    found = _distribution(values, None)
    limits = METHODS[DEFAULT_METHOD].compute(found, level)
    low, high = (np.where(found.degenerate, np.nan, limit) for limit in limits)
    return found.estimate, Limits(low, high)


def _distribution(values: Floats, weights: Floats | None) -> SamplingDistribution:
    labels = tuple((str(place), "gain") for place in range(values.shape[1]))
    support = np.zeros(len(labels), np.bool_)
    sample = TopicSample(labels, (len(labels),), (values,), STATISTICS["mean"], support)
    return sample.distribution(slice(None), weights, ("replicates", "replicate_se"))


def judge_effects(limits: Limits) -> Words:
    """Return which runs gain or lose from a judge, by the limits of their gain."""
    words = np.array([INCONCLUSIVE, GAINS, LOSES])
    sides: Integers = np.where(limits.low > 0, 1, np.where(limits.high < 0, 2, 0))
    effects: Words = words[sides]
    return effects


class Drawn(NamedTuple):
    """How replicates are drawn: weights of the topics; number, seed and level."""

    weights: Floats
    replicates: int
    seed: int
    level: float


def mean_biases(
    means: Floats, pairs: list[tuple[int, int]], level: float
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return the mean differences of judges with limits: pairs × columns.

    Parameters
    ----------
    means
        Judges × topics × columns.
    pairs, level
        The pairs of judges, and the confidence level.
    """
    differences = np.stack([means[b] - means[a] for a, b in pairs], axis=1)
    shape = differences.shape[1:]
    estimate, limits = mean_limits(differences.reshape(len(differences), -1), level)
    return estimate.reshape(shape), (limits.low.reshape(shape), limits.high.reshape(shape))


def judged_runs(
    judges: Judges, scores: Sequence[Scores], values: Floats, drawn: Drawn
) -> JudgedRuns:
    """Return means, biases and gains of all runs under all pairs of judges."""
    first = scores[0]
    with warnings.catch_warnings():  # of equal scores, which the verdicts name already
        warnings.simplefilter("ignore", ConfirWarning)
        means = [confidence_interval(one, level=drawn.level, rng=drawn.seed) for one in scores]
    flat = values.reshape(*values.shape[:2], -1)
    bias, limits = mean_biases(flat, judges.pairs, drawn.level)
    shape = len(judges.pairs), len(first.runs), len(first.measures)
    gains = [_gains(values[b] - values[a], drawn) for a, b in judges.pairs]
    gain, low, high, effect = (np.stack(part) for part in zip(*gains, strict=True))
    parts = [(one.estimate, one.low, one.high) for one in means]
    arrays: dict[str, Any] = {}
    for column, end in enumerate(("mean", "low", "high")):
        arrays[f"reference_{end}"] = np.stack([parts[a][column] for a, _ in judges.pairs])
        arrays[f"judge_{end}"] = np.stack([parts[b][column] for _, b in judges.pairs])
    for end, array in zip(("", "_low", "_high"), (bias, *limits), strict=True):
        arrays[f"bias{end}"] = array.reshape(shape)
    return JudgedRuns(
        pairs=judges.pair_names,
        runs=first.runs,
        measures=first.measures,
        **arrays,
        gain=gain,
        gain_low=low,
        gain_high=high,
        effect=effect,
        level=drawn.level,
    )


def _gains(differences: Floats, drawn: Drawn) -> tuple[Any, ...]:
    """Return what each run gains from a judge beyond all runs, with simultaneous limits."""
    beyond = differences - differences.mean(axis=1, keepdims=True)
    columns = [
        simultaneous_limits(beyond[:, :, m], drawn.weights, drawn.level)
        for m in range(beyond.shape[2])
    ]
    gain, limits = zip(*columns, strict=True)
    low, high = (np.stack(part, axis=1) for part in zip(*limits, strict=True))
    return np.stack(gain, axis=1), low, high, judge_effects(Limits(low, high))
