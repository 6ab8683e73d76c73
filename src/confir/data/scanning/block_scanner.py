"""The scanner of large run files: in blocks of whole topics, by compiled kernels, in threads.

Every rule of the reference reader is checked; at the first thing that a kernel does not understand,
the file is left to `read_source`, which knows every rule and names the line of an error. Small input
never comes here: loading the kernels would take longer.
"""

from __future__ import annotations

import io
import math
import os
import re
import stat
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import IO, Any, NamedTuple, TypeVar, cast

import numpy as np

from confir.arrays import Booleans, Bytes, Integers
from confir.data.compression import COMPRESSION_ENDINGS
from confir.data.files import BYTE_ORDER_MARK, STDIN, open_bytes
from confir.data.formats.format_list import recognise
from confir.data.formats.run_sources import NameBy, RunSource, name_from_path
from confir.data.run import Run
from confir.data.scanning.scan_kernels import (
    NEWLINE,
    WORD,
    IdTable,
    Lines,
    ScanKernels,
    index_ids,
    load_kernels,
)
from confir.data.text_numbers import parse_number
from confir.parallel import usable_cores

# While numba is imported and the kernels are loaded from its cache, which takes 0.7 s, the
# reference reader reads about this many bytes.
COLD_BREAK_EVEN = 20 << 20
# With the kernels loaded only threads have to be started: a millisecond, in which the reference
# reader reads less than this.
WARM_BREAK_EVEN = 1 << 16
# Run files shrink about this much when compressed.
COMPRESSION_RATIO = 4
# Large enough to make little of Python's work per block, small enough for the processor's cache.
BLOCK_SIZE = 1 << 21

# Enough of a file to tell its format.
_START = 256

FIELD = re.compile(rb"[^\x00- ]+")

Column = np.ndarray[Any, Any]
Found = TypeVar("Found")
Read = TypeVar("Read")


class Scanned(NamedTuple):
    """What a scanner recorded of one run.

    Attributes
    ----------
    name
        The run's name.
    depth
        Length of the list of each topic of the qrels; 0 where the run lacks the topic.
    topics, columns
        For each recorded document, by topic and then by rank: its topic, and what else is
        recorded of it.
    lists
        What else is recorded of each topic's list.
    unknown
        The run's topics that the qrels lack, in order.
    """

    name: str
    depth: Integers
    topics: Integers
    columns: tuple[Column, ...]
    lists: tuple[Integers, ...]
    unknown: tuple[str, ...]


class Block(NamedTuple):
    """Whole lines of whole topics: the bytes before ``stop``, with a word to spare after it."""

    content: Bytes
    stop: int


class _ScannedBlock(NamedTuple):
    """What one block says.

    Attributes
    ----------
    topics, depth
        The block's topics that the qrels know, and the length of their lists.
    records
        Topic, and what else is recorded, of each recorded document; in rank order within a list.
    lists
        What is recorded of these topics' lists.
    unknown
        The block's topics that the qrels lack.
    tag
        The tag of the first line.
    """

    topics: Integers
    depth: Integers
    records: tuple[Column, ...]
    lists: tuple[Integers, ...]
    unknown: list[str]
    tag: str


