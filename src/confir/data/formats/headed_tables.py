"""How are tables of runs and qrels read? Text with a header, such as BEIR's qrels, and Parquet.

The columns are those of frames; a column ``run`` names the runs of a table of several.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from typing import Any

from confir.data.files import format_ending, open_bytes, text_bytes, write_whole
from confir.data.formats.entries import (
    QRELS,
    RUN,
    Kind,
    entries_from_columns,
    judgements,
    most_frequent,
    qrels_from_entries,
)
from confir.data.formats.run_groups import runs_from_entries
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.parquet_files import (
    count_rows,
    import_pyarrow,
    is_parquet,
    open_parquet,
    read_parquet_content,
    read_parquet_folder,
)
from confir.data.text_numbers import parse_number, warn_of_cut_number
from confir.errors import FormatError, UnreadableError

TEXT_SHAPE = "columns under a header, separated by tabs or commas: query-id, corpus-id, score, …"
PARQUET_SHAPE = "columns topic, docid, score or gain, and run where there are several"

# Runs in Parquet of more documents are evaluated part by part.
MOST_HELD_DOCUMENTS = 1_000_000

_MAGIC = b"PAR1"
_START = 1 << 12


def is_headed_text(path: str, content: bytes) -> bool:
    """Whether a file begins with names of columns of a run or of qrels, or is a CSV file.

    Other columns of a CSV file, in whose first line commas separate words, are then named.
    """
    names = _split_header(content)
    known = any(
        set(shape.required()) <= set(names) for kind in (RUN, QRELS) for shape in kind.shapes
    )
    return known or (format_ending(path) == ".csv" and len(names) > 1 and not _has_blanks(names))


def is_table_file(path: str) -> bool:
    """Whether a file is a table by its ending and its header, and may thus hold several runs.

    Other endings are not looked into: runs of TREC are opened once.
    """
    if format_ending(path) not in (".csv", ".tsv") or not os.path.isfile(path):
        return False
    with open_bytes(path) as stream:
        return is_headed_text(path, stream.read(_START))


def _has_blanks(names: list[str]) -> bool:
    return any(len(name.split()) > 1 for name in names)


def read_headed_run(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the runs in a table of text."""
    entries = entries_from_columns(_text_columns(content, source.path, RUN), RUN, source.path)
    return runs_from_entries(entries, source.name, source.label(), source.path)


