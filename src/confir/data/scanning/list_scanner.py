"""The whole lists of run files: from bytes to numbers of documents."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Bytes, Integers
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions, warn_of_identical
from confir.data.formats.format import NAMINGS, NameBy, Reading, RunSource
from confir.data.formats.sources import as_runs, read_source
from confir.data.qrels import Qrels
from confir.data.ranked_lists.docids import Docids
from confir.data.ranked_lists.held_lists import (
    DocumentNumbers,
    HeldLists,
    ListsOfRun,
    build_lists,
    number_lists,
)
from confir.data.ranked_lists.judged_positions import TIE_PRECISIONS, TiePrecision
from confir.data.run import Run
from confir.data.scanning.block_scanner import BlockScanner, Column
from confir.data.scanning.file_scans import choose_kernels, scan_files, scan_or_read
from confir.data.scanning.id_numbers import IdNumbers
from confir.data.scanning.scan_kernels import Lines, ScanKernels, index_ids
from confir.parallel import return_memory

# After reading so many documents, memory is returned to the system.
_MANY = 1_000_000


def read_lists(
    qrels: Qrels,
    runs: Any,
    *,
    name_by: NameBy = "file",
    tie_precision: TiePrecision = "double",
    progress: Callable[[int], None] | None = None,
    exclusions: Exclusions = NOTHING_EXCLUDED,
) -> HeldLists:
    """Return the whole lists of runs for the topics of the qrels.

    Parameters
    ----------
    qrels, runs
        The judgements, and files or objects as in `evaluate`.
    name_by
        "tag" names an unnamed run by the tag of its first line.
    tie_precision
        "single" compares retrieval scores as trec_eval 9 and pytrec_eval do.
    progress
        Called with 1 after each run.
    exclusions
        Documents that do not count; the qrels are already without them.
    """
    as_choice("name_by", name_by, NAMINGS)
    as_choice("tie_precision", tie_precision, TIE_PRECISIONS)
    found = as_runs(runs, Reading(exclusions=exclusions))
    return scan_sources(qrels, found, name_by, tie_precision, progress, exclusions)


def scan_sources(
    qrels: Qrels,
    sources: Sequence[Run | RunSource],
    name_by: NameBy,
    tie_precision: TiePrecision,
    progress: Callable[[int], None] | None = None,
    exclusions: Exclusions = NOTHING_EXCLUDED,
) -> HeldLists:
    """Return what `read_lists` does, of runs that were found before, with their exclusions."""
    made = build_lists(qrels, *_numbered_lists(qrels, sources, name_by, progress, exclusions))
    if len(made.documents) >= _MANY:
        return_memory()
    return made.in_single_precision() if tie_precision == "single" else made


def _numbered_lists(
    qrels: Qrels,
    sources: Sequence[Run | RunSource],
    name_by: NameBy,
    progress: Callable[[int], None] | None,
    exclusions: Exclusions,
) -> tuple[Integers, deque[ListsOfRun], Docids]:
    """Return the numbers of judged documents, the lists of each run as numbers, and the docids."""
    files = [source for source in sources if isinstance(source, RunSource)]
    kernels = choose_kernels(files)
    scanner = None if kernels is None else ListScanner(qrels, kernels, exclusions)
    scanned = (None for _ in files) if scanner is None else scanner.scan_lists(files, name_by)

    read = partial(read_source, name_by=name_by)
    found = scan_or_read(sources, scanned, read, progress)
    numbering = DocumentNumbers() if scanner is None else scanner.numbers
    judged = numbering.number(qrels.documents)
    runs_as_lists = deque(
        number_lists(entry, qrels.topics, numbering.number) if isinstance(entry, Run) else entry
        for entry in found
    )
    docids = numbering.docids()
    if exclusions.watches:
        topics = numbering.number(qrels.topics)
        if (topics < len(docids)).any():  # some have the id of a document
            warn_of_identical(_count_identical(runs_as_lists, topics), len(topics))
    return judged, runs_as_lists, docids


def _count_identical(runs: Iterable[ListsOfRun], topics: Integers) -> dict[str, int]:
    """Return in how many lists of each run a document has the id of the topic."""
    return {run.name: int((np.repeat(topics, run.depth) == run.documents).sum()) for run in runs}


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
        """Yield the lists of each file, or None where the scanner gives way."""
        files = scan_files(self, sources, name_by=name_by, **how)
        with closing(files):
            for scanned in files:
                if scanned is None:
                    yield None
                else:
                    numbers, scores = scanned.columns
                    if len(numbers) >= _MANY:
                        return_memory()
                    yield ListsOfRun(scanned.name, scanned.depth, numbers, scores, scanned.unknown)
