"""Statistics of runs: smooth functions of means over topics, or user-defined functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confir.arrays import Floats
from confir.measures.summary import SUMMARIES, logit

WeightedStatistic = Callable[[Floats, Floats], Floats]


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


UNIT: Floats = np.ones(1)


def _one(_: Floats) -> tuple[Floats, ...]:
    return (UNIT,)


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
        slopes=_one if name != "geometric-mean" else lambda mean: (summary.slope(mean),),
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
            "difference", lambda x, y: (x - y,), np.positive, _one, compares=True, linear=True
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
