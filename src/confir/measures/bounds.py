"""Which measures lie in [0, 1]? By definition, or for unknown measures by their scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from confir.arrays import Booleans
from confir.data.sampling.judged_scores import SampledScores
from confir.data.scores import RANGE_TOLERANCE, Scores
from confir.errors import (
    FormatError,
    InvalidValueError,
    ReadingWarning,
    UnknownNameError,
    warn_caller,
)
from confir.measures.catalogue import parse_measure
from confir.order import TIE


class RangedScores(Protocol):
    """Scores of measures, and whether those lie in [0, 1]; see `Scores`."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""

    @property
    def bounded(self) -> bool | None:
        """Whether unknown measures lie in [0, 1], as stated."""

    @property
    def inside(self) -> tuple[bool, ...]:
        """Whether all scores of each measure lie in [0, 1]."""


def definition_bound(name: str) -> bool | None:
    """Return whether a measure lies in [0, 1] by its definition; None for an unknown name."""
    try:
        measure = parse_measure(name)
    except (UnknownNameError, InvalidValueError):
        return None
    in_gains = measure.definition.in_gains and "rel" not in dict(measure.parameters)
    return not measure.definition.counts and not in_gains


def bounded_measures(scores: RangedScores) -> Booleans:
    """Return which measures of scores lie in [0, 1].

    Known measures by definition; unknown ones as the scores state, else if all scores in their
    table do.
    """
    if isinstance(scores, SampledScores):  # estimates may lie outside
        return np.zeros(len(scores.measures), bool)
    unknown = scores.inside if scores.bounded is None else [scores.bounded] * len(scores.measures)
    bounds = zip(map(definition_bound, scores.measures), unknown, strict=True)
    return np.array([seen if known is None else known for known, seen in bounds], bool)


def assumed_bounded(scores: RangedScores) -> tuple[str, ...]:
    """Return the unknown measures assumed to lie in [0, 1] because all of their scores do."""
    if scores.bounded is not None or isinstance(scores, SampledScores):
        return ()
    inside = zip(scores.measures, scores.inside, strict=True)
    return tuple(name for name, seen in inside if seen and definition_bound(name) is None)


def clip_to_range(scores: Scores) -> Scores:
    """Return scores with those of bounded measures in [0, 1].

    Scores outside by rounding are clipped, with a warning beyond double precision; any further
    outside raise.
    """
    clipped = np.where(bounded_measures(scores), np.clip(scores.values, 0.0, 1.0), scores.values)
    finite = np.isfinite(scores.values)  # infinite scores are rejected elsewhere
    distance = np.abs(
        np.subtract(scores.values, clipped, where=finite, out=np.zeros(clipped.shape))
    )
    if not distance.any():
        return scores
    topic, run, measure = np.unravel_index(distance.argmax(), distance.shape)
    furthest, name = distance[topic, run, measure], scores.measures[measure]
    what = (
        f"{name} of run {scores.runs[run]!r} on topic {scores.topics[topic]!r} is "
        f"{scores.values[topic, run, measure]:.10g}"
    )
    if furthest > RANGE_TOLERANCE:
        raise FormatError(f"{what}; expected a score in [0, 1]")
    if furthest > TIE:
        count = int((distance > TIE).sum())
        which = "a score" if count == 1 else f"{count} scores"
        verb = "is clipped" if count == 1 else "are clipped, the furthest"
        warn_caller(
            f"{which} outside [0, 1] by rounding {verb}: {what}",
            ReadingWarning,
        )
    return replace(scores, values=clipped)
