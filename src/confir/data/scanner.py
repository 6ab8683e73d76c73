"""Where do the judged documents stand in large run files? From bytes to rankings, without text.

The judged docids are put into hash tables, and compiled kernels scan the bytes of the runs against
them, a block of whole topics at a time. Every rule of the reference reader is checked; at the first
thing that a kernel does not understand, the file is left to `read_run`, which knows every rule and
names the line of an error. Small input never comes here: loading the kernels would take longer.
"""

from __future__ import annotations

import io
import math
import os
import re
import stat
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from itertools import compress
from typing import IO, NamedTuple, cast

import numpy as np

from confir.arrays import Bytes, Integers
from confir.data.files import COMPRESSION_ENDINGS, open_bytes
from confir.data.qrels import Qrels
from confir.data.rankings import JudgedPositions, Rankings, TiePrecision, plain_rankings
from confir.data.scan_kernels import NEWLINE, WORD, Kernels, Lines, index_ids, load_kernels
from confir.data.trec_files import NameBy, RunSource, name_from_path, read_run
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

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FIELD = re.compile(rb"[^\x00- ]+")

Ranked = tuple[Rankings, tuple[str, ...]]


def read_rankings(
    qrels: Qrels,
    sources: Sequence[RunSource],
    *,
    tie_precision: TiePrecision = "double",
    lowest_gain: int | None = None,
    name_by: NameBy = "file",
    progress: Callable[[int], None] | None = None,
) -> list[Ranked]:
    """Return the rankings of each run file, and the topics of the run that the qrels lack.

    Parameters
    ----------
    qrels, sources
        The judgements, and the files, plain or compressed; "-" is standard input.
    tie_precision
        "single" compares scores after rounding them to single precision.
    lowest_gain
        Judged documents of lower gain are not recorded; None records all of them.
    name_by
        "tag" names a run without a name of its own by the tag of its first line.
    progress
        Called with 1 after each file.
    """
    wanted = Wanted(qrels, tie_precision, lowest_gain, name_by)
    reference = _ReferenceReader(wanted)
    kernels = load_kernels() if _scanning_pays(sources) else None
    scanned = scan_files(wanted, sources, kernels) if kernels else (None for _ in sources)
    results: list[Ranked] = []
    with closing(scanned):
        for source, ranked in zip(sources, scanned, strict=True):
            results.append(ranked or reference.read(source))
            if progress is not None:
                progress(1)
    return results


class Wanted(NamedTuple):
    """What to make of each run; the fields are the parameters of `read_rankings`."""

    qrels: Qrels
    tie_precision: TiePrecision = "double"
    lowest_gain: int | None = None
    name_by: NameBy = "file"


