"""An answer in parts, for the terminal and Markdown: sentences, and below them a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from confir.control_characters import without_controls
from confir.defaults import ROWS
from confir.report.tables import Table, escape_markdown, rounded, to_markdown, to_text
from confir.report.text_layout import wrap_words


class AnswerPart(NamedTuple):
    """A part of an answer.

    Attributes
    ----------
    heading
        Its heading in Markdown; empty for none.
    sentences
        What is said above the table.
    table
        The table; None for sentences alone.
    """

    heading: str
    sentences: tuple[str, ...] = ()
    table: Table | None = None


def parts_to_text(
    parts: Sequence[AnswerPart],
    decimals: int | None = None,
    rows: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """Return the parts one below the other, for the terminal.

    ``decimals`` and ``rows`` are those of the tables, where they are not to be as they are.
    """
    texts = []
    for part in parts:
        said = [line for one in part.sentences for line in wrap_words(without_controls(one), width)]
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


def parts_to_markdown(parts: Sequence[AnswerPart], decimals: int | None = None) -> str:
    """Return the parts with their headings in Markdown, fit for the summary of a CI job."""
    texts = []
    for part in parts:
        heading = [f"### {escape_markdown(part.heading)}\n"] if part.heading else []
        said = [f"{escape_markdown(one)}\n" for one in part.sentences]
        table = (
            part.table if decimals is None or part.table is None else rounded(part.table, decimals)
        )
        shown = [] if table is None else [to_markdown(table)]
        texts.append("\n".join([*heading, *said, *shown]))
    return "\n".join(texts)


def cut_table(table: Table, rows: int = ROWS, hint: str = "--rows all") -> Table:
    """Return the first rows of a table; its note says how many more there are, and how to get them."""
    if len(table.rows) <= rows:
        return table
    more = f"{len(table.rows) - rows:,} more: {hint}"
    note = f"{more}\n{table.note}" if table.note else more
    return replace(table, rows=table.rows[:rows], note=note)
