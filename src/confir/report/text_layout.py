"""Aligned columns for a terminal: cells padded, or wrapped if they are too wide."""

from __future__ import annotations

import io
from collections.abc import Sequence

Texts = Sequence[Sequence[str]]
Strong = Sequence[Sequence[bool]]

_GAP = 2


def lay_out(
    texts: Texts, strong: Strong | None = None, *, names: int, width: int | None = None
) -> list[str]:
    """Return the lines of a table, its headings first.

    Parameters
    ----------
    texts
        Cells of each row; the first row has the headings.
    strong
        Which cells are bold; None for no bold, as in files.
    names
        Number of leading columns that are aligned to the left; the others are numbers.
    width
        Maximum length of a line; by default lines are not wrapped.
    """
    widths = [max(map(_places, column)) for column in zip(*texts, strict=True)]
    if width is not None and sum(widths) + _GAP * (len(widths) - 1) > width:
        return _folded_lines(texts, strong, names, width)
    return _aligned_lines(texts, strong, names, widths)


def _places(text: str) -> int:
    """Return the width of text on a terminal: letters of some scripts take two columns."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _aligned_lines(
    texts: Texts, strong: Strong | None, names: int, widths: Sequence[int]
) -> list[str]:
    """Return padded lines; rich would take seconds for many thousand rows."""
    lines = []
    for row, texts_of_row in enumerate(texts):
        cells = []
        for place, (text, width) in enumerate(zip(texts_of_row, widths, strict=True)):
            blanks = " " * (width - _places(text))
            shown = f"\x1b[1m{text}\x1b[0m" if strong is not None and strong[row][place] else text
            cells.append(shown + blanks if place < names else blanks + shown)
        lines.append((" " * _GAP).join(cells).rstrip())
    return lines


def _folded_lines(texts: Texts, strong: Strong | None, names: int, width: int) -> list[str]:
    """Return lines of at most the width, with cells wrapped."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styled = [
        [
            Text(text, "bold" if strong is not None and strong[row][place] else "")
            for place, text in enumerate(texts_of_row)
        ]
        for row, texts_of_row in enumerate(texts)
    ]
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for place, name in enumerate(styled[0]):
        table.add_column(name, justify="left" if place < names else "right", overflow="fold")
    for cells in styled[1:]:
        table.add_row(*cells)
    stream = io.StringIO()
    console = Console(
        file=stream,
        force_terminal=strong is not None,
        color_system=None if strong is None else "standard",
        width=width,
        no_color=strong is None,
        legacy_windows=False,
    )
    console.print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]
