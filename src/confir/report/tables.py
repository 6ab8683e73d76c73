"""Tables, and answers of sentences and tables, for the terminal, Markdown and HTML.

`confir.report.latex` has tables for papers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers, is_best
from confir.control_characters import CONTROL, without_controls
from confir.defaults import ROWS
from confir.number_text import NumberText, runs_differ_in_topics, topic_counts_text
from confir.report.text_layout import fits, lay_out, part_columns, wrap_words

# Marks after a number: significantly better or worse than the baseline.
Mark = Literal["", "▲", "▼"]
_MARKS_IN_WORDS = {"▲": "better than the baseline", "▼": "worse than the baseline"}

# Decimals of numbers where there is no room for more.
_FEWER_DECIMALS = 3


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
    bold
        What it means that a cell is bold, for papers.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    names: int = 1
    bold: str = ""


class RowBeside(NamedTuple):
    """A further row below the means of each run, such as bounds of these means.

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


class AnswerPart(NamedTuple):
    """A part of an answer.

    Attributes
    ----------
    heading
        Its heading in Markdown; empty for none.
    sentences
        The sentences above the table.
    table
        The table; None for sentences alone.
    """

    heading: str
    sentences: tuple[str, ...] = ()
    table: Table | None = None


def with_design_note(table: Table, design: str) -> Table:
    """Return a table whose note says by which design of the topics its numbers are, if by any."""
    if not design:
        return table
    joint = "\n" if "\n" in table.note else "; "
    return replace(table, note=f"{table.note}{joint}by the design, {design}")


def with_seed(table: Table, seed: int | None) -> Table:
    """Return a table whose note names the seed of the replicates, if there is one."""
    return table if seed is None else replace(table, note=f"{table.note}; seed {seed}")


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
    return ("topics",), [(Cell(topic_counts_text(row)),) for row in topics.tolist()]


def rounded(table: Table, decimals: int) -> Table:
    """Return a table with other decimals, rounded from the numbers themselves."""
    rows = tuple(
        tuple(
            cell._replace(text=cell.text.rounded(decimals))
            if isinstance(cell.text, NumberText)
            else cell
            for cell in row
        )
        for row in table.rows
    )
    return replace(table, rows=rows)


def cut_table(table: Table, rows: int = ROWS, hint: str = "--rows all") -> Table:
    """Return the first rows of a table; its note says how many more there are, and how to get them."""
    if len(table.rows) <= rows:
        return table
    more = f"{len(table.rows) - rows:,} more: {hint}"
    note = f"{more}\n{table.note}" if table.note else more
    return replace(table, rows=table.rows[:rows], note=note)


