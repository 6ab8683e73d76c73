"""Intervals: limits of columns, a level and a method; and the side of limits on which a value lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from confir.arguments import as_level
from confir.arrays import TIE, Floats, Integers
from confir.data.result import Result, axis, constant, over, result
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.data.scores import Scores
    from confir.measures.score_summary import ScoreSummary


# Sides of an interval; UNDEFINED where there is none, and where the value is not known.
BELOW, INSIDE, ABOVE, UNDEFINED = -1, 0, 1, 2


class Limits(NamedTuple):
    """Lower and upper limits of columns."""

    low: Floats
    high: Floats


@result
class Interval(Result):
    """Confidence intervals of a statistic, for all runs and measures.

    Attributes
    ----------
    labels
        (run, measure) of each entry, in the order of the flattened arrays.
    estimate, low, high
        The statistic and its limits: runs × measures, or the shape of the array's columns.
    topics
        Topics that each estimate rests on, in the same shape.
    level
        Confidence level, such as 0.95.
    methods
        Name of the method of each entry, in the order of the labels.
    replicates
        Number of replicates; 0 where nothing was resampled.
    assumed
        Measures that confir does not know, whose method rests on all of their scores being in
        [0, 1].
    effective, design
        By a design, how many independent topics would give the same standard error, and the design
        in words; else None and empty.
    """

    labels: tuple[tuple[str, str], ...] = axis("entry")
    estimate: Floats = over("entry", column="mean", flat=True)
    low: Floats = over("entry", flat=True)
    high: Floats = over("entry", flat=True)
    topics: Integers = over("entry", flat=True)
    level: float = constant()
    methods: tuple[str, ...] = over("entry", column="method")
    replicates: int = 0
    assumed: tuple[str, ...] = ()
    effective: Floats | None = over("entry", column="effective_topics", flat=True, default=None)
    design: str = ""

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"entry": ("run", "measure")}
    record_columns = (
        *("run", "measure", "topics", "mean", "low", "high", "level", "method"),
        "effective_topics",
    )

    def __repr__(self) -> str:
        size = f"{len(self.labels)} columns"
        if len(self.labels) == 1:
            mean, low, high = (
                float(a.reshape(-1)[0]) for a in (self.estimate, self.low, self.high)
            )
            size = f"{mean:.4f} [{low:.4f}, {high:.4f}]"
        return f"Interval({size}, level={self.level:g}, method={self.method!r})"

    @property
    def method(self) -> str:
        """The method; where measures have different ones, each with its measures."""
        return name_methods([self])


def name_methods(intervals: Sequence[Interval]) -> str:
    """Return the methods of intervals, with the measures that each is for where they differ."""
    measures: dict[str, dict[str, None]] = {}
    for interval in intervals:
        for (_, measure), name in zip(interval.labels, interval.methods, strict=True):
            measures.setdefault(name, {})[measure] = None
    alike = len({frozenset(by) for by in measures.values()}) == 1
    return ", ".join(
        name if alike else f"{name} ({', '.join(by)})" for name, by in measures.items()
    )


def tail_probabilities(level: float) -> tuple[float, float]:
    """Return the probabilities of the quantiles that are the limits of a two-sided interval.

    Half of the error goes into each tail: 0.025 and 0.975 for a level of 0.95.
    """
    tail = (1.0 - as_level(level)) / 2.0
    return tail, 1.0 - tail


def means_alone(scores: Scores | ScoreSummary, level: float) -> Interval:
    """Return the means of scores with limits that are not known, as for a single topic."""
    as_level(level)
    mean = scores.mean()
    return Interval(
        labels=tuple((run, measure) for run in scores.runs for measure in scores.measures),
        estimate=mean,
        low=np.full(mean.shape, np.nan),
        high=np.full(mean.shape, np.nan),
        topics=scores.topic_counts(),
        level=level,
        methods=("none",) * mean.size,
    )


def tie_distance(value: Floats) -> Floats:
    """Return how far from a value another may be and count as equal: rounding, no more."""
    distance: Floats = TIE * np.maximum(1.0, np.abs(value))
    return distance


def side_of_limits(limits: Limits, value: Floats) -> Integers:
    """Return the side of each value relative to its interval."""
    low, high = limits
    if np.shape(low) != value.shape or np.shape(high) != value.shape:
        raise InvalidValueError(
            f"a method returned limits of shape {np.shape(low)} and {np.shape(high)}; expected "
            f"{value.shape}: one for each column"
        )
    tie = tie_distance(value)
    below, above = value < low - tie, value > high + tie
    side = np.where(below, BELOW, np.where(above, ABOVE, INSIDE))
    unknown = np.isnan(low) | np.isnan(high) | np.isnan(value)
    return np.where(unknown, UNDEFINED, side)
