"""Measures that weigh documents by their gain.

Every function maps `Rankings` to scores, runs × topics × replicates. Gains below 1 count as 0; a
topic without relevant documents scores 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.rankings import Rankings
from confir.errors import InvalidValueError
from confir.measures.binary import share

GainMap = dict[int, float]
Dcg = Literal["log2", "exp-log2"]


def ndcg(
    rankings: Rankings,
    *,
    cutoff: int | None = None,
    dcg: Dcg = "log2",
    gains: str | None = None,
) -> Floats:
    """Gain discounted by log2(rank + 1), over that of the ideal list (Järvelin & Kekäläinen 2002).

    ``dcg='exp-log2'`` takes ``2^gain - 1`` as the gain (Burges et al. 2005).
    """
    relevant, ideal = rankings.at_least(1), _ideal(rankings, gains)
    gained = discounted(relevant, _dcg_gain(relevant.gain, dcg, gains), cutoff)
    best = discounted(ideal, _dcg_gain(ideal.gain, dcg, gains), cutoff)
    return share(gained, best[0])


def expected_reciprocal_rank(
    rankings: Rankings, *, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> Floats:
    """Expected 1/rank at which a reader stops, satisfied (Chapelle et al. 2009).

    A document satisfies with probability ``(2^gain - 1) / 2^gmax``.
    """
    return _stopping(rankings.at_least(1), cutoff, gmax, gains)


def normalised_err(
    rankings: Rankings, *, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> Floats:
    """ERR over that of the ideal list."""
    ideal = _stopping(_ideal(rankings, gains), cutoff, gmax, gains)
    return share(_stopping(rankings.at_least(1), cutoff, gmax, gains), ideal[0])


def rank_biased_precision(
    rankings: Rankings,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: int | None = None,
    gains: str | None = None,
) -> Floats:
    """Expected gain per document read by someone who goes on with probability p.

    (Moffat & Zobel 2008.) With ``rel`` the gain is 0 or 1; without, it is the document's own.
    """
    if not 0 < p < 1:
        raise InvalidValueError(f"RBP's p is {p}; expected a number between 0 and 1")
    relevant = rankings.at_least(1 if rel is None else rel)
    gain = mapped_gain(relevant.gain, gains) if rel is None else np.ones(len(relevant.gain))
    kept = relevant.copies_within(cutoff)
    # Σ_{j=1..k} (1-p) p^(r+j-1) = p^r (1 - p^k)
    weight = np.power(p, relevant.before) * -np.expm1(kept * np.log(p))
    return relevant.total(gain[:, None] * weight)


def q_measure(
    rankings: Rankings, *, cutoff: int | None = None, beta: float = 1.0, gains: str | None = None
) -> Floats:
    """AP with precision blended with cumulative gain against the ideal's (Sakai 2004).

    ``Q = 1/R Σ_r I(r) (β cg(r) + C(r)) / (β cg*(r) + r)``; ``Q@k`` divides by min(R, k).
    """
    relevant = rankings.at_least(1)
    total = rankings.count_at_least(1)
    gain = mapped_gain(relevant.gain, gains)[:, None]
    count = relevant.above(relevant.copies)
    cumulated = _gain_above(relevant, gains)
    kept = relevant.copies_within(cutoff)
    blended = np.zeros(kept.shape)
    for copy in range(1, kept.max(initial=0) + 1):
        rank = relevant.before + copy
        ratio = (beta * (cumulated + copy * gain) + count + copy) / (
            beta * _ideal_cumulated(rankings, relevant.topic, rank, gains) + rank
        )
        blended += np.where(kept >= copy, ratio, 0.0)
    bound = total if cutoff is None else np.minimum(total, cutoff)
    return share(relevant.total(blended), bound)


def mapped_gain(gain: Integers, gains: str | None) -> Floats:
    """Return gains with a map such as "1:1,2:3" applied; gains that it does not name stay."""
    mapped = gain.astype(np.float64)
    for level, value in parse_gains(gains).items():
        mapped[gain == level] = value
    return mapped


def parse_gains(gains: str | None) -> GainMap:
    """Return the gain map that a text such as "1:1,2:3" describes."""
    if gains is None:
        return {}
    mapping: GainMap = {}
    for pair in gains.split(","):
        level, _, value = pair.partition(":")
        try:
            mapping[int(level)] = float(value)
        except ValueError:
            raise InvalidValueError(
                f"gains={gains!r} is no gain map; expected one such as '1:1,2:3'"
            ) from None
        if not 0 <= mapping[int(level)] < np.inf:
            raise InvalidValueError(f"gains={gains!r} has a gain outside [0, ∞)")
    return mapping


def _ideal(rankings: Rankings, gains: str | None) -> Rankings:
    """Return the ideal lists; a gain map may not turn the order of the gains around."""
    levels = rankings.levels[rankings.levels >= 1]
    if (np.diff(mapped_gain(levels, gains)) < 0).any():
        raise InvalidValueError(f"gains={gains!r} gives a higher level a lower gain")
    return rankings.ideal()


def discounted(rankings: Rankings, gain: Floats, cutoff: int | None) -> Floats:
    """Return the discounted cumulative gain of each list."""
    kept = rankings.copies_within(cutoff)
    return rankings.total(gain[:, None] * _discounts(rankings.before, kept))


def _dcg_gain(gain: Integers, dcg: Dcg, gains: str | None) -> Floats:
    mapped = mapped_gain(gain, gains)
    return np.exp2(mapped) - 1.0 if dcg == "exp-log2" else mapped


def _discounts(before: Integers, copies: Integers) -> Floats:
    """Return the sum of 1/log2(rank + 1) over the ranks of a document's copies."""
    if copies.max(initial=0) <= 1:
        return copies / np.log2(before + 2)
    last = before + copies
    sums = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(np.arange(2, last.max() + 2)))))
    between: Floats = sums[last] - sums[before]
    return between