def parts_to_text(
    parts: Sequence[AnswerPart],
    decimals: int | None = None,
    rows: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """Return the parts one below the other, for the terminal.

    ``decimals`` and ``rows`` replace those of the tables.
    """
    texts = []
    for part in parts:
        sentences = (without_controls(one, keep_isolates=True) for one in part.sentences)
        said = [line for one in sentences for line in wrap_words(one, width)]
        text = "".join(f"{line}\n" for line in said)
        table = part.table
        if table is not None:
            if decimals is not None:
                table = rounded(table, decimals)
            if rows is not None:
                table = cut_table(table, rows)
            text = f"{text}\n{to_text(table, colour=colour, width=width)}".lstrip("\n")
        texts.append(text)
    return "\n".join(texts)


def to_text(table: Table, *, colour: bool = False, width: int | None = None) -> str:
    """Return a table for the terminal, whose lines are at most as long as a width, if any.

    A table that is too wide has fewer decimals, then parts one below the other.
    """
    if width is not None and not fits(_all_texts(table), width):
        table = _with_decimals_that_fit(table, width)
    strong = [[True] * len(table.columns), *([cell.strong for cell in row] for row in table.rows)]
    lines = lay_out(_all_texts(table), strong if colour else None, names=table.names, width=width)
    if table.note:
        lines.append("")
        for line in table.note.split("\n"):
            shown = line if line.isprintable() else without_controls(line, keep_isolates=True)
            lines += [shown] if width is None else wrap_words(shown, width)
    return "\n".join(lines) + "\n"


def _with_decimals_that_fit(table: Table, width: int) -> Table:
    """Return a table that is too wide, with fewer decimals if they make it fit, whole or in parts."""
    shorter = rounded(table, _FEWER_DECIMALS)
    if fits(_all_texts(shorter), width):
        return shorter
    wide, narrow = (part_columns(_all_texts(one), one.names, width) for one in (table, shorter))
    return shorter if narrow and not wide else table


def _all_texts(table: Table) -> list[list[str]]:
    """Return headings and cells as text; in columns with marks, with room for one after each."""
    marked = {place for row in table.rows for place, cell in enumerate(row) if cell.mark}
    rows = [
        [
            cell.text + (f" {cell.mark or ' '}" if place in marked else "")
            for place, cell in enumerate(row)
        ]
        for row in table.rows
    ]
    texts = [list(table.columns), *rows]
    if all(text.isprintable() for row in texts for text in row):
        return texts
    return [[without_controls(text) for text in row] for row in texts]


def parts_to_markdown(parts: Sequence[AnswerPart], decimals: int | None = None) -> str:
    """Return the parts with their headings in Markdown, fit for the summary of a CI job."""
    texts = []
    for part in parts:
        heading = [f"### {escape_markdown(part.heading)}\n"] if part.heading else []
        said = [f"{escape_markdown(one, keep_isolates=True)}\n" for one in part.sentences]
        table = (
            part.table if decimals is None or part.table is None else rounded(part.table, decimals)
        )
        shown = [] if table is None else [to_markdown(table)]
        texts.append("\n".join([*heading, *said, *shown]))
    return "\n".join(texts)


def to_markdown(table: Table) -> str:
    """Return a table in Markdown, the best of each column in bold."""
    header = "| " + " | ".join(escape_markdown(name) for name in table.columns) + " |"
    rules = ["---" if place < table.names else "---:" for place in range(len(table.columns))]
    lines = [header, "|" + "|".join(rules) + "|"]
    for row in table.rows:
        texts = [escape_markdown(cell.text) for cell in row]
        for place, cell in enumerate(row):
            if cell.strong and cell.text:
                texts[place] = f"**{texts[place]}**"
            if cell.mark:
                texts[place] += f" {cell.mark}"
        lines.append("| " + " | ".join(texts) + " |")
    if table.note:
        notes = (escape_markdown(line, keep_isolates=True) for line in table.note.split("\n"))
        lines += ["", *notes]
    return "\n".join(lines) + "\n"


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
    note = "<br>".join(_html(line, keep_isolates=True) for line in table.note.split("\n"))
    caption = f"<caption>{note}</caption>" if note else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>\n"


def _html_cell(cell: Cell) -> str:
    text = f"<strong>{_html(cell.text)}</strong>" if cell.strong else _html(cell.text)
    if not cell.mark:
        return text
    words = _MARKS_IN_WORDS[cell.mark]
    return f'{text}<sup role="img" aria-label="{words}" title="{words}">{cell.mark}</sup>'


def _html(text: str, *, keep_isolates: bool = False) -> str:
    import html

    return html.escape(without_controls(text, keep_isolates=keep_isolates))


# What Markdown would interpret: its own syntax, mathematics, HTML entities.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>()#+!|~$-]|&(?=#?\w+;)")
_RISKY = re.compile(rf"[\\`*_{{}}<>#!|~$]|\]\(|\]\[|&#?\w+;|{CONTROL}")


# What GitHub and others make a link of, or a message to somebody, after Markdown is interpreted, so that
# no backslash prevents it: @name, though not the cutoff of nDCG@10; e-mail; addresses; #12.
_LINKED = re.compile(
    r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9])"
    r"|@(?=[A-Za-z0-9_-]+\.[A-Za-z0-9])"
    r"|\b[A-Za-z]{3,6}:(?=//|[^\s@]+@)"
    r"|\bwww(?=\.)"
    r"|#(?=[0-9])",
    re.IGNORECASE,
)
_NO_LINK, _MARKED = "<!-- -->", "\0"  # the latter is in no text: control characters are replaced


def escape_markdown(text: str, *, keep_isolates: bool = False) -> str:
    """Return text escaped for Markdown; numbers and intervals need no escapes.

    An HTML comment splits what would become a link, so that no name notifies anybody.
    """
    shown = without_controls(text, keep_isolates=keep_isolates)
    shown = _LINKED.sub(rf"\g<0>{_MARKED}", shown)
    escaped = _MARKDOWN.sub(r"\\\g<0>", shown) if _RISKY.search(text) else shown
    return escaped.replace(_MARKED, _NO_LINK)
