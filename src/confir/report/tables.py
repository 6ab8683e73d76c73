"""How do results read? Tables for the terminal, for Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.control_characters import CONTROL, without_controls
from confir.errors import enumerate_names
from confir.intervals.interval import name_methods
from confir.order import best_first, is_best
from confir.report.numbers import (
    interval_text,
    number_text,
    percent,
    runs_differ_in_topics,
    topics_text,
)
from confir.report.text_layout import lay_out

if TYPE_CHECKING:  # what is shown need not be loaded to show something else
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.studies.ranking import Ranking


# Signs beside a number: significantly better or worse than the baseline.
Mark = Literal["", "▲", "▼"]
_MARKS_IN_WORDS = {"▲": "better than the baseline", "▼": "worse than the baseline"}

# LaTeX notes are broken at the width of the table, but not into shorter lines than these.
_SHORTEST_NOTE_LINE = 60


class Cell(NamedTuple):
    """The text of one cell, whether it stands out, and a sign beside it."""

    text: str
    strong: bool = False
    mark: Mark = ""


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
        What the numbers are, to stand below the table; a line or several.
    names
        Number of leading columns that name the row.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    names: int = 1


def interval_table(intervals: Sequence[Interval], note: str = "") -> Table:
    """Return a table of means with intervals: a row a run, a column a measure, best first.

    Where runs have means over unequal numbers of topics, a column tells the numbers, and no run is
    marked as the best. Several intervals of the same scores give a row for each, named by method and level.
    """
    first = intervals[0]
    runs, measures = _axes(first.labels)
    shape = (len(runs), len(measures))
    mean = first.estimate.reshape(shape)
    topics = first.topics.reshape(shape)
    best = best_runs(mean, topics)
    heading, counts = topics_column(topics)
    several = len(intervals) > 1
    several_levels = len({interval.level for interval in intervals}) > 1
    rows = []
    for r in best_first(mean[:, 0]):
        for interval in intervals:
            low, high = interval.low.reshape(shape)[r], interval.high.reshape(shape)[r]
            cells = [
                Cell(interval_text(mean[r, m], low[m], high[m]), bool(best[r, m]))
                for m in range(len(measures))
            ]
            label = f"{interval.method} {interval.level:g}" if several_levels else interval.method
            rows.append((Cell(runs[r]), *([Cell(label)] if several else []), *counts[r], *cells))
    names: tuple[str, ...] = ("run", "method") if several else ("run",)
    return Table((*names, *heading, *measures), tuple(rows), note, names=len(names))


def best_runs(mean: Floats, topics: Integers) -> Booleans:
    """Return which runs have the best mean, by measures that all runs have as many topics by."""
    best: Booleans = np.apply_along_axis(is_best, 0, mean) & ~runs_differ_in_topics(topics)
    return best


def topics_column(topics: Integers) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Return heading and cells, a cell a run, of the topics behind means; nothing where all agree.

    Counts that differ by measure stand in the order of the measures.
    """
    if not runs_differ_in_topics(topics).any():
        return (), [() for _ in topics]
    texts = [", ".join(map(str, row if len(set(row)) > 1 else row[:1])) for row in topics.tolist()]
    return ("topics",), [(Cell(text),) for text in texts]


def means_note(intervals: Sequence[Interval], topics: Integers) -> str:
    """Return what means with intervals are: level, methods, topics, and what is assumed."""
    by = f"{percent(intervals[0].level)} interval by {name_methods(intervals)}"
    note = f"mean with {by}, over {topics_text(topics)}"
    assumed = list(dict.fromkeys(name for interval in intervals for name in interval.assumed))
    return f"{note}; {bounds_note(assumed)}" if assumed else note


def bounds_note(measures: Sequence[str]) -> str:
    """Return that measures which confir does not know are taken to lie in [0, 1], and why."""
    verb, whose = ("is", "its") if len(measures) == 1 else ("are", "their")
    return (
        f"{enumerate_names(measures, 5)}, unknown to confir, {verb} taken to lie in [0, 1], as all "
        f"of {whose} scores do"
    )


def mean_table(scores: Scores) -> Table:
    """Return a table of means without intervals: a row a run, a column a measure, best first."""
    mean, topics = scores.mean(), scores.topic_counts()
    best = best_runs(mean, topics)
    heading, counts = topics_column(topics)
    rows = tuple(
        (
            Cell(scores.runs[r]),
            *counts[r],
            *(Cell(number_text(v), bool(b)) for v, b in zip(mean[r], best[r], strict=True)),
        )
        for r in best_first(mean[:, 0])
    )
    note = f"means over {topics_text(topics)}"
    return Table(("run", *heading, *scores.measures), rows, note)


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
    """Return a table of ranks with intervals, and how often each run is best.

    That is the share of resampled sets of topics in which it is best, no probability that it is.
    """
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


def to_text(table: Table, *, colour: bool = False, width: int | None = None) -> str:
    """Return a table for the terminal; without a width, lines are as long as they must be."""
    texts = [[without_controls(name) for name in table.columns], *_marked_texts(table)]
    strong = [[True] * len(table.columns), *([cell.strong for cell in row] for row in table.rows)]
    lines = lay_out(texts, strong if colour else None, names=table.names, width=width)
    note = ["", *map(without_controls, table.note.split("\n"))] if table.note else []
    return "\n".join([*lines, *note]) + "\n"


def _marked_texts(table: Table) -> list[list[str]]:
    """Return the texts of the cells; in columns with marks, room for one stands after each."""
    marked = {place for row in table.rows for place, cell in enumerate(row) if cell.mark}
    return [
        [
            without_controls(cell.text) + (f" {cell.mark or ' '}" if place in marked else "")
            for place, cell in enumerate(row)
        ]
        for row in table.rows
    ]


