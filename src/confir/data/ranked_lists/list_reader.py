"""Ranked lists read from runs and run files: the ranks of judged documents, or whole lists.

Files in TREC format are read in blocks. What is irregular, and what is in other formats, `read_source` reads.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats, Integers, Numbers
from confir.data import trec
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions, warn_of_identical
from confir.data.files import name_from_path, open_bytes
from confir.data.formats.format import NAMINGS, NameBy, Reading, RunSource
from confir.data.formats.sources import as_runs, read_content, read_source, recognise
from confir.data.ids import Docids, DocumentNumbers, KeyTable, mix_words
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists, place_judgements
from confir.data.ranked_lists.rankings import Rankings, empty_rankings
from confir.data.run import TIE_PRECISIONS, Run, TiePrecision
from confir.data.trec import Lines
from confir.data.trec_kernel import FindFields, load_kernel
from confir.errors import ConfirError
from confir.parallel import return_memory, run_ahead

# Files up to this size are held while they are read: the reader by line need not open them again.
HELD_SIZE = 1 << 22
# While numba is imported and its kernel is loaded, numpy alone reads about this many bytes.
COMPILED_SIZE = 100 << 20
# After reading so many documents, memory is returned to the system.
MANY_DOCUMENTS = 1_000_000

# The rankings of a run, and its topics that the qrels lack.
Ranked = tuple[Rankings, tuple[str, ...]]


class ListRules(NamedTuple):
    """How runs are ranked; the fields are parameters of `read_rankings`."""

    qrels: Qrels
    tie_precision: TiePrecision = "double"
    lowest_gain: int | None = None
    name_by: NameBy = "file"
    exclusions: Exclusions = NOTHING_EXCLUDED


class ReadRun(NamedTuple):
    """What a run says.

    Attributes
    ----------
    rankings
        Where its judged documents stand.
    unknown
        Its topics that the qrels lack, in order.
    identical
        The number of lists with a document that has the topic's id.
    topics
        The topics of the qrels that it has, in its order.
    taken
        What was taken of each block.
    """

    rankings: Rankings
    unknown: tuple[str, ...]
    identical: int
    topics: Integers
    taken: list[Any]


class _Described(NamedTuple):
    """What a block says: its lines, best first; the number of each topic, -1 where the qrels lack it.

    Then topic, place in the qrels and documents above of each judged document; and the number of
    lists with a document that has the topic's id.
    """

    lines: Lines
    numbers: Integers
    judged: tuple[Integers, Integers, Integers]
    identical: int


class _Task(NamedTuple):
    """A run to read, by its number: whole, or a block of it; or the error of its file."""

    number: int
    source: Run | RunSource
    block: bytes | None = None
    error: ConfirError | None = None


Take = Callable[[Lines, Integers], Any]
# A run's number, what its blocks say, or None where one is irregular; and the content that is held.
_Read = tuple[int, list[_Described] | None, bytes | None]


class PairTable:
    """Finds documents of topics by keys of both, and compares what is found byte by byte.

    Topics are numbers.
    """

    def __init__(self, topics: Integers, documents: Sequence[str]) -> None:
        self._topics, self._docids = topics, Docids.of(documents)
        self._table = KeyTable()
        self._table.enter(self._docids.keys() ^ mix_words(topics.astype(np.uint64)))
        self._by_text: dict[tuple[int, bytes], int] = {}
        if self._table.count < len(topics):  # pairs were made to have one key
            self._by_text = {
                (topic, self._docids.encoded(place)): place
                for place, topic in enumerate(topics.tolist())
            }

    def find(self, lines: Lines, topics: Integers) -> tuple[Integers, Integers]:
        """Return which lines the table has, and their places there; of the number of each topic."""
        lists = lines.lists
        found = self._table.find(lines.keys ^ mix_words(topics.astype(np.uint64))[lists])
        places = np.flatnonzero(found >= 0)
        rows, owners = found[places].astype(np.int64), topics[lists[places]]
        if self._by_text:
            docids = map(lines.docids.encoded, places.tolist())
            pairs = zip(owners.tolist(), docids, strict=True)
            rows = np.array(
                [self._by_text.get(pair, row) for pair, row in zip(pairs, rows, strict=True)],
                np.int64,
            )
        same = self._docids[rows].equal(lines.docids[places]) & (self._topics[rows] == owners)
        return places[same], rows[same]


class RunReader:
    """Reads runs: files block by block, and those that are irregular line by line.

    Parameters
    ----------
    rules
        How runs are ranked.
    take
        Returns what is kept of a block's whole lists: of its lines, best first, and the number of
        each topic in the qrels, -1 where these lack it. Blocks come in order.
    """

    def __init__(self, rules: ListRules, take: Take | None = None) -> None:
        qrels, excluded = rules.qrels, rules.exclusions.documents
        self._rules, self._take = rules, take
        self._topics = {topic: number for number, topic in enumerate(qrels.topics)}
        self._kept = np.arange(len(qrels.documents))
        if rules.lowest_gain is not None:
            self._kept = np.flatnonzero(qrels.gains >= rules.lowest_gain)
        documents = [qrels.documents[place] for place in self._kept.tolist()]
        self._judged = PairTable(qrels.document_topics[self._kept], documents)
        self._excluding = {topic: number for number, topic in enumerate(excluded)}
        sizes = np.array([len(own) for own in excluded.values()], np.int64)
        owners = np.repeat(np.arange(len(excluded)), sizes)
        self._excluded = PairTable(owners, [one for own in excluded.values() for one in own])
        self._empty = empty_rankings(qrels)
        self._find_fields: FindFields | None = None

    def read(
        self, sources: Sequence[Run | RunSource], progress: Callable[[int], None] | None = None
    ) -> Iterator[ReadRun]:
        """Yield what each run says, in order; progress is called with 1 after each."""
        size = sum(one.content_size() for one in sources if isinstance(one, RunSource))
        self._find_fields = load_kernel() if size > COMPILED_SIZE else None
        by_line: set[int] = set()
        with closing(self._tasks(sources, by_line)) as tasks:
            done = (
                map(self._read, tasks) if size <= trec.BLOCK_SIZE else run_ahead(self._read, tasks)
            )
            for number, blocks in groupby(done, itemgetter(0)):
                source = sources[number]
                found, content = self._join(source, blocks)
                if found is None:
                    by_line.add(number)
                    run = read_source(source, self._rules.name_by, content)
                    found, _ = self._join(
                        run, [(number, [self._describe(lines_of_run(run))], None)]
                    )
                yield cast("ReadRun", found)
                if progress is not None:
                    progress(1)

    def _tasks(self, sources: Sequence[Run | RunSource], by_line: set[int]) -> Generator[_Task]:
        for number, source in enumerate(sources):
            if isinstance(source, Run) or source.content_size() <= HELD_SIZE:
                yield _Task(number, source)
                continue
            try:
                with open_bytes(source.path) as stream:
                    for place, block in enumerate(trec.read_blocks(stream)):
                        if number in by_line:
                            break
                        scanned = place or recognise(source.path, block).scanned
                        yield _Task(number, source, block if scanned else trec.PADDING)
            except (
                ConfirError
            ) as error:  # of which another thread may not have come to the first yet
                yield _Task(number, source, error=error)

    def _read(self, task: _Task) -> _Read:
        """Return the number of a run, and what its blocks say, or None and the content that is held."""
        if task.error is not None:
            raise task.error
        source, content = task.source, None
        if isinstance(source, Run):
            return task.number, [self._describe(lines_of_run(source))], None
        blocks: Iterable[bytes] = [task.block or trec.PADDING]
        if task.block is None:
            content = read_content(source)
            if recognise(source.path, content).scanned:
                blocks = trec.read_blocks(io.BytesIO(content))
        found = []
        for block in blocks:
            lines = trec.read_lines(block, self._find_fields)
            if lines is None or lines.repeat_documents():
                return task.number, None, content
            found.append(self._describe(lines))
        return task.number, found, content

    def _describe(self, lines: Lines) -> _Described:
        """Return what lines of whole topics say."""
        exclusions = self._rules.exclusions
        lines = trec.rank_lines(lines, single=self._rules.tie_precision == "single")
        if exclusions.drops:
            kept = np.ones(len(lines.keys), bool)
            numbers = np.array([self._excluding.get(topic, -1) for topic in lines.topics], np.int64)
            kept[self._excluded.find(lines, numbers)[0]] = False
            if exclusions.identical:
                kept[lines.find_identical()] = False
            lines = lines.only(kept)
        numbers = np.array([self._topics.get(topic, -1) for topic in lines.topics], np.int64)
        lists, identical = lines.lists, 0
        places, rows = self._judged.find(lines, numbers)
        own = lists[places]
        judged = numbers[own], self._kept[rows], places - lines.bounds[own]
        if exclusions.watches:
            identical = int((numbers[lists[lines.find_identical()]] >= 0).sum())
        return _Described(lines, numbers, judged, identical)

    def _join(
        self, source: Run | RunSource, blocks: Iterable[_Read]
    ) -> tuple[ReadRun | None, bytes | None]:
        """Return what the blocks of a run say, or None where it has to be read by line; and its content."""
        topics, sizes, judged, taken = [], [], [], []
        unknown: list[str] = []
        identical, tag = 0, ""
        content = None
        for _, block, content in blocks:
            if block is None:
                return None, content
            for lines, numbers, places, same in block:
                known = numbers >= 0
                topics.append(numbers[known])
                sizes.append(np.diff(lines.bounds)[known])
                unknown += [lines.topics[place] for place in np.flatnonzero(~known).tolist()]
                judged.append(places)
                identical += same
                tag = tag or lines.tag
                if self._take is not None:
                    taken.append(self._take(lines, numbers))
        listed, depth = np.concatenate(topics), np.zeros(len(self._topics), np.int64)
        depth[listed] = np.concatenate(sizes)
        if np.count_nonzero(depth) < len(listed) or len(set(unknown)) < len(unknown):
            return None, content  # the lines of a topic are in several places
        columns = [np.concatenate(column) for column in zip(*judged, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        name = source.name
        if isinstance(source, RunSource):
            by_tag = tag if self._rules.name_by == "tag" else ""
            name = name or by_tag or name_from_path(source.path)
        rankings = self._empty.filled(
            (str(name),), depth[None], *(column[order] for column in columns)
        )
        return ReadRun(rankings, tuple(sorted(unknown)), identical, listed, taken), content


def lines_of_run(run: Run) -> Lines:
    """Return the lines of a run that was read."""
    docids = Docids.of(run.documents)
    return Lines(list(run.topics), run.offsets, docids, docids.keys(), run.scores, "")


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
        Receives, for each run, the number of lists with a document that has the topic's id, if
        exclusions watch for them; by default a warning names these runs.
    """
    rules = ListRules(qrels, tie_precision, lowest_gain, name_by, exclusions)
    found = list(RunReader(rules).read(sources, progress))
    if identical is None:
        warn_of_identical(count_identical(found), len(qrels.topics))
    else:
        identical.update(count_identical(found))
    return [(run.rankings, run.unknown) for run in found]


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
    return read_source_lists(qrels, found, name_by, tie_precision, progress, exclusions)