def read_headed_qrels(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements in a table of text, such as qrels of BEIR."""
    columns = _text_columns(content, source.path, QRELS)
    entries = entries_from_columns(columns, QRELS, source.path)
    return qrels_from_entries(entries, source.path, intents)


def is_parquet_content(path: str, content: bytes) -> bool:
    """Whether a file is Parquet, by its first bytes or by its ending."""
    return content.startswith(_MAGIC) or has_parquet_ending(path)


def has_parquet_ending(path: str) -> bool:
    """Whether a file is Parquet by its ending."""
    return path.lower().endswith(".parquet")


def read_parquet_run(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the runs in a Parquet file."""
    entries = entries_from_columns(
        _used_columns(read_parquet_content(content, source.path), source.path), RUN, source.path
    )
    return runs_from_entries(entries, source.name, source.label(), source.path)


def read_parquet_qrels(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements in a Parquet file."""
    entries = entries_from_columns(
        _used_columns(read_parquet_content(content, source.path), source.path), QRELS, source.path
    )
    return qrels_from_entries(entries, source.path, intents)


def hold_many_documents(paths: Sequence[str]) -> bool:
    """Whether paths are all Parquet, files or folders, with more documents than are read whole."""
    if not all(map(_is_dataset, paths)):
        return False
    return sum(count_rows(open_parquet([path]), path) for path in paths) > MOST_HELD_DOCUMENTS


def _is_dataset(path: str) -> bool:
    """Whether a path is a Parquet file by its ending, or a folder of them; pipes are not read."""
    is_file = has_parquet_ending(path) and os.path.isfile(path)
    return (is_file or os.path.isdir(path)) and is_parquet(path)


def read_parquet_folder_runs(source: RunSource) -> list[Run]:
    """Return the runs in a folder of Parquet files, read whole."""
    entries = entries_from_columns(_folder_columns(source.path), RUN, source.path)
    return runs_from_entries(entries, source.name, source.label(), source.path)


def read_parquet_folder_qrels(source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements in a folder of Parquet files, read whole."""
    entries = entries_from_columns(_folder_columns(source.path), QRELS, source.path)
    return qrels_from_entries(entries, source.path, intents)


def write_parquet_run(run: Run, path: str) -> None:
    """Write a run as Parquet: run, topic, docid, score, best document first."""
    sizes = (run.offsets[1:] - run.offsets[:-1]).tolist()
    topics = [topic for topic, size in zip(run.topics, sizes, strict=True) for _ in range(size)]
    columns = {"run": [run.name] * len(topics), "topic": topics, "docid": list(run.documents)}
    _write_parquet({**columns, "score": run.scores}, path)


def write_parquet_qrels(qrels: Qrels, path: str) -> None:
    """Write qrels as Parquet: topic, subtopic, docid, gain."""
    named = zip(("topic", "subtopic", "docid"), judgements(qrels), strict=True)
    _write_parquet({**dict(named), "gain": qrels.subtopic_gains}, path)


def _write_parquet(columns: dict[str, Any], path: str) -> None:
    arrow, parquet = import_pyarrow(f"{path}: writing Parquet")
    stream = io.BytesIO()
    parquet.write_table(arrow.table(columns), stream)
    write_whole(path, stream.getvalue())


def _folder_columns(path: str) -> dict[str, list[Any]]:
    if not is_parquet(path):
        raise UnreadableError(f"{path}: is a directory; expected a file, or Parquet files in it")
    return _used_columns(read_parquet_folder(path), path)


def _used_columns(table: Any, path: str) -> dict[str, list[Any]]:
    """Return the columns of a table that may be used; others empty."""
    if not table.num_rows:
        raise FormatError(f"a table without rows; expected {PARQUET_SHAPE}", path=path)
    wanted = {"run", *(name for kind in (RUN, QRELS) for one in kind.shapes for name in one)}
    return {
        name: column.to_pylist() if name in wanted else []
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def _split_header(content: bytes) -> list[str]:
    """Return the names in a first line that tabs or commas separate; none where it is no text."""
    line = content[:_START].removeprefix(b"\xef\xbb\xbf").split(b"\n", maxsplit=1)[0].rstrip(b"\r")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return []
    separator = "\t" if "\t" in text else ","
    return [name.strip('" ') for name in text.split(separator)]


def _text_columns(content: bytes, path: str, kind: Kind) -> dict[str, list[Any]]:
    """Return the columns of a table of text; those that may be values as numbers."""
    text = text_bytes(content, path).decode()
    header = _split_header(content)
    if len(set(header)) < len(header):
        twice = most_frequent(header)
        raise FormatError(f"two columns are named {twice!r}; expected one", path=path, line=1)
    separator = "\t" if "\t" in text.split("\n", maxsplit=1)[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    values = {header.index(shape.value) for shape in kind.shapes if shape.value in header}
    try:
        rows = [
            _checked(row, header, values, path, reader.line_num)
            for row in reader
            if row and reader.line_num > 1
        ]
    except csv.Error as error:
        problem = f"the columns cannot be read ({error})"
        raise FormatError(problem, path=path, line=reader.line_num) from None
    if not rows:
        raise FormatError(f"a header without rows; expected {TEXT_SHAPE}", path=path, line=1)
    warn_of_cut_number(content, path)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def _checked(
    row: list[str], header: list[str], values: set[int], path: str, line: int
) -> list[Any]:
    """Return a row with its values as numbers, and its ids without blanks around them."""
    if len(row) != len(header):
        problem = f"{len(row)} columns; expected {len(header)} as in the header"
        raise FormatError(problem, path=path, line=line)
    return [
        _number(cell, header[place], path, line) if place in values else cell.strip(" ")
        for place, cell in enumerate(row)
    ]


def _number(cell: str, name: str, path: str, line: int) -> float:
    number = parse_number(cell)
    if number is None:
        raise FormatError(f"{name} is {cell!r}; expected a number", path=path, line=line)
    return number
