"""Whole lists of several runs, held in memory: all their documents as numbers, in flat arrays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers, Numbers
from confir.data.qrels import Qrels
from confir.data.ranked_lists.docids import Docids
from confir.data.ranked_lists.rankings import Rankings, empty_rankings
from confir.data.run import Run

# The fields of HeldLists that have an entry for each listed document.
_BY_DOCUMENT = ("documents", "scores", "judgements")


@dataclass(frozen=True, slots=True, eq=False)
class HeldLists:
    """The whole ranked lists of several runs: a list for every run and topic of the qrels.

    Attributes
    ----------
    qrels
        The judgements; their topics are the topics of the lists.
    runs
        Names of the runs.
    docids
        The distinct docids, in the order in which qrels and then lists name them first.
    judged
        Position in ``docids`` of each document of the qrels.
    offsets
        The list of run r and topic t is ``offsets[r * topics + t]`` to the next offset.
    documents, scores
        Position in ``docids`` and retrieval score of each listed document, in rank order.
    judgements
        Position in ``qrels.documents`` of each listed document; -1 where it is not judged.
    unknown
        Topics of each run that the qrels lack.
    mentioned
        Number of distinct docids in qrels and runs, lists of unknown topics included.
    """

    qrels: Qrels
    runs: tuple[str, ...]
    docids: Docids
    judged: Integers
    offsets: Integers
    documents: Numbers
    scores: Floats
    judgements: Numbers
    unknown: tuple[tuple[str, ...], ...]
    mentioned: int

    @property
    def depth(self) -> Integers:
        """Length of each list: runs × topics."""
        return np.diff(self.offsets).reshape(len(self.runs), len(self.qrels.topics))

    def rankings(self) -> list[Rankings]:
        """Return where the judged documents stand in the lists of each run."""
        empty, bounds = empty_rankings(self.qrels), self.offsets[:: len(self.qrels.topics)].tolist()
        found = []
        for run, depth, span in zip(self.runs, self.depth, pairwise(bounds), strict=True):
            judgements, ends = self.judgements[slice(*span)], np.cumsum(depth)
            places = np.flatnonzero(judgements >= 0)
            lists = np.searchsorted(ends, places, side="right")
            judged = judgements[places].astype(np.int64)
            before = places - (ends - depth)[lists]
            found.append(empty.filled((run,), depth[None], lists, judged, before))
        return found

    def of_topics(self, start: int, stop: int, depth: Integers | None = None) -> HeldLists:
        """Return the lists of some consecutive topics, or the tops of these lists."""
        if depth is not None:
            return self.of_topics(start, stop).tops(depth)
        if stop - start == len(self.qrels.topics):
            return self
        first, last = self.qrels.offsets[[start, stop]]
        part = self._of_spans(
            self._spans(start, stop),
            qrels=self.qrels.of_topics(start, stop),
            judged=self.judged[first:last],
            offsets=np.concatenate(([0], np.cumsum(self.depth[:, start:stop]))),
        )
        moved = np.where(part.judgements < 0, part.judgements, part.judgements - np.int32(first))
        return replace(part, judgements=moved)

    def scores_of_topics(self, start: int, stop: int) -> Floats:
        """Return the retrieval scores in the lists of some consecutive topics."""
        return np.concatenate([self.scores[span] for span in self._spans(start, stop)])

    def run(self, number: int) -> Run:
        """Return a run's lists for the topics of the qrels."""
        topics = len(self.qrels.topics)
        offsets = self.offsets[number * topics : (number + 1) * topics + 1]
        start, stop = int(offsets[0]), int(offsets[-1])
        present = np.flatnonzero(np.diff(offsets))
        return Run(
            name=self.runs[number],
            topics=tuple(self.qrels.topics[t] for t in present.tolist()),
            offsets=np.append(offsets[present], stop) - start,
            documents=tuple(self.docids[d] for d in self.documents[start:stop].tolist()),
            scores=self.scores[start:stop],
        )

    def in_single_precision(self) -> HeldLists:
        """Return the lists with ties as of scores in single precision, broken by docid."""
        with np.errstate(over="ignore"):
            scores = self.scores.astype(np.float32)
        lists = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        equal = (scores[1:] == scores[:-1]) & (lists[1:] == lists[:-1])
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        documents, place = np.unique(self.documents[tied], return_inverse=True)
        names = self.docids.take(documents)
        rank = np.empty(len(names), np.int64)
        rank[sorted(range(len(names)), key=names.encoded)] = np.arange(len(names))
        order = np.arange(len(scores))
        order[tied] = tied[np.lexsort((-rank[place], -scores[tied], lists[tied]))]
        return self._at(order)

    def cut(self, depth: int) -> HeldLists:
        """Return the lists cut after ``depth`` documents."""
        return self.tops(np.minimum(self.depth, depth))

    def tops(self, depth: Integers) -> HeldLists:
        """Return so many documents of each list, runs × topics, from the top."""
        sizes = depth.reshape(-1)
        starts = self.offsets[:-1] - (np.cumsum(sizes) - sizes)
        return self._only(np.repeat(starts, sizes) + np.arange(sizes.sum()))

    def restrict(self, topics: Booleans, documents: Booleans | None = None) -> HeldLists:
        """Return what is left of qrels and lists when only some topics and documents count.

        Parameters
        ----------
        topics
            Which topics of the qrels are kept; one left without judged documents goes too.
        documents
            Which ``docids`` are kept; by default all.
        """
        held = np.ones(len(self.docids), bool) if documents is None else documents
        kept = topics[self.qrels.document_topics] & held[self.judged]
        judged_topics = np.unique(self.qrels.document_topics[kept])
        lists = np.tile(np.isin(np.arange(len(topics)), judged_topics), len(self.runs))
        listed = np.repeat(lists, np.diff(self.offsets)) & held[self.documents]
        shorter = self._only(np.flatnonzero(listed)).with_judgements(kept)
        offsets = np.append(shorter.offsets[:-1][lists], shorter.offsets[-1])
        return replace(shorter, offsets=offsets)

    def of_runs(self, numbers: Sequence[int]) -> HeldLists:
        """Return the lists of some runs."""
        topics = len(self.qrels.topics)
        bounds = self.offsets[::topics].tolist()
        return self._of_spans(
            [slice(bounds[number], bounds[number + 1]) for number in numbers],
            runs=tuple(self.runs[number] for number in numbers),
            offsets=np.concatenate(([0], np.cumsum(self.depth[list(numbers)]))),
            unknown=tuple(self.unknown[number] for number in numbers),
        )

    def with_judgements(self, kept: Booleans) -> HeldLists:
        """Return the same lists with some judgements only; every topic must keep one.

        Parameters
        ----------
        kept
            Which documents of the qrels stay judged; the others stay in the lists, unjudged.
        """
        places = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        return replace(
            self,
            qrels=self.qrels.only(kept),
            judged=self.judged[kept],
            judgements=np.where(self.judgements < 0, np.int32(-1), places[self.judgements]),
        )

    def judged_by(self, qrels: Qrels) -> HeldLists:
        """Return the same lists with other judgements of the same topics."""
        numbers = DocumentNumbers(self.docids)
        judged = numbers.number(qrels.documents)
        docids = numbers.docids()
        return replace(
            self,
            qrels=qrels,
            docids=docids,
            judged=judged,
            judgements=_find_judgements(qrels, judged, self.offsets, self.documents, len(docids)),
            mentioned=max(self.mentioned, len(docids)),
        )

    def _spans(self, start: int, stop: int) -> list[slice]:
        """Return where the lists of some consecutive topics stand, by run."""
        topics = np.arange(len(self.runs)) * len(self.qrels.topics)
        ends = self.offsets[topics + start].tolist(), self.offsets[topics + stop].tolist()
        return list(map(slice, *ends))

    def _only(self, places: Integers) -> HeldLists:
        """Return the lists with the documents at some places only."""
        return replace(self._at(places), offsets=np.searchsorted(places, self.offsets))

    def _at(self, places: Integers) -> HeldLists:
        """Return the lists with what stands at some places, as many or fewer."""
        return replace(self, **{name: getattr(self, name)[places] for name in _BY_DOCUMENT})

    def _of_spans(self, spans: Sequence[slice], **changes: Any) -> HeldLists:
        """Return what stands in some spans, one after the other, with other fields as given."""
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(self, name)[span] for span in spans])
            for name in _BY_DOCUMENT
        }
        return replace(self, **joined, **changes)


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


