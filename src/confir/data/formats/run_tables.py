"""Tables of runs and qrels: text with a header such as BEIR's qrels, JSON records, and Parquet.

The columns are those of frames; a column ``run`` names the runs of a table of several.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.data.files import format_ending, open_bytes, write_whole
from confir.data.formats.entries import (
    COLUMNS,
    JUDGEMENT_COLUMNS,
    QRELS,
    RUN,
    Entries,
    EntryKind,
    entries_from_table,
    judgements,
    qrels_from_entries,
    runs_from_entries,
)
from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.json_files import key_paths
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.parquet_files import (
    PARQUET_MARK,
    count_rows,
    import_pyarrow,
    is_parquet,
    open_parquet,
    parquet_bytes,
)
from confir.data.tables.separated_text import header_names
from confir.data.tables.table_kind import fold
from confir.data.tables.table_reader import read_content, read_folder
from confir.errors import UnreadableError

# Runs in Parquet of more documents are evaluated part by part.
MOST_HELD_DOCUMENTS = 1_000_000

# Files with other endings are not looked into for tables of several runs: those of TREC are opened once.
TABLE_ENDINGS = (".csv", ".tsv", ".jsonl")

_START = 1 << 12
# What columns may be called.
_NAMES = RUN.table.names | QRELS.table.names


def _is_run_table(path: str, content: bytes) -> bool:
    """Whether a file begins with names of columns of a run or of qrels, or is a CSV file.

    Other columns of a CSV file, in whose first line commas separate words, are then named.
    """
    names = header_names(content, path, _NAMES)
    found = {*names, *(fold(keys[0]) for keys in key_paths(content))}
    if any(columns <= found for columns in COLUMNS):
        return True
    separated = format_ending(path) == ".csv" and len(names) > 1
    return separated and not any(len(name.split()) > 1 for name in names)


def is_table(path: str) -> bool:
    """Whether a file is a table by its header; no pipe is, which can be opened once."""
    if not os.path.isfile(path):
        return False
    with open_bytes(path) as stream:
        return _is_run_table(path, stream.read(_START))


def _read_runs(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the runs in a table."""
    entries = _read_entries(content, source.path, RUN)
    return runs_from_entries(entries, source.name, source.label(), source.path)


def _read_qrels(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements in a table, such as qrels of BEIR."""
    return qrels_from_entries(_read_entries(content, source.path, QRELS), source.path, intents)


def _read_entries(content: bytes, path: str, kind: EntryKind) -> Entries:
    """Return what the content of a table holds, or the Parquet files of a folder, read whole."""
    if not os.path.isdir(path):
        return entries_from_table(read_content(content, path, kind.table), kind)
    if not is_parquet(path):
        raise UnreadableError(f"{path}: is a directory; expected a file, or Parquet files in it")
    return entries_from_table(read_folder(path, kind.table), kind)


def hold_many_documents(paths: Sequence[str]) -> bool:
    """Whether files or folders are all Parquet, with more documents than are read whole."""
    if not all(map(is_parquet, paths)):
        return False
    return sum(count_rows(open_parquet([path]), path) for path in paths) > MOST_HELD_DOCUMENTS


def _write_run(run: Run, path: str) -> None:
    """Write a run as Parquet: run, topic, docid, score, best document first."""
    sizes = np.diff(run.offsets)
    topics = np.repeat(np.array(run.topics, object), sizes).tolist()
    columns = {"run": [run.name] * len(topics), "topic": topics, "docid": list(run.documents)}
    _write({**columns, "score": run.scores}, path)


def _write_qrels(qrels: Qrels, path: str) -> None:
    """Write qrels as Parquet: topic, subtopic, docid, gain."""
    _write(dict(zip(JUDGEMENT_COLUMNS, judgements(qrels), strict=True)), path)


def _write(columns: dict[str, Any], path: str) -> None:
    arrow = import_pyarrow(f"{path}: writing Parquet")
    write_whole(path, parquet_bytes(arrow.table(columns)))


PARQUET = Format(
    "Parquet",
    "columns topic, docid, score or gain, and run where there are several",
    endings=(".parquet",),
    recognises=lambda path, content: content.startswith(PARQUET_MARK) or os.path.isdir(path),
    read_runs=_read_runs,
    read_qrels=_read_qrels,
    write_run=_write_run,
    write_qrels=_write_qrels,
)
RUN_TABLE = Format(
    "table",
    "columns under a header, or records of JSON: query-id, corpus-id, score, …",
    recognises=_is_run_table,
    read_runs=_read_runs,
    read_qrels=_read_qrels,
)
