"""Whole lists of run files that are too many to be held: stored on disk, and read by topic."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions, warn_of_identical
from confir.data.formats.format import NameBy, RunSource
from confir.data.ids import WORD, Docids, DocumentNumbers
from confir.data.long_tables.spill_folder import DistinctKeys, close_unneeded
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists, place_judgements
from confir.data.ranked_lists.list_reader import ListRules, RunReader, count_identical
from confir.data.ranked_lists.rankings import Rankings
from confir.data.run import TiePrecision
from confir.data.trec import Lines
from confir.errors import UnreadableError

SHORTEST_LINE = len("1 0 d 1 1 t\n")


@dataclass(frozen=True, slots=True, eq=False)
class StoredLists:
    """Whole lists on disk, of which those of some topics are read at a time.

    Attributes
    ----------
    qrels, runs, depth, unknown, mentioned
        As in `HeldLists`.
    """

    qrels: Qrels
    runs: tuple[str, ...]
    depth: Integers
    unknown: tuple[tuple[str, ...], ...]
    mentioned: int
    _ranked: tuple[Rankings, ...]
    _files: _ListFiles
    _places: Integers  # runs × topics: documents before each list, and bytes of their docids

    def rankings(self) -> list[Rankings]:
        """Return where the judged documents stand in the lists of each run."""
        return list(self._ranked)

    def scores_of_topics(self, start: int, stop: int) -> Floats:
        """Return the retrieval scores in the lists of some consecutive topics."""
        places, depth = self._places[:, start:stop, 0], self.depth[:, start:stop]
        scores: Floats = self._files.scores.read(places, depth)
        return scores

    def of_topics(self, start: int, stop: int, depth: Integers | None = None) -> HeldLists:
        """Return the lists of some consecutive topics, or the tops of these lists."""
        depth = self.depth[:, start:stop] if depth is None else depth
        places = self._places[:, start:stop]
        sizes = self._files.sizes.read(places[:, :, 0], depth)
        ends = np.concatenate(([0], np.cumsum(sizes + 1, dtype=np.int64)))
        offsets = np.concatenate(([0], np.cumsum(depth)))
        in_lists = np.diff(ends[offsets]).reshape(depth.shape)
        text = self._files.text.read(places[:, :, 1], in_lists)
        docids = Docids(np.append(text, np.zeros(WORD, np.uint8)), ends[:-1], sizes)
        qrels, numbers = self.qrels.of_topics(start, stop), DocumentNumbers()
        judged = numbers.number(qrels.documents)
        documents = numbers.number(docids).astype(np.int32)
        return HeldLists(
            qrels=qrels,
            runs=self.runs,
            docids=numbers.docids(),
            judged=judged,
            offsets=offsets,
            documents=documents,
            scores=self._files.scores.read(places[:, :, 0], depth),
            judgements=place_judgements(self._ranked, depth, start),
            unknown=self.unknown,
            mentioned=self.mentioned,
        )


class _StoredColumn:
    """Values in a file without a name, which goes away with this object."""

    def __init__(self, kind: type) -> None:
        self._kind = np.dtype(kind)
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="confir-")  # noqa: SIM115 - kept open
        self._size = 0
        weakref.finalize(self, close_unneeded, self._file)

    def append(self, values: Any) -> int:
        """Store values; return how many stood there before."""
        before = self._size
        self._file.write(values.data)
        self._size += len(values)
        return before

    def flush(self) -> None:
        """Write what is buffered, so that a full disk is noticed now."""
        self._file.flush()

    def read(self, starts: Integers, sizes: Integers) -> Any:
        """Return the values that are stored at some places, so many at each of them."""
        if not sizes.any():
            return np.zeros(0, self._kind)
        stored = np.asarray(np.memmap(self._file, self._kind, "r", shape=(self._size,)))
        spans = zip(starts.ravel().tolist(), (starts + sizes).ravel().tolist(), strict=True)
        return np.concatenate([stored[start:stop] for start, stop in spans])


class _ListFiles(NamedTuple):
    """The documents of all lists: retrieval scores, sizes of docids, and these one after the other."""

    scores: _StoredColumn
    sizes: _StoredColumn
    text: _StoredColumn


def store_lists(
    qrels: Qrels,
    sources: Sequence[RunSource],
    name_by: NameBy = "file",
    tie_precision: TiePrecision = "double",
    progress: Callable[[int], None] | None = None,
    exclusions: Exclusions = NOTHING_EXCLUDED,
) -> StoredLists | None:
    """Return the lists of run files, or None where there is no room for them on disk.

    Parameters
    ----------
    qrels, sources
        The judgements, and the files.
    name_by, tie_precision, progress, exclusions
        As in `read_lists`.
    """
    size = sum(source.content_size() for source in sources)
    mentioned = DistinctKeys(size // SHORTEST_LINE + len(qrels.documents))

    def take(lines: Lines, numbers: Integers) -> Integers:
        mentioned.add(lines.keys)
        lines = lines.only((numbers >= 0)[lines.lists])
        text, ends = lines.docids.joined(), np.cumsum(lines.docids.sizes + 1, dtype=np.int64)
        columns.sizes.append(lines.docids.sizes)
        before = columns.scores.append(lines.scores), columns.text.append(text)
        first = lines.bounds[:-1]
        places: Integers = np.stack([first, np.append(0, ends)[first]], axis=1) + np.array(before)
        return places

    try:
        columns = _ListFiles(*map(_StoredColumn, (np.float64, np.int32, np.uint8)))
        rules = ListRules(qrels, tie_precision, None, name_by, exclusions)
        found = list(RunReader(rules, take).read(sources, progress))
        for column in columns:
            column.flush()
        mentioned.add(Docids.of(qrels.documents).keys())
        distinct = mentioned.count_distinct()
    except (OSError, UnreadableError):
        return None
    places = np.zeros((len(found), len(qrels.topics), 2), np.int64)
    for number, run in enumerate(found):
        places[number, run.topics] = np.concatenate(run.taken)
    ranked = tuple(run.rankings for run in found)
    warn_of_identical(count_identical(found), len(qrels.topics))
    return StoredLists(
        qrels=qrels,
        runs=tuple(name for one in ranked for name in one.runs),
        depth=np.concatenate([one.depth[:, :, 0] for one in ranked]),
        unknown=tuple(run.unknown for run in found),
        mentioned=distinct,
        _ranked=ranked,
        _files=columns,
        _places=places,
    )
