"""Score tables in Parquet, read block by block: one file, several, or a partitioned folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.formats.run_sources import name_from_path
from confir.data.streams.arrow_columns import id_column, number_column
from confir.data.streams.blocks import TOPICS_AT_ONCE, Known, ScoreBlocks, TopicBlock
from confir.data.streams.distinct_keys import DistinctKeys
from confir.data.streams.hashed_ids import Words, hash_column, hash_names
from confir.data.streams.named_topics import NamedTopics
from confir.data.streams.spilled_rows import RepeatedScoreError, Rows, SpilledRows, group_rows
from confir.data.tables.columns import InputTable, is_summary
from confir.data.tables.parquet_files import (
    import_pyarrow,
    is_parquet,
    open_parquet,
    scan_batches,
    unreadable_parquet,
)
from confir.data.tables.score_columns import (
    COLUMN_NAMES,
    EXPECTED,
    find_columns,
    measure_from_path,
    score_places,
    topic_place,
)
from confir.data.tables.table_files import check_header
from confir.errors import FormatError, warn_caller

_SUMMARY_NAMES = [
    spelt
    for name in ("all", "mean", "average", "amean", "total")
    for spelt in (name, name.title(), name.upper())
    if is_summary(spelt)
]


_REPEATED = {*COLUMN_NAMES["run"], *COLUMN_NAMES["measure"]}


class _Layout(NamedTuple):
    """The columns of a table: of topics, of runs and measures if there are, and of scores."""

    topic: str
    run: str | None
    measure: str | None
    scores: tuple[str, ...]


class ParquetScores(ScoreBlocks):
    """The scores in Parquet as blocks; see `ScoreBlocks`.

    Rows of a long table stand together by topic, or are put into that order on disk first.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._arrow, _ = import_pyarrow("reading Parquet")
        self._paths = list(paths)
        self.source = self._paths[0]
        self._data = open_parquet(self._paths, _REPEATED)
        self._layout = self._find_layout()
        self._checked = False
        self._spilled: SpilledRows | None = None
        self._scattered = False
        self._named = NamedTopics()
        self._left_out: dict[str, None] = {}
        self.rows = self._count_rows()

    @property
    def scores(self) -> int:
        """Number of scores, missing ones included."""
        return self.rows * len(self._layout.scores)

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self._names[0]

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self._names[1]

    def blocks(self) -> Iterator[TopicBlock]:
        """Yield all topics; raise where a score is there twice or infinite."""
        if self._layout.run is None and self._layout.measure is None:
            yield from self._whole_topics()
            return
        if self._spilled is None and not self._scattered:
            grouped = DistinctKeys()
            yield from self._grouped_topics(grouped)
            if self._checked or grouped.find_repeated() is None:
                self._checked = True
                return
            self._scattered = True
            raise ScatteredTopicsError
        if self._spilled is None:
            self._spilled = SpilledRows(self._rows(), self.rows, self._columns)
        with self._naming_repeated():
            yield from self._spilled.blocks()

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return what is known of all blocks; once more where topics turn out to be scattered."""
        try:
            return super().gather(describe)
        except ScatteredTopicsError:
            return super().gather(describe)

    def name_topics(self, keys: Words) -> list[str]:
        """Return the ids of topics that are among those of the smallest keys, by their keys."""
        return self._named.find(keys)

    @property
    def _columns(self) -> int:
        return len(self.runs) * len(self.measures)

    def _count_rows(self) -> int:
        try:
            rows = int(self._data.count_rows())
        except (self._arrow.ArrowException, OSError) as error:
            raise unreadable_parquet(self.source, error) from None
        if rows == 0:
            raise FormatError(f"a table without rows; {EXPECTED}", path=self.source)
        return rows

    def _find_layout(self) -> _Layout:
        header = InputTable(self.source, self._data.schema.names, [], range(1, 2), "row")
        check_header(header)
        places = find_columns(header)
        topic = topic_place(header, places)
        scores = [place for place in score_places(header, places) if place != topic]
        if topic is None:
            raise header.header_error("no column of topics; expected one in a table of this length")
        names = header.header
        run, measure = (names[places[n]] if n in places else None for n in ("run", "measure"))
        return _Layout(names[topic], run, measure, tuple(names[place] for place in scores))

    @cached_property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The runs and measures, in the order of their first rows or columns."""
        layout = self._layout
        headed = "measure" if layout.run is not None else "run"
        long = len(layout.scores) == 1 and layout.scores[0].strip().casefold() in ("score", "value")
        defaults = {
            "run": name_from_path(self.source.rstrip("/")),
            "measure": measure_from_path(self.source.rstrip("/")),
        }
        listed = [name for name in (layout.run, layout.measure) if name is not None]
        found: dict[str, dict[str, None]] = {name: {} for name in listed}
        changes = 0
        for batch in self._batches(listed) if listed else ():
            changes += self._count_changes(batch, listed)
            for name in listed:
                found[name] |= dict.fromkeys(self._encoded(batch, name).dictionary.to_pylist())
        self._scattered = 0 < changes + 1 < self.rows / 4
        names = []
        for kind, column in (("run", layout.run), ("measure", layout.measure)):
            if column is not None:
                names.append(tuple(found[column]))
            elif kind == headed and not long:
                names.append(layout.scores)
            else:
                names.append((defaults[kind],))
        several = len(names[0]) * len(names[1]) > len(layout.scores)
        self._scattered = self._scattered and several
        return names[0], names[1]

    def _count_changes(self, batch: Any, listed: Sequence[str]) -> int:
        """Return how often run or measure change from one row to the next."""
        codes = np.stack([self._encoded(batch, name).indices.to_numpy() for name in listed])
        return int((codes[:, 1:] != codes[:, :-1]).any(axis=0).sum())

    @property
    def _rows_per_topic(self) -> int:
        return max(1, self._columns // len(self._layout.scores))

    @property
    def _offsets(self) -> Integers:
        """What each column of scores adds to the number of a score's column."""
        places = np.arange(len(self._layout.scores))
        return places if self._layout.run is not None else places * len(self.measures)

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of some columns; text that repeats comes by its distinct values."""
        return scan_batches(self._data, columns, TOPICS_AT_ONCE, self.source)

    def _encoded(self, batch: Any, name: str) -> Any:
        """Return a column of names by its distinct values."""
        column = id_column(batch.column(name), name, self.source)
        return column if hasattr(column, "dictionary") else column.dictionary_encode()

    def _topic_keys(self, batch: Any) -> tuple[Words, Any]:
        """Return the keys of a batch's topics, and their ids."""
        name = self._layout.topic
        ids = id_column(batch.column(name), name, self.source).cast(self._arrow.large_string())
        return hash_column(ids), ids

    def _without_summaries(self, keys: Words, ids: Any) -> slice | Integers:
        """Return the rows that are no summaries, whose names are told once."""
        summaries = np.isin(keys, _SUMMARY_KEYS)
        if not summaries.any():
            return slice(None)
        rows = np.flatnonzero(summaries)
        named = ids.take(self._arrow.array(rows)).to_pylist()
        new = {name: None for name in named if name not in self._left_out}
        self._left_out |= new
        if new:
            listed = ", ".join(map(repr, new))
            warn_caller(f"{self.source}: summaries are left out: {self._layout.topic} {listed}")
        return np.flatnonzero(~summaries)

    def _numbers(self, batch: Any) -> Floats:
        """Return the scores of a batch: columns of scores × rows."""
        numbers = np.empty((len(self._layout.scores), batch.num_rows))
        for place, name in enumerate(self._layout.scores):
            numbers[place] = number_column(batch.column(name), name, self.source, EXPECTED)
        if np.isinf(numbers).any():
            raise FormatError("a score is infinite; expected finite numbers", path=self.source)
        return numbers

    def _whole_topics(self) -> Iterator[TopicBlock]:
        """Yield a table with one row per topic."""
        distinct = DistinctKeys()
        for batch in self._batches([self._layout.topic, *self._layout.scores]):
            keys, ids = self._topic_keys(batch)
            kept = self._without_summaries(keys, ids)
            if not isinstance(kept, slice):
                keys, ids = keys[kept], ids.take(self._arrow.array(kept))
            if not self._checked:
                self._named.add(keys, ids, 1)
                distinct.add(keys)
            if len(keys):
                yield TopicBlock(keys, self._numbers(batch)[:, kept])
        repeated = None if self._checked else distinct.find_repeated()
        if repeated is not None:
            self._refuse_repeated(repeated)
        self._checked = True

    def _refuse_repeated(self, key: int) -> None:
        """Raise for a topic with two rows; two topics may share a key, once in 10¹⁹ pairs."""
        named: list[str] = []
        for batch in self._batches([self._layout.topic]):
            keys, ids = self._topic_keys(batch)
            places = np.flatnonzero(keys == key)
            named += ids.take(self._arrow.array(places)).to_pylist()
        if len(set(named)) < len(named):
            raise FormatError(f"a second row of topic {named[0]!r}; expected one", path=self.source)

    def _rows(self) -> Iterator[Rows]:
        """Yield the scores one by one, in the order of the table."""
        layout = self._layout
        listed = [name for name in (layout.run, layout.measure) if name is not None]
        places = [
            {name: place for place, name in enumerate(names)}
            for names in (self.runs, self.measures)
        ]
        for batch in self._batches([layout.topic, *listed, *layout.scores]):
            columns = np.zeros(batch.num_rows, np.int64)
            for name, place, step in zip(
                (layout.run, layout.measure), places, (len(self.measures), 1), strict=True
            ):
                if name is not None:
                    encoded = self._encoded(batch, name)
                    known = [place[value] * step for value in encoded.dictionary.to_pylist()]
                    columns += np.array(known, np.int64)[encoded.indices.to_numpy()]
            keys, ids = self._topic_keys(batch)
            kept = self._without_summaries(keys, ids)
            if not isinstance(kept, slice):
                ids = ids.take(self._arrow.array(kept))
            if not self._checked:
                self._named.add(keys[kept], ids, self._rows_per_topic)
            yield self._flattened(keys[kept], columns[kept], self._numbers(batch)[:, kept])

    def _flattened(self, keys: Words, columns: Integers, values: Floats) -> Rows:
        """Return rows with one score each, those of a topic still together."""
        each = len(values)
        numbers = (columns[:, None] + self._offsets).reshape(-1)
        return Rows(np.repeat(keys, each), numbers, values.T.reshape(-1))

    def _grouped_topics(self, grouped: DistinctKeys) -> Iterator[TopicBlock]:
        """Yield topics whose rows stand together; a batch's last one may go on in the next."""
        left = Rows(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0))
        for rows in self._rows():
            if not len(rows.keys):
                continue
            joined = rows if not len(left.keys) else left.followed_by(rows)
            last = np.flatnonzero(joined.keys != joined.keys[-1])
            end = int(last[-1]) + 1 if len(last) else 0
            left = joined.select(slice(end, None))
            yield from self._one_block(joined.select(slice(end)), grouped)
        yield from self._one_block(left, grouped)

    def _one_block(self, rows: Rows, grouped: DistinctKeys) -> Iterator[TopicBlock]:
        if not len(rows.keys):
            return
        with self._naming_repeated():
            block = group_rows(rows, self._columns)
        if not self._checked:
            grouped.add(block.keys)
        yield block

    @contextmanager
    def _naming_repeated(self) -> Iterator[None]:
        """Name the score that is there twice."""
        try:
            yield
        except RepeatedScoreError as error:
            run, measure = divmod(error.column, len(self.measures))
            topic = self._find_id(error.key)
            raise FormatError(
                f"a second score of run {self.runs[run]!r}, measure {self.measures[measure]!r}, "
                f"topic {topic!r}; expected one",
                path=self.source,
            ) from None

    def _find_id(self, key: int) -> str:
        """Return the id of a topic by its key."""
        for batch in self._batches([self._layout.topic]):
            keys, ids = self._topic_keys(batch)
            places = np.flatnonzero(keys == key)
            if len(places):
                return str(ids[int(places[0])].as_py())
        raise AssertionError(key)


class ScatteredTopicsError(Exception):
    """A topic's rows do not stand together; the next pass puts them into order first."""


_SUMMARY_KEYS = np.sort(hash_names(_SUMMARY_NAMES))


def open_if_long(path: str, scores: int) -> ParquetScores | None:
    """Return the table in a Parquet file or folder of more than so many scores; else None."""
    if not is_parquet(path):
        return None
    table = ParquetScores([path])
    return table if table.scores > scores else None
