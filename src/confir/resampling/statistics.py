"""Statistics of runs over topics: summaries of a run's scores, and comparisons of two runs.

A summary is the mean of a transformed score, transformed back: MAP of AP itself, GMAP of ln AP and
L-MAP of logit AP ([Cormack2006] §8). A statistic is any smooth function of means over topics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confir.arrays import Floats, logit
from confir.defaults import LOGIT_EPSILON

GEOMETRIC_FLOOR = 1e-5  # as in trec_eval: a score of 0 does not make the geometric mean 0

Transform = Callable[[Floats], Floats]
WeightedStatistic = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary over topics: ``back(mean(forward(score)))``.

    Attributes
    ----------
    name
        Its name in options and results.
    forward
        What is averaged over topics.
    back, slope
        From that mean to the summary, and the derivative.
    """

    name: str
    forward: Transform
    back: Transform
    slope: Transform


def clipped_logit(score: Floats, epsilon: float = LOGIT_EPSILON) -> Floats:
    """Return the logit of a score, clipped to [epsilon, 1 - epsilon]."""
    return logit(np.clip(score, epsilon, 1.0 - epsilon))


def _floored_log(score: Floats) -> Floats:
    logarithm: Floats = np.log(np.maximum(score, GEOMETRIC_FLOOR))
    return logarithm


SUMMARIES = {
    summary.name: summary
    for summary in (
        Summary("mean", np.positive, np.positive, np.ones_like),
        Summary("geometric-mean", _floored_log, np.exp, np.exp),
        Summary("logit-mean", clipped_logit, np.positive, np.ones_like),
    )
}


@dataclass(frozen=True, slots=True)
class Statistic:
    """A smooth function of means over topics.

    Attributes
    ----------
    name
        Its name in options and results.
    variables
        From scores and, for a comparison, those of the baseline, to the variables averaged.
    value, slopes
        The statistic as a function of those means, and its partial derivatives.
    compares
        Whether it needs a baseline.
    bounded
        Whether it stays in [0, 1] when the scores do.
    linear
        Whether it is the mean of one variable.
    """

    name: str
    variables: Callable[[Floats, Floats], tuple[Floats, ...]]
    value: Callable[..., Floats]
    slopes: Callable[..., tuple[Floats, ...]]
    compares: bool = False
    bounded: bool = False
    linear: bool = False


def _ratio_slopes(mean: Floats, other: Floats) -> tuple[Floats, ...]:
    return 1.0 / other, -mean / other**2


def _logit_slopes(mean: Floats, other: Floats) -> tuple[Floats, ...]:
    return 1.0 / (mean * (1.0 - mean)), -1.0 / (other * (1.0 - other))


def _summary_statistic(name: str) -> Statistic:
    summary = SUMMARIES[name]
    return Statistic(
        name,
        variables=lambda scores, _: (summary.forward(scores),),
        value=summary.back,
        slopes=lambda mean: (summary.slope(mean),),
        bounded=name != "logit-mean",
        linear=name != "geometric-mean",
    )


STATISTICS = {
    statistic.name: statistic
    for statistic in (
        _summary_statistic("mean"),
        _summary_statistic("geometric-mean"),
        _summary_statistic("logit-mean"),
        Statistic(
            "difference",
            lambda x, y: (x - y,),
            np.positive,
            lambda mean: (np.ones_like(mean),),
            compares=True,
            linear=True,
        ),
        Statistic("ratio", lambda x, y: (x, y), np.divide, _ratio_slopes, compares=True),
        Statistic(
            "logit-difference",
            lambda x, y: (x, y),
            lambda mean, other: logit(mean) - logit(other),
            _logit_slopes,
            compares=True,
        ),
    )
}
