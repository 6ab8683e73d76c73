"""An interval that holds at every look, however often topics arrive and somebody looks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.intervals.bounded import bets, hedged_limits, log_capital
from confir.intervals.interval import Limits, check_level


class SequenceLimits(NamedTuple):
    """The newest limits of each column's mean, and an always-valid p-value of a mean of ½.

    Attributes
    ----------
    limits
        They hold together with all earlier ones: the chance that any of them misses is at most α.
    p
        At most α where the limits exclude ½; also valid at every look.
    """

    limits: Limits
    p: Floats


def confidence_sequence(scores: Floats, level: float) -> SequenceLimits:
    """Return the means that betting on topics in their order of arrival never rejected.

    (Waudby-Smith & Ramdas 2023, Theorem 3, with the predictable plug-in bets
    ``λ_t = √(2 ln(2/α) / (σ̂²_{t-1} t ln(1+t)))``.) Limits after a topic depend on the topics
    up to it alone, and are the intersection of all limits so far.

    Parameters
    ----------
    scores
        Scores in [0, 1], topics in order of arrival × columns; NaN is a topic without a score.
    level
        Confidence level, of all looks together.
    """
    check_level(level)
    error = 1.0 - level
    time = np.maximum(np.cumsum(~np.isnan(scores), axis=0), 1)
    stakes = bets(scores, time * np.log1p(time), error)
    half = np.full(scores.shape[1], 0.5)
    capital = np.maximum(log_capital(scores, stakes, half), log_capital(1.0 - scores, stakes, half))
    return SequenceLimits(
        hedged_limits(scores, stakes, level), np.minimum(1.0, 2.0 * np.exp(-capital))
    )
