"""Whole lists of run files that are too many to be held: stored on disk, and read by topic."""

from __future__ import annotations

import io
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any, NamedTuple, cast

import numpy as np

from confir.arrays import Bytes, Floats, Integers
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions, warn_of_identical
from confir.data.formats.format import NameBy, RunSource
from confir.data.ids import Docids
from confir.data.long_tables.spill_folder import DistinctKeys, close_unneeded
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.rankings import Rankings
from confir.data.run import TiePrecision
from confir.data.scanning.block_scanner import Column
from confir.data.scanning.file_scans import scan_files
from confir.data.scanning.id_numbers import IdNumbers
from confir.data.scanning.run_scanners import JudgedScanner, ScanRules
from confir.data.scanning.scan_kernels import (
    NEWLINE,
    SHORTEST_LINE,
    WORD,
    Lines,
    ScanKernels,
    load_kernels,
)
from confir.errors import UnreadableError


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
    _docids: Docids  # of the qrels
    _files: _ListFiles
    _places: _Places
    _kernels: ScanKernels

    def rankings(self) -> list[Rankings]:
        """Return where the judged documents stand in the lists of each run."""
        return list(self._ranked)

    def scores_of_topics(self, start: int, stop: int) -> Floats:
        """Return the retrieval scores in the lists of some consecutive topics."""
        places = self._places.documents[:, start:stop]
        scores: Floats = self._files.scores.read(places, self.depth[:, start:stop])
        return scores

    def of_topics(self, start: int, stop: int, depth: Integers | None = None) -> HeldLists:
        """Return the lists of some consecutive topics, or the tops of these lists."""
        depth = self.depth[:, start:stop] if depth is None else depth
        first, last = self.qrels.offsets[[start, stop]].tolist()
        numbers = IdNumbers(self._kernels)
        judged = numbers.number(self._docids[first:last])
        documents = numbers.number_in(*self._read_docids(start, stop, depth)).astype(np.int32)
        lists = HeldLists(
            qrels=self.qrels.of_topics(start, stop),
            runs=self.runs,
            docids=numbers.docids(),
            judged=judged,
            offsets=np.concatenate(([0], np.cumsum(depth))),
            documents=documents,
            scores=self._files.scores.read(self._places.documents[:, start:stop], depth),
            judgements=np.full(len(documents), -1, np.int32),
            unknown=self.unknown,
            mentioned=self.mentioned,
        )
        for run, ranked in enumerate(self._ranked):
            offsets = ranked.offsets[start : stop + 1]
            found = slice(offsets[0], offsets[-1])
            topic = np.repeat(np.arange(stop - start), np.diff(offsets))
            before = ranked.before[found, 0]
            listed = before < depth[run, topic]
            places = lists.offsets[run * (stop - start) + topic] + before
            lists.judgements[places[listed]] = (ranked.documents[found] - first)[listed]
        return lists

    def _read_docids(self, start: int, stop: int, depth: Integers) -> tuple[Bytes, Integers]:
        """Return a block that holds the docids in these lists, and where each of them starts."""
        places = self._places
        sizes = self._files.sizes.read(places.documents[:, start:stop], depth)
        ends = np.concatenate(([0], np.cumsum(sizes + 1, dtype=np.int64)))
        in_list = np.diff(ends[np.concatenate(([0], np.cumsum(depth)))]).reshape(depth.shape)
        text = self._files.text.read(places.text[:, start:stop], in_list)
        return np.append(text, np.full(WORD, NEWLINE, np.uint8)), ends[:-1]


class _Places(NamedTuple):
    """Where each list is stored: runs × topics.

    Attributes
    ----------
    documents
        Number of documents before it.
    text
        Number of bytes before its docids.
    """

    documents: Integers
    text: Integers


class _StoredColumn:
    """Values in a file without a name, which goes away with this object."""

    def __init__(self, kind: type) -> None:
        self._kind = np.dtype(kind)
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="confir-")  # noqa: SIM115 - kept open
        self._size = 0
        self._using = threading.Lock()
        weakref.finalize(self, close_unneeded, self._file)

    def append(self, values: Column) -> int:
        """Store values; return how many stood there before."""
        with self._using:
            before = self._size
            self._file.write(values.data)
            self._size += len(values)
            return before

    def flush(self) -> None:
        """Write what is buffered, so that a full disk is noticed now."""
        self._file.flush()

    def read(self, starts: Integers, sizes: Integers) -> Any:
        """Return the values that are stored at some places, so many at each of them."""
        present = np.flatnonzero(sizes)
        first, size = starts.reshape(-1)[present], sizes.reshape(-1)[present]
        values = np.empty(int(size.sum()), self._kind)
        # Those that follow one another are read at once.
        follows = np.append(False, first[1:] == first[:-1] + size[:-1])[: len(first)]
        spans = np.flatnonzero(~follows)
        bounds = np.concatenate(([0], np.cumsum(size)))[[*spans, len(size)]].tolist()
        with self._using:
            for place, (start, stop) in zip(first[spans].tolist(), pairwise(bounds), strict=True):
                self._file.seek(place * self._kind.itemsize)
                target = values[start:stop]
                if cast("io.BufferedRandom", self._file).readinto(target.data) < target.nbytes:
                    raise UnreadableError(
                        f"{tempfile.gettempdir()}: lists stored there are damaged"
                    )
        return values


