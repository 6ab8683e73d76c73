"""Measures of graded relevance.

Every function maps `Rankings` to scores, runs × topics × replicates. Gains below 1 count as 0; a
topic without relevant documents scores 0. A gain map assigns other gains to the levels of the qrels;
which documents are relevant still depends on the levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.ranked_lists.rankings import Rankings, Values
from confir.data.text_numbers import parse_number
from confir.errors import InvalidValueError
from confir.measures.binary import relevant_within, share_of_best
from confir.measures.ratio_sums import accumulate, sums_of_ratios, sums_over_copies

GainMap = dict[int, float]
Dcg = Literal["log2", "exp-log2"]

# Levels of qrels have at most ten digits.
_LEVEL = re.compile(r" *[+-]?[0-9]{1,10} *")
# Sums of gains, and of 2^gain, stay finite below these.
_HIGHEST_GAIN = 1e100
_HIGHEST_EXPONENT = 1000


def ndcg(
    rankings: Rankings, *, cutoff: int | None = None, dcg: Dcg = "log2", gains: str | None = None
) -> Floats:
    """Gain discounted by log2(rank + 1), over that of the ideal list (Järvelin & Kekäläinen 2002).

    ``dcg='exp-log2'`` takes ``2^gain - 1`` as the gain (Burges et al. 2005).
    """
    relevant, ideal = relevant_within(rankings, cutoff), ideal_rankings(rankings, gains)
    gained = discounted(relevant, dcg_gain(relevant.gain, dcg, gains), cutoff)
    best = discounted(ideal, dcg_gain(ideal.gain, dcg, gains), cutoff)
    return share_of_best(gained, best[0])


def expected_reciprocal_rank(
    rankings: Rankings, *, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> Floats:
    """Expected 1/rank at which the user stops, satisfied (Chapelle et al. 2009).

    A document satisfies the user with probability ``(2^gain - 1) / 2^gmax``.
    """
    return _stopping(relevant_within(rankings, cutoff), cutoff, gmax, gains)


def normalised_err(
    rankings: Rankings, *, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> Floats:
    """ERR over that of the ideal list."""
    reached = _stopping(relevant_within(rankings, cutoff), cutoff, gmax, gains)
    return share_of_best(
        reached, _stopping(ideal_rankings(rankings, gains), cutoff, gmax, gains)[0]
    )


def rank_biased_precision(
    rankings: Rankings,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: int | None = None,
    gains: str | None = None,
) -> Floats:
    """Expected gain per document for a user who continues with probability p.

    (Moffat & Zobel 2008.) With ``rel`` the gain is 0 or 1; without, it is the document's own.
    """
    check_rbp(p, rel, gains)
    relevant = relevant_within(rankings, cutoff, 1 if rel is None else rel)
    gain = mapped_gain(relevant.gain, gains) if rel is None else np.ones(len(relevant.gain))
    kept = relevant.copies_within(cutoff)
    reading = np.power(p, np.arange(relevant.before.max(initial=0) + 1))
    stopping = 1.0 - np.power(p, np.arange(kept.max(initial=0) + 1))
    # Σ_{j=1..k} (1-p) p^(r+j-1) = p^r (1 - p^k)
    return relevant.total(gain[:, None] * reading[relevant.before] * stopping[kept])


def relative_rbp(rankings: Rankings, *, p: float = 0.9) -> Floats:
    """RBP as trec_eval 10 defines it: gains over the topic's highest, where that is above 1."""
    scores = rank_biased_precision(rankings, p=p)
    highest = np.where(rankings.counts > 0, rankings.levels[:, None], 1).max(axis=1, initial=1)
    return np.asarray(scores / highest, np.float64)


def q_measure(
    rankings: Rankings, *, cutoff: int | None = None, beta: float = 1.0, gains: str | None = None
) -> Floats:
    """AP with precision blended with cumulative gain over the ideal's (Sakai 2004).

    ``Q = 1/R Σ_r I(r) (β cg(r) + C(r)) / (β cg*(r) + r)``; ``Q@k`` divides by min(R, k).
    """
    if beta < 0:
        raise InvalidValueError(f"Q's beta is {beta}; expected a number of 0 or more")
    ordered = by_mapped_gain(rankings, gains)
    relevant = relevant_within(ordered, cutoff)
    kept = relevant.copies_within(cutoff)
    if kept.max(initial=0) <= 1:
        blended = relevant.total(kept * _single_ratios(ordered, relevant, kept, beta, gains))
    else:
        before = relevant.before if cutoff is None else np.minimum(relevant.before, cutoff)
        counted = replace(relevant, before=before, copies=kept)
        ideal = beta * ideal_gains(ordered, gains, deepest=cutoff)
        blended = sums_of_ratios(counted, beta * mapped_gain(counted.gain, gains) + 1.0, ideal)
    total = rankings.count_at_least(1)
    return share_of_best(blended, total if cutoff is None else np.minimum(total, cutoff))


