"""Results in a notebook: a chart, with the table below."""

from __future__ import annotations

import base64
import html
from typing import Any

from confir.data.result import Result
from confir.errors import MissingDependencyError, UnsupportedMethodError
from confir.report.charts import chart, chart_bytes
from confir.report.result_table import result_table
from confir.report.tables import Table, to_html
from confir.studies import find_function


def notebook_html(result: Any) -> str:
    """Return chart and table of a result; the table alone where charts cannot be drawn."""
    table = table_of(result)
    return f"{_picture(result, table.note)}{to_html(table)}"


def table_of(result: Any) -> Table:
    """Return the table of a result: its study's own, or the one that it declares."""
    make = find_function(result, "table")
    if make is None and not (isinstance(result, Result) and result.readings()):
        raise UnsupportedMethodError(f"there is no table of a {type(result).__name__}")
    table: Table = result_table(result) if make is None else make(result)
    return table


def _picture(result: Any, note: str) -> str:
    """Return the chart as an inline image, which every notebook viewer displays."""
    try:
        picture = chart_bytes(chart(result), ".svg")
    except (MissingDependencyError, UnsupportedMethodError):
        return ""
    content = base64.b64encode(picture).decode()
    text = html.escape(f"Chart of the table below. {note}".strip())
    return f'<img alt="{text}" src="data:image/svg+xml;base64,{content}">\n'
