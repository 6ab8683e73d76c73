"""Tables in the columns of a terminal: no cell is broken where there is room for it whole."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

Texts = Sequence[Sequence[str]]
Strong = Sequence[Sequence[bool]]

_GAP = 2
# A sentence in fewer columns is hard to read.
_SHORTEST_LINE = 10


def lay_out(
    texts: Texts, strong: Strong | None = None, *, names: int, width: int | None = None
) -> list[str]:
    """Return the lines of a table, its headings first.

    A table wider than a terminal has headings in several lines if that makes it fit; else it is split
    into groups of columns, one below the other, each with the names of the rows (`part_columns`); if these
    leave no room, each row becomes a block of lines. If all columns are text and there is room for it,
    the last one is wrapped instead.

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
    if width is not None and names == len(texts[0]):
        texts, strong = _wrap_last_column(texts, strong, width)
    if width is not None and not _fits_as_it_is(texts, width) and fits(texts, width):
        headings = _wrapped_headings(texts)
        texts = [*headings, *texts[1:]]
        strong = None if strong is None else [*[strong[0]] * len(headings), *strong[1:]]
    sizes = [[_places(text) for text in row] for row in texts]
    widths = [max(column) for column in zip(*sizes, strict=True)]
    if width is None or _total(widths) <= width:
        parts = [list(range(len(widths)))]
    else:
        parts = part_columns(texts, names, width)
        if not parts:
            return _blocks(texts, strong, width)
    lines: list[str] = []
    for places in parts:
        lines += [""] if lines else []
        for row, cells in enumerate(texts):  # rich would take seconds for many thousand rows
            line = []
            for place in places:
                blanks = " " * (widths[place] - sizes[row][place])
                text = cells[place]
                shown = _bold(text) if strong is not None and strong[row][place] else text
                line.append(shown + blanks if place < names else blanks + shown)
            lines.append((" " * _GAP).join(line).rstrip())
    return lines


def _wrap_last_column(
    texts: Texts, strong: Strong | None, width: int
) -> tuple[Texts, Strong | None]:
    """Return rows whose last text fits beside the others, if there is room: wrapped into more rows."""
    *others, last = _column_widths(texts)
    room = width - _total([*others, 0])
    if not others or last <= room or room < 3 * _SHORTEST_LINE:
        return texts, strong
    blank = [""] * len(others)
    pieces = [wrap_words(row[-1], room) for row in texts]
    rows = [
        [*(blank if number else row[:-1]), line]
        for row, lines in zip(texts, pieces, strict=True)
        for number, line in enumerate(lines)
    ]
    if strong is None:
        return rows, None
    return rows, [bold for bold, lines in zip(strong, pieces, strict=True) for _ in lines]


def fits(texts: Texts, width: int) -> bool:
    """Return whether a table fits into a terminal, with headings in several lines if needed."""
    return _fits_as_it_is(texts, width) or _fits_as_it_is(
        [*_wrapped_headings(texts), *texts[1:]], width
    )


def _fits_as_it_is(texts: Texts, width: int) -> bool:
    return _total(_column_widths(texts)) <= width


def _wrapped_headings(texts: Texts) -> list[list[str]]:
    """Return the headings in lines, wrapped between words to the widths of their columns."""
    headings, *rows = texts
    widths = _column_widths(rows) if rows else [0] * len(headings)
    words = [max(map(_places, heading.split()), default=0) for heading in headings]
    columns = [
        textwrap.wrap(heading, max(width, word, 1), break_on_hyphens=False) or [""]
        for heading, width, word in zip(headings, widths, words, strict=True)
    ]
    height = max(map(len, columns))
    return [
        list(line) for line in zip(*([""] * (height - len(c)) + c for c in columns), strict=True)
    ]


def part_columns(texts: Texts, names: int, width: int) -> list[list[int]]:
    """Return the columns of each part of a wide table; no parts if there is no room.

    Every part repeats the leading columns: all names of the rows, or as many as there is room for,
    but no fewer than identify the rows.
    """
    widths = _column_widths(texts)
    for repeated in range(names, _names_that_identify(texts[1:], names) - 1, -1):
        groups = group_columns(widths, repeated, width, _GAP)
        if groups:
            return [[*range(repeated), *group] for group in groups]
    return []


def _names_that_identify(rows: Texts, names: int) -> int:
    """Return how many leading columns identify the rows; all names if none do."""
    for count in range(1, names):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return names


def group_columns(widths: Sequence[float], names: int, room: float, gap: float) -> list[list[int]]:
    """Return groups of columns that fit into a room beside the names; none if one does not."""
    taken = sum(widths[:names]) + gap * names
    groups: list[list[int]] = []
    used = room
    for place in range(names, len(widths)):
        if taken + widths[place] > room:
            return []
        if used + gap + widths[place] > room:
            groups.append([])
            used = taken - gap
        groups[-1].append(place)
        used += gap + widths[place]
    return groups


def wrap_words(text: str, width: int | None, indent: str = "") -> list[str]:
    """Return text in lines of at most a width, broken between words where possible."""
    if width is None or _places(text) <= width:
        return [text]
    return textwrap.wrap(
        text, max(width, _SHORTEST_LINE), subsequent_indent=indent, break_on_hyphens=False
    )


def _column_widths(texts: Texts) -> list[int]:
    return [max(map(_places, column)) for column in zip(*texts, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _places(text: str) -> int:
    """Return the width of text on a terminal: letters of some scripts take two columns."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _blocks(texts: Texts, strong: Strong | None, width: int) -> list[str]:
    """Return a block of lines per row, each with a heading and a cell; of one column, the cells."""
    headings = texts[0]
    alone = len(headings) == 1
    lines = [_bold(headings[0]) if strong is not None else headings[0]] if alone else []
    for row, cells in enumerate(texts[1:], start=1):
        if lines and not alone:
            lines.append("")
        for place, cell in enumerate(cells):
            is_bold = strong is not None and strong[row][place]
            heading = "" if alone else headings[place]
            column = 0 if alone else max(map(_places, headings)) + _GAP
            made = _block_lines(heading, cell.rstrip(), column, width)
            lines += [_bold(line) if is_bold else line for line in made]
    return lines


def _block_lines(heading: str, cell: str, column: int, width: int) -> Iterator[str]:
    """Yield a heading and its cell: beside it, or below it where only there it is whole."""
    start = heading + " " * (column - _places(heading))
    if _places(start + cell) <= width:
        yield (start + cell).rstrip()
    elif not column:
        yield from wrap_words(cell, width, "  ")
    elif " " in cell and width - column >= 2 * _SHORTEST_LINE:
        first, *rest = textwrap.wrap(cell, width - column)
        yield start + first
        yield from (" " * column + line for line in rest)
    else:
        yield from wrap_words(heading, width)
        yield from wrap_words(cell, width) if cell else ()


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if text else text
