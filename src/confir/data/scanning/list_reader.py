"""Ranked lists read from runs and run files: the ranks of judged documents, or whole lists.

Compiled kernels scan large files without decoding them. The reference reader reads small files, and those
that hold anything the kernels do not understand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Integers, Numbers
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions, warn_of_identical
from confir.data.formats.format import NAMINGS, NameBy, Reading, RunSource
from confir.data.formats.sources import as_runs, read_source
from confir.data.ids import Docids, DocumentNumbers
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists, find_judgements
from confir.data.ranked_lists.rankings import JudgedPositions
from confir.data.run import TIE_PRECISIONS, Run, TiePrecision
from confir.data.scanning.run_scanners import (
    MANY_DOCUMENTS,
    ListScanner,
    ListsOfRun,
    Ranked,
    ScanRules,
    scan_rankings,
)
from confir.data.scanning.scan_kernels import ScanKernels, load_kernels
from confir.parallel import return_memory

# While numba is imported and the kernels are loaded from its cache, which takes 0.7 s, the
# reference reader reads about this many bytes.
COLD_BREAK_EVEN = 20 << 20
# With the kernels loaded only threads have to be started: a millisecond, in which the reference
# reader reads less than this.
WARM_BREAK_EVEN = 1 << 16


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
    rules = ScanRules(qrels, tie_precision, lowest_gain, name_by, exclusions)
    found: dict[str, int] = {} if identical is None else identical
    files = [source for source in sources if isinstance(source, RunSource)]
    kernels = choose_kernels(files)
    scanned = (
        scan_rankings(rules, files, kernels, identical=found) if kernels else (None for _ in files)
    )
    results: list[Ranked] = []
    positions: JudgedPositions | None = None  # not needed where files are scanned
    with closing(scanned):
        for source in sources:
            ranked = next(scanned) if isinstance(source, RunSource) else None
            if ranked is None:
                positions = positions or JudgedPositions(qrels)
                run = read_source(source, name_by)
                rankings, same = positions.rank_and_count(run, tie_precision)
                if same and exclusions.watches:
                    found[run.name] = same
                if lowest_gain is not None:
                    rankings = rankings.at_least(lowest_gain)
                ranked = rankings, tuple(one for one in run.topics if one not in positions.topics)
            results.append(ranked)
            if progress is not None:
                progress(1)
    if identical is None and found:
        warn_of_identical(found, len(qrels.topics))
    return results


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
    files = [source for source in sources if isinstance(source, RunSource)]
    kernels = choose_kernels(files)
    scanner = None if kernels is None else ListScanner(qrels, kernels, exclusions)
    scanned = (None for _ in files) if scanner is None else scanner.scan_lists(files, name_by)
    numbering = DocumentNumbers() if scanner is None else scanner.numbers
    runs: deque[ListsOfRun] = deque()
    with closing(scanned):
        for source in sources:
            found = next(scanned) if isinstance(source, RunSource) else None
            if found is None:
                found = number_lists(read_source(source, name_by), qrels.topics, numbering.number)
            runs.append(found)
            if progress is not None:
                progress(1)
    judged, docids = numbering.number(qrels.documents), numbering.docids()
    if exclusions.watches:
        topics = numbering.number(qrels.topics)
        if (topics < len(docids)).any():  # some have the id of a document
            warn_of_identical(_count_identical(runs, topics), len(topics))
    lists = build_lists(qrels, judged, runs, docids)
    if len(lists.documents) >= MANY_DOCUMENTS:
        return_memory()
    return lists.in_single_precision() if tie_precision == "single" else lists


def choose_kernels(sources: Iterable[RunSource]) -> ScanKernels | None:
    """Return compiled kernels where files are so large that scanning them is worth it."""
    loaded = load_kernels.cache_info().currsize > 0
    size = sum(source.content_size() for source in sources)
    return load_kernels() if size >= (WARM_BREAK_EVEN if loaded else COLD_BREAK_EVEN) else None


def number_lists(
    run: Run, topics: Sequence[str], number: Callable[[Sequence[str]], Integers]
) -> ListsOfRun:
    """Return the lists of a run for the topics of qrels; ``number`` gives docids their numbers."""
    places = {topic: place for place, topic in enumerate(topics)}
    place = np.array([places.get(topic, -1) for topic in run.topics], np.int64)
    sizes = np.diff(run.offsets)
    depth = np.zeros(len(topics), np.int64)
    depth[place[place >= 0]] = sizes[place >= 0]
    kept = np.repeat(place >= 0, sizes)
    return ListsOfRun(
        run.name,
        depth,
        number(run.documents)[kept].astype(np.int32),
        run.scores[kept],
        tuple(topic for topic in run.topics if topic not in places),
    )


def build_lists(
    qrels: Qrels, judged: Integers, runs: deque[ListsOfRun], docids: Docids
) -> HeldLists:
    """Return the lists of several runs as one, documents renumbered by first occurrence.

    The runs are removed from the queue one by one, which frees their memory.

    Parameters
    ----------
    qrels, judged
        The judgements, and the number of each of their documents.
    runs
        The lists of each run.
    docids
        The docid that each number stands for, those of unknown topics included.
    """
    size = sum(len(run.documents) for run in runs)
    documents, scores = np.empty(size, np.int32), np.empty(size)
    depth = np.concatenate([run.depth for run in runs])
    offsets = np.concatenate(([0], np.cumsum(depth)))
    names, unknown = tuple(run.name for run in runs), tuple(run.unknown for run in runs)
    numbers = np.full(len(docids), -1, np.int32)
    order: list[Numbers] = [np.zeros(0, np.int32)]
    positions = _renumber(judged, numbers, order).astype(np.int64)
    for start in offsets[: -1 : len(qrels.topics)].tolist():
        run = runs.popleft()
        stop = start + len(run.documents)
        documents[start:stop] = _renumber(run.documents, numbers, order)
        scores[start:stop] = run.scores
    return HeldLists(
        qrels=qrels,
        runs=names,
        docids=docids[np.concatenate(order)],
        judged=positions,
        offsets=offsets,
        documents=documents,
        scores=scores,
        judgements=find_judgements(qrels, positions, offsets, documents, len(docids)),
        unknown=unknown,
        mentioned=len(docids),
    )


def _renumber(documents: Integers | Numbers, numbers: Numbers, order: list[Numbers]) -> Numbers:
    """Return documents renumbered by first occurrence.

    ``numbers`` holds the new number of each document, -1 before it occurs, and ``order`` the documents that
    have occurred; both are updated.
    """
    index = documents.astype(np.int64)
    unseen = index[numbers[index] < 0]
    places = np.arange(len(unseen), dtype=np.int32)
    numbers[unseen[::-1]] = places[::-1]  # the last to be written stays: the first occurrence
    found = unseen[numbers[unseen] == places]
    count = sum(map(len, order))
    numbers[found] = np.arange(count, count + len(found))
    order.append(found.astype(np.int32))
    renumbered: Numbers = numbers[index]
    return renumbered


def _count_identical(runs: Iterable[ListsOfRun], topics: Integers) -> dict[str, int]:
    """Return in how many lists of each run a document has the id of the topic."""
    return {run.name: int((np.repeat(topics, run.depth) == run.documents).sum()) for run in runs}
