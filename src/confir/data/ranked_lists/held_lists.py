"""Whole lists of several runs, with documents as numbers, and blocks of topics to work on at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from confir.arrays import Booleans, Floats, Integers, Numbers
from confir.data.ids import Docids, DocumentNumbers
from confir.data.qrels import Qrels
from confir.data.ranked_lists.rankings import Rankings, empty_rankings
from confir.data.run import Run

if TYPE_CHECKING:
    from confir.data.ranked_lists.stored_lists import StoredLists

# Whole lists that are looked at some topics at a time; `HeldLists` says what both have.
TopicLists: TypeAlias = "HeldLists | StoredLists"

# Listed documents of a run that are worked on at a time: what is computed of them stays in the cache.
_BLOCK = 1 << 16
# All runs together: at most this many times as many documents.
_RUNS_AT_ONCE = 48
# A table of all numbers is faster than sorting, up to this multiple of the documents.
_TABLE_SHARE = 32

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

    def cut(self, depth: int) -> HeldLists:
        """Return the lists cut after ``depth`` documents."""
        return self.tops(np.minimum(self.depth, depth))

    def tops(self, depth: Integers) -> HeldLists:
        """Return so many documents of each list, runs × topics, from the top."""
        sizes = depth.reshape(-1)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        places = np.repeat(self.offsets[:-1] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return replace(self._at(places), offsets=offsets)

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
        places = np.flatnonzero(listed)
        starts = np.searchsorted(places, self.offsets[:-1][lists])
        shorter = self._at(places).with_judgements(kept)
        return replace(shorter, offsets=np.append(starts, len(places)))

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
        numbers = DocumentNumbers()
        numbers.number(self.docids)
        judged = numbers.number(qrels.documents)
        docids = numbers.docids()
        return replace(
            self,
            qrels=qrels,
            docids=docids,
            judged=judged,
            judgements=find_judgements(qrels, judged, self.offsets, self.documents, len(docids)),
            mentioned=max(self.mentioned, len(docids)),
        )

    def _spans(self, start: int, stop: int) -> list[slice]:
        """Return where the lists of some consecutive topics stand, by run."""
        topics = np.arange(len(self.runs)) * len(self.qrels.topics)
        ends = self.offsets[topics + start].tolist(), self.offsets[topics + stop].tolist()
        return list(map(slice, *ends))

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


def place_judgements(ranked: Sequence[Rankings], depth: Integers, start: int) -> Numbers:
    """Return the position in their qrels of each document in lists, -1 where it is not judged.

    Parameters
    ----------
    ranked
        Where the judged documents of each run stand.
    depth
        Length of the lists, or of their tops: runs × consecutive topics.
    start
        The first of these topics.
    """
    topics = depth.shape[1]
    offsets = np.concatenate(([0], np.cumsum(depth)))
    judgements = np.full(int(offsets[-1]), -1, np.int32)
    for run, one in enumerate(ranked):
        bounds = one.offsets[start : start + topics + 1]
        found = slice(int(bounds[0]), int(bounds[-1]))
        topic = np.repeat(np.arange(topics), np.diff(bounds))
        before = one.before[found, 0]
        listed = before < depth[run, topic]
        places = offsets[run * topics + topic] + before
        first = one.qrels.offsets[start]
        judgements[places[listed]] = (one.documents[found] - first)[listed]
    return judgements


def find_judgements(
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


def topic_blocks(depth: Integers) -> list[tuple[int, int]]:
    """Return consecutive topics to work on at a time: the first ones, and the ends.

    Parameters
    ----------
    depth
        Number of documents in each list: runs × topics.
    """
    sizes = np.maximum(depth.max(axis=0, initial=0), depth.sum(axis=0) // _RUNS_AT_ONCE)
    return split_by_size(sizes, _BLOCK)


def split_by_size(sizes: Integers, most: int) -> list[tuple[int, int]]:
    """Return parts of consecutive entries that have a certain size, or little more, together."""
    starts = np.flatnonzero(np.diff(np.cumsum(sizes) // most, prepend=-1)).tolist()
    return list(pairwise([*starts, len(sizes)]))


def index_distinct(
    topics: Integers, documents: Integers | Numbers, size: int
) -> tuple[Integers, Integers]:
    """Return the distinct documents of each topic, and the index of each document among them.

    Documents of a topic have the numbers ``topic * size + document``, ascending.

    Parameters
    ----------
    topics, documents
        Topic and number of each document of the lists.
    size
        Documents have numbers below this.
    """
    entries = topics * size + documents
    first = int(entries.min(initial=0))
    span = int(entries.max(initial=0)) - first + 1
    if span > _TABLE_SHARE * len(entries):
        # as numpy.unique, but faster where the entries of each run are in order already
        order = np.argsort(entries, kind="stable")
        ordered = entries[order]
        new = np.ones(len(entries), bool)
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        index = np.empty(len(entries), np.int64)
        index[order] = np.cumsum(new) - 1
        return ordered[new], index
    entries -= first
    table = np.zeros(span, np.int32)
    table[entries] = 1
    distinct = np.flatnonzero(table)
    table[distinct] = np.arange(len(distinct), dtype=np.int32)
    return first + distinct, table[entries].astype(np.int64)
