"""Score tables in Parquet, read block by block: one file, several, or a partitioned folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np

from confir.cores import single_products
from confir.data.files import name_from_path
from confir.data.ids import Words
from confir.data.long_tables.score_blocks import (
    TOPICS_AT_ONCE,
    Known,
    ScoreBlocks,
    TopicBlock,
    describe_blocks,
    merge_all,
)
from confir.data.long_tables.scores_by_topic import (
    RepeatedScoreError,
    Rows,
    SpilledRows,
    group_part,
)
from confir.data.long_tables.spill_folder import DistinctKeys
from confir.data.long_tables.table_pieces import (
    Piece,
    PieceNotes,
    PieceReader,
    ScoreLayout,
    check_files,
    split_table,
)
from confir.data.tables.arrow_columns import id_column
from confir.data.tables.column_names import CORE_NAMES, TOPIC_NAMES
from confir.data.tables.column_roles import EXPECTED, find_roles
from confir.data.tables.input_table import InputTable
from confir.data.tables.parquet_files import (
    RowFilter,
    count_rows,
    is_parquet,
    open_parquet,
    scan_batches,
)
from confir.data.tables.score_columns import measure_from_path
from confir.data.tables.table_kind import fold
from confir.errors import FormatError, warn_caller
from confir.parallel import return_memory, run_blocks

_REPEATED = {*CORE_NAMES["run"], *CORE_NAMES["measure"]}
# So many rows show what the columns hold.
_SAMPLE = 1 << 12


class ParquetScores(ScoreBlocks):
    """The scores in Parquet as blocks; see `ScoreBlocks`.

    Pieces of the table are read in threads, or on the workers of the scheduler in use. Rows of a
    long table stand together by topic, or are partitioned by topic on disk first: always here.

    Parameters
    ----------
    paths
        The files, or one folder, or addresses of fsspec.
    where
        The rows to read, by a column that is no other part of the table; None for all.
    """

    def __init__(self, paths: Sequence[str], where: RowFilter | None = None) -> None:
        self._paths = list(paths)
        self.source = self._paths[0]
        self._data = open_parquet(self._paths, _REPEATED)
        self._where = where
        self._checked = False
        self._spilled: SpilledRows | None = None
        self._scattered = False
        self._left_out: dict[str, None] = {}
        self.rows = count_rows(self._data, self.source, where)
        if not self.rows:
            raise FormatError(f"a table without rows; {EXPECTED}", path=self.source)

    @cached_property
    def _layout(self) -> ScoreLayout:
        return self._find_layout()

    @property
    def most_scores(self) -> int:
        """How many scores there are at most, by the columns alone."""
        return self.rows * len(self._data.schema.names)

    @property
    def scores(self) -> int:
        """Number of scores, missing ones included."""
        return self.rows * len(self._layout.scores)

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self._reader.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self._reader.measures

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return the summary of all blocks; read again where topics turn out to be scattered."""
        try:
            return self._gather(describe)
        except ScatteredTopicsError:
            return self._gather(describe)

    def name_topics(self, keys: Words) -> list[str]:
        """Return the ids of topics by their keys."""
        names = dict(self._find_ids(keys))
        return [names[key] for key in keys.tolist()]

    def _gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        with self._naming_repeated(), single_products():
            found = self._describe_parts if self._needs_order else self._describe_pieces
            return merge_all(found(describe))

    def _describe_parts(self, describe: Callable[[TopicBlock], Known]) -> Iterator[Known]:
        """Yield the summary of each part of a table that is sorted on disk."""
        if self._spilled is None:
            notes, read = PieceNotes(), self._reader.rows
            batches = (batch for piece in self._pieces for batch in self._reader.batches(piece))
            self._spilled = SpilledRows(batches, lambda batch: read(batch, notes), self.rows)
            self._note(notes, _Checks(self.rows))
        task = partial(_describe_part, self._reader.columns, describe)
        return describe_blocks(self._spilled.parts(), task)

    def _describe_pieces(self, describe: Callable[[TopicBlock], Known]) -> Iterator[Known]:
        """Yield the summary of each piece, in their order, and of the topics between them."""
        checks = _Checks(self.rows)
        task = partial(_describe_piece, self._reader, describe, not self._checked)
        for known, notes in describe_blocks(self._pieces, task):
            self._note(notes, checks)
            return_memory()
            if known is not None:
                yield known
        for block in self._reader.join_edges(checks.edges):
            if not self._checked:
                checks.distinct.add(block.keys)
            yield describe(block)
        self._check(checks)

    def _find_layout(self) -> ScoreLayout:
        used = [n for n in self._data.schema.names if not self._where or n != self._where.column]
        batches = scan_batches(self._data, used, _SAMPLE, self.source, where=self._where)
        first = next(batch for batch in batches if batch.num_rows)
        columns = [first.column(name) for name in used]
        table = InputTable(self.source, used, columns, range(1, first.num_rows + 1), "row")
        table.check_header()
        roles = find_roles(table)
        if roles.topic is None or roles.repeat is not None:
            raise table.header_error("no column of topics; expected one in a table of this length")
        return ScoreLayout(roles.topic, roles.run, roles.measure, roles.values, roles.are_runs)

    @cached_property
    def _pieces(self) -> list[Piece]:
        return split_table(self._data, self.source, self._where)

    @property
    def _reader(self) -> PieceReader:
        return self._named_reader[0]

    @property
    def _needs_order(self) -> bool:
        """Whether rows of a topic are known to be scattered."""
        return self._scattered or self._named_reader[1]

    @cached_property
    def _named_reader(self) -> tuple[PieceReader, bool]:
        """What reads the pieces, by the order of names; whether it shows a table run by run."""
        layout = self._layout
        reader = PieceReader(self.source, layout, self._data.schema, where=self._where)
        parts = run_blocks(reader.find_names, self._pieces) if layout.listed else []
        found: dict[str, dict[str, None]] = {name: {} for name in layout.listed}
        for part in parts:
            for name, values in zip(layout.listed, part.values, strict=True):
                found[name] |= values
        headed = "run" if layout.are_runs else "measure"
        long = not layout.are_runs and fold(layout.scores[0]) in CORE_NAMES["score"]
        defaults = {
            "run": name_from_path(self.source.rstrip("/")),
            "measure": measure_from_path(self.source.rstrip("/")),
        }
        names: list[tuple[str, ...]] = []
        for kind, column in (("run", layout.run), ("measure", layout.measure)):
            if column is not None:
                names.append(tuple(found[column]))
            elif kind == headed and not long:
                names.append(layout.scores)
            else:
                names.append((defaults[kind],))
        several = len(names[0]) * len(names[1]) > len(layout.scores)
        changes = sum(part.changes for part in parts)
        scattered = several and 0 < changes + 1 < self.rows / 4
        return replace(reader, runs=names[0], measures=names[1]), scattered

    def _note(self, notes: PieceNotes, checks: _Checks) -> None:
        """Keep what reading a piece noted; warn of summaries once."""
        new = [name for name in sorted(notes.summaries) if name not in self._left_out]
        self._left_out |= notes.summaries
        if new:
            listed = ", ".join(map(repr, new))
            warn_caller(f"{self.source}: summaries are left out: {self._layout.topic} {listed}")
        checks.edges += notes.edges
        for keys in notes.keys:
            checks.distinct.add(keys)

    def _check(self, checks: _Checks) -> None:
        """Raise after the first pass where a topic was there twice."""
        if self._checked:
            return
        if not checks.distinct.count:
            raise FormatError(f"summaries, and no topics; {EXPECTED}", path=self.source)
        repeated = checks.distinct.find_repeated()
        if repeated is not None and self._layout.listed:
            self._scattered = True
            raise ScatteredTopicsError
        if repeated is not None:
            named = self._find_ids(np.array([repeated], np.uint64))
            if len(set(named)) < len(named):  # two topics may share a key, once in 10¹⁹ pairs
                problem = f"a second row of topic {named[0][1]!r}; expected one"
                raise FormatError(problem, path=self.source)
        self._checked = True

    def _find_ids(self, keys: Words) -> list[tuple[int, str]]:
        """Return key and id of the rows whose topics have certain keys."""
        found = run_blocks(partial(self._reader.find_ids, keys), self._pieces)
        return list(chain.from_iterable(found))

    @contextmanager
    def _naming_repeated(self) -> Iterator[None]:
        """Name the score that is there twice."""
        try:
            yield
        except RepeatedScoreError as error:
            run, measure = divmod(error.column, len(self.measures))
            topic = self._find_ids(np.array([error.key], np.uint64))[0][1]
            raise FormatError(
                f"a second score of run {self.runs[run]!r}, measure {self.measures[measure]!r}, "
                f"topic {topic!r}; expected one",
                path=self.source,
            ) from None


