"""How do results leave for other programs? Records as CSV, JSON and Parquet; tables beside them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from confir.data.files import PathLike, write_whole
from confir.data.scores import Record
from confir.errors import MissingDependencyError, UnknownNameError
from confir.report.tables import Table, to_html, to_latex, to_markdown, to_text

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "md", "tex", "html")
CHART_ENDINGS = (".svg", ".pdf", ".png")
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".md", ".tex", ".html", ".parquet")


def format_result(kind: str, records: Sequence[Record], table: Table) -> str:
    """Return a result as text in one of FORMATS: records for programs, the table for readers."""
    writers: dict[str, Callable[[], str]] = {
        "table": lambda: to_text(table),
        "csv": lambda: _separated(records, ","),
        "tsv": lambda: _separated(records, "\t"),
        "json": lambda: json.dumps(_without_nan(records), ensure_ascii=False, indent=1) + "\n",
        "jsonl": lambda: "".join(
            json.dumps(record, ensure_ascii=False) + "\n" for record in _without_nan(records)
        ),
        "md": lambda: to_markdown(table),
        "tex": lambda: to_latex(table),
        "html": lambda: _page(table),
    }
    if kind not in writers:
        raise UnknownNameError("format", kind, FORMATS)
    return writers[kind]()


def write_result(path: PathLike, records: Sequence[Record], table: Table) -> None:
    """Write a result to a file, whole or not at all, in the format that its ending names."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise UnknownNameError("ending of an output file", Path(path).name, ENDINGS)
    if ending == ".parquet":
        write_whole(path, _parquet(records))
    else:
        write_whole(path, format_result(ending[1:], records, table).encode())


def _separated(records: Sequence[Record], separator: str) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    if records:
        writer.writerow(records[0])
    for record in _without_nan(records):
        writer.writerow(["" if value is None else value for value in record.values()])
    return stream.getvalue()


def _without_nan(records: Sequence[Record]) -> list[Record]:
    """Return the records with None for numbers that are not there."""
    return [{key: finite_or_none(value) for key, value in record.items()} for record in records]


def finite_or_none(value: Any) -> Any:
    """Return a value as JSON can hold it: None for a number that is not there or is infinite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _page(table: Table) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>confir</title>'
        "<style>body{font-family:system-ui,sans-serif;margin:2rem}table{border-collapse:collapse}"
        "th,td{padding:.2rem .8rem}thead th{border-bottom:1px solid}th{text-align:left}"
        "caption{caption-side:bottom;text-align:left;padding:.6rem .8rem}</style></head><body>\n"
        f"{to_html(table)}</body></html>\n"
    )


def _parquet(records: Sequence[Record]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("pyarrow", "writing Parquet", "parquet") from None
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(_without_nan(records)), stream)
    return stream.getvalue()