def read_source_lists(
    qrels: Qrels,
    sources: Sequence[Run | RunSource],
    name_by: NameBy,
    tie_precision: TiePrecision,
    progress: Callable[[int], None] | None = None,
    exclusions: Exclusions = NOTHING_EXCLUDED,
) -> HeldLists:
    """Return what `read_lists` does, of runs that were found before, with their exclusions."""
    numbering = DocumentNumbers()
    judged = numbering.number(qrels.documents)

    def take(lines: Lines, numbers: Integers) -> tuple[Numbers, Floats]:
        documents = numbering.number(lines.docids, lines.keys).astype(np.int32)
        known = numbers[lines.lists] >= 0
        return documents[known], lines.scores[known]

    found: list[ReadRun] = []
    documents: list[Numbers] = []
    scores: list[Floats] = []
    rules = ListRules(qrels, tie_precision, None, name_by, exclusions)
    for run in RunReader(rules, take).read(sources, progress):
        own, values = (np.concatenate(column) for column in zip(*run.taken, strict=True))
        if (run.topics[1:] < run.topics[:-1]).any():
            sizes = run.rankings.depth[0, run.topics, 0]
            places = np.argsort(np.repeat(run.topics, sizes), kind="stable")
            own, values = own[places], values[places]
        documents.append(own)
        scores.append(values)
        found.append(run._replace(taken=[]))
    docids, renumbered = numbering.docids(), KeyTable()
    order: list[Any] = []

    def renumber(own: Integers | Numbers) -> Numbers:
        """Return numbers by first occurrence in the lists, whose topics files have in any order."""
        numbers, fresh = renumbered.enter(own.astype(np.uint64))
        order.append(own[fresh])
        return numbers

    judged = renumber(judged).astype(np.int64)
    for place, own in enumerate(documents):
        documents[place] = renumber(own)
    rankings = [run.rankings for run in found]
    depth = np.concatenate([one.depth[:, :, 0] for one in rankings])
    if exclusions.watches:
        warn_of_identical(count_identical(found), len(qrels.topics))
    held = HeldLists(
        qrels=qrels,
        runs=tuple(name for one in rankings for name in one.runs),
        docids=docids[np.concatenate(order)],
        judged=judged,
        offsets=np.concatenate(([0], np.cumsum(depth))),
        documents=np.concatenate(documents),
        scores=np.concatenate(scores),
        judgements=place_judgements(rankings, depth, 0),
        unknown=tuple(run.unknown for run in found),
        mentioned=len(docids),
    )
    if len(held.documents) >= MANY_DOCUMENTS:
        return_memory()
    return held


def count_identical(runs: Sequence[ReadRun]) -> dict[str, int]:
    """Return in how many lists each run has a document with the topic's id, where it has any."""
    return {run.rankings.runs[0]: run.identical for run in runs if run.identical}
