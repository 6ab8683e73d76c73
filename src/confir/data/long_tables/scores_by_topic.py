"""Scores in rows of any order, grouped by topic: partitioned on disk by the hash of the topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from confir.arrays import Floats, Integers
from confir.data.ids import Words
from confir.data.long_tables.score_blocks import TopicBlock
from confir.data.long_tables.spill_folder import SpillFolder
from confir.parallel import run_ahead

# Rows of a part, about: they are sorted in memory.
_ROWS_AT_ONCE = 1 << 17
_ROW = np.dtype([("key", "<u8"), ("column", "<u4"), ("value", "<f8")])

Batch = TypeVar("Batch")
StoredRows = npt.NDArray[np.void]


class Rows(NamedTuple):
    """Scores one by one: the topic's key, the column (runs × measures) and the value."""

    keys: Words
    columns: Integers
    values: Floats

    def select(self, kept: slice) -> Rows:
        """Return some rows."""
        return Rows(self.keys[kept], self.columns[kept], self.values[kept])

    @staticmethod
    def join(parts: Iterable[Rows]) -> Rows:
        """Return rows one after the other."""
        return Rows(*map(np.concatenate, zip(*parts, strict=True)))


class RepeatedScoreError(Exception):
    """Two rows are of one topic and one column.

    Attributes
    ----------
    key, column
        Which.
    """

    def __init__(self, key: int, column: int) -> None:
        super().__init__(key, column)
        self.key, self.column = key, column


class SpilledRows:
    """Rows partitioned by topic in a temporary folder, which goes away with this object.

    Parameters
    ----------
    batches, read
        What holds the rows, and a function to them, which is called in several threads.
    rows
        Number of all rows.
    """

    def __init__(self, batches: Iterable[Batch], read: Callable[[Batch], Rows], rows: int) -> None:
        self._folder = SpillFolder(rows, _ROWS_AT_ONCE)
        with self._folder.writing(_ROW.itemsize * rows):
            self._write(run_ahead(lambda batch: self._sort(read(batch)), batches))

    def _sort(self, batch: Rows) -> tuple[StoredRows, list[int]]:
        """Return rows in the order of their parts, and where each part ends."""
        order, ends = self._folder.sort(batch.keys)
        rows = np.empty(len(order), _ROW)
        for name, column in zip(_ROW.names or (), batch, strict=True):
            rows[name] = column[order]
        return rows, ends

    def _write(self, batches: Iterable[tuple[StoredRows, list[int]]]) -> None:
        with ExitStack() as opened:
            files = self._folder.open_parts(opened)
            for rows, ends in batches:
                for file, start, end in zip(files, [0, *ends], ends, strict=False):
                    file.write(rows[start:end].data)

    def parts(self) -> Iterator[StoredRows]:
        """Yield the rows of some topics each, for `group_part`."""
        for part in range(self._folder.parts):
            rows = np.fromfile(self._folder.path(part), _ROW)
            if len(rows):
                yield rows


def group_part(rows: StoredRows, columns: int) -> TopicBlock:
    """Return the topics of a part, in the order of their keys, whatever that of the rows."""
    keys = np.ascontiguousarray(rows["key"])
    lead = _find_tables(keys, rows["column"], columns)
    if lead is not None:
        topics = len(keys) // columns
        order = np.argsort(keys[:topics], kind="stable")
        known = keys[order]
        if (known[1:] > known[:-1]).all():
            values = rows["value"].reshape(columns, topics)
            return TopicBlock(known, values[np.ix_(np.argsort(lead, kind="stable"), order)])
    # Stable: which of two scores is named as the second must not depend on the processor.
    order = np.argsort(keys, kind="stable")
    ordered = Rows(keys[order], rows["column"][order], rows["value"][order])
    return group_rows(ordered, columns)


def _find_tables(keys: Words, numbers: Any, columns: int) -> Integers | None:
    """Return the columns one after the other where each has the same topics, in the same order.

    Tables of runs that stand one after the other are of this kind: no sort of all rows is needed.
    """
    topics, rest = divmod(len(keys), columns)
    if rest:
        return None
    lead: Integers = numbers[::topics]
    alike = (numbers.reshape(columns, topics) == lead[:, None]).all()
    same = alike and (keys.reshape(columns, topics) == keys[:topics]).all()
    return lead if same and len(np.unique(lead)) == columns else None


def group_rows(rows: Rows, columns: int) -> TopicBlock:
    """Return the topics of rows in which those of a topic stand together."""
    starts = np.concatenate([[True], rows.keys[1:] != rows.keys[:-1]])
    group = np.cumsum(starts) - 1
    topics = int(group[-1]) + 1
    cells = rows.columns.astype(np.int64) * topics + group
    values = np.full(columns * topics, np.nan)
    values[cells] = rows.values
    taken = np.zeros(columns * topics, np.bool_)
    taken[cells] = True
    if np.count_nonzero(taken) < len(cells):
        order = np.argsort(cells, kind="stable")
        second = order[1:][cells[order[1:]] == cells[order[:-1]]].min()
        raise RepeatedScoreError(int(rows.keys[second]), int(rows.columns[second]))
    return TopicBlock(rows.keys[starts], values.reshape(columns, topics))
