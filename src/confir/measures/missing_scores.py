"""Scores that are missing: the range that they could lie in, and tables in which they have its ends.

A judge that failed, a timeout or a row that was never scored leaves a cell empty. Means over the scores that
are there are right only if failing has nothing to do with quality. The range of a measure comes from its
definition or from the user, never from the scores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from confir.arrays import Booleans, Floats
from confir.data.common_topics import name_topics
from confir.data.scores import RANGE_TOLERANCE, Scores
from confir.data.text_numbers import parse_number
from confir.errors import (
    InvalidValueError,
    MissingTopicWarning,
    TopicMismatchError,
    enumerate_names,
    warn_caller,
)
from confir.measures.parsing import canonical_name, definition_bound

# The lowest and the highest score by a measure; by the name "" for all whose range is not known.
Ranges: TypeAlias = Mapping[str, tuple[float, float]]


def parse_ranges(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges in texts such as ``0,5``, for all measures, or ``faithfulness=0,5``."""
    ranges = {}
    for text in texts:
        name, _, limits = text.rpartition("=")
        numbers = [parse_number(part.strip()) for part in limits.split(",")]
        if len(numbers) != 2 or None in numbers or not numbers[0] < numbers[1]:  # type: ignore[operator]  # checked
            raise InvalidValueError(
                f"--bounds is {text!r}; expected LOW,HIGH or MEASURE=LOW,HIGH, such as 0,1"
            )
        ranges[name] = float(numbers[0] or 0.0), float(numbers[1] or 0.0)
    return ranges


def measure_ranges(scores: Scores, given: Ranges | None = None) -> Floats:
    """Return the lowest and the highest score by each measure that lacks some: measures × 2.

    Raises where a range is not known, or where scores lie outside of it.

    Parameters
    ----------
    scores
        Of measures that confir knows, or that are stated to be bounded, in [0, 1].
    given
        Of other measures.
    """
    own = {canonical_name(name) if name else name: limits for name, limits in (given or {}).items()}
    lacking: Booleans = np.any(np.isnan(scores.values), axis=(0, 1))
    ranges = np.full((len(scores.measures), 2), np.nan)
    for place, name in enumerate(scores.measures):
        known = definition_bound(name)
        inside = known if known is not None else scores.bounded is True
        limits = (0.0, 1.0) if inside else own.get(canonical_name(name), own.get(""))
        if inside and canonical_name(name) in own:
            raise InvalidValueError(
                f"{name} lies in [0, 1]; --bounds is for measures whose range is not known"
            )
        if limits is None and lacking[place]:
            raise InvalidValueError(
                f"the range of {name}, which lacks scores, is not known; expected --bounds "
                f"'{name}=LOW,HIGH' (bounds=), such as '{name}=0,1'"
            )
        if limits is not None:
            ranges[place] = limits
            _check_inside(scores, place, *limits)
    unknown = [name for name in own if name and name not in map(canonical_name, scores.measures)]
    if unknown:
        raise InvalidValueError(
            f"--bounds names {unknown[0]!r}; expected one of {enumerate_names(scores.measures, 5)}"
        )
    return ranges


def _check_inside(scores: Scores, measure: int, low: float, high: float) -> None:
    values = scores.values[:, :, measure]
    outside = (values < low - RANGE_TOLERANCE) | (values > high + RANGE_TOLERANCE)
    for topic, run in np.argwhere(outside)[:1].tolist():
        raise InvalidValueError(
            f"{scores.measures[measure]} of run {scores.runs[run]!r} on topic {scores.topics[topic]!r} is "
            f"{values[topic, run]:.10g}; expected a score in [{low:g}, {high:g}]"
        )


def fill_missing(scores: Scores, ranges: Floats, highest: Collection[str] = ()) -> Scores:
    """Return scores whose missing ones are the lowest possible, of some runs the highest."""
    ends = np.where(np.isin(scores.runs, list(highest))[:, None], ranges[:, 1], ranges[:, 0])
    return replace(scores, values=np.where(np.isnan(scores.values), ends, scores.values))


def treat_missing(
    scores: Scores, missing: str, baseline: str | None = None, given: Ranges | None = None
) -> Scores:
    """Return scores whose missing ones are treated as asked for.

    Parameters
    ----------
    scores
        With missing ones as NaN.
    missing
        "drop" leaves them out; "zero" counts them as 0; "error" raises, and names them; "worst" counts
        them as the lowest possible score, those of the baseline as the highest.
    baseline, given
        The run that others are compared with, if any; ranges of measures that confir does not know.
    """
    empty = np.isnan(scores.values)
    if missing == "drop" or not empty.any():
        return scores
    said = lacking_text(scores)
    if missing == "error":
        raise TopicMismatchError(f"{said}; expected all")
    if missing == "zero":
        warn_caller(f"{said}, scored 0", MissingTopicWarning)
        return fill_missing(scores, np.zeros((len(scores.measures), 2)))
    ranges = measure_ranges(scores, given)
    highest = "" if baseline is None else f", of {baseline!r} the highest"
    warn_caller(f"{said}, counted as the lowest possible score{highest}", MissingTopicWarning)
    return fill_missing(scores, ranges, () if baseline is None else (baseline,))


def lacking_text(scores: Scores) -> str:
    """Return which runs lack scores, on how many topics and which; empty where none does."""
    empty = scores.missing_cells()
    if empty is None or not empty.any():
        return ""
    lacking = {
        run: [scores.topics[place] for place in np.flatnonzero(empty[:, r].any(axis=1))]
        for r, run in enumerate(scores.runs)
        if empty[:, r].any()
    }
    return name_topics(lacking, total=len(scores.topics))


def missing_shares(scores: Scores) -> Floats:
    """Return the share of the topics on which each run lacks a score: runs × measures."""
    share: Floats = np.isnan(scores.values).mean(axis=0)
    return share
