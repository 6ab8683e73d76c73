"""Effectiveness and stability: the error of a run, split into bias and variance ([Zhang2013]).

The error of a run is the distance between its scores and a target's: ``bias² + variance`` over
topics, for the score itself or for ρ, the target's score minus the run's. Moments are those of the
given topics (ddof=0), so the parts sum exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choice, as_generator, as_level, as_texts
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.tables.score_objects import ScoresSource, make_scores
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import InvalidValueError
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Limits
from confir.intervals.method_list import find_method
from confir.measures.bounded_measures import bounded_measures
from confir.measures.score_sources import as_scores
from confir.parallel import run_in_threads
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng, check_replicates
from confir.resampling.sample import Knowledge
from confir.resampling.statistics import UNIT, Statistic
from confir.resampling.topic_sample import TopicSample
from confir.resampling.topic_weights import TopicWeights, draw_topics
from confir.resampling.variance_components import mean_over_topics
from confir.studies.bias_variance.parameter_sweep import Sweep, read_sweeps
from confir.studies.bias_variance.robustness import Robustness, measure_robustness
from confir.studies.bias_variance.targets import (
    PERFECT,
    VARIABLES,
    Decomposed,
    find_target,
    possible_ranges,
)

# Of the methods that fit, the one whose coverage of the variance is best on TREC 2004 Robust.
DEFAULT_VARIANCE_METHOD = "bootstrap-t"

# Runs whose errors are resampled at once.
_RUNS_AT_ONCE = 16


class Estimate(NamedTuple):
    """A number for each run and measure, with the limits of its interval: runs × measures."""

    value: Floats
    low: Floats
    high: Floats


@result
class BiasVariance(Result):
    """The error of runs, split into bias and variance: all arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    target
        "perfect", "best", the name of a run, or a mean score.
    variable
        What is decomposed: "score", or "rho", the target's score minus the run's on each topic.
    topics
        Number of topics of each decomposition.
    mean, target_mean
        Means over topics of the run and of the target.
    bias, variance, total
        ``target_mean - mean``; variance over topics; ``bias² + variance``; with intervals.
    error, error_to_target, target_error, cross
        ``E(x-1)²``, and the three terms of which it is the sum: ``E(x-T)²``, ``E(T-1)²`` and
        ``2E(x-T)(T-1)`` ([Zhang2013] Eq. 8). NaN if 1 is not the best score, or if the target has
        no scores by topic.
    level, method
        Confidence level and method of the intervals.
    cut
        How many of the three intervals had impossible limits, such as a variance below 0, and were
        clipped.
    robustness
        Comparison with a baseline; None without one.
    sweeps
        Runs that differ in one parameter.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    target: str = constant()
    variable: Decomposed = constant()
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")
    target_mean: Floats = over("run", "measure")
    bias: Estimate = over("run", "measure")
    variance: Estimate = over("run", "measure")
    total: Estimate = over("run", "measure")
    error: Floats = over("run", "measure")
    error_to_target: Floats = over("run", "measure")
    target_error: Floats = over("run", "measure")
    cross: Floats = over("run", "measure")
    cut: Integers = over("run", "measure")
    level: float = constant()
    method: str = constant()
    robustness: Robustness | None = None
    sweeps: tuple[Sweep, ...] = ()

    row_order = ("measure", "run")
    record_columns = (
        *("run", "measure", "target", "variable", "topics", "mean", "target_mean"),
        *("bias", "bias_low", "bias_high", "variance", "variance_low", "variance_high"),
        *("total", "total_low", "total_high", "bias_squared", "level", "method"),
        *("error", "error_to_target", "target_error", "cross"),
        *("against", "robustness_index", "hurt", "loss", "loss_depth"),
        *("parameter", "parameter_value"),
    )
    optional_columns = (
        *("against", "robustness_index", "hurt", "loss", "loss_depth"),
        *("parameter", "parameter_value"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the parts of the error with their limits, robustness, and parameters."""
        for name in ("bias", "variance", "total"):
            for suffix, values in zip(("", "_low", "_high"), getattr(self, name), strict=True):
                yield Variable(name + suffix, ("run", "measure"), values)
        yield Variable("bias_squared", ("run", "measure"), self.bias.value * self.bias.value)
        if self.robustness is not None:
            yield from self.robustness.variables()
        if self.sweeps:
            values = {
                run: (one.parameter, x) for one in self.sweeps for run, x in one.values.items()
            }
            found = [values.get(run, (None, None)) for run in self.runs]
            yield Variable("parameter", ("run",), [parameter for parameter, _ in found])
            yield Variable("parameter_value", ("run",), [value for _, value in found])


@needs(Knowledge.VALUES, "the study of bias and variance")
def decompose_error(
    scores: ScoresSource,
    *,
    target: str | float = PERFECT,
    variable: Decomposed = "score",
    baseline: str | None = None,
    precision: ScoresSource | None = None,
    parameters: str | Sequence[str] = (),
    level: float = LEVEL,
    method: str = DEFAULT_VARIANCE_METHOD,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> BiasVariance:
    """Return the error of each run against a target, split into bias and variance over topics.

    Parameters
    ----------
    scores
        Scores of the runs, by any measures; anything that `as_scores` takes.
    target
        "perfect" (1 on every topic), "best" (the best run of each topic), the name of a run, or a
        mean score.
    variable
        "score", or "rho", the target's score minus the run's on each topic; a mean has no rho.
    baseline
        The run relative to which robustness is measured.
    precision
        The same runs by one P@k: gives R-Loss@k against the baseline.
    parameters
        Runs that differ in one parameter, as `read_sweeps` reads them; one text or several.
    level, method, replicates, rng
        Confidence level, method, replicates and seed of the intervals over topics.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.decompose_error(scores)
    BiasVariance(run: 2, measure: 1, target='perfect', variable='score', level=0.95, method='bootstrap-t')
    """
    scores = as_scores(scores)
    precision = None if precision is None else make_scores(precision, "precision")
    _check_request(scores, variable, baseline, precision)
    level = as_level(level)
    check_replicates(replicates)
    find_method(method)
    targets, name = find_target(scores, target, variable)
    robustness = None if baseline is None else measure_robustness(scores, baseline, precision)
    sweeps = read_sweeps(as_texts("parameters", parameters, least=0), scores.runs)
    sample = _Errors.of(scores, targets, variable)
    generator = as_generator(rng)
    weights = draw_topics(len(scores.topics), replicates, generator)
    found = [_without_limits(sample, statistic) for statistic in _STATISTICS]
    tasks = [
        (statistic, runs, estimate)
        for statistic, estimate in zip(_STATISTICS, found, strict=True)
        for runs in _varying_runs(scores, variable, statistic, name)
    ]
    limit = partial(_fill_limits, scores, sample, weights, level, method)
    run_in_threads(lambda task: limit(*task), tasks[::-1])  # the longest work first
    ranges = possible_ranges(bounded_measures(scores), target, variable)
    bias, variance, total = map(_cut, found, ranges)
    cut = [
        ~np.isnan(one.low) & ((one.low != kept.low) | (one.high != kept.high))
        for one, kept in zip(found, (bias, variance, total), strict=True)
    ]
    by_topic = None if isinstance(target, float | int) else targets
    terms = _error_terms(scores, by_topic, sample.present)
    return BiasVariance(
        runs=scores.runs,
        measures=scores.measures,
        target=name,
        variable=variable,
        topics=sample.present.sum(axis=0),
        mean=mean_over_topics(scores.values, sample.present),
        target_mean=mean_over_topics(
            np.broadcast_to(targets[:, None], scores.values.shape), sample.present
        ),
        bias=bias,
        variance=variance,
        total=total,
        error=terms[0],
        error_to_target=terms[1],
        target_error=terms[2],
        cross=terms[3],
        cut=np.sum(cut, axis=0),
        level=level,
        method=method,
        robustness=robustness,
        sweeps=sweeps,
    )


def _check_request(
    scores: Scores, variable: Decomposed, baseline: str | None, precision: Scores | None
) -> None:
    as_choice("variable", variable, VARIABLES)
    if baseline is not None:
        as_choice("baseline", baseline, scores.runs, "run")
    if len(scores.topics) < 2:
        raise InvalidValueError("there is one topic; a variance over topics needs at least 2")
    if baseline is None and precision is not None:
        raise InvalidValueError(
            "R-Loss counts relevant documents lost relative to a baseline; name the baseline"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """What is averaged over topics: topics × runs × measures, NaN where a score is missing.

    Attributes
    ----------
    rho
        The target's score minus the run's.
    deviation
        The variable minus its mean, to avoid cancellation in squares.
    present
        Whether run and target both have a score.
    variable
        Its name.
    """

    rho: Floats
    deviation: Floats
    present: Booleans
    variable: Decomposed

    @classmethod
    def of(cls, scores: Scores, targets: Floats, variable: Decomposed) -> _Errors:
        rho = targets[:, None] - scores.values
        present = ~np.isnan(rho)
        values = rho if variable == "rho" else np.where(present, scores.values, np.nan)
        return cls(rho, values - mean_over_topics(values, present), present, variable)


# The variables averaged, from rho and the deviation; a function of the means; its derivatives.
_STATISTICS = (
    Statistic("bias", lambda rho, _: (rho,), np.positive, lambda _: (UNIT,)),
    Statistic(
        "variance",
        lambda _, deviation: (deviation, deviation**2),
        lambda mean, square: square - mean**2,
        lambda mean, square: (-2.0 * mean, np.ones_like(square)),
    ),
    Statistic(
        "total",
        lambda rho, deviation: (rho, deviation, deviation**2),
        lambda rho, mean, square: rho**2 + (square - mean**2),
        lambda rho, mean, square: (2.0 * rho, -2.0 * mean, np.ones_like(square)),
    ),
)


def _without_limits(errors: _Errors, statistic: Statistic) -> Estimate:
    """Return a part of the error; its limits are to be filled in."""
    variables = statistic.variables(errors.rho, errors.deviation)
    means = [mean_over_topics(variable, errors.present) for variable in variables]
    value = np.asarray(statistic.value(*means), np.float64)
    return Estimate(value, np.full(value.shape, np.nan), np.full(value.shape, np.nan))


def _varying_runs(
    scores: Scores, variable: Decomposed, statistic: Statistic, target: str
) -> list[list[int]]:
    """Return the runs with limits, some at a time: where the run is the target, it has none."""
    own = statistic.name == "bias" or variable == "rho"
    runs = [place for place, run in enumerate(scores.runs) if run != target or not own]
    return [runs[i : i + _RUNS_AT_ONCE] for i in range(0, len(runs), _RUNS_AT_ONCE)]


def _fill_limits(
    scores: Scores,
    errors: _Errors,
    weights: TopicWeights,
    level: float,
    method: str,
    statistic: Statistic,
    runs: list[int],
    estimate: Estimate,
) -> None:
    """Fill in the limits of some runs."""
    variables = statistic.variables(errors.rho[:, runs], errors.deviation[:, runs])
    labels = tuple(
        (scores.runs[run], f"{measure} ({statistic.name})")
        for run in runs
        for measure in scores.measures
    )
    sample = TopicSample(
        labels=labels,
        shape=(len(labels),),
        values=tuple(variable.reshape(len(variable), -1) for variable in variables),
        statistic=statistic,
        support=np.zeros(len(labels), bool),
    )
    distribution = sample.distribution(slice(None), weights, find_method(method).needs)
    limits = confidence_interval(distribution, level=level, method=method)
    estimate.low[runs] = limits.low.reshape(len(runs), -1)
    estimate.high[runs] = limits.high.reshape(len(runs), -1)


def _cut(found: Estimate, possible: Limits) -> Estimate:
    """Return a part of the error with its limits clipped to the possible range."""
    return found._replace(
        low=np.clip(found.low, possible.low, possible.high),
        high=np.clip(found.high, possible.low, possible.high),
    )


def _error_terms(
    scores: Scores, targets: Floats | None, present: Booleans
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return E(x-1)² and the three terms of which it is the sum ([Zhang2013] Eq. 8)."""
    nothing = np.full(scores.values.shape[1:], np.nan)
    bounded = bounded_measures(scores)
    error = np.where(bounded, mean_over_topics((scores.values - 1.0) ** 2, present), np.nan)
    if targets is None:
        return error, nothing, nothing, nothing
    apart, short = scores.values - targets[:, None], targets[:, None] - 1.0
    short = np.broadcast_to(short, apart.shape)
    to_target = mean_over_topics(apart**2, present)
    target_error = np.where(bounded, mean_over_topics(short**2, present), np.nan)
    cross = np.where(bounded, 2.0 * mean_over_topics(apart * short, present), np.nan)
    return error, to_target, target_error, cross