def check_rbp(p: float, rel: int | None, gains: str | None) -> None:
    """Raise if RBP has no such parameters."""
    if not 0 < p < 1:
        raise InvalidValueError(f"RBP's p is {p}; expected a number between 0 and 1")
    if rel is not None and gains is not None:
        raise InvalidValueError("RBP takes rel or gains, not both: with rel the gain is 0 or 1")


def mapped_gain(gain: Integers, gains: str | None) -> Floats:
    """Return gains with a map such as "1:1,2:3" applied; other gains are unchanged."""
    mapped = gain.astype(np.float64)
    if gains is not None:
        for level, value in parse_gains(gains).items():
            mapped[gain == level] = value
    return mapped


def parse_gains(gains: str) -> GainMap:
    """Return the gain map of a string such as "1:1,2:3"."""
    mapping: GainMap = {}
    for pair in gains.split(","):
        level, _, value = pair.partition(":")
        gain = parse_number(value)
        if _LEVEL.fullmatch(level) is None or gain is None:
            raise InvalidValueError(
                f"gains={gains!r} is not a gain map; expected one such as '1:1,2:3'"
            )
        key = int(level)
        if key in mapping:
            raise InvalidValueError(f"gains={gains!r} names level {key} twice")
        if not 0 <= gain <= _HIGHEST_GAIN:
            raise InvalidValueError(f"gains={gains!r} has a gain outside [0, {_HIGHEST_GAIN:g}]")
        if key < 1 and gain > 0:
            raise InvalidValueError(
                f"gains={gains!r} gives level {key} a gain; levels below 1 are not relevant"
            )
        mapping[key] = gain
    return mapping


def discounted(rankings: Rankings, gain: Floats, cutoff: int | None) -> Floats:
    """Return the discounted cumulative gain of each list."""
    before, kept = rankings.before, rankings.copies_within(cutoff)
    last = before + kept
    logarithms = np.log2(np.arange(2, max(before.max(initial=0), last.max(initial=0)) + 3))
    if kept.max(initial=0) <= 1:
        # One division per document, as in trec_eval: equal to the last bit.
        return rankings.total(kept * gain[:, None] / logarithms[before])
    discounts = np.concatenate(([0.0], np.cumsum(1.0 / logarithms)))
    return rankings.total(gain[:, None] * (discounts[last] - discounts[before]))