class DocumentNumbers:
    """Gives each docid a number, by a dictionary."""

    def __init__(self, docids: Iterable[str] = ()) -> None:
        self._numbers = {docid: number for number, docid in enumerate(docids)}

    def number(self, docids: Sequence[str]) -> Integers:
        """Return the number of each docid, a new one where it has none."""
        numbers = self._numbers
        find = numbers.setdefault
        return np.array([find(docid, len(numbers)) for docid in docids], np.int64)

    def docids(self) -> Docids:
        """Return the docids in the order of their numbers."""
        return Docids.of(self._numbers)


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

    The runs are taken away one by one, so that no more than what is made need be held.

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
    order = _FirstOccurrence(len(docids))
    positions = order.renumber(judged).astype(np.int64)
    for start in offsets[: -1 : len(qrels.topics)].tolist():
        run = runs.popleft()
        stop = start + len(run.documents)
        documents[start:stop] = order.renumber(run.documents)
        scores[start:stop] = run.scores
    return HeldLists(
        qrels=qrels,
        runs=names,
        docids=docids.take(order.numbers()),
        judged=positions,
        offsets=offsets,
        documents=documents,
        scores=scores,
        judgements=_find_judgements(qrels, positions, offsets, documents, len(docids)),
        unknown=unknown,
        mentioned=len(docids),
    )


