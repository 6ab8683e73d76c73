"""Expected scores of lists whose ties are broken at random (McSherry & Najork 2008).

Scores that are sums over ranks need nothing here: `TiedRankings` gives each document its
probability at each rank. The other expectations are exact, too. ``t`` documents are above a group
of ``n`` tied ones, ``m`` of which are relevant; orders of different groups are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.binary import relevant_within, share, share_of_best
from confir.measures.graded import (
    by_mapped_gain,
    expected_reciprocal_rank,
    ideal_gains,
    ideal_rankings,
    mapped_gain,
    stop_probabilities,
)

if TYPE_CHECKING:
    from confir.arrays import Floats, Integers
    from confir.data.ranked_lists.held_lists import HeldLists
    from confir.data.ranked_lists.rankings import Rankings
    from confir.data.ranked_lists.tied_lists import TiedRankings, TieGroups

# Cells of a table of groups × ranks: enough to spread the cost of a numpy call.
_CELLS = 1_000_000


def extreme_lists(
    lists: HeldLists, groups: TieGroups, gains: str | None
) -> tuple[HeldLists, HeldLists]:
    """Return the lists with tied documents worst first, and best first.

    Parameters
    ----------
    lists, groups
        The lists, and their groups of tied documents.
    gains
        The gains that levels of the qrels have.
    """
    from confir.data.ranked_lists.tied_lists import order_ties

    levels, place = np.unique(lists.qrels.gains, return_inverse=True)
    worth = place + 1
    if gains is not None:
        mapped = np.where(levels >= 1, mapped_gain(levels, gains), 0.0)
        by_level = np.empty(len(levels), np.int64)
        by_level[np.lexsort((levels, mapped))] = np.arange(1, len(levels) + 1)
        worth = by_level[place]
    return order_ties(lists, groups, -worth), order_ties(lists, groups, worth)


def expected_average_precision(
    tied: TiedRankings, *, cutoff: int | None = None, rel: int = 1
) -> Floats:
    """Return the expected AP (McSherry & Najork 2008, §2.4)."""
    relevant = relevant_within(tied, cutoff, rel)
    last = int((relevant.before + relevant.copies).max(initial=0))
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, last + 1))))
    ranks = np.arange(last + 1.0)
    weights = (harmonic[None], ranks[None])
    value = np.ones(len(relevant.gain))
    found = _expected_ratios(relevant, value, weights, relevant.copies_within(cutoff))
    return share_of_best(found, tied.count_at_least(rel))


def expected_q_measure(
    tied: TiedRankings, *, cutoff: int | None = None, beta: float = 1.0, gains: str | None = None
) -> Floats:
    """Return the expected Q: that of AP, with other numerators and denominators."""
    if beta < 0:
        raise InvalidValueError(f"Q's beta is {beta}; expected a number of 0 or more")
    ordered = by_mapped_gain(tied, gains)
    relevant = relevant_within(ordered, cutoff)
    last = int((relevant.before + relevant.copies).max(initial=0))
    ideal = ideal_gains(ordered, gains, deepest=last)[:, :, 0]
    ranks = np.arange(1, last + 1)
    under = beta * ideal[:, np.minimum(ranks, ideal.shape[1] - 1)] + ranks
    start = ((0, 0), (1, 0))
    weights = tuple(np.pad(np.cumsum(part, axis=1), start) for part in (1.0 / under, ranks / under))
    value = beta * mapped_gain(relevant.gain, gains) + 1.0
    found = _expected_ratios(relevant, value, weights, relevant.copies_within(cutoff))
    total = tied.count_at_least(1)
    return share_of_best(found, total if cutoff is None else np.minimum(total, cutoff))


def _expected_ratios(
    relevant: Rankings, value: Floats, weights: tuple[Floats, ...], kept: Integers
) -> Floats:
    """Return the expected sum, over relevant documents, of the values down to each by a denominator.

    A document of a group is at its j-th rank with probability 1/n, and each other relevant one of the
    group is then above it with probability (j-1)/(n-1).

    Parameters
    ----------
    relevant
        The relevant documents, with their groups.
    value
        What each document adds to the numerators from its rank on.
    weights
        Sums down to each rank of 1/denominator and of rank/denominator: topics (or one for all) ×
        ranks.
    kept
        Ranks of each document's group that count.
    """
    groups = _groups(relevant)
    t, n, m = relevant.before[:, 0], relevant.copies[:, 0], groups.sizes[groups.of]
    own = np.bincount(groups.of, value, len(groups.sizes)) / np.maximum(groups.sizes, 1)
    sums = np.concatenate(([0.0], np.cumsum(value)))
    starts = np.repeat(sums[relevant.offsets[:-1]], np.diff(relevant.offsets))
    at_first = sums[groups.first[groups.of]] - starts + own[groups.of]
    rise = own[groups.of] * (m - 1) / np.maximum(n - 1, 1)
    row = relevant.topic if len(weights[0]) > 1 else np.zeros(len(t), np.int64)
    last = t + kept[:, 0]
    by_one, by_rank = (part[row, last] - part[row, t] for part in weights)
    return relevant.total(((at_first - rise * (t + 1)) * by_one + rise * by_rank)[:, None])


def expected_reciprocal(tied: TiedRankings, *, cutoff: int | None = None, rel: int = 1) -> Floats:
    """Return the expected RR (McSherry & Najork 2008, §2.5)."""
    relevant = relevant_within(tied, cutoff, rel)
    return _expected_stop(relevant, np.ones(len(relevant.gain)), cutoff, lambda rank: 1.0 / rank)


def expected_success(tied: TiedRankings, *, cutoff: int, rel: int = 1) -> Floats:
    """Return the probability that any of the first k documents is relevant."""
    relevant = relevant_within(tied, cutoff, rel)
    return _expected_stop(relevant, np.ones(len(relevant.gain)), cutoff, np.ones_like)


def expected_err(
    tied: TiedRankings, *, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> Floats:
    """Return the expected ERR."""
    relevant = relevant_within(tied, cutoff)
    stop = stop_probabilities(relevant, gmax, gains)
    return _expected_stop(relevant, stop, cutoff, lambda rank: 1.0 / rank)


def expected_normalised_err(
    tied: TiedRankings, *, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> Floats:
    """Return the expected ERR over that of the ideal list."""
    ideal = ideal_rankings(tied, gains)
    best = expected_reciprocal_rank(ideal, cutoff=cutoff, gmax=gmax, gains=gains)
    return share_of_best(expected_err(tied, cutoff=cutoff, gmax=gmax, gains=gains), best[0])


def expected_preference(tied: TiedRankings, *, rel: int = 1) -> Floats:
    """Return the expected Bpref.

    Of ``d`` judged non-relevant documents of its group, 0, 1, … or d are above a relevant one,
    all with the same probability.
    """
    if tied.limit is not None and (tied.copies_within(None) < tied.copies).any():
        raise UnsupportedMethodError(
            "Bpref has no rule for ties at the depth at which lists are cut; expected whole lists"
        )
    liked = tied.gain >= rel
    disliked = (tied.gain >= 0) & ~liked
    groups = _groups(tied)
    inside = np.bincount(groups.of, disliked, len(groups.sizes)).astype(np.int64)[groups.of]
    counts = np.concatenate(([0], np.cumsum(disliked)))
    starts = np.repeat(counts[tied.offsets[:-1]], np.diff(tied.offsets))
    above = counts[groups.first[groups.of]] - starts
    total = tied.count_at_least(rel)[:, 0]
    bound = np.minimum(total, tied.count_at_least(0)[:, 0] - total)[tied.topic]
    rising = np.clip(bound - above, -1, inside)  # documents more that the bound leaves room for
    summed = (rising + 1) * above + rising * (rising + 1) // 2 + (inside - rising) * bound
    preference = 1.0 - summed / (inside + 1) / np.maximum(bound, 1)
    kept = np.where(liked & (tied.copies_within(None)[:, 0] > 0), preference, 0.0)
    return share(tied.total((kept * tied.copies[:, 0])[:, None]), tied.count_at_least(rel))


class _Groups(NamedTuple):
    """Groups of tied documents among those that are recorded.

    Attributes
    ----------
    of
        The group of each document.
    first
        Place of each group's first document.
    sizes
        Number of documents recorded in each group.
    """

    of: Integers
    first: Integers
    sizes: Integers


def _groups(rankings: Rankings) -> _Groups:
    lists, before = rankings.lists, rankings.before[:, 0]
    starts = np.ones(len(lists), bool)
    starts[1:] = (lists[1:] != lists[:-1]) | (before[1:] != before[:-1])
    first = np.flatnonzero(starts)
    return _Groups(np.cumsum(starts) - 1, first, np.diff(first, append=len(lists)))


def _expected_stop(
    relevant: Rankings, stop: Floats, cutoff: int | None, weigh: Callable[[Floats], Floats]
) -> Floats:
    """Return the expected weight of the rank at which a reader stops.

    With ``g_j`` the mean of Π(1 - stop) over all sets of j documents of a group, the reader stops
    at its j-th rank with probability g_(j-1) - g_j.
    """
    groups = _groups(relevant)
    passed = np.multiply.reduceat(1.0 - stop, groups.first) if len(stop) else stop
    lists = relevant.lists[groups.first]
    reached = _reached(passed, lists)
    kept = relevant.copies_within(cutoff)[groups.first, 0]
    expected = np.zeros(len(groups.first))
    t, n = relevant.before[groups.first, 0], relevant.copies[groups.first, 0]
    single = n == 1
    expected[single] = (1.0 - passed[single]) * weigh(t[single] + 1.0) * (kept[single] > 0)
    for rows in _blocks(np.flatnonzero(~single & (reached > 0) & (kept > 0)), kept):
        going_on = _going_on(groups, rows, n[rows], 1.0 - stop, int(kept[rows].max()))
        ranks = np.arange(1, going_on.shape[1])
        weights = weigh(t[rows, None] + ranks.astype(np.float64)) * (ranks <= kept[rows, None])
        expected[rows] = (-np.diff(going_on, axis=1) * weights).sum(axis=1)
    sums = np.bincount(lists, reached * expected, len(relevant.offsets) - 1)
    return relevant.by_list(sums.astype(np.float64)[:, None])


def _reached(passed: Floats, lists: Integers) -> Floats:
    """Return how probably a reader reaches each group: the product of those above in its list."""
    reached = np.ones(len(passed))
    place = np.arange(len(lists)) - np.searchsorted(lists, lists)
    for depth in range(1, int(place.max(initial=0)) + 1):
        here = np.flatnonzero(place == depth)
        reached[here] = reached[here - 1] * passed[here - 1]
    return reached


def _blocks(groups: Integers, kept: Integers) -> Iterator[Integers]:
    """Yield groups of similar sizes together, as many as a table should have."""
    order = groups[np.argsort(kept[groups], kind="stable")]
    while len(order):
        width = np.arange(1, len(order) + 1) * (kept[order] + 1)
        size = max(int(np.searchsorted(width, _CELLS, side="right")), 1)
        yield order[:size]
        order = order[size:]


def _going_on(
    groups: _Groups, rows: Integers, sizes: Integers, passing: Floats, most: int
) -> Floats:
    """Return the mean of the product over all sets of 0, 1, … documents of some groups.

    Documents that are not recorded always let a reader pass: their product is 1. Each further one
    of N is in a share j/N of the sets of j.
    """
    recorded = groups.sizes[rows]
    place = np.arange(most + 1)
    means = np.ones((len(rows), most + 1))
    for k in range(int(recorded.max(initial=0))):
        active = np.flatnonzero(recorded > k)
        among = (sizes - recorded)[active] + k + 1
        share_in = np.minimum(place / among[:, None], 1.0)
        factor = passing[groups.first[rows[active]] + k][:, None]
        before = means[active]
        after = (1.0 - share_in) * before
        after[:, 1:] += share_in[:, 1:] * factor * before[:, :-1]
        means[active] = after
    return means
