"""Tables for the terminal, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.control_characters import CONTROL, without_controls
from confir.order import is_best
from confir.report.numbers import runs_differ_in_topics
from confir.report.text_layout import lay_out

# Marks after a number: significantly better or worse than the baseline.
Mark = Literal["", "▲", "▼"]
_MARKS_IN_WORDS = {"▲": "better than the baseline", "▼": "worse than the baseline"}

# LaTeX notes are wrapped at the width of the table, but at least this width.
_SHORTEST_NOTE_LINE = 60


class Cell(NamedTuple):
    """The text of a cell, whether it is bold, and a mark after it."""

    text: str
    strong: bool = False
    mark: Mark = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table for readers.

    Attributes
    ----------
    columns
        Headings; the first ``names`` columns are text, the others numbers.
    rows
        Cells of each row.
    note
        The note below the table; one line or several.
    names
        Number of leading columns that name the row.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    names: int = 1


class RowBeside(NamedTuple):
    """What stands in a row of its own below the means of each run.

    Attributes
    ----------
    label
        What it is.
    runs
        Names of the runs.
    texts
        Of each run, one per measure.
    """

    label: str
    runs: tuple[str, ...]
    texts: list[list[str]]


def best_runs(mean: Floats, topics: Integers) -> Booleans:
    """Return which runs have the best mean, by measures with the same number of topics for all."""
    best: Booleans = np.apply_along_axis(is_best, 0, mean) & ~runs_differ_in_topics(topics)
    return best


def topics_column(topics: Integers) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Return heading and cells, one per run, of the number of topics; nothing if all agree.

    Counts that differ between measures are listed in the order of the measures.
    """
    if not runs_differ_in_topics(topics).any():
        return (), [() for _ in topics]
    texts = [", ".join(map(str, row if len(set(row)) > 1 else row[:1])) for row in topics.tolist()]
    return ("topics",), [(Cell(text),) for text in texts]


def to_text(table: Table, *, colour: bool = False, width: int | None = None) -> str:
    """Return a table for the terminal; without a width, lines are not wrapped."""
    texts = [[without_controls(name) for name in table.columns], *_marked_texts(table)]
    strong = [[True] * len(table.columns), *([cell.strong for cell in row] for row in table.rows)]
    lines = lay_out(texts, strong if colour else None, names=table.names, width=width)
    note = ["", *map(without_controls, table.note.split("\n"))] if table.note else []
    return "\n".join([*lines, *note]) + "\n"


def _marked_texts(table: Table) -> list[list[str]]:
    """Return the text of the cells; in columns with marks, with room for one after each."""
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
    """Return a row; a leading bracket or star would be read as an option of the previous row."""
    row = " & ".join(cells) + r" \\"
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def _latex_cell(cell: Cell) -> str:
    """Return a cell; its mark takes no space, so numbers stay aligned."""
    text = f"\\textbf{{{escape_latex(cell.text)}}}" if cell.strong else escape_latex(cell.text)
    return f"{text}\\rlap{{$^{{{_LATEX_MARKS[cell.mark]}}}$}}" if cell.mark else text


def _latex_note(table: Table) -> list[str]:
    """Return the note as rows below the table, wrapped: a longer line would widen it."""
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


# What Markdown would interpret: its own syntax, mathematics, HTML entities.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>()#+!|~$-]|&(?=#?\w+;)")
_RISKY = re.compile(rf"[\\`*_{{}}<>#!|~$]|\]\(|\]\[|&#?\w+;|{CONTROL}")


def escape_markdown(text: str) -> str:
    """Return text escaped for Markdown; numbers and intervals need no escapes."""
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
    "κ": r"\kappa",
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
    '"': r"\char34{}",  # works in every font encoding
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
    """Return text escaped for LaTeX; letters of other scripts are kept."""
    return "".join(_LATEX.get(sign, sign) for sign in without_controls(text))