class _FirstOccurrence:
    """Renumbers documents in the order of first occurrence."""

    def __init__(self, documents: int) -> None:
        self._renumbered = np.full(documents, -1, np.int32)
        self._first = np.empty(documents, np.int32)
        self._found: list[Numbers] = [np.zeros(0, np.int32)]
        self._count = 0

    def renumber(self, documents: Integers | Numbers) -> Numbers:
        """Return the new numbers of documents."""
        index = documents.astype(np.int64)
        unseen = index[self._renumbered[index] < 0]
        places = np.arange(len(unseen), dtype=np.int32)
        self._first[unseen[::-1]] = places[::-1]  # the last to be written stays
        found = unseen[self._first[unseen] == places]
        self._renumbered[found] = np.arange(self._count, self._count + len(found))
        self._found.append(found.astype(np.int32))
        self._count += len(found)
        renumbered: Numbers = self._renumbered[index]
        return renumbered

    def numbers(self) -> Numbers:
        """Return the old numbers of the documents that were found, in their new order."""
        return np.concatenate(self._found)


def _find_judgements(
    qrels: Qrels, judged: Integers, offsets: Integers, documents: Numbers, size: int
) -> Numbers:
    """Return the position in the qrels of each listed document, -1 where it is not judged."""
    found = np.empty(len(documents), np.int32)
    position = np.full(size, -1, np.int32)
    spans = list(pairwise(offsets.tolist()))
    for topic, (start, stop) in enumerate(pairwise(qrels.offsets.tolist())):
        position[judged[start:stop]] = np.arange(start, stop)
        for first, last in spans[topic :: len(qrels.topics)]:
            found[first:last] = position[documents[first:last]]
        position[judged[start:stop]] = -1
    return found
