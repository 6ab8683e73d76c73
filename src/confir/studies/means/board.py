"""The leaderboard of the page as it is before, and without, a script: by the first measure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from confir.report.charts import round_ticks

# Words for who may be the best: digits of `best`, 1 if the run may be, and 2 more if borderline.
IN_SET = ("no", "yes", "no, borderline", "yes, borderline")

# Labels on the scale of the means, and on the narrower one of the gaps.
_TICKS, _GAP_TICKS = 4, 3

# Ends of a scale lie at most so many widths of the middle half outside of it: what is further out is
# clipped, and named.
_FENCE = 3.0

# Room at both ends of a scale, as a share of what it spans.
_ROOM = 0.06


class Bars(NamedTuple):
    """A column of drawn intervals.

    Attributes
    ----------
    ticks
        Round numbers on its scale, with their places in percent.
    zero
        The place of 0 in percent; None where it is outside.
    clipped
        Names of the runs that are outside the scale.
    """

    ticks: list[tuple[str, float]]
    zero: float | None
    clipped: list[str]


class Row(NamedTuple):
    """A row: its texts, and the places of its marks in percent: left, right and middle."""

    run: str
    rank: str
    mean: str
    limits: str
    bar: tuple[float | None, ...]
    gap: str
    gap_limits: str
    gap_bar: tuple[float | None, ...]
    word: str
    possible: bool


class Board(NamedTuple):
    """The leaderboard of one measure at one level; ``gaps`` is None where runs are not compared."""

    measure: str
    heading: str
    said: str
    bars: Bars
    gaps: Bars | None
    rows: list[Row]


class _Scale(NamedTuple):
    """A scale: ticks lie from low to high, and what is drawn from left to right, with room beyond both."""

    low: float
    high: float
    left: float
    right: float

    def place(self, value: float | None) -> float | None:
        """Return a place in percent, that of the nearer end for what is outside."""
        if value is None:
            return None
        return min(100.0, max(0.0, 100.0 * (value - self.left) / (self.right - self.left)))

    def holds(self, value: float) -> bool:
        """Whether a value is not clipped."""
        return self.left <= value <= self.right


# Lower limits, numbers and upper limits by run.
Columns = tuple[Sequence[float | None], Sequence[float | None], Sequence[float | None]]


def first_board(data: Mapping[str, Any], level: str) -> Board:
    """Return the leaderboard by the first measure, from the data of the page."""
    first, runs = data["measures"][0], data["runs"]
    means, order = first["means"], first["order"]
    at = means["at"][level]
    beside, words, possible, heading, said = _beside(data, first, level)
    numbers = (at["low"], means["mean"], at["high"])
    baseline = (first.get("comparison") or {}).get("baseline")
    scale = _scale(numbers, order, always=baseline)
    drawn, bars = _bars(numbers, scale, runs, order, _TICKS)
    gap_drawn: dict[int, tuple[float | None, ...]] = {}
    gap_bars = None
    if beside is not None:
        gaps = (beside["low"], beside["gap"], beside["high"])
        gap_drawn, gap_bars = _bars(gaps, _scale(gaps, order, 0.0), runs, order, _GAP_TICKS)
    rows = [
        Row(
            runs[run],
            "–" if means["rank"][run] is None else str(means["rank"][run]),
            means["mean_text"][run],
            at["limits"][run],
            drawn[run],
            "" if beside is None else beside["gap_text"][run],
            "" if beside is None else beside["limits"][run],
            gap_drawn.get(run, ()),
            words[run] if words else "",
            bool(possible[run]),
        )
        for run in order
    ]
    return Board(first["name"], heading, said, bars, gap_bars, rows)


def _beside(
    data: Mapping[str, Any], first: Mapping[str, Any], level: str
) -> tuple[dict[str, Any] | None, list[str], list[bool], str, str]:
    """Return what stands beside the means: gaps or differences, words, and their headings."""
    best, compared = first.get("best"), first.get("comparison")
    if best is not None:
        digits = [int(digit) for digit in best["at"][level]["in_set"]]
        words = [IN_SET[digit] for digit in digits]
        possible = [digit % 2 == 1 for digit in digits]
        return (
            {**best, **best["at"][level]},
            words,
            possible,
            "gap to the best other",
            "may be best",
        )
    if compared is not None and compared["baseline"] is not None:
        gaps = {**compared["gaps"], **compared["gaps"]["at"][level]}
        named = f"difference from {data['runs'][compared['baseline']]}"
        return gaps, gaps["words"], [word == "better" for word in gaps["words"]], named, "verdict"
    return None, [], [True] * len(data["runs"]), "", ""


def _scale(
    columns: Columns, order: Iterable[int], *numbers: float, always: int | None = None
) -> _Scale:
    """Return the scale of the runs that are no outliers, of one run, and of numbers."""
    found = {run: value for run in order if (value := columns[1][run]) is not None}
    known = sorted(found.values())
    within = [] if always is None else [always]
    if known:
        quarter, rest = known[len(known) // 4], known[(3 * len(known)) // 4]
        fence = _FENCE * (rest - quarter)
        within += [run for run, x in found.items() if quarter - fence <= x <= rest + fence]
    ends = [x for column in columns for x in (column[run] for run in within) if x is not None]
    low, high = min(*ends, *numbers, math.inf), max(*ends, *numbers, -math.inf)
    if not (ends or numbers):
        low, high = 0.0, 1.0
    elif high <= low:
        low, high = low - 0.5, high + 0.5
    room = _ROOM * (high - low)
    return _Scale(low, high, low - room, high + room)


def _bars(
    columns: Columns, scale: _Scale, runs: Sequence[str], order: Sequence[int], most: int
) -> tuple[dict[int, tuple[float | None, ...]], Bars]:
    """Return the places of each run's marks, and their scale."""
    drawn = {run: tuple(scale.place(column[run]) for column in columns) for run in order}
    ticks = [
        (f"{tick:.6g}".replace("-", "−") if tick else "0", scale.place(tick) or 0.0)
        for tick in few_ticks(scale.low, scale.high, most)
    ]
    middles = ((runs[run], columns[1][run]) for run in order)
    clipped = [name for name, x in middles if x is not None and not scale.holds(x)]
    return drawn, Bars(ticks, scale.place(0.0) if scale.holds(0.0) else None, clipped)


def few_ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most some round numbers between two, 0 among them where it lies between."""
    ticks = round_ticks(low, high, most - 1)
    if len(ticks) <= most:
        return ticks
    return ticks[next((place for place, tick in enumerate(ticks) if tick == 0.0), 0) % 2 :: 2]
