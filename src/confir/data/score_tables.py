"""Which table does a file of scores hold? From bytes to columns under a header.

Parquet is told by its first bytes. Text is told apart by how it begins: JSON, columns under a
header, or bare lines as trec_eval and ir_measures print them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any

from confir.data.files import COMPRESSION_ENDINGS
from confir.data.score_columns import COLUMN_NAMES, EXPECTED, Table, find_layout
from confir.data.score_lines import bare_table, is_bare
from confir.data.trec_files import text_bytes
from confir.errors import FormatError, InputWarning, MissingDependencyError, enumerate_names

SEPARATORS = {".csv": ",", ".tsv": "\t"}

# blank lines and comments at the beginning
_LEAD = re.compile(rb"\A(?:\s*#[^\r\n]*(?:[\r\n]|\Z))*\s*")


def read_table(content: bytes, source: str) -> Table:
    """Return the table in the content of a file, which the file's ending helps to recognise."""
    if is_parquet(content, source):
        return _parquet_table(content, source)
    return _text_table(text_bytes(content, source), source)


def is_parquet(content: bytes, source: str) -> bool:
    """Tell Parquet by its first bytes, or by the file's ending."""
    return content.startswith(b"PAR1") or bool(content and format_ending(source) == ".parquet")


def format_ending(source: str) -> str:
    """Return the ending that tells the format, in small letters, a compression's left out."""
    name = os.path.basename(source).lower()
    for compression in COMPRESSION_ENDINGS:
        name = name.removesuffix(compression)
    return os.path.splitext(name)[1].replace(".ndjson", ".jsonl")


def import_pyarrow(purpose: str) -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("pyarrow", purpose, "parquet") from None
    return pa, pq


def _text_table(content: bytes, source: str) -> Table:
    start = _LEAD.sub(b"", content)
    blank = content.count(b"\n", 0, len(content) - len(start))
    content = b"\n" * blank + start
    if not start:
        raise FormatError(f"the file is empty; {EXPECTED}", path=source)
    ending = format_ending(source)
    if ending in (".json", ".jsonl") or (start[:1] in b"[{" and ending not in SEPARATORS):
        return _json_table(content, source)
    first = re.split(rb"[\r\n]", start, maxsplit=1)[0]
    separator = _separator(first, ending)
    if separator != "," and is_bare(first, separator, source):
        return bare_table(content, source)
    if separator is None:
        raise FormatError(f"no columns of scores; {EXPECTED}", path=source, line=blank + 1)
    return _separated_table(content.decode(), separator, source)


def _separator(line: bytes, ending: str) -> str | None:
    """Return what separates the columns, judged by the first line and the file's ending."""
    if ending == ".tsv" or (b"\t" in line and not (ending == ".csv" and b"," in line)):
        return "\t"
    return "," if ending == ".csv" or b"," in line else None


def _separated_table(text: str, separator: str, source: str) -> Table:
    cells, widths, lines = _split_rows(text, separator, source)
    width = widths[0]
    if len(widths) == 1:
        raise FormatError(f"a header without rows; {EXPECTED}", path=source, line=lines[0])
    if set(widths) != {width}:
        _check_ragged(cells[:width], widths, lines, source)
        ends = accumulate(widths)
        rows = [
            cells[end - width : end] for end, own in zip(ends, widths, strict=True) if own == width
        ]
        cells = list(chain.from_iterable(rows))
        lines = [line for line, own in zip(lines, widths, strict=True) if own == width]
    columns = [cells[width + place :: width] for place in range(width)]
    return Table(source, cells[:width], columns, lines[1:])


def _split_rows(text: str, separator: str, source: str) -> tuple[list[str], list[int], list[int]]:
    """Return all cells one after the other, and the width and first line of every row."""
    stream = io.StringIO(text, newline="")
    reader = csv.reader(stream, delimiter=separator, strict=True, skipinitialspace=True)
    cells: list[str] = []
    widths: list[int] = []
    lines: list[int] = []
    line = 1
    try:
        for row in reader:
            if row:
                cells += row
                widths.append(len(row))
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(
            f"the columns cannot be told apart ({error})", path=source, line=line
        ) from None
    return cells, widths, lines