class _Checks:
    """What a pass over all pieces collects: keys of topics, and rows at the edges of pieces."""

    def __init__(self, rows: int) -> None:
        self.distinct = DistinctKeys(rows)
        self.edges: list[Rows] = []


def _describe_part(columns: int, describe: Callable[[TopicBlock], Known], rows: Any) -> Known:
    """Return, in a thread or on a worker, the summary of the topics of rows."""
    return describe(group_part(rows, columns))


def _describe_piece(
    reader: PieceReader, describe: Callable[[TopicBlock], Known], first: bool, piece: Piece
) -> tuple[Known | None, PieceNotes]:
    """Return, in a thread or on a worker, the summary of a piece, and what reading it noted."""
    check_files(piece)
    notes = PieceNotes()
    described = map(describe, reader.blocks(piece, notes, first=first))
    for known in described:
        return merge_all(chain([known], described)), notes
    return None, notes


class ScatteredTopicsError(Exception):
    """A topic's rows do not stand together; the next pass puts them into order first."""


def open_if_long(path: str, scores: int) -> ParquetScores | None:
    """Return the table in a Parquet file or folder of more than so many scores; else None."""
    if not is_parquet(path):
        return None
    table = ParquetScores([path])
    return table if table.most_scores > scores and table.scores > scores else None


def open_groups_if_long(path: str, column: str, scores: int) -> dict[str, ParquetScores] | None:
    """Return the tables that a column splits a Parquet file or folder into, if that is long.

    Parameters
    ----------
    path
        The file or folder.
    column
        Name of the column, in any case; each of its values names a table of the other columns.
    scores
        A table without topics, without the column, or of at most so many scores gives None.
    """
    if not is_parquet(path):
        return None
    data = open_parquet([path], {fold(column)})
    named = [name for name in data.schema.names if fold(name) == fold(column)]
    if not named or not any(fold(name) in TOPIC_NAMES for name in data.schema.names):
        return None
    values: dict[str, Any] = {}
    for batch in scan_batches(data, named[:1], TOPICS_AT_ONCE, path):
        found = batch.column(0).unique()
        values |= zip(id_column(found, column, path).to_pylist(), found.to_pylist(), strict=True)
    tables = {
        name: ParquetScores([path], RowFilter(named[0], value)) for name, value in values.items()
    }
    return tables if sum(table.scores for table in tables.values()) > scores else None
