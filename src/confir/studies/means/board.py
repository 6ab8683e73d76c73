"""The leaderboard of the page: as it is before, and without, a script; and as a table for a paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.intervals.interval import Interval
from confir.number_text import SENTENCE_DECIMALS, difference_text, number_text
from confir.pairs.best_runs import BestRuns
from confir.pairs.comparison import Comparison, Place
from confir.pairs.decisions import OPPOSITE
from confir.pairs.verdict_words import how_compared
from confir.report.charts import round_ticks
from confir.report.contents import MeasureContents, Settings
from confir.report.latex import Paper, to_latex
from confir.report.tables import Cell, Mark, Table, rounded, to_markdown, topics_column
from confir.studies.means.table import means_note

# The layouts of a table for a paper, by their names on the page: the choices of --width.
_LAYOUTS = {"LaTeX, one column": "column", "LaTeX, page": "page", "LaTeX, as wide as it is": None}

# Marks of runs against a baseline that the reader of the page chooses: none, better, worse.
MARKS: tuple[Mark, ...] = ("", "▲", "▼")

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
    """A row: its texts, and the places of its marks in percent: lower limit, number, upper limit."""

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
    gap_heading: str
    verdict_heading: str
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


# Lower limits, numbers and upper limits by run.
Columns = tuple[Sequence[float | None], Sequence[float | None], Sequence[float | None]]


class _Compared(NamedTuple):
    """How runs compare: gaps to the best of the others or differences from a baseline, and verdicts.

    Attributes
    ----------
    gap, low, high
        Gaps or differences with their limits, by run.
    texts, limits
        The same as texts.
    words, possible
        The verdicts, and which runs may be the best, or are better than the baseline.
    headings
        Of the gaps, and of the verdicts.
    """

    gap: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]
    texts: Sequence[str]
    limits: Sequence[str]
    words: Sequence[str]
    possible: Sequence[bool]
    headings: tuple[str, str]


def first_board(data: Mapping[str, Any], level: str) -> Board:
    """Return the leaderboard by the first measure, from the data of the page."""
    first, runs = data["measures"][0], data["runs"]
    means, order = first["means"], first["order"]
    at = means["at"][level]
    numbers = (at["low"], means["mean"], at["high"])
    baseline = (first.get("comparison") or {}).get("baseline")
    drawn, bars = _bars(numbers, _scale(numbers, order, always=baseline), runs, order, _TICKS)
    compared = _compared(first, runs, level)
    gap_drawn: dict[int, tuple[float | None, ...]] = {}
    gap_bars = None
    if compared is not None:
        gaps = (compared.low, compared.gap, compared.high)
        gap_drawn, gap_bars = _bars(gaps, _scale(gaps, order, 0.0), runs, order, _GAP_TICKS)
    rows = [
        Row(
            runs[run],
            "–" if means["rank"][run] is None else str(means["rank"][run]),
            means["mean_text"][run],
            at["limits"][run],
            drawn[run],
            compared.texts[run] if compared else "",
            compared.limits[run] if compared else "",
            gap_drawn.get(run, ()),
            compared.words[run] if compared else "",
            compared.possible[run] if compared else True,
        )
        for run in order
    ]
    headings = ("", "") if compared is None else compared.headings
    return Board(first["name"], *headings, bars, gap_bars, rows)


def _compared(first: Mapping[str, Any], runs: Sequence[str], level: str) -> _Compared | None:
    """Return how runs compare by the first measure; None where they are not compared."""
    best, comparison = first.get("best"), first.get("comparison")
    if best is not None:
        gaps = {**best, **best["at"][level]}
        digits = [int(digit) for digit in gaps["in_set"]]
        words = [IN_SET[digit] for digit in digits]
        possible = [digit % 2 == 1 for digit in digits]
        headings = ("gap to the best other", "may be best")
    elif comparison is not None and comparison["baseline"] is not None:
        gaps = {**comparison["gaps"], **comparison["gaps"]["at"][level]}
        words = gaps["words"]
        possible = [word == "better" for word in words]
        headings = (f"difference from {runs[comparison['baseline']]}", "verdict")
    else:
        return None
    numbers = (gaps["gap"], gaps["low"], gaps["high"])
    return _Compared(*numbers, gaps["gap_text"], gaps["limits"], words, possible, headings)


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
    ticks = round_ticks(scale.low, scale.high, most - 1)
    if len(ticks) > most:  # every other one, 0 among them where it is one
        ticks = ticks[next((place for place, tick in enumerate(ticks) if tick == 0.0), 0) % 2 :: 2]
    labels = [
        (f"{tick:.6g}".replace("-", "−") if tick else "0", scale.place(tick) or 0.0)
        for tick in ticks
    ]
    middles = ((runs[run], columns[1][run]) for run in order)
    clipped = [name for name, x in middles if x is not None and not scale.left <= x <= scale.right]
    zero = scale.place(0.0) if scale.left <= 0.0 <= scale.right else None
    return drawn, Bars(labels, zero, clipped)


def papers(contents: MeasureContents) -> dict[str, Any]:
    """Return the leaderboard for a paper in every layout.

    ``marked`` has means alone three times: without marks, and with one or the other on every run. The
    page puts them together line by line, for the baseline that its reader chooses.
    """
    settings = contents.settings
    plain = _layouts(board_table(contents, settings))
    if settings.baseline is not None or contents["comparison"] is None:
        return {"plain": plain}
    how = how_compared(contents["comparison"][settings.level])
    interval: Interval = contents["means"][settings.level]
    note = f"{_means_note(contents, interval)}; ▲ ▼: significantly better, worse than the baseline ({how})"
    means = [number_text(*numbers) for numbers in means_with_limits(interval)]
    marked = []
    for mark in MARKS:
        rows = tuple(
            (Cell(contents.scores.runs[run]), Cell(means[run], mark=mark)) for run in contents.order
        )
        marked.append(_layouts(Table(("run", contents.measure), rows, note)))
    return {"plain": plain, "marked": marked}


def _layouts(table: Table) -> dict[str, str]:
    latex = {
        title: to_latex(table, Paper(width, decimals=SENTENCE_DECIMALS))
        for title, width in _LAYOUTS.items()
    }
    return {**latex, "Markdown": to_markdown(rounded(table, SENTENCE_DECIMALS))}


def board_table(contents: MeasureContents, settings: Settings) -> Table:
    """Return the leaderboard of one measure: means with intervals, and gaps or differences.

    Gaps are to the best of the other runs, and runs that may be the best are bold; with a baseline,
    differences are from that, and significant ones are bold.
    """
    interval: Interval = contents["means"][settings.level]
    gaps = _gaps(contents, settings.level, settings.baseline)
    heading, counts = topics_column(contents.scores.topic_counts())
    means = [number_text(*numbers) for numbers in means_with_limits(interval)]
    rows = tuple(
        (
            Cell(contents.scores.runs[run], strong=gaps is not None and gaps.rows[run][2]),
            *counts[run],
            Cell(means[run]),
            *([] if gaps is None else map(Cell, gaps.rows[run][:2])),
        )
        for run in contents.order
    )
    note = _means_note(contents, interval)
    if gaps is None:
        return Table(("run", *heading, contents.measure), rows, note)
    columns = ("run", *heading, contents.measure, *gaps.headings)
    return Table(columns, rows, f"{note}; {gaps.note}", bold=gaps.bold)


def _means_note(contents: MeasureContents, interval: Interval) -> str:
    if len(contents.scores.topics) < 2:
        return f"score of the one {contents.scores.unit_name}"
    return means_note([interval], contents.scores.topic_counts(), contents.scores.unit_name)


class _Gaps(NamedTuple):
    """The columns after the means: gaps to the best of the others, or differences from a baseline.

    Attributes
    ----------
    headings
        Of the differences, and of the verdicts.
    note, bold
        What they are, and what is bold.
    rows
        By run: the difference, the verdict, and whether the run is bold.
    """

    headings: tuple[str, str]
    note: str
    bold: str
    rows: list[tuple[str, str, bool]]


def _gaps(contents: MeasureContents, level: float, baseline: str | None) -> _Gaps | None:
    """Return the gaps to the best of the others; with a baseline, the differences from it."""
    held = contents["best" if baseline is None else "comparison"]
    if held is None:
        return None
    if baseline is None:
        best: BestRuns = held.at[level]
        numbers = np.stack([a[:, 0] for a in (best.difference, best.lower, best.upper)], axis=1)
        texts = [difference_text(*row) for row in numbers.tolist()]
        return _Gaps(
            ("gap", "may be best"),
            "gap: to the best of the other runs, with simultaneous interval (Hsu 1984)",
            "may be the best",
            [
                (text, "yes" if one else "no", one)
                for text, one in zip(texts, best.in_set[:, 0].tolist(), strict=True)
            ],
        )
    comparison: Comparison = held[level]
    rows = [("–", "–", False)] * len(contents.scores.runs)
    rows[contents.reference(baseline)] = ("–", "baseline", False)
    for pair, word in enumerate(comparison.pair_verdicts()):
        one = comparison.decision(Place(0, pair, 0))
        text = difference_text(one.difference, one.low, one.high, one.open)
        rows[comparison.second[pair]] = (text, word, word in OPPOSITE)
    return _Gaps(
        (f"difference from {baseline}", "verdict"),
        f"difference from {baseline}: {how_compared(comparison)}",
        "significant difference",
        rows,
    )


def means_with_limits(interval: Interval) -> list[list[float]]:
    """Return mean and limits of each run."""
    numbers: list[list[float]] = np.stack(
        [part.reshape(-1) for part in (interval.estimate, interval.low, interval.high)], axis=1
    ).tolist()
    return numbers