class _ListFiles:
    """The documents of all lists: retrieval scores, sizes of docids, and these one after the other."""

    def __init__(self) -> None:
        self.scores = _StoredColumn(np.float64)
        self.sizes = _StoredColumn(np.int32)
        self.text = _StoredColumn(np.uint8)
        self._adding = threading.Lock()

    def append(self, scores: Floats, sizes: Any, text: Bytes) -> tuple[int, int]:
        """Store documents; return how many stood there before, and bytes of their docids."""
        with self._adding:
            self.sizes.append(sizes)
            return self.scores.append(scores), self.text.append(text)

    def flush(self) -> None:
        """Raise where the disk has no room for the last documents."""
        for column in (self.scores, self.sizes, self.text):
            column.flush()


class _StoringScanner(JudgedScanner):
    """Records judged documents, and stores all of them."""

    def __init__(self, rules: ScanRules, kernels: ScanKernels, lines: int) -> None:
        super().__init__(rules, kernels)
        self.files = _ListFiles()
        self._distinct = DistinctKeys(lines)

    def record_lists(self, block: Bytes, lines: Lines) -> tuple[Integers, ...]:
        """Return where each list is stored."""
        ranked = self.kernels.rank_lines(block, self.compared(lines))
        text, sizes, keys = self.kernels.copy_ids(block, lines.document_starts[ranked])
        self._distinct.add(keys)
        documents, bytes_before = self.files.append(lines.scores[ranked], sizes, text)
        ends = np.concatenate(([0], np.cumsum(sizes + 1, dtype=np.int64)))[lines.group_lines]
        return documents + lines.group_lines[:-1], bytes_before + ends[:-1]

    @property
    def judged(self) -> Docids:
        """The docids of the qrels."""
        starts = self.documents.starts
        listed = Docids(self.documents.text, starts[:-1], (np.diff(starts) - 1).astype(np.int32))
        return listed[self.judged_rows]

    def count_mentioned(self) -> int:
        """Return the number of docids in lists and qrels."""
        judged = self.judged
        blank = judged.have_blanks()
        self._distinct.add(self.kernels.copy_ids(judged.content, judged.starts[~blank])[2])
        in_no_file = {judged[place] for place in np.flatnonzero(blank).tolist()}
        return self._distinct.count_distinct() + len(in_no_file)


def store_lists(
    qrels: Qrels,
    sources: Sequence[RunSource],
    name_by: NameBy = "file",
    tie_precision: TiePrecision = "double",
    progress: Callable[[int], None] | None = None,
    exclusions: Exclusions = NOTHING_EXCLUDED,
    **how: Any,
) -> StoredLists | None:
    """Return the lists of run files, or None where they have to be held.

    That is so where files are not in TREC format, or where there is no room for them on disk.

    Parameters
    ----------
    qrels, sources
        The judgements, and the files.
    name_by, tie_precision, progress, exclusions
        As in `read_lists`.
    **how
        Size of blocks and number of threads, as in `scan_files`.
    """
    kernels = load_kernels()
    if kernels is None:
        return None
    rules = ScanRules(qrels, tie_precision, None, name_by, exclusions)
    try:
        return _store(rules, sources, kernels, progress, **how)
    except (OSError, UnreadableError):
        return None


def _store(
    rules: ScanRules,
    sources: Sequence[RunSource],
    kernels: ScanKernels,
    progress: Callable[[int], None] | None,
    **how: Any,
) -> StoredLists | None:
    size = sum(source.content_size() for source in sources)
    lines = size // SHORTEST_LINE + len(rules.qrels.documents)
    scanner = _StoringScanner(rules, kernels, lines)
    ranked, places = [], []
    with closing(scan_files(scanner, sources, name_by=rules.name_by, **how)) as files:
        for scanned in files:
            if scanned is None:
                return None
            ranked.append(scanner.rankings(scanned))
            places.append(scanned.lists)
            if progress is not None:
                progress(1)
    scanner.files.flush()
    warn_of_identical(scanner.identical, len(rules.qrels.topics))
    return StoredLists(
        qrels=rules.qrels,
        runs=tuple(name for rankings, _ in ranked for name in rankings.runs),
        depth=np.concatenate([rankings.depth[:, :, 0] for rankings, _ in ranked]),
        unknown=tuple(unknown for _, unknown in ranked),
        mentioned=scanner.count_mentioned(),
        _ranked=tuple(rankings for rankings, _ in ranked),
        _docids=scanner.judged,
        _files=scanner.files,
        _places=_Places(*map(np.stack, zip(*places, strict=True))),
        _kernels=kernels,
    )
