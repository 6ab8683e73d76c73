"""Tables for papers, in LaTeX: as wide as their content, or made to fit a column or a page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from confir.number_text import p_text
from confir.report.latex_text import (
    escape_latex,
    has_limits,
    latex_cell,
    with_breaks,
)
from confir.report.tables import Table, rounded
from confir.report.text_layout import group_columns

# Notes are wrapped at the width of the table, but at least this width.
_SHORTEST_NOTE_LINE = 60

# In points: the narrowest columns and pages of the usual classes, space between columns, a letter
# in 9 point and in 7 point, and the narrowest column of names.
_ROOM = {"column": 220.0, "page": 469.0}
_GAP, _LETTER, _SMALL_LETTER, _SHORTEST_NAME = 6.0, 4.5, 3.0, 66.0
# What a column of names, or several, may take of the width.
_NAME_SHARE, _NAMES_SHARE = 0.3, 0.55
# Decimals of scores in a paper.
_DECIMALS = 3
# Rows that a page has room for, and where each takes two lines.
_MOST_ROWS, _MOST_STACKED_ROWS = 45, 25
# Longer words of notes, such as names of runs, may be broken.
_LONG_WORD = 20
# The columns of p-values.
_P_VALUES = ("p", "adj. p")


class Paper(NamedTuple):
    """How a table is written for a paper.

    Attributes
    ----------
    width
        "column" or "page": the table is made to fit it; None for as wide as it is.
    intervals
        How intervals are written, of `confir.defaults.INTERVAL_STYLES`; by default as fits.
    decimals
        Decimals of scores; by default three.
    """

    width: str | None = None
    intervals: str | None = None
    decimals: int | None = None


def to_latex(table: Table, paper: Paper | None = None) -> str:
    """Return a table in LaTeX with booktabs, the best of each column in bold, the note below."""
    paper = paper or Paper()
    table = _for_paper(rounded(table, _DECIMALS if paper.decimals is None else paper.decimals))
    if paper.width != "column" and len(table.rows) > _MOST_ROWS:
        return _long(table, paper)
    if paper.width is not None:
        return _fitted(table, paper)
    style = paper.intervals or "brackets"
    names, columns = table.names, len(table.columns)
    lines = [
        f"\\begin{{tabular}}{{{'l' * names}{'r' * (columns - names)}}}",
        r"\toprule",
        *_body([table], style),
        r"\bottomrule",
    ]
    if table.note:  # in rows of the table, wrapped: a longer line would widen it
        note = "; ".join(filter(None, [table.note.replace("\n", "; "), _style_note(table, style)]))
        rows = [table.columns, *([cell.text for cell in row] for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        width = max(sum(widths) + 2 * len(widths), _SHORTEST_NOTE_LINE)
        lines.append(r"\addlinespace[2pt]")
        for line in textwrap.wrap(note, width, break_long_words=False, break_on_hyphens=False):
            span = f"\\multicolumn{{{columns}}}{{l}}"
            lines.append(f"{span}{{\\footnotesize {escape_latex(line)}}} \\\\")
    return _with_packages([*lines, r"\end{tabular}"])


def _for_paper(table: Table) -> Table:
    """Return a table without what a paper has no room for.

    Names that are the same in all rows are in the note; p-values share a column, the adjusted one
    in parentheses, with as many decimals as scores.
    """
    dropped = [
        place
        for place in range(table.names)
        if len(table.rows) > 1 and len({row[place].text for row in table.rows}) == 1
    ]
    if len(dropped) == table.names:
        dropped = dropped[:-1]
    said = [f"{table.columns[place]}: {table.rows[0][place].text}" for place in dropped]
    kept = [place for place in range(len(table.columns)) if place not in dropped]
    note = "; ".join(filter(None, [*said, table.note]))
    shorter = _with_columns(replace(table, note=note, names=table.names - len(dropped)), kept)
    return _with_one_p(shorter) if {*_P_VALUES} <= {*shorter.columns} else shorter


def _with_one_p(table: Table) -> Table:
    """Return a table whose columns of p-values are one: ``0.004 (0.031)``."""
    own, adjusted = map(table.columns.index, _P_VALUES)
    texts = [f"{_short_p(row[own].text)} ({_short_p(row[adjusted].text)})" for row in table.rows]
    rows = tuple(
        (*row[:own], row[own]._replace(text=text), *row[own + 1 :])
        for row, text in zip(table.rows, texts, strict=True)
    )
    columns = (*table.columns[:own], "p (adj.)", *table.columns[own + 1 :])
    kept = [place for place in range(len(columns)) if place != adjusted]
    return _with_columns(replace(table, columns=columns, rows=rows), kept)


def _short_p(text: str) -> str:
    """Return a p-value with as many decimals as scores have in a paper."""
    try:
        return p_text(float(text.removeprefix("<")), _DECIMALS)
    except ValueError:
        return text


def _long(table: Table, paper: Paper) -> str:
    """Return a table of more rows than a page has: its headings are repeated on every page."""
    style = paper.intervals or "brackets"
    room = _ROOM["page"]
    lines = [r"\begingroup\small\setlength{\tabcolsep}{3pt}"]
    widths = _name_widths(table, room)
    names = _name_columns(widths, room)
    parts = [table] if paper.width is None else _parts(table, style, room)
    for part in parts:
        numbers = len(part.columns) - table.names
        heading, _, *rows = _body([part], style, broken=[width is not None for width in widths])
        head = [r"\toprule", heading, r"\midrule"]
        lines += [
            f"\\begin{{longtable}}{{@{{}}{names}{'r' * numbers}@{{}}}}",
            *head,
            r"\endfirsthead",
            *head,
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            r"\bottomrule",
            r"\endlastfoot",
            *rows,
            r"\end{longtable}",
        ]
    return _with_packages([*lines, *_paragraph(table, style), r"\endgroup"])


def _fitted(table: Table, paper: Paper) -> str:
    """Return a table that fits a column or a page: in groups of columns, one below the other.

    Very many rows are in several boxes, between which a page can end. A box is made as wide as the line
    where it is wider.
    """
    room = _ROOM[str(paper.width)]
    style = paper.intervals or ("stacked" if paper.width == "column" else "brackets")
    if paper.intervals is None and style == "brackets" and len(_parts(table, style, room)) > 1:
        style = "stacked"
    widths = _name_widths(table, room)
    broken = [width is not None for width in widths]
    lines = [r"\begingroup\small\setlength{\tabcolsep}{3pt}\centering"]
    each = _MOST_STACKED_ROWS if style == "stacked" else _MOST_ROWS
    for start in range(0, max(1, len(table.rows)), each):
        parts = _parts(replace(table, rows=table.rows[start : start + each]), style, room)
        columns = max(len(part.columns) for part in parts)
        layout = _name_columns(widths, room) + "r" * (columns - table.names)
        lines += [
            *([r"\par\medskip"] if start else []),
            f"\\sbox0{{\\begin{{tabular}}{{@{{}}{layout}@{{}}}}",
            r"\toprule",
            *_body(parts, style, broken=broken, columns=columns),
            r"\bottomrule",
            r"\end{tabular}}%",
            r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
        ]
    return _with_packages([*lines, *_paragraph(table, style), r"\par\endgroup"])


def _paragraph(table: Table, style: str) -> list[str]:
    """Return the note as a paragraph below a table, as wide as the line."""
    note = "; ".join(filter(None, [table.note.replace("\n", "; "), _style_note(table, style)]))
    box = r"\par\smallskip\noindent\parbox{\linewidth}{\footnotesize\raggedright "
    words = (
        with_breaks(one) if len(one) > _LONG_WORD else escape_latex(one) for one in note.split(" ")
    )
    return [f"{box}{' '.join(words)}}}"] if note else []


def _with_packages(lines: Sequence[str]) -> str:
    """Return the lines, below the packages that they need."""
    signs = {
        "booktabs": r"\toprule",
        "pifont": r"\ding",
        "array": r"\arraybackslash",
        "graphicx": r"\resizebox",
        "longtable": r"\begin{longtable}",
    }
    packages = [name for name, sign in signs.items() if any(sign in line for line in lines)]
    needed = ", ".join(f"\\usepackage{{{package}}}" for package in packages)
    return "\n".join([f"% needs {needed}", *lines]) + "\n"


def _name_columns(widths: Sequence[float | None], room: float) -> str:
    """Return the columns of names; those with a width are broken into lines of its share of the room."""
    return "".join(
        "l"
        if width is None
        else rf">{{\raggedright\arraybackslash}}p{{{width / room:.2f}\linewidth}}"
        for width in widths
    )


def _name_widths(table: Table, room: float) -> list[float | None]:
    """Return the widths in points of columns whose names are broken to fit; None for the others."""
    own = _text_widths(table, "brackets")[: table.names]
    free = (_NAME_SHARE if len(own) == 1 else _NAMES_SHARE) * room
    if sum(own) <= free:
        return [None for _ in own]
    long = sum(width > _SHORTEST_NAME for width in own)
    free -= sum(width for width in own if width <= _SHORTEST_NAME)
    each = max(_SHORTEST_NAME, free / max(long, 1))
    return [each if width > _SHORTEST_NAME else None for width in own]


def _parts(table: Table, style: str, room: float) -> list[Table]:
    """Return a table in groups of columns that fit into a room, each with the names."""
    widths = _text_widths(table, style)
    for place, own in enumerate(_name_widths(table, room)):
        widths[place] = widths[place] if own is None else own
    if sum(widths) + _GAP * (len(widths) - 1) <= room:
        return [table]
    numbers = range(table.names, len(widths))
    groups = group_columns(widths, table.names, room, _GAP) or [[place] for place in numbers]
    return [_with_columns(table, [*range(table.names), *group]) for group in groups]


def _with_columns(table: Table, places: Sequence[int]) -> Table:
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)


def _text_widths(table: Table, style: str) -> list[float]:
    """Return roughly how wide the columns are, in points."""
    widths = [_LETTER * len(name) for name in table.columns]
    for row in table.rows:
        for place, (text, *_) in enumerate(row):
            width = _LETTER * len(text)
            if style != "brackets" and has_limits(text):
                # where the limits begin; the lower end may be open
                start = max(text.find("["), text.find("("))
                if style == "stacked":
                    width = max(_LETTER * start, _SMALL_LETTER * (len(text) - start))
                else:
                    width = _LETTER * (start - 1) + _SMALL_LETTER * start
            widths[place] = max(widths[place], width)
    return widths


def _body(
    parts: Sequence[Table],
    style: str,
    *,
    broken: Sequence[bool] = (),
    columns: int | None = None,
) -> list[str]:
    """Return headings and rows of the parts of a table, which have as many columns or fewer."""
    lines: list[str] = []
    for part in parts:
        empty = [""] * ((columns or len(part.columns)) - len(part.columns))
        rows = [[escape_latex(name) for name in part.columns]]
        for row in part.rows:
            breakable = [place < len(broken) and broken[place] for place in range(len(row))]
            cells = zip(row, breakable, strict=True)
            rows.append([latex_cell(cell, style, breakable=breaks) for cell, breaks in cells])
        texts = [" & ".join([*row, *empty]) + r" \\" for row in rows]
        # a leading bracket or star would be read as an option of the previous row
        texts = [f"{{}}{text}" if text.startswith(("[", "*")) else text for text in texts]
        lines += [*([r"\midrule"] if lines else []), texts[0], r"\midrule", *texts[1:]]
    return lines


def _style_note(table: Table, style: str) -> str:
    """Return what bold and ± mean, if the table has them."""
    cells = [cell for row in table.rows for cell in row]
    parts = [f"bold: {table.bold}"] if table.bold and any(cell.strong for cell in cells) else []
    if style == "plus-minus" and any(has_limits(cell.text) for cell in cells):
        parts.append("± or signed numbers: distance from the mean to the limits of the interval")
    return "; ".join(parts)
