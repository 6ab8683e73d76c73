"""Rows in any order, brought together by topic: parted on disk by the hash of the topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.streams.blocks import TopicBlock
from confir.data.streams.hashed_ids import Words
from confir.data.streams.spill_folder import SpillFolder

# Rows of a part, about: they are sorted in memory.
_ROWS_AT_ONCE = 1 << 19
_ROW = np.dtype([("key", "<u8"), ("column", "<u4"), ("value", "<f8")])


class Rows(NamedTuple):
    """Scores one by one: the topic's key, the column (runs × measures) and the value."""

    keys: Words
    columns: Integers
    values: Floats

    def select(self, kept: slice) -> Rows:
        """Return some rows."""
        return Rows(self.keys[kept], self.columns[kept], self.values[kept])

    def followed_by(self, other: Rows) -> Rows:
        """Return these rows and others."""
        return Rows(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.values, other.values]),
        )


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
    """Rows parted by topic in a folder of their own, which goes away with this object."""

    def __init__(self, batches: Iterable[Rows], rows: int, columns: int) -> None:
        self._columns = columns
        self._folder = SpillFolder(rows, _ROWS_AT_ONCE)
        with self._folder.writing(_ROW.itemsize * rows):
            self._write(batches)

    def _write(self, batches: Iterable[Rows]) -> None:
        parts = self._folder.parts
        with ExitStack() as opened:
            files = [opened.enter_context(open(self._folder.path(n), "wb")) for n in range(parts)]
            for batch in batches:
                part = self._folder.part(batch.keys)
                order = np.argsort(part, kind="stable")
                rows = np.empty(len(order), _ROW)
                for name, column in zip(_ROW.names or (), batch, strict=True):
                    rows[name] = column[order]
                ends = np.cumsum(np.bincount(part, minlength=parts)).tolist()
                for file, start, end in zip(files, [0, *ends], ends, strict=False):
                    file.write(rows[start:end].data)

    def blocks(self) -> Iterator[TopicBlock]:
        """Yield the topics, in the order of their keys."""
        for part in range(self._folder.parts):
            rows = np.fromfile(self._folder.path(part), _ROW)
            if not len(rows):
                continue
            keys = np.ascontiguousarray(rows["key"])
            order = np.argsort(keys)
            columns, values = (rows[name][order] for name in ("column", "value"))
            yield group_rows(Rows(keys[order], columns, values), self._columns)


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
