"""Results for other programs: records as CSV, JSON and Parquet; and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from confir.control_characters import as_unicode, escape_controls, without_controls
from confir.data.files import PathLike, write_whole
from confir.data.result import Record
from confir.data.tables.parquet_files import import_pyarrow, parquet_bytes
from confir.data.tables.separated_text import is_formula, quoted_cell
from confir.defaults import ENDINGS, OUTPUT_FORMATS
from confir.errors import UnknownNameError
from confir.report.latex import Paper, to_latex
from confir.report.tables import Table, rounded, to_html, to_markdown, to_text


def format_result(
    kind: str, records: Sequence[Record], table: Table, paper: Paper | None = None
) -> str:
    """Return a result as text in one of OUTPUT_FORMATS, from its records or its table."""
    if kind != "tex" and paper is not None and paper.decimals is not None:
        table = rounded(table, paper.decimals)
    writers: dict[str, Callable[[], str]] = {
        "table": lambda: to_text(table),
        "csv": lambda: _separated(records, ","),
        "tsv": lambda: _separated(records, "\t"),
        "json": lambda: _json(_without_nan(records), indent=1),
        "jsonl": lambda: "".join(map(_json, _without_nan(records))),
        "md": lambda: to_markdown(table),
        "tex": lambda: to_latex(table, paper),
        "html": lambda: _page(table),
    }
    if kind not in writers:
        raise UnknownNameError("format", kind, OUTPUT_FORMATS)
    return writers[kind]()


def write_result(
    path: PathLike, records: Sequence[Record], table: Table, paper: Paper | None = None
) -> None:
    """Write a result to a file, atomically, in the format of its extension."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise UnknownNameError("ending of an output file", Path(path).name, ENDINGS)
    if ending == ".parquet":
        write_whole(path, _parquet(records))
    else:
        write_whole(path, format_result(ending[1:], records, table, paper).encode())


def _separated(records: Sequence[Record], separator: str) -> str:
    """Return the records for spreadsheets, safe from formulas and control characters."""
    rows = [list(records[0])] if records else []
    rows += [list(record.values()) for record in _without_nan(records)]
    return "".join(separator.join(map(_separated_cell, row)) + "\n" for row in rows)


def _separated_cell(value: Any) -> str:
    """Return a cell, quoted if needed; text like a formula is preceded by a quote."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = without_controls(value, keep_blanks=True)
    return quoted_cell(f"'{text}" if is_formula(text) else text)


def _json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, with control characters escaped."""
    return escape_controls(json.dumps(value, ensure_ascii=False, indent=indent)) + "\n"


def _without_nan(records: Sequence[Record]) -> list[Record]:
    """Return the records with None for numbers that are missing or infinite, as JSON requires."""
    return [
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in record.items()
        }
        for record in records
    ]


def _page(table: Table) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>confir</title>'
        "<style>body{font-family:system-ui,sans-serif;margin:2rem}table{border-collapse:collapse}"
        "th,td{padding:.2rem .8rem}thead th{border-bottom:1px solid}th{text-align:left}"
        "caption{caption-side:bottom;text-align:left;padding:.6rem .8rem}</style></head><body>\n"
        f"{to_html(table)}</body></html>\n"
    )


def _parquet(records: Sequence[Record]) -> bytes:
    arrow = import_pyarrow("writing Parquet")
    cells = [
        {key: as_unicode(one) if isinstance(one, str) else one for key, one in record.items()}
        for record in _without_nan(records)
    ]
    return parquet_bytes(arrow.Table.from_pylist(cells))