def _stopping(rankings: Rankings, cutoff: int | None, gmax: int, gains: str | None) -> Floats:
    """Return ERR: each copy at rank r adds (1/r) · stop · Π_{above}(1 - stop)."""
    highest = mapped_gain(rankings.levels, gains).max()
    if highest > gmax:
        raise InvalidValueError(
            f"the qrels have a gain of {highest:g}, above ERR's gmax={gmax}; name a higher one, "
            f"as in ERR(gmax={int(np.ceil(highest))})"
        )
    stop = (np.exp2(mapped_gain(rankings.gain, gains)) - 1.0) / 2.0**gmax
    going_on = np.zeros(rankings.before.shape)
    for level in np.unique(rankings.gain):
        same = rankings.gain == level
        seen = rankings.above(np.where(same[:, None], rankings.copies, 0))
        going_on += seen * np.log1p(-stop[same][0])
    kept = rankings.copies_within(cutoff)
    reached = np.exp(going_on)
    value = np.zeros(kept.shape)
    for copy in range(1, kept.max(initial=0) + 1):
        value += np.where(kept >= copy, reached * stop[:, None] / (rankings.before + copy), 0.0)
        reached *= 1.0 - stop[:, None]
    return rankings.total(value)


def _gain_above(rankings: Rankings, gains: str | None) -> Floats:
    """Return the cumulative gain above each document, exact for any gain map."""
    cumulated = np.zeros(rankings.before.shape)
    for level in np.unique(rankings.gain):
        same = rankings.gain == level
        seen = rankings.above(np.where(same[:, None], rankings.copies, 0))
        cumulated += seen * mapped_gain(level[None], gains)
    return cumulated


def _ideal_cumulated(
    rankings: Rankings, topic: Integers, rank: Integers, gains: str | None
) -> Floats:
    """Return the ideal list's cumulative gain at ranks of lists of the given topics."""
    cumulated = np.zeros(rank.shape)
    start = np.zeros(rankings.counts[:, 0].shape, np.int64)
    for place in np.flatnonzero(rankings.levels >= 1)[::-1]:
        count = rankings.counts[:, place]
        reached = np.clip(rank - start[topic], 0, count[topic])
        cumulated += reached * mapped_gain(rankings.levels[place][None], gains)
        start = start + count
    return cumulated
