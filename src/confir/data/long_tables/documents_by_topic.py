"""Runs and qrels in Parquet datasets, grouped by topic: partitioned on disk by its hash.

A dataset may be partitioned by run, by topic, in any other way or not at all: a topic's rows need
not lie in one partition.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

from confir.data.files import name_from_path
from confir.data.formats.entries import QRELS, EntryKind, check_single
from confir.data.ids import hash_column
from confir.data.long_tables.arrow_documents import RowColumns, row_schema
from confir.data.long_tables.spill_folder import SpillFolder, count_parts
from confir.data.qrels import Qrels
from confir.data.tables.arrow_columns import id_column
from confir.data.tables.parquet_files import count_rows, import_pyarrow, open_parquet, scan_batches
from confir.errors import FormatError

# Rows of a batch, and of a part, about: the latter are ranked in memory.
_BATCH = 1 << 16
_ROWS_AT_ONCE = 1 << 19
# About what a row takes on disk, compressed, for the message where there is no room.
_ROW_SIZE = 40


class ParquetRows:
    """The rows of runs or qrels in Parquet: files, or a folder of them, which may be partitioned.

    A given name is that of the one run. Else runs are named by a column ``run``; without one, by the
    file, or by a partitioned folder.
    """

    def __init__(self, path: str, kind: EntryKind, name: str | None = None) -> None:
        self.source = path
        self._data = open_parquet([path], {"run"})
        self._columns = RowColumns.find(self._data.schema.names, kind, path)
        self._name = name

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return count_rows(self._data, self.source)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, in the order of their first rows."""
        found: dict[str, None] = {}
        for file in self._data.get_fragments():
            if self._columns.label is None:
                found[self._run_in(file)] = None
                continue
            for batch in self._scan(file, [self._columns.label]):
                names = id_column(batch.column(0), self._columns.label, file.path)
                found |= dict.fromkeys(names.unique().to_pylist())
        if not self.rows:
            raise FormatError("a table without rows; expected a run", path=self.source)
        if self._name is None:
            return tuple(found)
        check_single(list(found), self.source)
        return (self._name,)

    def batches(self) -> Iterator[Any]:
        """Yield the rows by ROW_COLUMNS, file by file."""
        columns = self._columns if self._name is None else self._columns._replace(label=None)
        for file in self._data.get_fragments():
            run = self._run_in(file)
            for batch in self._scan(file, columns.names):
                yield columns.rows(batch, run)

    def _scan(self, file: Any, columns: Sequence[str]) -> Iterator[Any]:
        return scan_batches(file, columns, _BATCH, file.path, self._data.schema)

    def _run_in(self, file: Any) -> str:
        """Return the run of a file without a column of runs."""
        whole = self.source.rstrip("/")
        partitioned = "=" in os.path.dirname(file.path[len(whole) :])
        return self._name or name_from_path(whole if partitioned else file.path)


class HeldRows:
    """The rows of qrels in memory."""

    source = "qrels"

    def __init__(self, qrels: Qrels) -> None:
        self._table = qrels.to_frame("pyarrow")
        self._columns = RowColumns.find(self._table.column_names, QRELS, self.source)
        self.rows = self._table.num_rows

    def batches(self) -> Iterator[Any]:
        """Yield the rows by ROW_COLUMNS."""
        for batch in self._table.to_batches(_BATCH):
            yield self._columns.rows(batch)


class PartitionedRows:
    """Rows of runs and qrels, put on disk in parts of whole topics where they are asked for."""

    def __init__(self, runs: Sequence[ParquetRows], qrels: ParquetRows | HeldRows) -> None:
        self._sources = runs, qrels
        self._rows = sum(source.rows for source in runs) + qrels.rows
        self._arrow = import_pyarrow()

    def __len__(self) -> int:
        """Return the number of parts."""
        return count_parts(self._rows, _ROWS_AT_ONCE)

    def parts(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables of qrels and runs, one part after the other; then they go away."""
        runs, qrels = self._sources
        folder = SpillFolder(self._rows, _ROWS_AT_ONCE)
        with folder.writing(_ROW_SIZE * self._rows):
            self._write(folder, "runs", (batch for rows in runs for batch in rows.batches()))
            self._write(folder, "qrels", qrels.batches())
        for part in range(folder.parts):
            yield self._read(folder.path(part, "qrels")), self._read(folder.path(part, "runs"))

    def _write(self, folder: SpillFolder, name: str, batches: Iterator[Any]) -> None:
        arrow = self._arrow
        schema = row_schema()
        options = arrow.ipc.IpcWriteOptions(compression="lz4")
        with ExitStack() as opened:
            paths = (str(folder.path(part, name)) for part in range(folder.parts))
            streams = [opened.enter_context(arrow.OSFile(path, "wb")) for path in paths]
            files = [
                opened.enter_context(arrow.ipc.new_stream(stream, schema, options=options))
                for stream in streams
            ]
            for batch in batches:
                order, ends = folder.sort(hash_column(batch.column("topic")))
                ordered = batch.take(arrow.array(order))
                for file, start, end in zip(files, [0, *ends], ends, strict=False):
                    if end > start:
                        file.write_batch(ordered.slice(start, end - start))

    def _read(self, path: Path) -> Any:
        with self._arrow.ipc.open_stream(str(path)) as stream:
            return stream.read_all()
