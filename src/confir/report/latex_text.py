"""Text in LaTeX: cells, names that may break, signs and escapes."""

from __future__ import annotations

import math
import re
from typing import TypeGuard

from confir.control_characters import without_controls
from confir.number_text import NumberText
from confir.report.tables import Cell

# A hyphen that is the sign of a number.
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")
_NUMBER = re.compile(r"[\[(]?[+-]?\d")

# Names are broken after these signs, or after so many letters.
_BREAKS, _LONGEST_PART = "-_./:", 12


def latex_cell(cell: Cell, style: str, *, breakable: bool = False) -> str:
    """Return a cell; its mark takes no space, so numbers stay aligned."""
    text = cell.text
    above, below = with_breaks(text) if breakable else _number(text), ""
    if style != "brackets" and has_limits(text):
        value, _, limits = ("", "", text) if math.isnan(text.value) else text.partition(" ")
        above = _number(value)
        if style == "stacked" or not value:
            below = _number(limits)
        else:  # distances of the limits from the number
            decimals = len(value.rpartition(".")[2]) if "." in value else 0
            down, up = (
                f"{abs(limit - text.value):.{decimals}f}" for limit in (text.low, text.high)
            )
            below = rf"\,{{\scriptsize$\pm$\,{up}}}" if down == up else f"$^{{+{up}}}_{{-{down}}}$"
    shown = f"\\textbf{{{above}}}" if cell.strong and above else above
    mark = f"\\rlap{{\\textsuperscript{{{_LATEX_MARKS[cell.mark]}}}}}" if cell.mark else ""
    if above and below and style == "stacked":  # the first line beside the name of the row
        lines = rf"{shown}{mark}\\[-2pt]{{\scriptsize {below}}}"
        return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{lines}\end{{tabular}}"
    return f"{shown}{below}{mark}"


def _number(text: str) -> str:
    """Return text for LaTeX; numbers have minus signs, not hyphens."""
    escaped = escape_latex(text)
    return _MINUS.sub("$-$", escaped) if _NUMBER.match(text) else escaped


def has_limits(text: str) -> TypeGuard[NumberText]:
    """Whether a text is a number with finite limits."""
    return isinstance(text, NumberText) and math.isfinite(text.low) and math.isfinite(text.high)


def with_breaks(name: str) -> str:
    """Return a name that may be broken after hyphens and the like, or else after some letters."""
    made, whole = "", 0
    shown = without_controls(name)
    for sign, after in zip(shown, f"{shown[1:]} ", strict=True):
        made += escape_latex(sign)
        whole += 1
        if sign in _BREAKS or (whole >= _LONGEST_PART and after not in _BREAKS):
            made, whole = made + r"\allowbreak{}", 0
    return made


# Of pifont: amssymb has such signs, too, but cannot be loaded with the fonts of acmart.
_LATEX_MARKS = {"▲": r"\ding{115}", "▼": r"\ding{116}"}


_GREEK = {
    **dict(
        zip("ακγμρσπτ", ("alpha", "kappa", "gamma", "mu", "rho", "sigma", "pi", "tau"), strict=True)
    ),
    **dict(zip("ΣΦΓΔ", ("Sigma", "Phi", "Gamma", "Delta"), strict=True)),
}


_LATEX_MATHEMATICS = {
    "±": r"\pm",
    "√": r"\surd",
    "·": r"\cdot",
    "−": "-",
    "×": r"\times",
    "→": r"\to",
    "♯": r"\sharp",
    **{sign: f"\\{name}" for sign, name in _GREEK.items()},
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
    "\u00a0": "~",
    "\ufffd": "?",
    "%": r"\%",
    **{sign: f"\\{sign}" for sign in "&$#_{}"},
    **_LATEX_MARKS,
    **{sign: f"${name}$" for sign, name in _LATEX_MATHEMATICS.items()},
}


def escape_latex(text: str) -> str:
    """Return text escaped for LaTeX; letters of other scripts are kept."""
    return "".join(_LATEX.get(sign, sign) for sign in without_controls(text))