class BlockScanner(ABC):
    """Turns blocks into records of documents.

    Parameters
    ----------
    topics
        The topics of the qrels.
    documents
        The docids to look up, a group for each topic; and whether all of them are found.
    kernels
        The compiled kernels.
    dropped
        Which of these docids do not count; None where all do.
    """

    def __init__(
        self,
        topics: Sequence[str],
        documents: tuple[IdTable, bool],
        kernels: ScanKernels,
        dropped: Booleans | None = None,
    ) -> None:
        self.kernels = kernels
        self._dropped = dropped
        self._size = len(topics)
        self._topics, finds_topics = index_ids(topics, np.array([0, len(topics)]), kernels)
        self.documents, finds_documents = documents
        self._finds_all = finds_topics and finds_documents

    @abstractmethod
    def record(self, block: Bytes, lines: Lines) -> tuple[Column, ...]:
        """Return topic, and what else is of use, of documents in rank order within each topic."""

    def record_lists(self, block: Bytes, lines: Lines) -> tuple[Integers, ...]:  # noqa: ARG002
        """Return what is of use of each list of the block, unknown topics included."""
        return ()

    def scan(self, whole: Block) -> _ScannedBlock | None:
        """Return what a block says, or None where it needs the reference reader."""
        block, stop = whole
        if block[:stop].max() > 127 and not _is_plain(block[:stop]):
            return None
        if not self._finds_all:
            return None
        lines = self.kernels.scan_lines(block, stop, self._topics, self.documents)
        if not lines.understood or not complete_scores(block, lines):
            return None
        if self._dropped is not None:
            lines = _without(lines, self._dropped)
        known = lines.group_topics >= 0
        return _ScannedBlock(
            lines.group_topics[known],
            np.diff(lines.group_lines)[known],
            self.record(block, lines),
            tuple(column[known] for column in self.record_lists(block, lines)),
            [_field(block, start).decode() for start in lines.group_starts[~known].tolist()],
            _field(block, lines.tag_start).decode(),
        )

    def join(
        self, source: RunSource, parts: list[_ScannedBlock] | None, name_by: NameBy
    ) -> Scanned | None:
        """Return what the blocks of a run say; None where the reference reader is needed."""
        if not parts:
            return None
        topics = np.concatenate([part.topics for part in parts])

        def by_topic(found: Iterable[Integers]) -> Integers:
            values = np.zeros(self._size, np.int64)
            values[topics] = np.concatenate(list(found))
            return values

        depth = by_topic(part.depth for part in parts)
        unknown = [topic for part in parts for topic in part.unknown]
        if not len(topics) and not unknown:
            return None
        if np.count_nonzero(depth) < len(topics) or len(set(unknown)) < len(unknown):
            return None
        lists, *columns = map(np.concatenate, zip(*(part.records for part in parts), strict=True))
        if (lists[1:] < lists[:-1]).any():
            order = np.argsort(lists, kind="stable")
            lists, columns = lists[order], [column[order] for column in columns]
        name = source.name or (parts[0].tag if name_by == "tag" else "")
        return Scanned(
            name or name_from_path(source.path),
            depth,
            lists,
            tuple(columns),
            tuple(map(by_topic, zip(*(part.lists for part in parts), strict=True))),
            tuple(sorted(unknown)),
        )


def choose_kernels(sources: Iterable[RunSource]) -> ScanKernels | None:
    """Return compiled kernels where files are so large that scanning them is worth it."""
    loaded = load_kernels.cache_info().currsize > 0
    size = sum(map(content_size, sources))
    return load_kernels() if size >= (WARM_BREAK_EVEN if loaded else COLD_BREAK_EVEN) else None


def content_size(source: RunSource) -> int:
    """Return about how many bytes a file holds, decompressed; 0 where it can be read only once."""
    if source.path == STDIN:
        return 0
    try:
        status = os.stat(source.path)
    except OSError:
        return 0
    ratio = COMPRESSION_RATIO if source.path.lower().endswith(COMPRESSION_ENDINGS) else 1
    return status.st_size * ratio if stat.S_ISREG(status.st_mode) else 0


def scan_or_read(
    sources: Sequence[Run | RunSource],
    scanned: Generator[Found | None],
    read: Callable[[Run | RunSource], Read],
    progress: Callable[[int], None] | None,
) -> list[Found | Read]:
    """Return what was scanned of each file; what is read of runs, and where the scanner gives way.

    ``progress`` is called with 1 after each run.
    """
    results: list[Found | Read] = []
    with closing(scanned):
        for source in sources:
            found = next(scanned) if isinstance(source, RunSource) else None
            results.append(found or read(source))
            if progress is not None:
                progress(1)
    return results


