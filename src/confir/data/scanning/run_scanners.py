"""What the scanner records of runs: where their judged documents stand, or their whole lists."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Bytes, Floats, Integers, Numbers
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions, identical_places
from confir.data.formats.format import NameBy, RunSource
from confir.data.qrels import Qrels
from confir.data.ranked_lists.rankings import Rankings, empty_rankings
from confir.data.run import TiePrecision
from confir.data.scanning.block_scanner import BlockScanner, Column, Scanned
from confir.data.scanning.file_scans import BLOCK_SIZE, scan_files
from confir.data.scanning.id_numbers import IdNumbers
from confir.data.scanning.scan_kernels import Lines, ScanKernels, index_ids
from confir.parallel import return_memory

# After reading so many documents, memory is returned to the system.
MANY_DOCUMENTS = 1_000_000

# The rankings of a run, and its topics that the qrels lack.
Ranked = tuple[Rankings, tuple[str, ...]]


class ScanRules(NamedTuple):
    """How runs are ranked; the fields are parameters of `read_rankings`."""

    qrels: Qrels
    tie_precision: TiePrecision = "double"
    lowest_gain: int | None = None
    name_by: NameBy = "file"
    exclusions: Exclusions = NOTHING_EXCLUDED


def scan_rankings(
    rules: ScanRules,
    sources: Sequence[RunSource],
    kernels: ScanKernels,
    *,
    identical: dict[str, int] | None = None,
    block_size: int = BLOCK_SIZE,
    threads: int | None = None,
) -> Generator[Ranked | None]:
    """Yield what `read_rankings` returns for each file, or None where the reference reader is needed.

    ``identical`` is as in `read_rankings`.
    """
    scanner = JudgedScanner(rules, kernels, identical)
    files = scan_files(
        scanner, sources, name_by=rules.name_by, block_size=block_size, threads=threads
    )
    with closing(files):
        for scanned in files:
            yield None if scanned is None else scanner.rankings(scanned)


class JudgedScanner(BlockScanner):
    """Records judged documents: their rows in the index, and the documents above.

    After the judged documents of each topic, the index has the documents that do not count, or that
    exclusions watch for.
    """

    def __init__(
        self, rules: ScanRules, kernels: ScanKernels, identical: dict[str, int] | None = None
    ) -> None:
        qrels, lowest_gain, exclusions = rules.qrels, rules.lowest_gain, rules.exclusions
        self._rules = rules
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
        if self._rules.tie_precision == "double":
            return lines
        with np.errstate(over="ignore"):
            return lines._replace(scores=lines.scores.astype(np.float32).astype(np.float64))

    def rankings(self, scanned: Scanned) -> Ranked:
        """Return the rankings of a run, and its topics that the qrels lack."""
        (rows, before), topics = scanned.columns, scanned.topics
        if self._rules.exclusions.watches and (found := int(self._looked_for[rows].sum())):
            self.identical[scanned.name] = found
        documents = self._rows[rows]
        judged = documents >= 0
        if not judged.all():
            topics, documents, before = topics[judged], documents[judged], before[judged]
        rankings = self._empty.filled(
            (scanned.name,), scanned.depth[None], topics, documents, before
        )
        return rankings, scanned.unknown


class ListsOfRun(NamedTuple):
    """The lists of one run.

    Attributes
    ----------
    name
        The run's name.
    depth
        Length of the list of each topic of the qrels.
    documents, scores
        Number and retrieval score of each document, list by list in the order of the topics.
    unknown
        The run's topics that the qrels lack.
    """

    name: str
    depth: Integers
    documents: Numbers
    scores: Floats
    unknown: tuple[str, ...]


class ListScanner(BlockScanner):
    """Records every document of a list: its number, and its retrieval score."""

    def __init__(
        self,
        qrels: Qrels,
        kernels: ScanKernels,
        exclusions: Exclusions = NOTHING_EXCLUDED,
    ) -> None:
        excluded, sizes = exclusions.by_topic(qrels.topics) if exclusions.drops else ([], 0)
        ends = np.zeros(len(qrels.topics) + 1, np.int64)
        ends[1:] = np.cumsum(sizes)
        dropped = np.ones(len(excluded), bool) if excluded else None
        super().__init__(qrels.topics, index_ids(excluded, ends, kernels), kernels, dropped)
        self.numbers = IdNumbers(kernels)

    def record(self, block: Bytes, lines: Lines) -> tuple[Column, ...]:
        """Return topic, number and score of each document of the topics that the qrels know."""
        numbers = self.numbers.number_in(block, lines.document_starts)
        sizes = np.diff(lines.group_lines)
        topics = np.repeat(lines.group_topics.astype(np.int32), sizes)
        ranked = self.kernels.rank_lines(block, lines)[topics >= 0]
        return topics[topics >= 0], numbers[ranked].astype(np.int32), lines.scores[ranked]

    def scan_lists(
        self, sources: Sequence[RunSource], name_by: NameBy = "file", **how: Any
    ) -> Generator[ListsOfRun | None]:
        """Yield the lists of each file, or None where the reference reader is needed."""
        files = scan_files(self, sources, name_by=name_by, **how)
        with closing(files):
            for scanned in files:
                if scanned is None:
                    yield None
                else:
                    numbers, scores = scanned.columns
                    if len(numbers) >= MANY_DOCUMENTS:
                        return_memory()
                    yield ListsOfRun(scanned.name, scanned.depth, numbers, scores, scanned.unknown)
