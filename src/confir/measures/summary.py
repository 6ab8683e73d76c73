"""Summaries of a run's scores over all topics: mean, geometric mean, logit mean.

Each summary is the mean of a transformed score, transformed back: MAP of AP itself, GMAP of ln AP
and L-MAP of logit AP ([Cormack2006] §8).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confir.arrays import Floats
from confir.defaults import LOGIT_EPSILON

GEOMETRIC_FLOOR = 1e-5  # as in trec_eval: a score of 0 does not make the geometric mean 0

Transform = Callable[[Floats], Floats]


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


def logit(value: Floats) -> Floats:
    """Return ln(x / (1 - x)); ±∞ at 0 and 1."""
    with np.errstate(divide="ignore"):
        odds = value / (1.0 - value)
        return np.log(odds)


def inverse_logit(value: Floats) -> Floats:
    """Return 1 / (1 + e^-x)."""
    with np.errstate(over="ignore"):
        probability: Floats = 1.0 / (1.0 + np.exp(-value))
    return probability


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
