"""Tail probabilities of the AP of random rankings.

Exact if the rankings can be enumerated or there is one relevant document, else by simulation, with
limits for the simulation error. Independent topics are combined by Fisher's method.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from confir.arrays import TIE, Floats, Integers
from confir.errors import InvalidValueError
from confir.measures.random_rankings import check_collection

# Up to this many rankings are enumerated rather than sampled.
_FEW_RANKINGS = 100_000
# Ranks drawn at a time: about the size of the processor's cache.
_BLOCK = 1_000_000
# The largest collection for numpy's hypergeometric numbers.
_LARGEST_URN = 10**9
# Confidence level of the limits for the simulation error.
ERROR_LEVEL = 0.99


class Tail(NamedTuple):
    """The probability that a random ranking is at least as good, for each observed score.

    Attributes
    ----------
    p
        The probability; if simulated, ``(1 + draws at least as good) / (1 + draws)``, never 0.
    low, high
        Limits that contain the true probability at `ERROR_LEVEL`; equal to p if p is exact.
    """

    p: Floats
    low: Floats
    high: Floats


def random_ap_tail(
    documents: int,
    relevant: int,
    observed: Floats,
    depth: int | None = None,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Tail:
    """Return the probability that a random ranking has at least the observed AP.

    Parameters
    ----------
    documents, relevant, depth
        As in `expected_random_ap`; numbers.
    observed
        Observed AP values; NaN where missing.
    draws, rng
        Random rankings to draw if they are too many to enumerate, and the generator.
    """
    check_collection(documents, relevant, depth)
    length = documents if depth is None else depth
    if draws < 1:
        raise InvalidValueError(f"draws is {draws}; expected 1 or more")
    if relevant == 0:
        return _exact(np.ones(observed.shape), observed)
    if relevant == 1:
        with np.errstate(divide="ignore"):
            lowest_rank = np.floor(1.0 / np.maximum(observed - TIE, 0.0))
        within = np.where(observed > TIE, np.minimum(lowest_rank, length), documents)
        return _exact(within / documents, observed)
    if _few_rankings(documents, relevant):
        values = np.sort(_enumerate(documents, relevant, length))
        return _exact(_count_at_least(values, observed) / len(values), observed)
    values = np.sort(simulate_random_ap(documents, relevant, depth, draws=draws, rng=rng))
    return _simulated(_count_at_least(values, observed), draws, observed)


def _few_rankings(documents: int, relevant: int) -> bool:
    """Whether there are so few sets of ranks for relevant documents that all can be listed."""
    rankings = 1
    for chosen in range(min(relevant, documents - relevant)):
        rankings = rankings * (documents - chosen) // (chosen + 1)  # C(N, chosen + 1), and growing
        if rankings > _FEW_RANKINGS:
            return False
    return True


def combine_probabilities(p: Floats) -> float:
    """Return the combination of independent p-values by Fisher's method; NaN for none."""
    from scipy.special import chdtrc

    known = p[~np.isnan(p)]
    if len(known) == 0:
        return math.nan
    with np.errstate(divide="ignore"):
        return float(chdtrc(2.0 * len(known), -2.0 * np.log(known).sum()))


def combine_tails(tail: Tail, draws: int) -> tuple[float, float, float]:
    """Return the combined probability of independent topics, and the limits of its error.

    Under the null hypothesis each simulated p is at most α with a probability of at most α, and so
    is their combination by Fisher's method, for any number of draws. But the number of draws limits
    how small p can be, so it says little about the exact combined probability. The limits contain
    that at `ERROR_LEVEL`: those of the k simulated topics hold simultaneously with 1/k of the error
    each (Bonferroni), and the combination is monotone. The lower limit is 0 if on some topic no draw
    was at least as good.

    Parameters
    ----------
    tail
        Probabilities of the topics.
    draws
        Random rankings of each topic that is simulated.
    """
    simulated = tail.low < tail.high
    count = np.rint(tail.p[simulated] * (draws + 1.0)) - 1.0
    error = (1.0 - ERROR_LEVEL) / max(1, len(count))
    limits = [tail.p.copy(), tail.p.copy()]
    for limit, found in zip(limits, _clopper_pearson(count, draws, error), strict=True):
        limit[simulated] = found
    low, high = (combine_probabilities(limit) for limit in limits)
    return combine_probabilities(tail.p), low, high


