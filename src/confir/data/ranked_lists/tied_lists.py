"""Tied documents of a list, whose order equal retrieval scores leave open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers, SingleFloats
from confir.data.ranked_lists.held_lists import HeldLists, TopicLists, topic_blocks
from confir.data.ranked_lists.rankings import Rankings, stack_rankings
from confir.data.run import TiePrecision


class TieGroups(NamedTuple):
    """Groups of equal scores; a document that no other is tied with is one of its own.

    Attributes
    ----------
    starts
        Place of each group's first document among all listed documents.
    sizes
        Number of documents in each group.
    """

    starts: Integers
    sizes: Integers


def tie_groups(lists: HeldLists, precision: TiePrecision = "double") -> TieGroups:
    """Return the groups of documents with equal scores in each list, in the order of the lists."""
    scores = _compared(lists.scores, precision)
    first = np.ones(len(scores), bool)  # documents that start a group of equal scores
    np.not_equal(scores[1:], scores[:-1], out=first[1:])
    first[lists.offsets[:-1][np.diff(lists.offsets) > 0]] = True
    starts = np.flatnonzero(first)
    return TieGroups(starts, np.diff(starts, append=len(scores)))


def _compared(scores: Floats, precision: TiePrecision) -> Floats | SingleFloats:
    """Return retrieval scores in the precision in which they are compared."""
    with np.errstate(over="ignore"):
        return scores if precision == "double" else scores.astype(np.float32)


def count_ties(lists: TopicLists, precision: TiePrecision = "double") -> tuple[Integers, Integers]:
    """Return how many documents of each run are tied with another, and its largest tied group."""
    tied, largest = np.zeros((2, len(lists.runs)), np.int64)
    for start, stop in topic_blocks(lists.depth):
        scores = _compared(lists.scores_of_topics(start, stop), precision)
        ends = np.cumsum(lists.depth[:, start:stop])
        equal = np.append(scores[1:] == scores[:-1], False)  # to the next one
        equal[ends[ends > 0] - 1] = False
        places = np.flatnonzero(equal)
        groups = np.flatnonzero(np.diff(places, prepend=-2) > 1)
        sizes = np.diff(groups, append=len(places)) + 1
        run = np.searchsorted(ends[stop - start - 1 :: stop - start], places[groups], side="right")
        tied += np.bincount(run, sizes, len(tied)).astype(np.int64)
        np.maximum.at(largest, run, sizes)
    return tied, largest


@dataclass(frozen=True, slots=True, eq=False)
class TiedRankings(Rankings):
    """Rankings in which a tied document stands at each rank of its group, as copies of itself.

    ``before`` counts the documents above the group, and ``copies`` those in it. Sums over a list
    give each copy its probability, one by the size of the group: a score that is a sum over ranks
    is the expected one.

    Attributes
    ----------
    limit
        The rank at which the lists are cut, whatever the order of tied documents; None for whole
        lists.
    """

    limit: int | None = None

    def copies_within(self, cutoff: int | Integers | None) -> Integers:
        """Return how many ranks of each document's group are among the first ``cutoff``."""
        if self.limit is not None:
            cutoff = self.limit if cutoff is None else np.minimum(cutoff, self.limit)
        return Rankings.copies_within(self, cutoff)

    def total(self, values: Floats | Integers) -> Floats:
        """Return the expected sum of ``values``, which are sums over the ranks of a group."""
        return Rankings.total(self, values / self.copies)

    def ideal(self, rel: int = 1) -> Rankings:
        """Return the best list of each topic, which is not cut."""
        return Rankings.ideal(replace(self, limit=None), rel)


def tied_rankings(lists: HeldLists, groups: TieGroups, depth: int | None = None) -> TiedRankings:
    """Return the judged documents of all lists, each at all ranks of its group of tied ones."""
    plain = stack_rankings(lists.rankings())
    place = lists.offsets[:-1][plain.lists] + plain.before[:, 0]
    group = np.searchsorted(groups.starts, place, side="right") - 1
    before = groups.starts[group] - lists.offsets[:-1][plain.lists]
    fields = {name: getattr(plain, name) for name in Rankings.__slots__}
    fields |= {"before": before[:, None], "copies": groups.sizes[group][:, None]}
    if depth is not None:
        fields["depth"] = np.minimum(plain.depth, depth)
    return TiedRankings(**fields, limit=depth)


def order_ties(lists: HeldLists, groups: TieGroups, worth: Integers) -> HeldLists:
    """Return the lists with tied documents in descending order of their worth.

    Parameters
    ----------
    lists, groups
        The lists, and their groups of tied documents.
    worth
        Of each document of the qrels; unjudged ones have 0.
    """
    tied = np.flatnonzero(np.repeat(groups.sizes > 1, groups.sizes))
    group = np.repeat(np.arange(len(groups.sizes)), groups.sizes)[tied]
    judged = lists.judgements[tied]
    order = tied[np.lexsort((-np.where(judged < 0, 0, worth[judged]), group))]
    documents, judgements = lists.documents.copy(), lists.judgements.copy()
    documents[tied], judgements[tied] = lists.documents[order], lists.judgements[order]
    return replace(lists, documents=documents, judgements=judgements)
