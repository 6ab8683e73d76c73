"""Measures that lie in [0, 1], by definition, or for unknown measures by their scores."""

from __future__ import annotations

import numpy as np

from confir.arrays import Booleans
from confir.data.run_scores import RunScores
from confir.errors import InvalidValueError, UnknownNameError
from confir.measures.parsing import parse_measure


def definition_bound(name: str) -> bool | None:
    """Return whether a measure lies in [0, 1] by its definition; None for an unknown name."""
    try:
        measure = parse_measure(name)
    except (UnknownNameError, InvalidValueError):
        return None
    in_gains = measure.definition.in_gains and "rel" not in measure.keywords
    return not measure.definition.counts and not in_gains


def bounded_measures(scores: RunScores) -> Booleans:
    """Return which measures of scores lie in [0, 1].

    Known measures by definition; unknown ones as the scores state, else if all scores in their
    table do.
    """
    if not scores.in_range:
        return np.zeros(len(scores.measures), bool)
    unknown = scores.inside if scores.bounded is None else [scores.bounded] * len(scores.measures)
    bounds = zip(map(definition_bound, scores.measures), unknown, strict=True)
    return np.array([seen if known is None else known for known, seen in bounds], bool)


def assumed_bounded(scores: RunScores) -> tuple[str, ...]:
    """Return the unknown measures assumed to lie in [0, 1] because all of their scores do."""
    if not scores.in_range or scores.bounded is not None:
        return ()
    inside = zip(scores.measures, scores.inside, strict=True)
    return tuple(name for name, seen in inside if seen and definition_bound(name) is None)