def to_markdown(table: Table) -> str:
    """Return a table in Markdown, the best of each column in bold."""
    header = "| " + " | ".join(escape_markdown(name) for name in table.columns) + " |"
    rules = ["---" if i < table.names else "---:" for i in range(len(table.columns))]
    rows = ["| " + " | ".join(map(_markdown_cell, row)) + " |" for row in table.rows]
    note = ["", *map(escape_markdown, table.note.split("\n"))] if table.note else []
    return "\n".join([header, "|" + "|".join(rules) + "|", *rows, *note]) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = f"**{escape_markdown(cell.text)}**" if cell.strong else escape_markdown(cell.text)
    return f"{text} {cell.mark}" if cell.mark else text


def to_latex(table: Table) -> str:
    """Return a table in LaTeX with booktabs, the best of each column in bold, the note below."""
    layout = "l" * table.names + "r" * (len(table.columns) - table.names)
    lines = [
        f"\\begin{{tabular}}{{{layout}}}",
        r"\toprule",
        _latex_row(map(escape_latex, table.columns)),
        r"\midrule",
        *(_latex_row(map(_latex_cell, row)) for row in table.rows),
        r"\bottomrule",
        *_latex_note(table),
        r"\end{tabular}",
    ]
    packages = ["booktabs"]
    if any(r"\blacktriangle" in line for line in lines):
        packages.append("amssymb")
    needed = ", ".join(f"\\usepackage{{{package}}}" for package in packages)
    return "\n".join([f"% needs {needed}", *lines]) + "\n"


def _latex_row(cells: Iterable[str]) -> str:
    """Return a row; one that begins with a bracket would be an option of the row before."""
    row = " & ".join(cells) + r" \\"
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def _latex_cell(cell: Cell) -> str:
    """Return a cell; its mark takes no room, so that numbers stay one below the other."""
    text = f"\\textbf{{{escape_latex(cell.text)}}}" if cell.strong else escape_latex(cell.text)
    return f"{text}\\rlap{{$^{{{_LATEX_MARKS[cell.mark]}}}$}}" if cell.mark else text


def _latex_note(table: Table) -> list[str]:
    """Return the note as rows below the table, broken by hand: a longer line would widen it."""
    if not table.note:
        return []
    rows = [table.columns, *([cell.text for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    width = max(sum(widths) + 2 * len(widths), _SHORTEST_NOTE_LINE)
    span = f"\\multicolumn{{{len(table.columns)}}}{{l}}"
    lines = textwrap.wrap(table.note, width, break_long_words=False, break_on_hyphens=False)
    return [
        r"\addlinespace[2pt]",
        *(f"{span}{{\\footnotesize {escape_latex(line)}}} \\\\" for line in lines),
    ]


def to_html(table: Table) -> str:
    """Return a table as a fragment of HTML; all text is escaped."""
    head = "".join(f'<th scope="col">{_html(name)}</th>' for name in table.columns)
    rows = []
    for row in table.rows:
        cells = [
            f'<th scope="row">{_html_cell(cell)}</th>'
            if place < table.names
            else f'<td style="text-align:right">{_html_cell(cell)}</td>'
            for place, cell in enumerate(row)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    note = "<br>".join(map(_html, table.note.split("\n")))
    caption = f"<caption>{note}</caption>" if note else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>\n"


def _html_cell(cell: Cell) -> str:
    text = f"<strong>{_html(cell.text)}</strong>" if cell.strong else _html(cell.text)
    if not cell.mark:
        return text
    words = _MARKS_IN_WORDS[cell.mark]
    return f'{text}<sup role="img" aria-label="{words}" title="{words}">{cell.mark}</sup>'


def _axes(labels: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Return runs and measures of labels, each in order of appearance."""
    runs = list(dict.fromkeys(run for run, _ in labels))
    return runs, list(dict.fromkeys(measure for _, measure in labels))


def _html(text: str) -> str:
    return html.escape(without_controls(text))


# What Markdown would interpret: its own signs, the mathematics of some dialects, HTML's entities.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>()#+!|~$-]|&(?=#?\w+;)")
_RISKY = re.compile(rf"[\\`*_{{}}<>#!|~$]|\]\(|\]\[|&#?\w+;|{CONTROL}")


def escape_markdown(text: str) -> str:
    """Return text as Markdown shows it; numbers and intervals need no escapes."""
    return _MARKDOWN.sub(r"\\\g<0>", without_controls(text)) if _RISKY.search(text) else text


_LATEX_MARKS = {"▲": r"\blacktriangle", "▼": r"\blacktriangledown"}
_LATEX_MATHEMATICS = {
    "±": r"\pm",
    "·": r"\cdot",
    "−": "-",
    "×": r"\times",
    "→": r"\to",
    "♯": r"\sharp",
    "Σ": r"\Sigma",
    "Φ": r"\Phi",
    "α": r"\alpha",
    "γ": r"\gamma",
    "μ": r"\mu",
    "ρ": r"\rho",
    "σ": r"\sigma",
    "τ": r"\tau",
}
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # in every font encoding, unlike its name
    "–": "--",
    "§": r"\S{}",
    "…": r"\ldots{}",
    "²": r"\textsuperscript{2}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{REPLACEMENT CHARACTER}": "?",
    "%": r"\%",
    **{sign: f"\\{sign}" for sign in "&$#_{}"},
    **{sign: f"${name}$" for sign, name in (_LATEX_MARKS | _LATEX_MATHEMATICS).items()},
}


def escape_latex(text: str) -> str:
    """Return text whose every sign LaTeX prints as it is; letters of other scripts stay."""
    return "".join(_LATEX.get(sign, sign) for sign in without_controls(text))
