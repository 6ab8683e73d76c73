"""Run files scanned by several threads, in blocks of whole topics."""

from __future__ import annotations

import io
import threading
from collections.abc import Generator, Sequence
from typing import IO, cast

import numpy as np

from confir.data.files import BYTE_ORDER_MARK, open_bytes
from confir.data.formats.format import NameBy, RunSource
from confir.data.formats.sources import recognise
from confir.data.scanning.block_scanner import Block, BlockScanner, Scanned, ScannedBlock
from confir.data.scanning.scan_kernels import NEWLINE, WORD, ScanKernels
from confir.parallel import usable_cores

# Large enough to make little of Python's work per block, small enough for the processor's cache.
BLOCK_SIZE = 1 << 21

# Enough of a file to tell its format.
_START = 256


def scan_files(
    scanner: BlockScanner,
    sources: Sequence[RunSource],
    *,
    name_by: NameBy = "file",
    block_size: int = BLOCK_SIZE,
    threads: int | None = None,
) -> Generator[Scanned | None]:
    """Yield what a scanner records of each file, or None where the reference reader is needed.

    Each file has a task; threads that find no file waiting help with the blocks of those that
    are not finished. Which documents a list holds depends neither on the threads nor on the blocks.
    """
    from concurrent.futures import ThreadPoolExecutor

    threads = threads or usable_cores()
    scans = [_FileScan(source.path, scanner, block_size) for source in sources]
    sizes = [source.content_size() for source in sources]
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
        self._parts: dict[int, ScannedBlock] = {}
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
            with self._reading:
                self._blocks.close()
            raise
        finally:
            with self._done:
                self._at_work -= 1
                self._done.notify_all()

    def give_up(self) -> None:
        """Stop reading: something in the file is for the reference reader."""
        self._given_up = True

    def take_parts(self) -> list[ScannedBlock] | None:
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
