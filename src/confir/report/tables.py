"""Tables for the terminal, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.control_characters import CONTROL, without_controls
from confir.order import is_best
from confir.report.numbers import (
    runs_differ_in_topics,
)
from confir.report.text_layout import lay_out

if TYPE_CHECKING:  # what is shown need not be loaded to show something else
    pass


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


def best_runs(mean: Floats, topics: Integers) -> Booleans:
    """Return which runs have the best mean, by measures that all runs have as many topics by."""
    best: Booleans = np.apply_along_axis(is_best, 0, mean) & ~runs_differ_in_topics(topics)
    return best


def topics_column(topics: Integers) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Return heading and cells, one per run, of the number of topics; nothing where all agree.

    Counts that differ by measure stand in the order of the measures.
    """
    if not runs_differ_in_topics(topics).any():
        return (), [() for _ in topics]
    texts = [", ".join(map(str, row if len(set(row)) > 1 else row[:1])) for row in topics.tolist()]
    return ("topics",), [(Cell(text),) for text in texts]


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
    """Return text in which LaTeX prints every character as is; letters of other scripts stay."""
    return "".join(_LATEX.get(sign, sign) for sign in without_controls(text))
