"""Results as Python shows them: in a notebook a chart with the table below, in print the table."""

from __future__ import annotations

import base64
import html
import shutil
import sys
from typing import Any

from confir.arguments import as_choice, as_integer
from confir.defaults import INTERVAL_STYLES, ROWS, TABLE_WIDTHS
from confir.errors import MissingDependencyError, UnsupportedMethodError
from confir.report.chart_files import chart_bytes
from confir.report.latex import Paper, to_latex
from confir.report.result_chart import specification
from confir.report.result_table import table_of
from confir.report.tables import cut_table, rounded, to_html, to_markdown, to_text

# What a table that is cut says about its other rows.
_ALL_ROWS = "to_frame() has all rows"

# Charts are drawn on white. How JupyterLab, Visual Studio Code, Colab and Sphinx mark dark pages; what
# the system prefers does not matter, because a notebook has a theme of its own.
_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", "html[theme=dark]", "[data-theme=dark]")
_STYLE = (
    f"<style>{','.join(f'{page} .confir-chart' for page in _DARK)}"
    "{filter:invert(1) hue-rotate(180deg)}</style>"
)


def notebook_html(result: Any) -> str:
    """Return chart and table of a result; the table alone where charts cannot be drawn."""
    table = cut_table(table_of(result), ROWS, _ALL_ROWS)
    return f"{_picture(result, table.note)}{to_html(table)}"


def printed_table(result: Any) -> str:
    """Return the table of a result as the command line prints it, without the last line break."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return to_text(cut_table(table_of(result), ROWS, _ALL_ROWS), width=width).rstrip("\n")


def markdown_table(result: Any, decimals: int | None) -> str:
    """Return the table of a result in Markdown, with all its rows."""
    places, table = _checked_decimals(decimals), table_of(result)
    return to_markdown(table if places is None else rounded(table, places))


def latex_table(result: Any, width: str | None, intervals: str | None, decimals: int | None) -> str:
    """Return the table of a result in LaTeX, with all its rows."""
    if width is not None:
        as_choice("width", width, TABLE_WIDTHS)
    if intervals is not None:
        as_choice("intervals", intervals, INTERVAL_STYLES)
    return to_latex(table_of(result), Paper(width, intervals, _checked_decimals(decimals)))


def _checked_decimals(decimals: int | None) -> int | None:
    return None if decimals is None else as_integer("decimals", decimals)


def _picture(result: Any, note: str) -> str:
    """Return the chart as an inline image, which every notebook viewer displays."""
    try:
        picture = chart_bytes(specification(result), ".svg")
    except (MissingDependencyError, UnsupportedMethodError):
        return ""
    content = base64.b64encode(picture).decode()
    text = html.escape(f"Chart of the table below. {note}".strip())
    source = f"data:image/svg+xml;base64,{content}"
    return f'{_STYLE}<img class="confir-chart" alt="{text}" src="{source}">\n'