def _check_ragged(
    header: Sequence[str], widths: Sequence[int], lines: Sequence[int], source: str
) -> None:
    """Warn of a few short rows in a wide table; any other uneven rows are an error."""
    width = widths[0]
    uneven = [line for line, own in zip(lines, widths, strict=True) if own != width]
    few = 2 * len(uneven) < len(lines) - 1
    if max(widths) > width or not few or find_layout(header, source) == "long":
        raise FormatError(
            f"{widths[lines.index(uneven[0])]} columns; expected {width} as in the header",
            path=source,
            line=uneven[0],
        )
    warnings.warn(
        f"{source}: rows with fewer columns than the header are left out, for which runs lack a "
        f"score cannot be told (lines {enumerate_names(map(str, uneven))})",
        InputWarning,
        stacklevel=7,
    )


def _json_table(content: bytes, source: str) -> Table:
    """Return the table of records, one per line or in a list, or of nested objects."""
    if _is_json_lines(content, source):
        texts = {n: text for n, text in enumerate(content.split(b"\n"), start=1) if text.strip()}
        return _record_table(_load_lines(texts, source), Table(source, [], [], list(texts)))
    document = _load_json(content, 1, source)
    if isinstance(document, dict):
        return _nested_table(document, source)
    records = document if isinstance(document, list) else [document]
    return _record_table(records, Table(source, [], [], range(1, len(records) + 1), "row"))


def _is_json_lines(content: bytes, source: str) -> bool:
    """Whether every line is a record: the ending says so, or the first line is one."""
    if format_ending(source) == ".jsonl":
        return True
    start = content.lstrip()
    if not start.startswith(b"{"):
        return False
    try:
        first = json.loads(start.split(b"\n", maxsplit=1)[0])
    except (ValueError, RecursionError):
        return False
    return not any(isinstance(cell, dict) for cell in first.values())


def _load_lines(texts: dict[int, bytes], source: str) -> list[Any]:
    """Return the records, all loaded at once; line by line where that fails, to name the line."""
    try:
        records = json.loads(b"[" + b",".join(texts.values()) + b"]", object_pairs_hook=_object)
    except (ValueError, RecursionError):
        records = []
    if len(records) == len(texts):
        return list(records)
    return [_load_json(text, line, source) for line, text in texts.items()]


def _load_json(text: bytes, line: int, source: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"not JSON ({error.msg}); expected records of run, measure, topic, score",
            path=source,
            line=line + error.lineno - 1,
        ) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"cannot be read as JSON ({error})", path=source, line=line) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; of a key that is there twice, one score would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in found if keys.count(key) > 1)
        raise ValueError(f"the key {repeated!r} is there twice")
    return found


def _record_table(records: Sequence[Any], blank: Table) -> Table:
    """Return the blank table filled with records, which all have the same keys."""
    if not records:
        raise FormatError(f"no records; {EXPECTED}", path=blank.source)
    for row, record in enumerate(records):
        if not isinstance(record, dict) or not record:
            raise blank.error("not a record; expected an object with a topic and a score", row)
        if record.keys() != records[0].keys():
            raise blank.error(
                f"a record of {', '.join(record)}; expected {', '.join(records[0])} as in the first",
                row,
            )
    columns = [[record[name] for record in records] for name in records[0]]
    return replace(blank, header=list(records[0]), columns=columns)


def _nested_table(document: dict[str, Any], source: str) -> Table:
    """Return the table of run → measure → topic → score."""
    rows: list[tuple[str, str, str, Any]] = []
    for run, measures in document.items():
        for measure, topics in _members(measures, run, source):
            members = _members(topics, f"{run} → {measure}", source)
            rows.extend((run, measure, topic, cell) for topic, cell in members)
    if not rows:
        raise FormatError(f"no scores; {EXPECTED}", path=source)
    columns = list(zip(*rows, strict=True))
    return Table(source, list(COLUMN_NAMES), columns, range(1, len(rows) + 1), "row")


def _members(found: Any, place: str, source: str) -> Any:
    if not isinstance(found, dict):
        raise FormatError(
            f"no object at {place}; expected run → measure → topic → score", path=source
        )
    return found.items()


def _parquet_table(content: bytes, source: str) -> Table:
    arrow, parquet = import_pyarrow(f"{source}: reading Parquet")
    try:
        found = parquet.read_table(io.BytesIO(content))
        columns = [column.to_pylist() for column in found.columns]
    except (arrow.ArrowException, OSError, ValueError) as error:
        problem = str(error).split("\n", maxsplit=1)[0]
        raise FormatError(f"cannot be read as Parquet ({problem})", path=source) from None
    if not columns or not columns[0]:
        raise FormatError(f"a table without rows; {EXPECTED}", path=source)
    return Table(source, found.column_names, columns, range(1, len(columns[0]) + 1), "row")