class _ReferenceReader:
    """Reads runs by `read_run`."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted

    @cached_property
    def _positions(self) -> JudgedPositions:
        return JudgedPositions(self._wanted.qrels)

    @cached_property
    def _topics(self) -> set[str]:
        return set(self._wanted.qrels.topics)

    def read(self, source: RunSource) -> Ranked:
        """Return the rankings of a run, and its topics that the qrels lack."""
        _, tie_precision, lowest_gain, name_by = self._wanted
        run = read_run(source.path, name=source.name, name_by=name_by)
        rankings = self._positions.rank(run, tie_precision)
        if lowest_gain is not None:
            rankings = rankings.at_least(lowest_gain)
        return rankings, tuple(topic for topic in run.topics if topic not in self._topics)


def _scanning_pays(sources: Iterable[RunSource]) -> bool:
    loaded = load_kernels.cache_info().currsize > 0
    return sum(map(_content_size, sources)) >= (WARM_BREAK_EVEN if loaded else COLD_BREAK_EVEN)


def _content_size(source: RunSource) -> int:
    """Return about how many bytes a file holds, decompressed; 0 where it can be read only once."""
    try:
        status = os.stat(source.path)
    except OSError:
        return 0
    ratio = COMPRESSION_RATIO if source.path.lower().endswith(COMPRESSION_ENDINGS) else 1
    return status.st_size * ratio if stat.S_ISREG(status.st_mode) else 0


# From files to blocks, and from what the kernels found in them to rankings


def scan_files(
    wanted: Wanted,
    sources: Sequence[RunSource],
    kernels: Kernels,
    *,
    block_size: int = BLOCK_SIZE,
    threads: int | None = None,
) -> Generator[Ranked | None]:
    """Yield what `read_rankings` returns for each file, or None where the scanner gives way.

    Each file has a task; threads that find no file waiting help with the blocks of those that
    are not finished. The results depend neither on the threads nor on the size of the blocks.
    """
    threads = threads or usable_cores()
    scanner = _BlockScanner(wanted, kernels)
    scans = [_FileScan(source.path, scanner, block_size) for source in sources]
    sizes = [_content_size(source) for source in sources]
    with ThreadPoolExecutor(threads) as pool:
        tasks = [
            [pool.submit(scan.drain)] if size else []
            for scan, size in zip(scans, sizes, strict=True)
        ]
        for scan, size, own in zip(scans, sizes, tasks, strict=True):
            own.extend(pool.submit(scan.drain) for _ in range(min(threads - 1, size // block_size)))
        try:
            for source, scan, own in zip(sources, scans, tasks, strict=True):
                for task in own:
                    task.result()
                yield scanner.rankings(source, scan.take_parts()) if own else None
        finally:
            for scan in scans:
                scan.give_up()


class _Part(NamedTuple):
    """What one block says.

    Attributes
    ----------
    topics, depth
        The block's topics that the qrels know, and the length of their lists.
    lists, rows, before
        For each recorded document, in rank order within a list: its topic, its row among the
        documents of the index, and how many documents stand above.
    unknown
        The block's topics that the qrels lack.
    tag
        The tag of the first line.
    """

    topics: Integers
    depth: Integers
    lists: Integers
    rows: Integers
    before: Integers
    unknown: list[str]
    tag: str


class Block(NamedTuple):
    """Whole lines of whole topics: the bytes before ``stop``, with a word to spare after it."""

    content: Bytes
    stop: int


class _FileScan:
    """The scan of one file, by one thread or several."""

    def __init__(self, path: str, scanner: _BlockScanner, block_size: int) -> None:
        self._scanner = scanner
        self._blocks = read_blocks(path, scanner.kernels, block_size)
        self._count = 0
        self._reading = threading.Lock()
        self._parts: dict[int, _Part] = {}
        self._given_up = False

    def drain(self) -> None:
        """Scan blocks of the file as long as there are any."""
        while (numbered := self._next_block()) is not None:
            number, block = numbered
            part = self._scanner.scan(block)
            if part is None:
                self.give_up()
            else:
                self._parts[number] = part

    def give_up(self) -> None:
        """Stop reading: something in the file is for the reference reader."""
        self._given_up = True

    def take_parts(self) -> list[_Part] | None:
        """Return what the blocks say, in the order of the file, or None after giving up."""
        parts, self._parts = self._parts, {}
        return None if self._given_up else [parts[number] for number in sorted(parts)]

    def _next_block(self) -> tuple[int, Block] | None:
        with self._reading:
            if self._given_up:
                self._blocks.close()
            block = next(self._blocks, None)
            self._count += 1
            return None if block is None else (self._count, block)


def read_blocks(path: str, kernels: Kernels, block_size: int) -> Generator[Block]:
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


class _BlockScanner:
    """Turns blocks into parts, and the parts of a file into rankings."""

    def __init__(self, wanted: Wanted, kernels: Kernels) -> None:
        qrels, lowest_gain = wanted.qrels, wanted.lowest_gain
        self.kernels = kernels
        self._wanted = wanted
        kept = np.ones(len(qrels.documents), bool)
        if lowest_gain is not None:
            kept = qrels.gains >= lowest_gain
        self._rows = np.flatnonzero(kept)
        offsets = np.searchsorted(self._rows, qrels.offsets)
        documents = list(compress(qrels.documents, kept.tolist()))
        self._documents = index_ids(documents, offsets, kernels)
        self._topics = index_ids(qrels.topics, np.array([0, len(qrels.topics)]), kernels)
        none = np.zeros(0, np.int64)
        self._empty = plain_rankings(qrels, "", np.zeros(len(qrels), np.int64), none, none, none)

    def scan(self, whole: Block) -> _Part | None:
        """Return what a block says, or None where it needs the reference reader."""
        block, stop = whole
        if block[:stop].max() > 127 and not _is_utf8(block[:stop]):
            return None
        lines = self.kernels.scan_lines(block, stop, self._topics, self._documents)
        if not lines.understood or not _complete_scores(block, lines):
            return None
        scores = lines.scores
        if self._wanted.tie_precision == "single":
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
        known = lines.group_topics >= 0
        return _Part(
            lines.group_topics[known],
            np.diff(lines.group_lines)[known],
            *self.kernels.rank_judged(block, lines._replace(scores=scores)),
            [_field(block, start).decode() for start in lines.group_starts[~known].tolist()],
            _field(block, lines.tag_start).decode(),
        )

    def rankings(self, source: RunSource, parts: list[_Part] | None) -> Ranked | None:
        """Return the rankings of a run; None where the reference reader is needed."""
        if not parts:
            return None
        topics, depths, lists, rows, before = (
            np.concatenate(columns) for columns in list(zip(*parts, strict=True))[:5]
        )
        unknown = [topic for part in parts for topic in part.unknown]
        if not len(topics) and not unknown:
            return None
        depth = np.zeros(len(self._wanted.qrels), np.int64)
        depth[topics] = depths
        if np.count_nonzero(depth) < len(topics) or len(set(unknown)) < len(unknown):
            return None
        if (lists[1:] < lists[:-1]).any():
            order = np.argsort(lists, kind="stable")
            lists, rows, before = lists[order], rows[order], before[order]
        name = source.name or (parts[0].tag if self._wanted.name_by == "tag" else "")
        documents = self._rows[rows]
        rankings = replace(
            self._empty,
            runs=(name or name_from_path(source.path),),
            present=(depth > 0)[None],
            depth=depth[None, :, None],
            offsets=np.searchsorted(lists, np.arange(len(depth) + 1)),
            documents=documents,
            gain=self._wanted.qrels.gains[documents],
            before=before[:, None],
            copies=np.ones((len(before), 1), np.int64),
        )
        return rankings, tuple(sorted(unknown))


def _is_utf8(block: Bytes) -> bool:
    try:
        block.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _field(block: Bytes, start: int) -> bytes:
    """Return the field that starts at a position of the block."""
    match = FIELD.match(block.data, start)
    return b"" if match is None else match.group()


def _complete_scores(block: Bytes, lines: Lines) -> bool:
    """Fill in the scores that the kernel left to Python; tell whether all are finite numbers."""
    for line, start in zip(lines.odd_lines.tolist(), lines.odd_starts.tolist(), strict=True):
        field = _field(block, start)
        try:
            score = math.nan if b"_" in field else float(field)
        except ValueError:
            return False
        if not math.isfinite(score):
            return False
        lines.scores[line] = score
    return True
