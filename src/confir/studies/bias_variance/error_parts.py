"""The parts of the error of runs: bias, variance and total, with their limits ([Zhang2013]).

And the terms of the error against a perfect score, of which one is the error against the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Limits
from confir.intervals.method_list import find_method
from confir.measures.parsing import bounded_measures
from confir.parallel import run_in_threads
from confir.resampling.replicates import TopicWeights
from confir.resampling.statistics import Statistic
from confir.resampling.topic_sample import TopicSample
from confir.resampling.variance_components import mean_over_topics

Decomposed = Literal["score", "rho"]
VARIABLES: tuple[Decomposed, ...] = ("score", "rho")

PERFECT, BEST = "perfect", "best"

# Runs whose errors are resampled at once.
_RUNS_AT_ONCE = 16


class Estimate(NamedTuple):
    """A number for each run and measure, with the limits of its interval: runs × measures."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """What is averaged over topics: topics × runs × measures, NaN where a score is missing.

    Attributes
    ----------
    scores
        The scores of the runs.
    rho
        The target's score minus the run's.
    deviation
        The variable minus its mean, to avoid cancellation in squares.
    present
        Whether run and target both have a score.
    variable
        Its name.
    """

    scores: Scores
    rho: Floats
    deviation: Floats
    present: Booleans
    variable: Decomposed

    @classmethod
    def of(cls, scores: Scores, targets: Floats, variable: Decomposed) -> Errors:
        """Return the errors of runs against the target's scores, topics × measures."""
        rho = targets[:, None] - scores.values
        present = ~np.isnan(rho)
        values = rho if variable == "rho" else np.where(present, scores.values, np.nan)
        return cls(scores, rho, values - mean_over_topics(values, present), present, variable)


# The variables averaged, from rho and the deviation; a function of the means; its derivatives.
_STATISTICS = (
    Statistic("bias", lambda rho, _: (rho,), np.positive, lambda rho: (np.ones_like(rho),)),
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


def estimate_parts(
    errors: Errors,
    target: str,
    ranges: Sequence[Limits],
    weights: TopicWeights,
    level: float,
    method: str,
) -> tuple[list[Estimate], Integers]:
    """Return bias, variance and total with limits, and how many of their intervals were clipped.

    Parameters
    ----------
    errors, target
        The errors, and the name of the target: where that is a run, its own bias has no limits.
    ranges
        The lowest and the highest value of each part that is possible: limits are clipped to it.
    weights, level, method
        Weights of the resampled topics, confidence level and method of the intervals.
    """
    found: list[Estimate] = []
    tasks = []
    for statistic in _STATISTICS:
        variables = statistic.variables(errors.rho, errors.deviation)
        means = [mean_over_topics(variable, errors.present) for variable in variables]
        value = np.asarray(statistic.value(*means), np.float64)
        found.append(Estimate(value, *(np.full(value.shape, np.nan) for _ in range(2))))
        # the target's own bias, or rho, does not vary: it has no limits
        own = statistic.name == "bias" or errors.variable == "rho"
        runs = [n for n, run in enumerate(errors.scores.runs) if run != target or not own]
        parts = [runs[i : i + _RUNS_AT_ONCE] for i in range(0, len(runs), _RUNS_AT_ONCE)]
        tasks += [(statistic, part, found[-1]) for part in parts]
    limit = partial(_fill_limits, errors, weights, level, method)
    run_in_threads(lambda task: limit(*task), tasks[::-1])  # the longest work first
    kept = [
        one._replace(low=np.clip(one.low, *possible), high=np.clip(one.high, *possible))
        for one, possible in zip(found, ranges, strict=True)
    ]
    cut = [
        ~np.isnan(one.low) & ((one.low != own.low) | (one.high != own.high))
        for one, own in zip(found, kept, strict=True)
    ]
    return kept, np.sum(cut, axis=0)


def _fill_limits(
    errors: Errors,
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
        (errors.scores.runs[run], f"{measure} ({statistic.name})")
        for run in runs
        for measure in errors.scores.measures
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


def error_terms(errors: Errors, targets: Floats | None) -> dict[str, Floats]:
    """Return E(x-1)² and the three terms of which it is the sum ([Zhang2013] Eq. 8).

    They are NaN where the measure is not in [0, 1] and, but for the first, without the target's
    scores by topic.
    """
    scores, present = errors.scores, errors.present
    nothing = np.full(scores.values.shape[1:], np.nan)
    bounded = bounded_measures(scores)
    error = np.where(bounded, mean_over_topics((scores.values - 1.0) ** 2, present), np.nan)
    if targets is None:
        return {
            "error": error,
            "error_to_target": nothing,
            "target_error": nothing,
            "cross": nothing,
        }
    apart, short = scores.values - targets[:, None], targets[:, None] - 1.0
    short = np.broadcast_to(short, apart.shape)
    to_target = mean_over_topics(apart**2, present)
    target_error = np.where(bounded, mean_over_topics(short**2, present), np.nan)
    cross = np.where(bounded, 2.0 * mean_over_topics(apart * short, present), np.nan)
    return {
        "error": error,
        "error_to_target": to_target,
        "target_error": target_error,
        "cross": cross,
    }


def possible_ranges(
    bounded: Booleans, target: str | float, variable: Decomposed
) -> tuple[Limits, Limits, Limits]:
    """Return the lowest and highest bias, variance and total that each measure allows.

    A variance is at most a quarter of the squared range of what varies.
    """
    lowest, highest = (0.0, 1.0) if target in (PERFECT, BEST) else (-1.0, 1.0)
    if not isinstance(target, str):
        lowest, highest = target - 1.0, float(target)
    rho = Limits(
        np.where(bounded, lowest, 0.0 if target == BEST else -np.inf),
        np.where(bounded, highest, np.inf),
    )
    varying = rho.high - rho.low if variable == "rho" else np.where(bounded, 1.0, np.inf)
    variance = Limits(np.zeros(len(bounded)), varying**2 / 4.0)
    most = np.maximum(rho.low**2, rho.high**2)
    by_topic = isinstance(target, str) and target != PERFECT
    if by_topic and variable == "score":  # two parts of different errors
        most = most + variance.high
    return rho, variance, Limits(np.zeros(len(bounded)), most)
