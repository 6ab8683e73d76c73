"""Ranks of the judged documents in run files: from bytes to rankings, without text.

The judged docids are put into hash tables, and the bytes of the runs are scanned against them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import cache
from typing import NamedTuple

import numpy as np

from confir.arrays import Bytes, Integers
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions, identical_places, warn_of_identical
from confir.data.formats.format import NameBy, RunSource
from confir.data.formats.sources import read_source
from confir.data.qrels import Qrels
from confir.data.ranked_lists.judged_positions import JudgedPositions, TiePrecision
from confir.data.ranked_lists.rankings import Rankings, empty_rankings
from confir.data.run import Run
from confir.data.scanning.block_scanner import BlockScanner, Scanned
from confir.data.scanning.file_scans import BLOCK_SIZE, choose_kernels, scan_files, scan_or_read
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
    exclusions: Exclusions = NOTHING_EXCLUDED,
    identical: dict[str, int] | None = None,
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
    exclusions
        Documents that do not count; qrels and runs that were read are already without them.
    identical
        Is given each run's number of lists with a document that has the topic's id, where there are
        some and they are watched for; without it, they are warned of here.
    """
    wanted = Wanted(qrels, tie_precision, lowest_gain, name_by, exclusions)
    found: dict[str, int] = {} if identical is None else identical
    positions = cache(lambda: JudgedPositions(qrels))  # not needed where files are scanned
    files = [source for source in sources if isinstance(source, RunSource)]
    kernels = choose_kernels(files)
    scanned = (
        scan_rankings(wanted, files, kernels, identical=found) if kernels else (None for _ in files)
    )
    results = scan_or_read(
        sources, scanned, lambda source: _rank(source, positions(), wanted, found), progress
    )
    if identical is None and found:
        warn_of_identical(found, len(qrels.topics))
    return results


class Wanted(NamedTuple):
    """What to make of each run; the fields are the parameters of `read_rankings`."""

    qrels: Qrels
    tie_precision: TiePrecision = "double"
    lowest_gain: int | None = None
    name_by: NameBy = "file"
    exclusions: Exclusions = NOTHING_EXCLUDED


def _rank(
    source: Run | RunSource, positions: JudgedPositions, wanted: Wanted, identical: dict[str, int]
) -> Ranked:
    """Return the rankings of a run, or of a file after reading it, and its topics that the qrels lack."""
    run = read_source(source, wanted.name_by)
    rankings, found = positions.rank_and_count(run, wanted.tie_precision)
    if found and wanted.exclusions.watches:
        identical[run.name] = found
    if wanted.lowest_gain is not None:
        rankings = rankings.at_least(wanted.lowest_gain)
    return rankings, tuple(topic for topic in run.topics if topic not in positions.topics)


def scan_rankings(
    wanted: Wanted,
    sources: Sequence[RunSource],
    kernels: ScanKernels,
    *,
    identical: dict[str, int] | None = None,
    block_size: int = BLOCK_SIZE,
    threads: int | None = None,
) -> Generator[Ranked | None]:
    """Yield what `read_rankings` returns for each file, or None where the scanner gives way.

    ``identical`` is as in `read_rankings`.
    """
    scanner = JudgedScanner(wanted, kernels, identical)
    files = scan_files(
        scanner, sources, name_by=wanted.name_by, block_size=block_size, threads=threads
    )
    with closing(files):
        for scanned in files:
            yield None if scanned is None else scanner.rankings(scanned)


class JudgedScanner(BlockScanner):
    """Records judged documents: their rows in the index, and the documents above.

    The index also has the documents that do not count, or those that are watched for: after the
    judged documents of each topic.
    """

    def __init__(
        self, wanted: Wanted, kernels: ScanKernels, identical: dict[str, int] | None = None
    ) -> None:
        qrels, lowest_gain, exclusions = wanted.qrels, wanted.lowest_gain, wanted.exclusions
        self._wanted = wanted
        self.identical = {} if identical is None else identical
        kept = np.ones(len(qrels.documents), bool)
        if lowest_gain is not None:
            kept = qrels.gains >= lowest_gain
        judged = np.flatnonzero(kept)
        beside, sizes = exclusions.by_topic(qrels.topics)
        ends = np.searchsorted(judged, qrels.offsets)
        places = np.repeat(ends[1:], sizes)
        documents = np.array(qrels.documents, object)[judged]
        self._rows = np.insert(judged, places, -1)
        self._looked_for = self._rows < 0
        if exclusions.watches or exclusions.identical:
            self._looked_for |= np.insert(identical_places(qrels)[judged], places, False)
        index = index_ids(
            np.insert(documents, places, np.array(beside, object)).tolist(),
            ends + np.concatenate(([0], np.cumsum(sizes))),
            kernels,
        )
        super().__init__(
            qrels.topics, index, kernels, self._looked_for if exclusions.drops else None
        )
        self._empty = empty_rankings(qrels)

    @property
    def judged_rows(self) -> Integers:
        """The rows of the index that hold judged documents, in their order."""
        return np.flatnonzero(self._rows >= 0)

    def record(self, block: Bytes, lines: Lines) -> tuple[Integers, Integers, Integers]:
        """Return topic, row and documents above of each document of the index."""
        return self.kernels.rank_judged(block, self.compared(lines))

    def compared(self, lines: Lines) -> Lines:
        """Return lines with scores in the precision in which they are compared."""
        if self._wanted.tie_precision == "double":
            return lines
        with np.errstate(over="ignore"):
            return lines._replace(scores=lines.scores.astype(np.float32).astype(np.float64))

    def rankings(self, scanned: Scanned) -> Ranked:
        """Return the rankings of a run, and its topics that the qrels lack."""
        (rows, before), topics = scanned.columns, scanned.topics
        if self._wanted.exclusions.watches and (found := int(self._looked_for[rows].sum())):
            self.identical[scanned.name] = found
        documents = self._rows[rows]
        judged = documents >= 0
        if not judged.all():
            topics, documents, before = topics[judged], documents[judged], before[judged]
        rankings = self._empty.filled(
            (scanned.name,), scanned.depth[None], topics, documents, before
        )
        return rankings, scanned.unknown
