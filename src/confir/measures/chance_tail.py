"""How often does chance do at least as well? Tail probabilities of the AP of random rankings.

Exact where the rankings can be listed or there is one relevant document, else by simulation, with
limits for the simulation's own error. Independent topics are combined by Fisher's method.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import InvalidValueError
from confir.measures.chance import expected_random_ap
from confir.order import TIE

# Lists of ranks that are enumerated rather than sampled.
_FEW_RANKINGS = 100_000
# Ranks drawn at a time: what fits the processor's cache, near enough.
_BLOCK = 1_000_000
# numpy draws hypergeometric numbers for smaller collections only.
_LARGEST_URN = 10**9
# Level of the limits for the simulation's error.
ERROR_LEVEL = 0.99


class Tail(NamedTuple):
    """The probability that chance does at least as well, for each observed score.

    Attributes
    ----------
    p
        The probability; simulated, ``(1 + draws that do as well) / (1 + draws)``: no p-value is 0.
    low, high
        Limits that contain the true probability at `ERROR_LEVEL`; equal to p where that is exact.
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
        Observed APs; NaN where there is none.
    draws, rng
        Random rankings to draw, where they are too many to list, and their generator.
    """
    expected_random_ap(documents, relevant, depth)  # checks them
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
    """Return the combined p-value of independent ones, by Fisher's method; NaN for none."""
    from scipy.special import chdtrc

    known = p[~np.isnan(p)]
    if len(known) == 0:
        return math.nan
    with np.errstate(divide="ignore"):
        return float(chdtrc(2.0 * len(known), -2.0 * np.log(known).sum()))


def combine_tails(tail: Tail, draws: int) -> tuple[float, float, float]:
    """Return the combined probability of independent topics, and the limits of its error.

    Each simulated p exceeds α with a probability of 1-α at least where there is only chance, and so
    does what Fisher's method makes of independent ones, for any number of draws. But p cannot fall
    below what the draws of the topics allow, so that it says little about the exact combined
    probability. That is between the limits, at `ERROR_LEVEL`: those of the k simulated topics hold
    all at once with 1/k of the error each, and combining is monotone. The lower limit is 0 where
    some topic has no draw that does as well.

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
    expected_random_ap(documents, relevant, depth)  # checks them
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
    """Return the limits of a probability estimated from a number of draws, half the error each."""
    from scipy.special import betaincinv

    rest = draws - count
    low = np.where(count > 0, betaincinv(np.maximum(count, 1), rest + 1, error / 2.0), 0.0)
    high = np.where(rest > 0, betaincinv(count + 1, np.maximum(rest, 1), 1.0 - error / 2.0), 1.0)
    return low, high


def _count_at_least(values: Floats, observed: Floats) -> Integers:
    return len(values) - np.searchsorted(values, observed - TIE)


def _enumerate(documents: int, relevant: int, length: int) -> Floats:
    """Return the AP of every ranking, one for each choice of ranks for the relevant documents."""
    choices = combinations(range(1, documents + 1), relevant)
    count = math.comb(documents, relevant)
    ranks = np.fromiter(chain.from_iterable(choices), np.int64, count * relevant)
    return _sum_precisions(ranks.reshape(count, relevant), length) / relevant


def _sum_precisions(ranks: Integers, length: int) -> Floats:
    """Return Σ i/rank_i over the ranks of each row, ascending, that the list reaches."""
    place = np.arange(1.0, ranks.shape[1] + 1.0)
    sums: Floats = np.where(ranks <= length, place / ranks, 0.0).sum(axis=1)
    return sums


def _precision_sums(
    documents: int, found: Integers, length: int, rng: np.random.Generator
) -> Floats:
    """Return Σ i/rank_i for each number of relevant documents, at random ranks of a list."""
    most = int(found.max(initial=0))
    if 2 * most < documents:
        return _sum_precisions(_draw_ranks(documents, found, most, rng), length)
    relevant = rng.permuted(np.arange(documents) < found[:, None], axis=1)[:, :length]
    precision = np.cumsum(relevant, axis=1) / np.arange(1.0, length + 1.0)
    sums: Floats = (relevant * precision).sum(axis=1)
    return sums


def _draw_ranks(documents: int, found: Integers, most: int, rng: np.random.Generator) -> Integers:
    """Return random distinct ranks, ascending, a row for each number; the rest lies beyond.

    Ranks drawn twice are drawn again. No rank is preferred in this, so every set is as likely.
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
    """Yield the rows that contain a rank twice, until there are none."""
    rows = np.arange(len(ranks))
    while len(rows):
        part = ranks[rows]
        rows = rows[(part[:, 1:] == part[:, :-1]).any(axis=1)]
        if len(rows):
            yield rows
