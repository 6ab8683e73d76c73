"""Overlap of runs' lists with those of an original: identical lists, overlap at a depth, and RBO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.list_reader import read_source_lists
from confir.data.result import Result, axis, constant, over, result
from confir.data.run import Run, TiePrecision

TieVariant = Literal["a", "b"]
TIE_VARIANTS: tuple[TieVariant, ...] = get_args(TieVariant)


@result
class ListOverlap(Result):
    """How far the lists of runs agree with those of an original: topics × runs.

    Attributes
    ----------
    topics, runs
        Topics that some run has; names of the runs.
    identical
        1 for the same documents in the same order, else 0.
    overlap
        Share of the first documents, down to ``depth``, that both lists have.
    rbo
        Extrapolated rank-biased overlap. All three are NaN where neither run has the topic.
    depth, persistence, ties
        Depth of the overlap; persistence of RBO, and its variant for ties, None for ties broken as
        trec_eval breaks them.
    """

    topics: tuple[str, ...] = axis("topic")
    runs: tuple[str, ...] = axis("run")
    identical: Floats = over("topic", "run")
    overlap: Floats = over("topic", "run")
    rbo: Floats = over("topic", "run")
    depth: int = constant()
    persistence: float = constant()
    ties: str | None = constant()


class _ListedRun(NamedTuple):
    """The lists of a run, one per topic, in flat arrays.

    Attributes
    ----------
    offsets
        The documents of topic t are ``offsets[t]:offsets[t + 1]``.
    topic, document, rank
        Of each listed document; ranks count from 1.
    top, bottom
        First and last rank of the documents that it is tied with; its rank where ties are broken.
    """

    offsets: Integers
    topic: Integers
    document: Integers
    rank: Integers
    top: Integers
    bottom: Integers

    @property
    def length(self) -> Integers:
        """Length of each list."""
        return np.diff(self.offsets)


class _Pairing(NamedTuple):
    """Two runs, and the documents that both lists of a topic have: their places in each run."""

    first: _ListedRun
    second: _ListedRun
    in_first: Integers
    in_second: Integers

    @property
    def longer(self) -> Integers:
        """Length of the longer list of each topic."""
        return np.maximum(self.first.length, self.second.length)

    @property
    def shorter(self) -> Integers:
        """Length of the shorter list of each topic."""
        return np.minimum(self.first.length, self.second.length)


def compare_lists(
    original: Run,
    runs: Sequence[Run],
    *,
    depth: int,
    persistence: float,
    ties: TieVariant | None,
    cut: int | None = None,
    tie_precision: TiePrecision = "double",
) -> ListOverlap:
    """Return how far the lists of runs agree with those of an original.

    Parameters
    ----------
    original, runs
        The runs; a topic that only one of two runs has is an empty list of the other.
    depth, persistence, ties
        As in `ListOverlap`.
    cut
        Use only this many documents of each list.
    tie_precision
        Precision in which retrieval scores tie.
    """
    topics = tuple(sorted({topic for run in (original, *runs) for topic in run.topics}))
    none = np.zeros(0, np.int64)
    unjudged = Qrels(topics, np.zeros(len(topics) + 1, np.int64), (), none, none, (), none)
    lists = read_source_lists(unjudged, (original, *runs), "file", tie_precision)
    lists = lists if cut is None else lists.cut(cut)
    listed = [_list_run(lists, number, tied=ties is not None) for number in range(len(lists.runs))]
    pairings = [_pair_lists(listed[0], other, len(lists.docids)) for other in listed[1:]]
    there = np.stack([one.longer > 0 for one in pairings], axis=1)
    parts = (
        [_identical(one) for one in pairings],
        [_overlap(one, depth) for one in pairings],
        [_rank_biased_overlap(one, persistence, corrected=ties == "b") for one in pairings],
    )
    identical, overlap, rbo = (np.where(there, np.stack(part, axis=1), np.nan) for part in parts)
    names = tuple(run.name for run in runs)
    return ListOverlap(topics, names, identical, overlap, rbo, depth, persistence, ties)


def _identical(pairing: _Pairing) -> Floats:
    """Return 1 for each topic with the same documents in the same order, else 0."""
    first, second, here, there = pairing
    same = first.rank[here] == second.rank[there]
    agreeing = np.bincount(first.topic[here][same], minlength=len(pairing.longer))
    identical: Floats = (agreeing == pairing.longer).astype(np.float64)
    return identical


def _overlap(pairing: _Pairing, depth: int) -> Floats:
    """Return the share of the first documents that both lists have; shorter lists are compared whole."""
    first, second, here, there = pairing
    inside = np.maximum(first.rank[here], second.rank[there]) <= depth
    common = np.bincount(first.topic[here][inside], minlength=len(pairing.longer))
    overlap: Floats = common / np.maximum(np.minimum(pairing.longer, depth), 1)
    return overlap


def _list_run(lists: HeldLists, number: int, *, tied: bool) -> _ListedRun:
    """Return the lists of one run; equal scores are ties, or broken as trec_eval breaks them."""
    topics = len(lists.qrels.topics)
    offsets = lists.offsets[number * topics : (number + 1) * topics + 1]
    span = slice(int(offsets[0]), int(offsets[-1]))
    offsets = offsets - offsets[0]
    topic = np.repeat(np.arange(topics), np.diff(offsets))
    rank = np.arange(len(topic)) - offsets[topic] + 1
    top = bottom = rank
    if tied and len(rank):
        scores = lists.scores[span]
        begins = np.append(True, (scores[1:] != scores[:-1]) | (topic[1:] != topic[:-1]))
        first = np.flatnonzero(begins)
        group = np.cumsum(begins) - 1
        top, bottom = rank[first][group], rank[np.append(first[1:], len(rank)) - 1][group]
    return _ListedRun(offsets, topic, lists.documents[span].astype(np.int64), rank, top, bottom)


def _pair_lists(first: _ListedRun, second: _ListedRun, documents: int) -> _Pairing:
    """Return two runs with the documents that they share; documents have numbers below a limit."""
    key, other = (one.topic * documents + one.document for one in (first, second))
    _, in_first, in_second = np.intersect1d(key, other, assume_unique=True, return_indices=True)
    return _Pairing(first, second, in_first, in_second)


class _Depths(NamedTuple):
    """All depths of all topics, in flat arrays: topic t has depths 1 to the length of its longer list."""

    starts: Integers
    topic: Integers
    depth: Integers

    def count_ranges(self, topic: Integers, first: Integers, last: Integers) -> Integers:
        """Return at each depth how many ranges of depths, from first to last, include it."""
        there = first <= last
        size = len(self.depth) + 1
        begin, end = (
            self.starts[topic[there]] + first[there] - 1,
            self.starts[topic[there]] + last[there],
        )
        changes = np.bincount(begin, minlength=size) - np.bincount(end, minlength=size)
        counts: Integers = np.cumsum(changes[:-1])
        return counts

    def group(self, run: _ListedRun) -> tuple[Integers, Integers, Floats]:
        """Return the tied documents at each depth: first and last rank, and the share of them above.

        Below the end of a list its documents are unseen, and count as untied.
        """
        seen = self.depth <= run.length[self.topic]
        place = (run.offsets[self.topic] + self.depth - 1)[seen]
        top, bottom = self.depth.copy(), self.depth.copy()
        top[seen], bottom[seen] = run.top[place], run.bottom[place]
        return top, bottom, (self.depth - top + 1) / (bottom - top + 1)


def _rank_biased_overlap(pairing: _Pairing, persistence: float, *, corrected: bool) -> Floats:
    """Return RBO_ext of the two lists of each topic ([Webber2010] Eq. 32); 0 where one is empty.

    A tied document counts at each depth by the probability that it is ranked there or above if
    ties are broken at random: variant a of [Corsi2024], equal to Eq. 32 where nothing is tied.

    Parameters
    ----------
    pairing
        The two runs.
    persistence
        Chance that a reader goes on to the next rank: p.
    corrected
        Whether the agreement is divided by what ties leave possible: variant b.
    """
    longer, shorter = pairing.longer, pairing.shorter
    starts = np.cumsum(longer) - longer
    topic = np.repeat(np.arange(len(longer)), longer)
    depths = _Depths(starts, topic, np.arange(len(topic)) - starts[topic] + 1)
    common, norm = _common_documents(depths, pairing)
    scale = norm if corrected else depths.depth
    agreement = common / scale
    end = _at(agreement, starts + shorter - 1, shorter > 0)  # A_s
    beyond = depths.depth > shorter[topic]
    unseen = (depths.depth - shorter[topic]) * end[topic] * _unseen_share(depths, pairing)
    agreement = np.where(beyond, (common + unseen) / scale, agreement)
    weighted = np.bincount(topic, agreement * persistence**depths.depth, minlength=len(longer))
    last = _at(common, starts + longer - 1, longer > 0) + (longer - shorter) * end
    last /= np.maximum(longer, 1)
    beginning = (1.0 - persistence) / persistence * weighted.astype(np.float64)
    return beginning + last * persistence**longer


def _common_documents(depths: _Depths, pairing: _Pairing) -> tuple[Floats, Floats]:
    """Return the expected number of common documents at each depth, and its norm by variant b.

    At a depth, only the documents tied there are partly above, in each list: of the others, all or
    nothing. So four counts of whole numbers suffice.
    """
    topic = pairing.first.topic[pairing.in_first]
    top, bottom = pairing.first.top[pairing.in_first], pairing.first.bottom[pairing.in_first]
    other_top = pairing.second.top[pairing.in_second]
    other_bottom = pairing.second.bottom[pairing.in_second]
    end = pairing.longer[topic]
    both = depths.count_ranges(topic, np.maximum(bottom, other_bottom), end)
    partly_first = depths.count_ranges(topic, np.maximum(top, other_bottom), bottom - 1)
    partly_second = depths.count_ranges(topic, np.maximum(other_top, bottom), other_bottom - 1)
    partly = depths.count_ranges(
        topic, np.maximum(top, other_top), np.minimum(bottom, other_bottom) - 1
    )
    (first, last, share), (second, until, other) = map(depths.group, pairing[:2])
    common = both + share * partly_first + other * partly_second + share * other * partly
    squares = first - 1 + (last - first + 1) * share**2
    other_squares = second - 1 + (until - second + 1) * other**2
    return common, np.sqrt(squares * other_squares)


def _unseen_share(depths: _Depths, pairing: _Pairing) -> Floats:
    """Return how far, on average, the longer list's own documents at each depth are above it."""
    full = np.zeros(len(depths.depth), np.int64)
    partly, share = full.copy(), np.ones(len(full))
    is_longer = pairing.first.length >= pairing.second.length
    for run, common, longer in (
        (pairing.first, pairing.in_first, is_longer),
        (pairing.second, pairing.in_second, ~is_longer),
    ):
        own = longer[run.topic]
        own[common] = False
        topic, top, bottom = run.topic[own], run.top[own], run.bottom[own]
        full += depths.count_ranges(topic, bottom, pairing.longer[topic])
        partly += depths.count_ranges(topic, top, bottom - 1)
        share = np.where(longer[depths.topic], depths.group(run)[2], share)
    average: Floats = (full + share * partly) / np.maximum(full + partly, 1)
    return average


def _at(values: Floats, places: Integers, there: Booleans) -> Floats:
    """Return the values at some places; 0 where there is none."""
    found = np.zeros(len(places))
    found[there] = values[places[there]]
    return found