def simulate_random_ap(
    documents: int, relevant: int, depth: int | None = None, *, draws: int, rng: np.random.Generator
) -> Floats:
    """Return the AP of ``draws`` random rankings; arguments as in `expected_random_ap`."""
    check_collection(documents, relevant, depth)
    length = documents if depth is None else depth
    if relevant == 0:
        return np.zeros(draws)
    drawn_from = length if documents < _LARGEST_URN else documents
    rows = max(1, _BLOCK // max(1, min(relevant, drawn_from)))
    parts = []
    for start in range(0, draws, rows):
        size = min(rows, draws - start)
        if drawn_from == documents:
            found = np.full(size, relevant)
        else:
            found = rng.hypergeometric(relevant, documents - relevant, drawn_from, size)
        parts.append(_precision_sums(drawn_from, found, length, rng) / relevant)
    return np.concatenate(parts)


def _exact(p: Floats, observed: Floats) -> Tail:
    p = np.where(np.isnan(observed), np.nan, p)
    return Tail(p, p, p)


def _simulated(count: Integers, draws: int, observed: Floats) -> Tail:
    """Return the estimate with its limits."""
    limits = ((count + 1) / (draws + 1), *_clopper_pearson(count, draws, 1.0 - ERROR_LEVEL))
    return Tail(*(np.where(np.isnan(observed), np.nan, limit) for limit in limits))


def _clopper_pearson(count: Integers | Floats, draws: int, error: float) -> tuple[Floats, Floats]:
    """Return the Clopper-Pearson limits of a probability, with half the error in each tail."""
    from scipy.special import betaincinv

    rest = draws - count
    low = np.where(count > 0, betaincinv(np.maximum(count, 1), rest + 1, error / 2.0), 0.0)
    high = np.where(rest > 0, betaincinv(count + 1, np.maximum(rest, 1), 1.0 - error / 2.0), 1.0)
    return low, high


def _count_at_least(values: Floats, observed: Floats) -> Integers:
    return len(values) - np.searchsorted(values, observed - TIE)


def _enumerate(documents: int, relevant: int, length: int) -> Floats:
    """Return the AP of every ranking, one per choice of ranks for the relevant documents."""
    choices = combinations(range(1, documents + 1), relevant)
    count = math.comb(documents, relevant)
    ranks = np.fromiter(chain.from_iterable(choices), np.int64, count * relevant)
    return _sum_precisions(ranks.reshape(count, relevant), length) / relevant


def _sum_precisions(ranks: Integers, length: int) -> Floats:
    """Return Σ i/rank_i over the ascending ranks of each row within the list."""
    place = np.arange(1.0, ranks.shape[1] + 1.0)
    sums: Floats = np.where(ranks <= length, place / ranks, 0.0).sum(axis=1)
    return sums


def _precision_sums(
    documents: int, found: Integers, length: int, rng: np.random.Generator
) -> Floats:
    """Return Σ i/rank_i for each number of relevant documents, at random ranks."""
    most = int(found.max(initial=0))
    if 2 * most < documents:
        return _sum_precisions(_draw_ranks(documents, found, most, rng), length)
    relevant = rng.permuted(np.arange(documents) < found[:, None], axis=1)[:, :length]
    precision = np.cumsum(relevant, axis=1) / np.arange(1.0, length + 1.0)
    sums: Floats = (relevant * precision).sum(axis=1)
    return sums


def _draw_ranks(documents: int, found: Integers, most: int, rng: np.random.Generator) -> Integers:
    """Return random distinct ranks, ascending, one row per number, padded with ranks beyond.

    Duplicates are drawn again, which treats all ranks alike, so all sets are equally likely.
    """
    ranks = rng.integers(1, documents + 1, (len(found), most))
    beyond = np.arange(most) >= found[:, None]
    ranks = np.where(beyond, documents + 1 + np.arange(most), ranks)
    ranks.sort(axis=1)
    for rows in _rows_with_repeats(ranks):
        part = ranks[rows]
        repeated = part[:, 1:] == part[:, :-1]
        part[:, 1:][repeated] = rng.integers(1, documents + 1, int(repeated.sum()))
        part.sort(axis=1)
        ranks[rows] = part
    return ranks


def _rows_with_repeats(ranks: Integers) -> Iterator[Integers]:
    """Yield the rows with duplicate ranks, until there are none."""
    rows = np.arange(len(ranks))
    while len(rows):
        part = ranks[rows]
        rows = rows[(part[:, 1:] == part[:, :-1]).any(axis=1)]
        if len(rows):
            yield rows
