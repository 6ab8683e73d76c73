"""Measures of binary relevance.

Every function maps `Rankings` to scores, runs × topics × replicates. A topic without relevant
documents scores 0, as in trec_eval. ``r`` documents are above a document, ``c`` of them relevant.
"""

from __future__ import annotations

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.ranked_lists.rankings import Rankings

# A rank that no document has.
_NEVER = np.iinfo(np.int64).max


def average_precision(rankings: Rankings, *, cutoff: int | None = None, rel: int = 1) -> Floats:
    """Mean over relevant documents of the precision at their rank, 0 if not retrieved."""
    relevant = relevant_within(rankings, cutoff, rel)
    before, above, copies = relevant.before, relevant.copies_above(), relevant.copies_within(cutoff)
    if copies.max(initial=0) <= 1:
        precisions = copies * (above + 1) / (before + 1)
    else:  # Σ_{j=1..k} (c+j)/(r+j) = k - (r-c)(H_{r+k} - H_r) for k copies
        last = before + copies
        harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, last.max() + 1))))
        precisions = copies - (before - above) * (harmonic[last] - harmonic[before])
    return share(relevant.total(precisions), rankings.count_at_least(rel))


def precision(rankings: Rankings, *, cutoff: int, rel: int = 1) -> Floats:
    """Share of the first k documents that are relevant."""
    return _retrieved(rankings, cutoff, rel) / cutoff


def recall(rankings: Rankings, *, cutoff: int, rel: int = 1) -> Floats:
    """Share of the relevant documents that are among the first k."""
    return share(_retrieved(rankings, cutoff, rel), rankings.count_at_least(rel))


def r_precision(rankings: Rankings, *, rel: int = 1) -> Floats:
    """Precision at rank R, the number of relevant documents."""
    total = rankings.count_at_least(rel)
    relevant = relevant_within(rankings, int(total.max(initial=0)), rel)
    return share(relevant.total(relevant.copies_within(_by_document(relevant, total))), total)


def reciprocal_rank(rankings: Rankings, *, cutoff: int | None = None, rel: int = 1) -> Floats:
    """Reciprocal of the rank of the first relevant document."""
    relevant = relevant_within(rankings, cutoff, rel)
    found = np.where(relevant.copies > 0, relevant.before, _NEVER)
    first = relevant.least(found, _NEVER)
    return (first < (_NEVER if cutoff is None else cutoff)) / (first + 1.0)


def success(rankings: Rankings, *, cutoff: int, rel: int = 1) -> Floats:
    """Whether any of the first k documents is relevant: 1 or 0."""
    return (_retrieved(rankings, cutoff, rel) > 0).astype(np.float64)


def binary_preference(rankings: Rankings, *, rel: int = 1) -> Floats:
    """How rarely judged non-relevant documents are above relevant ones (Buckley & Voorhees 2004).

    Each relevant document contributes ``1 - min(c, m)/m``, with ``c`` judged non-relevant documents
    above it and ``m = min(R, N)``; negative gains count as unjudged, as in trec_eval.
    """
    is_relevant = rankings.gain >= rel
    not_relevant = (rankings.gain >= 0) & ~is_relevant
    above = rankings.copies_above(not_relevant, is_relevant)
    relevant = rankings.only(is_relevant)
    total = rankings.count_at_least(rel)
    bound = _by_document(relevant, np.minimum(total, rankings.count_at_least(0) - total))
    preference = 1.0 - np.minimum(above, bound) / np.maximum(bound, 1)
    return share(relevant.total(preference * relevant.copies), total)


def judged_share(rankings: Rankings, *, cutoff: int | None = None) -> Floats:
    """Share of the first k documents, or of a shorter list, that are judged."""
    depth = rankings.depth if cutoff is None else np.minimum(rankings.depth, cutoff)
    return share(rankings.total(rankings.copies_within(cutoff)), depth)


def count_retrieved(rankings: Rankings) -> Floats:
    """Length of the list."""
    return rankings.depth.astype(np.float64)


def count_relevant(rankings: Rankings, *, rel: int = 1) -> Floats:
    """Number of relevant documents, retrieved or not."""
    total = rankings.count_at_least(rel).astype(np.float64)
    return np.broadcast_to(total, (len(rankings.runs), *total.shape)).copy()


def count_relevant_retrieved(rankings: Rankings, *, rel: int = 1) -> Floats:
    """Number of relevant documents in the list."""
    return _retrieved(rankings, None, rel)


def relevant_within(rankings: Rankings, cutoff: int | None, rel: int = 1) -> Rankings:
    """Return the lists with only the relevant documents that may be among the first k.

    Documents below the cutoff in every replicate are dropped, which makes measures with a small
    cutoff fast.
    """
    if cutoff is None:
        return rankings.at_least(rel)
    return rankings.only((rankings.gain >= rel) & (rankings.before < cutoff).any(axis=1))


def share(part: Floats, whole: Floats | Integers) -> Floats:
    """Return part / whole, 0 where the whole is 0; wholes by topic are broadcast over runs."""
    shares: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return shares


def share_of_best(part: Floats, best: Floats | Integers) -> Floats:
    """Return part / best, at most 1 despite rounding."""
    return np.minimum(share(part, best), 1.0)


def _retrieved(rankings: Rankings, cutoff: int | None, rel: int) -> Floats:
    relevant = relevant_within(rankings, cutoff, rel)
    return relevant.total(relevant.copies_within(cutoff))


def _by_document(rankings: Rankings, values: Integers) -> Integers:
    """Return values by topic (topics × replicates) for each recorded document.

    Those of a single topic are broadcast.
    """
    return values if len(values) == 1 else values[rankings.topic]
