"""The scanner of blocks of large run files, by compiled kernels: what it records of each run.

Every rule of the reference reader is checked; at the first thing that a kernel does not understand,
the file is left to `read_source`, which knows every rule and names the line of an error. Small input
never comes here: loading the kernels would take longer.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Bytes, Integers
from confir.data.files import BYTE_ORDER_MARK, name_from_path
from confir.data.formats.format import NameBy, RunSource
from confir.data.scanning.scan_kernels import IdTable, Lines, ScanKernels, index_ids
from confir.data.text_numbers import parse_number

FIELD = re.compile(rb"[^\x00- ]+")

Column = np.ndarray[Any, Any]


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


class ScannedBlock(NamedTuple):
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

    def scan(self, whole: Block) -> ScannedBlock | None:
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
        return ScannedBlock(
            lines.group_topics[known],
            np.diff(lines.group_lines)[known],
            self.record(block, lines),
            tuple(column[known] for column in self.record_lists(block, lines)),
            [_field(block, start).decode() for start in lines.group_starts[~known].tolist()],
            _field(block, lines.tag_start).decode(),
        )

    def join(
        self, source: RunSource, parts: list[ScannedBlock] | None, name_by: NameBy
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
