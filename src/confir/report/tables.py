"""How do results read? Tables for the terminal, for Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:  # what is shown need not be loaded to show something else
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.studies.ranking import Ranking


class Cell(NamedTuple):
    """The text of one cell, and whether it stands out."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table to be read.

    Attributes
    ----------
    columns
        Headings; the first ``names`` columns are text, the others numbers.
    rows
        Cells of each row.
    note
        One line below the table that says what the numbers are.
    names
        Number of leading columns that name the row.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    names: int = 1


def interval_table(intervals: Sequence[Interval], note: str = "") -> Table:
    """Return a table of means with intervals: a row a run, a column a measure, best first.

    Several intervals of the same scores give a row for each, named by method and level.
    """
    first = intervals[0]
    runs, measures = _axes(first.labels)
    shape = (len(runs), len(measures))
    mean = first.estimate.reshape(shape)
    best = np.nanmax(np.where(np.isnan(mean), -np.inf, mean), axis=0)
    several = len(intervals) > 1
    several_levels = len({interval.level for interval in intervals}) > 1
    rows = []
    for r in np.argsort(-np.nan_to_num(mean[:, 0], nan=-np.inf), kind="stable"):
        for interval in intervals:
            low, high = interval.low.reshape(shape)[r], interval.high.reshape(shape)[r]
            cells = [
                Cell(interval_text(mean[r, m], low[m], high[m]), bool(mean[r, m] == best[m]))
                for m in range(len(measures))
            ]
            label = f"{interval.method} {interval.level:g}" if several_levels else interval.method
            rows.append((Cell(runs[r]), *([Cell(label)] if several else []), *cells))
    names: tuple[str, ...] = ("run", "method") if several else ("run",)
    return Table((*names, *measures), tuple(rows), note, names=len(names))


def mean_table(scores: Scores) -> Table:
    """Return a table of means without intervals: a row a run, a column a measure, best first."""
    mean = scores.mean()
    best = np.where(np.isnan(mean), -np.inf, mean).max(axis=0)
    order = np.argsort(-np.nan_to_num(mean[:, 0], nan=-np.inf), kind="stable")
    rows = tuple(
        (
            Cell(scores.runs[r]),
            *(Cell(number_text(v), bool(v == b)) for v, b in zip(mean[r], best, strict=True)),
        )
        for r in order.tolist()
    )
    return Table(("run", *scores.measures), rows, f"means over {len(scores.topics)} topics")


def topic_table(scores: Scores, note: str = "") -> Table:
    """Return a table of scores: a row a run and topic, a column a measure."""
    rows = tuple(
        (
            Cell(run),
            Cell(topic),
            *(Cell(number_text(value)) for value in scores.values[t, r].tolist()),
        )
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
    )
    return Table(("run", "topic", *scores.measures), rows, note, names=2)


def ranking_table(ranking: Ranking, note: str = "") -> Table:
    """Return a table of ranks with intervals and the probability of being best."""
    rows = tuple(
        (
            Cell(ranking.runs[r]),
            *(
                Cell(
                    f"{ranking.rank[r, m]} [{ranking.low[r, m]}, {ranking.high[r, m]}]  "
                    f"{ranking.p_best[r, m]:.3f}",
                    bool(ranking.rank[r, m] == 1),
                )
                for m in range(len(ranking.measures))
            ),
        )
        for r in np.argsort(ranking.rank[:, 0], kind="stable").tolist()
    )
    return Table(("run", *ranking.measures), rows, note)


def number_text(value: float) -> str:
    """Return a score in four decimals, a count in one, and a dash for none."""
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"


def interval_text(mean: float, low: float, high: float) -> str:
    """Return text such as ``0.2175 [0.1484, 0.2866]``."""
    if math.isnan(low) or math.isnan(high):
        return number_text(mean)
    return f"{number_text(mean)} [{number_text(low)}, {number_text(high)}]"


def to_text(table: Table, *, colour: bool = False, width: int | None = None) -> str:
    """Return a table for the terminal; without a width, lines are as long as they must be."""
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    rich_table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, name in enumerate(table.columns):
        justify: Literal["left", "right"] = "left" if place < table.names else "right"
        rich_table.add_column(Text(_plain(name), "bold"), justify=justify, overflow="fold")
    for row in table.rows:
        rich_table.add_row(*(Text(_plain(c.text), "bold" if c.strong else "") for c in row))
    stream = io.StringIO()
    console = Console(
        file=stream,
        force_terminal=colour,
        color_system="standard" if colour else None,
        width=width or 100_000,
        no_color=not colour,
        legacy_windows=False,
    )
    console.print(rich_table)
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    return "\n".join([*lines, *(["", table.note] if table.note else [])]) + "\n"


def to_markdown(table: Table) -> str:
    """Return a table in Markdown, the best of each column in bold."""
    header = "| " + " | ".join(_markdown(name) for name in table.columns) + " |"
    marks = ["---" if i < table.names else "---:" for i in range(len(table.columns))]
    rows = [
        "| "
        + " | ".join(f"**{_markdown(c.text)}**" if c.strong else _markdown(c.text) for c in row)
        + " |"
        for row in table.rows
    ]
    note = ["", _markdown(table.note)] if table.note else []
    return "\n".join([header, "|" + "|".join(marks) + "|", *rows, *note]) + "\n"


def to_latex(table: Table) -> str:
    """Return a table in LaTeX with booktabs, the best of each column in bold."""
    layout = "l" * table.names + "r" * (len(table.columns) - table.names)
    rows = [
        " & ".join(f"\\textbf{{{_latex(c.text)}}}" if c.strong else _latex(c.text) for c in row)
        + r" \\"
        for row in table.rows
    ]
    header = " & ".join(_latex(name) for name in table.columns) + r" \\"
    note = [f"% {_plain(table.note)}"] if table.note else []
    return (
        "\n".join(
            [
                *note,
                f"\\begin{{tabular}}{{{layout}}}",
                r"\toprule",
                header,
                r"\midrule",
                *rows,
                r"\bottomrule",
                r"\end{tabular}",
            ]
        )
        + "\n"
    )


def to_html(table: Table) -> str:
    """Return a table as a fragment of HTML; all text is escaped."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in table.columns)
    rows = []
    for row in table.rows:
        cells = []
        for place, cell in enumerate(row):
            text = html.escape(cell.text)
            text = f"<strong>{text}</strong>" if cell.strong else text
            cells.append(
                f'<th scope="row">{text}</th>'
                if place < table.names
                else f'<td style="text-align:right">{text}</td>'
            )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{html.escape(table.note)}</caption>" if table.note else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>\n"


def _axes(labels: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Return runs and measures of labels, each in order of appearance."""
    runs = list(dict.fromkeys(run for run, _ in labels))
    return runs, list(dict.fromkeys(measure for _, measure in labels))


# What a terminal would obey rather than show: control characters, but not the blank.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _plain(text: str) -> str:
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~-])", r"\\\1", _plain(text)) if _risky(text) else text


def _risky(text: str) -> bool:
    """Whether a text holds signs that Markdown would interpret; numbers and intervals do not."""
    return (
        re.search(r"[\\`*_{}<>#!|~]|\]\(|\]\[", text) is not None
        or _CONTROL.search(text) is not None
    )


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "%": r"\%",
    **{sign: f"\\{sign}" for sign in "&$#_{}"},
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in _plain(text))