def over_copies(kept: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield 1, 2, … with the cells (flat indices) that have at least that many copies."""
    copy, cells = 1, np.flatnonzero(kept)
    while len(cells):
        yield copy, cells
        cells = cells[kept.ravel()[cells] > copy]
        copy += 1


def dcg_gain(
    gain: Integers, dcg: str, gains: str | None, highest: int = _HIGHEST_EXPONENT
) -> Floats:
    """Return the gains that DCG sums; raise if 2 to the power of one is too large."""
    mapped = mapped_gain(gain, gains)
    if dcg == "log2":
        return mapped
    if mapped.max(initial=0.0) > highest:
        raise InvalidValueError(
            f"a gain of {mapped.max():g} is too high for dcg='exp-log2'; expected at most {highest}"
        )
    return np.exp2(mapped) - 1.0


def by_mapped_gain(rankings: Rankings, gains: str | None) -> Rankings:
    """Return the rankings with their levels in ascending order of the mapped gains."""
    order = np.argsort(mapped_gain(rankings.levels, gains), kind="stable")
    return replace(rankings, levels=rankings.levels[order], counts=rankings.counts[:, order])


def ideal_rankings(rankings: Rankings, gains: str | None) -> Rankings:
    """Return the ideal lists, best mapped gain first."""
    return by_mapped_gain(rankings, gains).ideal()


def _counts_by_level(rankings: Rankings) -> Iterator[tuple[int, Booleans, Integers]]:
    """Yield each recorded level, its documents, and how many of them are above each document."""
    for level in rankings.levels.tolist():
        here = rankings.gain == level
        if here.any():
            yield level, here, rankings.copies_above(here)


def _stopping(rankings: Rankings, cutoff: int | None, gmax: int, gains: str | None) -> Floats:
    """Return ERR: each copy at rank r adds (1/r) · stop · Π_{above}(1 - stop)."""
    stop = stop_probabilities(rankings, gmax, gains)
    value = _satisfied(rankings.before, rankings.copies_within(cutoff), stop)
    value *= _reached(rankings, stop)
    return rankings.total(value)


def _reached(rankings: Rankings, stop: Floats) -> Floats:
    """Return the probability that the user continues past all copies above each document."""
    reached: Floats = np.ones(rankings.before.shape)
    if rankings.before.shape[1] == 1:
        for _, here, above in _counts_by_level(rankings):
            reached *= np.power(1.0 - stop[here][0], np.arange(above.max() + 1))[above]
        return reached
    stops, kind = np.unique(stop, return_inverse=True)
    going_on = np.power(1.0 - stops[:, None], np.arange(rankings.copies.max(initial=0) + 1))
    passed = going_on.take(rankings.copies + going_on.shape[1] * kind[:, None])
    for start, end in pairwise(rankings.offsets.tolist()):
        if start < end:
            reached[start + 1 : end] = passed[start : end - 1]
            accumulate(np.multiply, reached[start:end])
    return reached


def _satisfied(before: Integers, copies: Integers, stop: Floats) -> Floats:
    """Return ``Σ_{j=1..k} stop (1 - stop)^(j-1) / (r + j)`` for k copies under r documents.

    If few different sums occur often, each is computed once.
    """
    stops, kind = np.unique(stop, return_inverse=True)
    ranks, most = int(before.max(initial=0)) + 1, int(copies.max(initial=0)) + 1
    if len(stops) * most * ranks >= copies.size:
        return _satisfied_by_copy(before, copies, stop)
    table = np.stack([_satisfaction_sums(one, most, ranks) for one in stops.tolist()])
    place = copies + most * kind[:, None]
    place *= ranks
    place += before
    value: Floats = table.take(place)
    return value


def _satisfaction_sums(stop: float, most: int, ranks: int) -> Floats:
    """Return the sums of one probability for 0, 1, … copies under 0, 1, … documents."""
    rank = np.arange(ranks)
    return sums_over_copies(lambda k: stop * (1.0 - stop) ** (k - 1) / (rank + k), most, ranks)


def _satisfied_by_copy(before: Integers, copies: Integers, stop: Floats) -> Floats:
    value = np.zeros(copies.shape)
    for copy, cells in over_copies(copies):
        stops_here = (stop * (1.0 - stop) ** (copy - 1))[cells // copies.shape[1]]
        value.ravel()[cells] += stops_here / (before.ravel()[cells] + copy)
    return value


def stop_probabilities(rankings: Rankings, gmax: int, gains: str | None) -> Floats:
    """Return how probably each document satisfies a reader: (2^gain - 1) / 2^gmax.

    No number overflows on the way.
    """
    highest = mapped_gain(rankings.levels, gains).max()
    if highest > gmax:
        raise InvalidValueError(
            f"the qrels have a gain of {highest:g}, above ERR's gmax={gmax}; use a higher one, "
            f"as in ERR(gmax={int(np.ceil(highest))})"
        )
    gain = mapped_gain(rankings.gain, gains)
    stop: Floats = np.exp2(gain - gmax) - np.exp2(-float(gmax))
    return stop


def _single_ratios(
    rankings: Rankings, relevant: Rankings, kept: Integers, beta: float, gains: str | None
) -> Floats:
    """Return Q's blended ratio at the rank of each relevant document that occurs once.

    Gains are added one by one from the top, as in the ideal list: a perfect list scores exactly 1.
    """
    rank = relevant.before + 1
    gained = _running_sums(kept * mapped_gain(relevant.gain, gains)[:, None], relevant.offsets)
    seen = _running_sums(kept, relevant.offsets)
    ideal = ideal_gains(rankings, gains, deepest=int(rank.max(initial=0)))
    place = np.minimum(rank, ideal.shape[1] - 1)
    best = ideal[relevant.topic[:, None], place, np.arange(rank.shape[1])]
    ratios: Floats = (beta * gained + seen) / (beta * best + rank)
    return ratios


def _running_sums(values: Values, offsets: Integers) -> Values:
    """Return the sums of each list's values down to each one, added from the top."""
    sums = np.empty_like(values)
    for start, stop in pairwise(offsets.tolist()):
        np.cumsum(values[start:stop], axis=0, out=sums[start:stop])
    return sums


def ideal_gains(rankings: Rankings, gains: str | None, deepest: int | None) -> Floats:
    """Return the gain of the ideal lists' first 0, 1, … documents, up to the last relevant one.

    Topics × ranks × replicates, for levels in ascending order of gain, down to ``deepest``. Time
    and memory do not grow with the product of levels and ranks.
    """
    relevant = rankings.levels >= 1
    gain = np.append(mapped_gain(rankings.levels[relevant], gains)[::-1], 0.0)
    end_of_level = np.cumsum(rankings.counts[:, relevant][:, ::-1], axis=1)
    topics, _, replicates = end_of_level.shape
    end = int(end_of_level[:, -1:].max(initial=0))
    ranks = 1 + (end if deepest is None else min(end, deepest))
    # The level of the document at a rank follows all levels that end above it.
    place = np.minimum(end_of_level, ranks)
    place += (ranks + 1) * np.arange(topics)[:, None, None]
    place *= replicates
    place += np.arange(replicates)
    ended = np.bincount(place.ravel(), minlength=topics * (ranks + 1) * replicates)
    level = np.cumsum(ended.reshape(topics, ranks + 1, replicates)[:, : ranks - 1], axis=1)
    cumulated = np.zeros((topics, ranks, replicates))
    np.cumsum(gain[level], axis=1, out=cumulated[:, 1:])
    return cumulated
