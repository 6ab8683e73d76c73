"""The target that runs are compared with, and the range of possible errors."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from confir.arguments import as_real
from confir.arrays import Booleans, Floats
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnknownNameError
from confir.intervals.interval import Limits
from confir.measures.bounded_measures import bounded_measures

Decomposed = Literal["score", "rho"]
VARIABLES: tuple[Decomposed, ...] = ("score", "rho")

PERFECT, BEST = "perfect", "best"


def find_target(scores: Scores, target: str | float, variable: Decomposed) -> tuple[Floats, str]:
    """Return the target's scores, topics × measures, and its name."""
    shape = (len(scores.topics), len(scores.measures))
    bounded = [scores.measures[m] for m in np.flatnonzero(bounded_measures(scores))]
    if isinstance(target, str):
        if target in (PERFECT, BEST) and target in scores.runs:
            raise InvalidValueError(
                f"a run is named {target!r}, which is also a kind of target; rename the run"
            )
        if target == PERFECT:
            unbounded = [name for name in scores.measures if name not in bounded]
            if unbounded:
                raise InvalidValueError(
                    f"a perfect score is 1, but {unbounded[0]} is not bounded by [0, 1]; expected "
                    "another target: best, a run, or a mean score"
                )
            return np.ones(shape), target
        if target == BEST:
            known = np.where(np.isnan(scores.values), -np.inf, scores.values).max(axis=1)
            return np.where(np.isinf(known), np.nan, known), target
        if target not in scores.runs:
            raise UnknownNameError("target", target, (PERFECT, BEST, *scores.runs))
        return scores.select(run=[target]).values[:, 0], target
    target = as_real("target", target)
    if variable == "rho":
        raise InvalidValueError(
            f"the target is a mean, {target:g}, without scores by topic, so there is no rho; "
            "decompose the score, or choose as target perfect, best or a run"
        )
    if not math.isfinite(target) or (bounded and not 0.0 <= target <= 1.0):
        raise InvalidValueError(
            f"the target's mean is {target:g}; expected a mean score"
            + (f", from 0 to 1 for {bounded[0]}" if bounded else "")
        )
    return np.full(shape, float(target)), f"{target:g}"


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
