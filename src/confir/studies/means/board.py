"""The leaderboard of the page as it is before, and without, a script: by the first measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from confir.report.static_scales import round_ticks

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


def first_board(data: Mapping[str, Any], level: str) -> Board:
    """Return the leaderboard by the first measure, from the data of the page."""
    first = data["measures"][0]
    means, order = first["means"], first["order"]
    at = means["at"][level]
    beside, words, possible, heading, said = _beside(data, first, level)
    numbers = (at["low"], means["mean"], at["high"])
    baseline = (first.get("comparison") or {}).get("baseline")
    scale = _scale(numbers, order, always=baseline)
    gaps = None if beside is None else (beside["low"], beside["gap"], beside["high"])
    gap_scale = None if gaps is None else _scale(gaps, order, 0.0)
    rows = [
        Row(
            data["runs"][run],
            "–" if means["rank"][run] is None else str(means["rank"][run]),
            means["mean_text"][run],
            at["limits"][run],
            _bar(numbers, run, scale),
            "" if beside is None else beside["gap_text"][run],
            "" if beside is None else beside["limits"][run],
            () if gaps is None or gap_scale is None else _bar(gaps, run, gap_scale),
            words[run] if words else "",
            bool(possible[run]),
        )
        for run in order
    ]
    return Board(
        first["name"],
        heading,
        said,
        _bars(numbers, scale, data["runs"], order, _TICKS),
        None
        if gaps is None or gap_scale is None
        else _bars(gaps, gap_scale, data["runs"], order, _GAP_TICKS),
        rows,
    )


def _beside(
    data: Mapping[str, Any], first: Mapping[str, Any], level: str
) -> tuple[dict[str, Any] | None, list[str], list[bool], str, str]:
    """Return what stands beside the means: gaps or differences, words, and their headings."""
    runs = len(data["runs"])
    best, compared = first.get("best"), first.get("comparison")
    if best is not None:
        at = best["at"][level]
        digits = [int(digit) for digit in at["in_set"]]
        words = [IN_SET[digit] for digit in digits]
        gaps = {**at, "gap": best["gap"], "gap_text": best["gap_text"]}
        return (
            gaps,
            words,
            [digit % 2 == 1 for digit in digits],
            "gap to the best other",
            "may be best",
        )
    if compared is not None and compared["baseline"] is not None:
        at, own = compared["gaps"]["at"][level], compared["gaps"]
        gaps = {**at, "gap": own["gap"], "gap_text": own["gap_text"]}
        named = f"difference from {data['runs'][compared['baseline']]}"
        return gaps, at["words"], [word == "better" for word in at["words"]], named, "verdict"
    return None, [], [True] * runs, "", ""


Columns = tuple[Sequence[float | None], Sequence[float | None], Sequence[float | None]]


def _scale(
    columns: Columns, order: Iterable[int], *numbers: float, always: int | None = None
) -> tuple[float, float]:
    """Return the ends of a scale: of the runs that are no outliers, of one run, and of numbers."""
    within = [*_usual(columns[1], order), *([] if always is None else [always])]
    ends = [x for column in columns for x in (column[run] for run in within) if x is not None]
    known = [*ends, *numbers]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _usual(values: Sequence[float | None], order: Iterable[int]) -> list[int]:
    """Return the runs whose values are no outliers."""
    found = {run: value for run in order if (value := values[run]) is not None}
    known = sorted(found.values())
    if not known:
        return []
    quarter, rest = known[len(known) // 4], known[(3 * len(known)) // 4]
    fence = _FENCE * (rest - quarter)
    return [run for run, x in found.items() if quarter - fence <= x <= rest + fence]


def _place(value: float | None, scale: tuple[float, float]) -> float | None:
    if value is None:
        return None
    low, high = _with_room(scale)
    return min(100.0, max(0.0, 100.0 * (value - low) / (high - low)))


def _with_room(scale: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a scale with room at both, so that nothing touches its frame."""
    low, high = scale
    return low - _ROOM * (high - low), high + _ROOM * (high - low)


def _bar(columns: Columns, run: int, scale: tuple[float, float]) -> tuple[float | None, ...]:
    return tuple(_place(column[run], scale) for column in columns)


def _bars(
    columns: Columns,
    scale: tuple[float, float],
    runs: Sequence[str],
    order: Sequence[int],
    most: int,
) -> Bars:
    ticks = [(_tick_text(t), _place(t, scale) or 0.0) for t in few_ticks(*scale, most)]
    middle = columns[1]
    clipped = [
        runs[run]
        for run in order
        if middle[run] is not None and not _within(middle[run] or 0.0, scale)
    ]
    zero = _place(0.0, scale) if _within(0.0, scale) else None
    return Bars(ticks, zero, clipped)


def few_ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most some round numbers between two, 0 among them where it lies between."""
    ticks = round_ticks(low, high, most - 1)
    if len(ticks) <= most:
        return ticks
    return ticks[next((place for place, tick in enumerate(ticks) if tick == 0.0), 0) % 2 :: 2]


def _tick_text(tick: float) -> str:
    return f"{tick:.6g}".replace("-", "−") if tick else "0"


def _within(value: float, scale: tuple[float, float]) -> bool:
    low, high = _with_room(scale)
    return low <= value <= high