def scan_files(
    scanner: BlockScanner,
    sources: Sequence[RunSource],
    *,
    name_by: NameBy = "file",
    block_size: int = BLOCK_SIZE,
    threads: int | None = None,
) -> Generator[Scanned | None]:
    """Yield what a scanner makes of each file, or None where it gives way.

    Each file has a task; threads that find no file waiting help with the blocks of those that
    are not finished. Which documents a list holds depends neither on the threads nor on the blocks.
    """
    from concurrent.futures import ThreadPoolExecutor

    threads = threads or usable_cores()
    scans = [_FileScan(source.path, scanner, block_size) for source in sources]
    sizes = [content_size(source) for source in sources]
    with ThreadPoolExecutor(threads) as pool:
        tasks = [
            [pool.submit(scan.drain)] if size else []
            for scan, size in zip(scans, sizes, strict=True)
        ]
        for scan, size, own in zip(scans, sizes, tasks, strict=True):
            own.extend(pool.submit(scan.drain) for _ in range(min(threads - 1, size // block_size)))
        try:
            for source, scan, own in zip(sources, scans, tasks, strict=True):
                if own:
                    own[0].result()
                yield scanner.join(source, scan.take_parts(), name_by) if own else None
        finally:
            for scan in scans:
                scan.give_up()


class _FileScan:
    """The scan of one file, by one thread or several."""

    def __init__(self, path: str, scanner: BlockScanner, block_size: int) -> None:
        self._path = path
        self._scanner = scanner
        self._blocks = read_blocks(path, scanner.kernels, block_size)
        self._count = 0
        self._reading = threading.Lock()
        self._done = threading.Condition()
        self._at_work = 0
        self._error: BaseException | None = None
        self._parts: dict[int, _ScannedBlock] = {}
        self._given_up = False

    def drain(self) -> None:
        """Scan blocks of the file as long as there are any."""
        with self._done:
            self._at_work += 1
        try:
            while (numbered := self._next_block()) is not None:
                number, block = numbered
                part = self._scanner.scan(block) if number > 1 or self._is_trec(block) else None
                if part is None:
                    self.give_up()
                else:
                    self._parts[number] = part
        except BaseException as error:
            self._error = error
            raise
        finally:
            with self._done:
                self._at_work -= 1
                self._done.notify_all()

    def give_up(self) -> None:
        """Stop reading: something in the file is for the reference reader."""
        self._given_up = True

    def take_parts(self) -> list[_ScannedBlock] | None:
        """Return what the blocks say, in the order of the file, or None after giving up.

        For when one thread has found no more blocks: it waits for those that others still scan.
        """
        with self._done:
            self._done.wait_for(lambda: self._at_work == 0)
        if self._error is not None:
            raise self._error
        parts, self._parts = self._parts, {}
        return None if self._given_up else [parts[number] for number in sorted(parts)]

    def _is_trec(self, first: Block) -> bool:
        """Whether a file holds what can be scanned, by its first block."""
        return recognise(self._path, first.content[:_START].tobytes()).scanned

    def _next_block(self) -> tuple[int, Block] | None:
        with self._reading:
            if self._given_up:
                self._blocks.close()
            block = next(self._blocks, None)
            self._count += 1
            return None if block is None else (self._count, block)


def read_blocks(path: str, kernels: ScanKernels, block_size: int) -> Generator[Block]:
    """Yield the content of a file in blocks that hold whole topics and end with a newline.

    A topic larger than a block makes its block grow.
    """
    with open_bytes(path) as stream:
        carried = np.frombuffer(stream.read(3).removeprefix(BYTE_ORDER_MARK), np.uint8)
        ended = False
        while not ended:
            room = max(block_size, len(carried))
            buffer = np.empty(len(carried) + room + WORD, np.uint8)
            buffer[: len(carried)] = carried
            read = _fill(stream, buffer.data[len(carried) : -WORD])
            filled = len(carried) + read
            buffer[filled : filled + WORD] = NEWLINE
            ended = read < room
            stop = filled + 1 if ended else kernels.find_last_topic(buffer, filled)
            if stop:
                yield Block(buffer, stop)
            carried = buffer[stop:filled]


def _fill(stream: IO[bytes], view: memoryview) -> int:
    """Read until the view is full or the stream ends; return the number of bytes read."""
    source = cast("io.BufferedIOBase", stream)
    filled = 0
    while filled < len(view) and (read := source.readinto(view[filled:])):
        filled += read
    return filled


def _is_plain(block: Bytes) -> bool:
    """Whether a block is UTF-8 text; a byte order mark, which may begin a line, is not plain."""
    content = block.tobytes()
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return BYTE_ORDER_MARK not in content


def _without(lines: Lines, dropped: Booleans) -> Lines:
    """Return lines without those of documents that do not count, and without lists left empty."""
    kept = (lines.rows < 0) | ~dropped[lines.rows]
    if kept.all():
        return lines
    group_lines = np.concatenate(([0], np.cumsum(kept)))[lines.group_lines]
    held = np.diff(group_lines) > 0
    none = np.zeros(0, np.int64)
    return lines._replace(
        scores=lines.scores[kept],
        document_starts=lines.document_starts[kept],
        rows=lines.rows[kept],
        odd_lines=none,
        odd_starts=none,
        group_topics=lines.group_topics[held],
        group_starts=lines.group_starts[held],
        group_lines=np.append(group_lines[:-1][held], group_lines[-1]),
    )


def _field(block: Bytes, start: int) -> bytes:
    """Return the field that starts at a position of the block."""
    match = FIELD.match(block.data, start)
    return b"" if match is None else match.group()


def complete_scores(block: Bytes, lines: Lines) -> bool:
    """Fill in the scores that the kernel left to Python; return whether all are finite."""
    for line, start in zip(lines.odd_lines.tolist(), lines.odd_starts.tolist(), strict=True):
        score = parse_number(_field(block, start))
        if score is None or not math.isfinite(score):
            return False
        lines.scores[line] = score
    return True
