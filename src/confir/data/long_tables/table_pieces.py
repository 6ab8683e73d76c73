"""Pieces of a Parquet table of scores: row groups that are read and summed up anywhere.

The files alone decide the pieces, neither threads nor workers. A piece is read in batches; statistics
of the batches are merged in their order, and then those of the pieces.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.files import is_address
from confir.data.ids import Words, hash_column, hash_names
from confir.data.long_tables.score_blocks import TOPICS_AT_ONCE, TopicBlock
from confir.data.long_tables.scores_by_topic import Rows, group_rows
from confir.data.scores import check_size
from confir.data.tables.arrow_columns import id_column, number_column
from confir.data.tables.column_roles import EXPECTED
from confir.data.tables.parquet_files import (
    RowFilter,
    import_pyarrow,
    reading_parquet,
    scan_batches,
)
from confir.data.tables.summary_rows import SUMMARY_NAMES
from confir.errors import FormatError, InvalidValueError
from confir.scheduler import check_visible

# Rows of a piece, at least, where the table has as many: work for about a second.
_ROWS_AT_LEAST = 1 << 20

_SUMMARY_KEYS = np.sort(
    hash_names([spelt for name in SUMMARY_NAMES for spelt in (name, name.title(), name.upper())])
)


class ScoreLayout(NamedTuple):
    """The columns of a table: of topics, of runs and measures if there are, and of scores, perhaps one per run."""

    topic: str
    run: str | None
    measure: str | None
    scores: tuple[str, ...]
    are_runs: bool

    @property
    def listed(self) -> list[str]:
        """The columns of runs and measures."""
        return [name for name in (self.run, self.measure) if name is not None]


class FilePart(NamedTuple):
    """Row groups of a file; its path, and size where it is no address; and what opens it."""

    path: str
    size: int | None
    groups: tuple[int, ...]
    format: Any
    filesystem: Any
    partition: Any

    def open(self) -> Any:
        """Return a fragment of pyarrow, which holds what the file says about its row groups."""
        return self.format.make_fragment(
            self.path, self.filesystem, self.partition, row_groups=list(self.groups)
        )


Piece = tuple[FilePart, ...]


def split_table(data: Any, source: str, where: RowFilter | None) -> list[Piece]:
    """Return a dataset of pyarrow in pieces: row groups that follow each other.

    Those that hold none of the rows asked for, by their statistics, are left out.
    """
    pieces: list[Piece] = []
    parts: list[FilePart] = []
    rows = 0
    with reading_parquet(source):
        for file in data.get_fragments(filter=where and where.expression):
            groups: list[int] = []
            held = file if where is None else file.subset(where.expression, data.schema)
            for group in held.row_groups:
                groups.append(group.id)
                rows += group.num_rows
                if rows >= _ROWS_AT_LEAST:
                    pieces.append((*parts, _part_of(data, file, groups, source)))
                    parts, groups, rows = [], [], 0
            if groups:
                parts.append(_part_of(data, file, groups, source))
    return [*pieces, tuple(parts)] if parts else pieces


def _part_of(data: Any, file: Any, groups: Sequence[int], source: str) -> FilePart:
    remote = is_address(source)
    path = file.path if remote else os.path.abspath(file.path)
    size = None if remote else os.path.getsize(path)
    opening = data.format, data.filesystem, file.partition_expression
    return FilePart(path, size, tuple(groups), *opening)


def check_files(piece: Piece) -> None:
    """Raise, on a worker, where it does not see the files of a piece."""
    for part in piece:
        if part.size is not None:
            check_visible(part.path, part.size)


@dataclass(slots=True)
class PieceNotes:
    """What reading a piece finds besides its scores.

    Attributes
    ----------
    keys
        Of the topics in each block, to find one that comes twice.
    summaries
        Names of rows that are left out.
    edges
        Rows of the first and the last topic of a piece, which may go on in its neighbours.
    """

    keys: list[Words] = field(default_factory=list)
    summaries: dict[str, None] = field(default_factory=dict)
    edges: list[Rows] = field(default_factory=list)


class NamesFound(NamedTuple):
    """Values of the columns of runs and measures, in their order, and how often they change."""

    values: tuple[dict[str, None], ...]
    changes: int


@dataclass(frozen=True, slots=True)
class PieceReader:
    """Reads pieces of one table, in this process or on a worker of a cluster.

    Attributes
    ----------
    source
        What the table is called in messages.
    layout, schema
        Its columns; all of them as pyarrow has them.
    runs, measures
        Names.
    where
        The rows to read; None for all.
    """

    source: str
    layout: ScoreLayout
    schema: Any
    runs: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    where: RowFilter | None = None

    @property
    def columns(self) -> int:
        """Number of columns of a block: runs × measures."""
        return len(self.runs) * len(self.measures)

    def find_names(self, piece: Piece) -> NamesFound:
        """Return the names in the columns of runs and measures."""
        check_files(piece)
        values: tuple[dict[str, None], ...] = tuple({} for _ in self.layout.listed)
        changes = 0
        for batch in self._batches(piece, self.layout.listed):
            encoded = [self._encoded(batch, name) for name in self.layout.listed]
            codes = np.stack([column.indices.to_numpy() for column in encoded])
            changes += int((codes[:, 1:] != codes[:, :-1]).any(axis=0).sum())
            for found, column in zip(values, encoded, strict=True):
                found.update(dict.fromkeys(column.unique().to_pylist()))  # in rows that are read
        return NamesFound(values, changes)

    def find_ids(self, wanted: Words, piece: Piece) -> list[tuple[int, str]]:
        """Return key and id of the rows whose topics have certain keys."""
        check_files(piece)
        named: list[tuple[int, str]] = []
        for batch in self._batches(piece, [self.layout.topic]):
            keys, ids = self._topic_keys(batch)
            places = np.flatnonzero(np.isin(keys, wanted))
            names = ids.take(import_pyarrow().array(places)).to_pylist()
            named += zip(keys[places].tolist(), names, strict=True)
        return named

    def blocks(self, piece: Piece, notes: PieceNotes, *, first: bool) -> Iterator[TopicBlock]:
        """Yield the topics of a piece, but for those at the edges of a long table's piece.

        Parameters
        ----------
        piece, notes
            The piece, and where to note what there is besides scores.
        first
            Whether this is the first pass, which notes the topics.
        """
        topics = self._grouped_topics if self.layout.listed else self._whole_topics
        for block in topics(piece, notes):
            if first:
                notes.keys.append(block.keys)
            yield block

    def batches(self, piece: Piece) -> Iterator[Any]:
        """Yield the batches of a piece, for `rows`."""
        layout = self.layout
        return self._batches(piece, [layout.topic, *layout.listed, *layout.scores])

    def rows(self, batch: Any, notes: PieceNotes) -> Rows:
        """Return the scores in a batch of a long table one by one, in their order."""
        columns = self._column_numbers(batch)
        keys, ids = self._topic_keys(batch)
        kept = self._without_summaries(keys, ids, notes)
        values = self._numbers(batch)[:, kept]
        places = np.arange(len(values))
        offsets = places if self.layout.run is not None else places * len(self.measures)
        numbers = (columns[kept][:, None] + offsets).reshape(-1)
        return Rows(np.repeat(keys[kept], len(values)), numbers, values.T.reshape(-1))

    def join_edges(self, edges: Sequence[Rows]) -> Iterator[TopicBlock]:
        """Yield the topics at the edges of all pieces, in their order, as a block."""
        held = [rows for rows in edges if len(rows.keys)]
        if held:
            yield group_rows(Rows.join(held), self.columns)

    def _whole_topics(self, piece: Piece, notes: PieceNotes) -> Iterator[TopicBlock]:
        """Yield a table with one row per topic."""
        for batch in self.batches(piece):
            keys, ids = self._topic_keys(batch)
            kept = self._without_summaries(keys, ids, notes)
            if len(keys[kept]):
                yield TopicBlock(keys[kept], self._numbers(batch)[:, kept])

    def _grouped_topics(self, piece: Piece, notes: PieceNotes) -> Iterator[TopicBlock]:
        """Yield topics whose rows stand together; a batch's last one may go on in the next."""
        left = Rows(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0))
        for batch in self.batches(piece):
            rows = self.rows(batch, notes)
            if not len(rows.keys):
                continue
            joined = Rows.join((left, rows))
            last = np.flatnonzero(joined.keys != joined.keys[-1])
            end = int(last[-1]) + 1 if len(last) else 0
            whole, left = joined.select(slice(end)), joined.select(slice(end, None))
            if end and not notes.edges:
                other = np.flatnonzero(whole.keys != whole.keys[0])
                start = int(other[0]) if len(other) else end
                notes.edges.append(whole.select(slice(start)))
                whole = whole.select(slice(start, None))
            if len(whole.keys):
                yield group_rows(whole, self.columns)
        notes.edges.append(left)

    def _batches(self, piece: Piece, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of some columns; text that repeats comes by its distinct values."""
        folder = os.path.isdir(self.source)
        for part in piece:
            named = part.path if folder else self.source
            yield from scan_batches(
                part.open(), columns, TOPICS_AT_ONCE, named, self.schema, self.where
            )

    def _encoded(self, batch: Any, name: str) -> Any:
        """Return a column of names by its distinct values."""
        column = id_column(batch.column(name), name, self.source)
        return column if hasattr(column, "dictionary") else column.dictionary_encode()

    def _topic_keys(self, batch: Any) -> tuple[Words, Any]:
        """Return the keys of a batch's topics, and their ids."""
        name = self.layout.topic
        ids = id_column(batch.column(name), name, self.source).cast(import_pyarrow().large_string())
        return hash_column(ids), ids

    def _without_summaries(self, keys: Words, ids: Any, notes: PieceNotes) -> slice | Integers:
        """Return the rows that are no summaries, whose names are noted."""
        summaries = np.isin(keys, _SUMMARY_KEYS)
        if not summaries.any():
            return slice(None)
        left_out = ids.take(import_pyarrow().array(np.flatnonzero(summaries)))
        notes.summaries.update(dict.fromkeys(left_out.to_pylist()))
        return np.flatnonzero(~summaries)

    def _numbers(self, batch: Any) -> Floats:
        """Return the scores of a batch: columns of scores × rows."""
        numbers = np.empty((len(self.layout.scores), batch.num_rows))
        for place, name in enumerate(self.layout.scores):
            column, arrow = batch.column(name), import_pyarrow()
            if arrow.types.is_boolean(column.type):
                column = column.cast(arrow.float64())  # True is 1, as in tables that are held
            numbers[place] = number_column(column, name, self.source, EXPECTED)
        if np.isinf(numbers).any():
            raise FormatError("a score is infinite; expected finite numbers", path=self.source)
        try:
            check_size(numbers)
        except InvalidValueError as error:
            raise FormatError(str(error), path=self.source) from None
        return numbers

    def _column_numbers(self, batch: Any) -> Integers:
        """Return the column of a block to which each row's first score belongs."""
        columns = np.zeros(batch.num_rows, np.int64)
        axes = (
            (self.layout.run, self.runs, len(self.measures)),
            (self.layout.measure, self.measures, 1),
        )
        for name, values, step in axes:
            if name is not None:
                place = {value: number * step for number, value in enumerate(values)}
                encoded = self._encoded(batch, name)
                known = [place[value] for value in encoded.dictionary.to_pylist()]
                columns += np.array(known, np.int64)[encoded.indices.to_numpy()]
        return columns
