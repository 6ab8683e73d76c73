"""Tables of runs and qrels: text with a header such as BEIR's qrels, JSON records, and Parquet.

The columns are those of frames; a column ``run`` names the runs of a table of several.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from confir.data.files import format_ending, open_bytes, write_whole
from confir.data.formats.entries import (
    QRELS,
    RUN,
    entries_from_table,
    judgements,
    qrels_from_entries,
    runs_from_entries,
)
from confir.data.formats.json_shapes import top_keys
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.input_table import InputTable, TableKind, fold
from confir.data.tables.parquet_files import count_rows, import_pyarrow, is_parquet, open_parquet
from confir.data.tables.separated_text import header_names
from confir.data.tables.table_reader import read_content, read_folder
from confir.errors import UnreadableError

TEXT_SHAPE = "columns under a header, or records of JSON: query-id, corpus-id, score, …"
PARQUET_SHAPE = "columns topic, docid, score or gain, and run where there are several"

# Runs in Parquet of more documents are evaluated part by part.
MOST_HELD_DOCUMENTS = 1_000_000

_MAGIC = b"PAR1"
_START = 1 << 12


def is_run_table(path: str, content: bytes) -> bool:
    """Whether a file begins with names of columns of a run or of qrels, or is a CSV file.

    Other columns of a CSV file, in whose first line commas separate words, are then named.
    """
    expected = RUN.table.names | QRELS.table.names
    names = header_names(content, path, expected)
    found = {*names, *map(fold, top_keys(content))}
    if any(set(shape.required()) <= found for kind in (RUN, QRELS) for shape in kind.shapes):
        return True
    separated = format_ending(path) == ".csv" and len(names) > 1
    return separated and not any(len(name.split()) > 1 for name in names)


def is_table_file(path: str) -> bool:
    """Whether a file is a table by its ending and its header, and may thus hold several runs.

    Other endings are not looked into: runs of TREC are opened once.
    """
    if format_ending(path) not in (".csv", ".tsv", ".jsonl") or not os.path.isfile(path):
        return False
    with open_bytes(path) as stream:
        return is_run_table(path, stream.read(_START))


def is_parquet_content(path: str, content: bytes) -> bool:
    """Whether a file is Parquet, by its first bytes or by its ending."""
    return content.startswith(_MAGIC) or has_parquet_ending(path)


def has_parquet_ending(path: str) -> bool:
    """Whether a file is Parquet by its ending."""
    return path.lower().endswith(".parquet")


def read_table_runs(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the runs in the content of a table."""
    return _runs_in(read_content(content, source.path, RUN.table), source)


def read_table_qrels(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements in the content of a table, such as qrels of BEIR."""
    return _qrels_in(read_content(content, source.path, QRELS.table), source, intents)


def read_folder_runs(source: RunSource) -> list[Run]:
    """Return the runs in a folder of Parquet files, read whole."""
    return _runs_in(_folder_table(source.path, RUN.table), source)


def read_folder_qrels(source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements in a folder of Parquet files, read whole."""
    return _qrels_in(_folder_table(source.path, QRELS.table), source, intents)


def _runs_in(table: InputTable, source: RunSource) -> list[Run]:
    entries = entries_from_table(table, RUN)
    return runs_from_entries(entries, source.name, source.label(), source.path)


def _qrels_in(table: InputTable, source: RunSource, intents: Intents | None) -> Qrels:
    return qrels_from_entries(entries_from_table(table, QRELS), source.path, intents)


def _folder_table(path: str, kind: TableKind) -> InputTable:
    if not is_parquet(path):
        raise UnreadableError(f"{path}: is a directory; expected a file, or Parquet files in it")
    return read_folder(path, kind)


def hold_many_documents(paths: Sequence[str]) -> bool:
    """Whether paths are all Parquet, files or folders, with more documents than are read whole."""
    if not all(map(_is_dataset, paths)):
        return False
    return sum(count_rows(open_parquet([path]), path) for path in paths) > MOST_HELD_DOCUMENTS


def _is_dataset(path: str) -> bool:
    """Whether a path is a Parquet file by its ending, or a folder of them; pipes are not read."""
    is_file = has_parquet_ending(path) and os.path.isfile(path)
    return (is_file or os.path.isdir(path)) and is_parquet(path)


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
