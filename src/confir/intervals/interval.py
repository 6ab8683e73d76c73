"""What is an interval? Two limits for each column, a level, and the method that found them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from confir.arrays import Floats, Integers
from confir.data.frames import frame_from_records
from confir.data.scores import Record
from confir.errors import InvalidValueError

INTERVAL_COLUMNS = ("run", "measure", "topics", "mean", "low", "high", "level", "method")


class Limits(NamedTuple):
    """Lower and upper limits of columns."""

    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
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
    method
        Name of the method.
    replicates
        Number of replicates; 0 where nothing was resampled.
    """

    labels: tuple[tuple[str, str], ...]
    estimate: Floats
    low: Floats
    high: Floats
    topics: Integers
    level: float
    method: str
    replicates: int = 0

    def __repr__(self) -> str:
        if len(self.labels) == 1:
            mean, low, high = (
                float(a.reshape(-1)[0]) for a in (self.estimate, self.low, self.high)
            )
            return f"Interval({mean:.4f} [{low:.4f}, {high:.4f}], level={self.level:g}, method={self.method!r})"
        return f"Interval({len(self.labels)} columns, level={self.level:g}, method={self.method!r})"

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record (run, measure, topics, mean, low, high, level, method) per entry."""
        rows = zip(
            self.labels,
            self.topics.reshape(-1).tolist(),
            self.estimate.reshape(-1).tolist(),
            self.low.reshape(-1).tolist(),
            self.high.reshape(-1).tolist(),
            strict=True,
        )
        return [
            dict(
                zip(
                    INTERVAL_COLUMNS,
                    (run, measure, topics, mean, low, high, self.level, self.method),
                    strict=True,
                )
            )
            for (run, measure), topics, mean, low, high in rows
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        records = self.to_records()
        return {name: [record[name] for record in records] for name in INTERVAL_COLUMNS}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def check_level(level: float) -> None:
    """Raise where a level is not between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise InvalidValueError(
            f"level is {level}; expected a number between 0 and 1, such as 0.95"
        )


def tail_probabilities(level: float) -> tuple[float, float]:
    """Return the probabilities at which the limits of a two-sided interval stand.

    Half of the error goes into each tail: 0.025 and 0.975 for a level of 0.95.
    """
    check_level(level)
    tail = (1.0 - level) / 2.0
    return tail, 1.0 - tail
