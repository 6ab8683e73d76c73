"""Where do the judged documents stand in run files? From bytes to rankings, without text.

The judged docids are put into hash tables, and the bytes of the runs are scanned against them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np

from confir.arrays import Bytes, Integers
from confir.data.formats.run_readers import read_source
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.lists.rankings import JudgedPositions, Rankings, TiePrecision, empty_rankings
from confir.data.qrels import Qrels
from confir.data.run import Run
from confir.data.scanning.blocks import (
    BLOCK_SIZE,
    BlockScanner,
    Scanned,
    choose_kernels,
    scan_files,
)
from confir.data.scanning.scan_kernels import Lines, ScanKernels, index_ids

Ranked = tuple[Rankings, tuple[str, ...]]


def read_rankings(
    qrels: Qrels,
    sources: Sequence[Run | RunSource],
    *,
    tie_precision: TiePrecision = "double",
    lowest_gain: int | None = None,
    name_by: NameBy = "file",
    progress: Callable[[int], None] | None = None,
) -> list[Ranked]:
    """Return the rankings of each run, and the topics of the run that the qrels lack.

    Parameters
    ----------
    qrels, sources
        The judgements; runs, and files that hold runs, plain or compressed.
    tie_precision
        "single" compares scores after rounding them to single precision.
    lowest_gain
        Judged documents of lower gain are not recorded; None records all of them.
    name_by
        "tag" names an unnamed run by the tag of its first line.
    progress
        Called with 1 after each run.
    """
    wanted = Wanted(qrels, tie_precision, lowest_gain, name_by)
    reference = _ReferenceReader(wanted)
    files = [source for source in sources if isinstance(source, RunSource)]
    kernels = choose_kernels(files)
    scanned = scan_rankings(wanted, files, kernels) if kernels else (None for _ in files)
    results: list[Ranked] = []
    with closing(scanned):
        for source in sources:
            ranked = next(scanned) if isinstance(source, RunSource) else None
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
    """Ranks runs, and files after reading them by `read_source`."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted

    @cached_property
    def _positions(self) -> JudgedPositions:
        return JudgedPositions(self._wanted.qrels)

    @cached_property
    def _topics(self) -> set[str]:
        return set(self._wanted.qrels.topics)

    def read(self, source: Run | RunSource) -> Ranked:
        """Return the rankings of a run, and its topics that the qrels lack."""
        _, tie_precision, lowest_gain, name_by = self._wanted
        run = source if isinstance(source, Run) else read_source(source, name_by)
        rankings = self._positions.rank(run, tie_precision)
        if lowest_gain is not None:
            rankings = rankings.at_least(lowest_gain)
        return rankings, tuple(topic for topic in run.topics if topic not in self._topics)


def scan_rankings(
    wanted: Wanted,
    sources: Sequence[RunSource],
    kernels: ScanKernels,
    *,
    block_size: int = BLOCK_SIZE,
    threads: int | None = None,
) -> Generator[Ranked | None]:
    """Yield what `read_rankings` returns for each file, or None where the scanner gives way."""
    scanner = JudgedScanner(wanted, kernels)
    files = scan_files(
        scanner, sources, name_by=wanted.name_by, block_size=block_size, threads=threads
    )
    with closing(files):
        for scanned in files:
            yield None if scanned is None else scanner.rankings(scanned)


class JudgedScanner(BlockScanner):
    """Records judged documents: their rows in the index, and the documents above."""

    def __init__(self, wanted: Wanted, kernels: ScanKernels) -> None:
        qrels, lowest_gain = wanted.qrels, wanted.lowest_gain
        self._wanted = wanted
        kept = np.ones(len(qrels.documents), bool)
        if lowest_gain is not None:
            kept = qrels.gains >= lowest_gain
        self._rows = np.flatnonzero(kept)
        offsets = np.searchsorted(self._rows, qrels.offsets)
        documents = list(compress(qrels.documents, kept.tolist()))
        super().__init__(qrels.topics, index_ids(documents, offsets, kernels), kernels)
        self._empty = empty_rankings(qrels)

    def record(self, block: Bytes, lines: Lines) -> tuple[Integers, Integers, Integers]:
        """Return topic, row and documents above of each judged document."""
        return self.kernels.rank_judged(block, self.compared(lines))

    def compared(self, lines: Lines) -> Lines:
        """Return lines with scores in the precision in which they are compared."""
        if self._wanted.tie_precision == "double":
            return lines
        with np.errstate(over="ignore"):
            return lines._replace(scores=lines.scores.astype(np.float32).astype(np.float64))

    def rankings(self, scanned: Scanned) -> Ranked:
        """Return the rankings of a run, and its topics that the qrels lack."""
        rows, before = scanned.columns
        rankings = self._empty.filled(
            (scanned.name,), scanned.depth[None], scanned.topics, self._rows[rows], before
        )
        return rankings, scanned.unknown
