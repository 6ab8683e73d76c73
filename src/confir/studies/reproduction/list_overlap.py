"""Overlap of runs' lists with those of an original: identical lists, overlap at a depth, and RBO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from confir.arrays import Floats
from confir.data.lists.rankings import TiePrecision
from confir.data.lists.whole_lists import WholeLists
from confir.data.qrels import Qrels
from confir.data.result import Result, axis, constant, over, result
from confir.data.run import Run
from confir.data.scanning.list_scanner import scan_sources
from confir.studies.reproduction.rank_biased_overlap import (
    Pairing,
    list_run,
    pair_lists,
    rank_biased_overlap,
)

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
    lists = _listed((original, *runs), tie_precision)
    lists = lists if cut is None else lists.cut(cut)
    listed = [list_run(lists, number, tied=ties is not None) for number in range(len(lists.runs))]
    pairings = [pair_lists(listed[0], other, len(lists.docids)) for other in listed[1:]]
    there = np.stack([one.longer > 0 for one in pairings], axis=1)
    parts = (
        [_identical(one) for one in pairings],
        [_overlap(one, depth) for one in pairings],
        [rank_biased_overlap(one, persistence, corrected=ties == "b") for one in pairings],
    )
    identical, overlap, rbo = (np.where(there, np.stack(part, axis=1), np.nan) for part in parts)
    names = tuple(run.name for run in runs)
    return ListOverlap(lists.qrels.topics, names, identical, overlap, rbo, depth, persistence, ties)


def _listed(runs: Sequence[Run], tie_precision: TiePrecision) -> WholeLists:
    """Return the lists of runs for all of their topics, none of which has judgements."""
    topics = tuple(sorted({topic for run in runs for topic in run.topics}))
    none = np.zeros(0, np.int64)
    unjudged = Qrels(topics, np.zeros(len(topics) + 1, np.int64), (), none, none, (), none)
    return scan_sources(unjudged, runs, "file", tie_precision)


def _identical(pairing: Pairing) -> Floats:
    """Return 1 for each topic with the same documents in the same order, else 0."""
    first, second, here, there = pairing
    same = first.rank[here] == second.rank[there]
    agreeing = np.bincount(first.topic[here][same], minlength=len(pairing.longer))
    identical: Floats = (agreeing == pairing.longer).astype(np.float64)
    return identical


def _overlap(pairing: Pairing, depth: int) -> Floats:
    """Return the share of the first documents that both lists have; shorter lists are compared whole."""
    first, second, here, there = pairing
    inside = np.maximum(first.rank[here], second.rank[there]) <= depth
    common = np.bincount(first.topic[here][inside], minlength=len(pairing.longer))
    overlap: Floats = common / np.maximum(np.minimum(pairing.longer, depth), 1)
    return overlap
