"""Expected scores of random rankings, and their variance: exact, by measure.

N documents, R of them relevant, in random order, the list truncated after ``depth`` documents
([Bestgen2015]). Everything is a closed form or a sum evaluated by `long_sums`: vectorised over arrays
of N, R and depth, without cancellation, and numerically stable from 1 to 10¹² documents. A topic without
relevant documents scores 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from confir.arguments import as_integer, as_reals, invalid
from confir.arrays import Floats
from confir.errors import InvalidValueError, UnsupportedMethodError, enumerate_names
from confir.measures.graded import check_rbp, dcg_gain
from confir.measures.long_sums import (
    discount_sum,
    first_rank_sum,
    harmonic,
    harmonic_between,
    harmonic_squares,
    log_miss_probability,
)
from confir.measures.measure import Measure
from confir.measures.parsing import parse_measure

Counts = int | Sequence[int] | np.ndarray[Any, Any]
CountsByGain = Counts | Mapping[int, Counts]

# Whole numbers up to here are exact in double precision.
MOST_DOCUMENTS = 2**53

# The variance squares 2^gain.
_HIGHEST_EXPONENT = 500


class ChanceMoments(NamedTuple):
    """Mean and variance of the scores of a measure over random rankings."""

    mean: Floats
    variance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RankedCollection:
    """N documents ranked at random: arrays of the same shape.

    Attributes
    ----------
    documents
        N.
    by_gain
        Number of relevant documents of each gain.
    depth
        Length of the list.
    scalar
        Whether the input was plain numbers.
    """

    documents: Floats
    by_gain: dict[int, Floats]
    depth: Floats
    scalar: bool

    def relevant(self, rel: int = 1) -> Floats:
        """Return the number of documents of gain ``rel`` or more."""
        total = np.zeros(self.documents.shape)
        for gain, count in self.by_gain.items():
            if gain >= rel:
                total = total + count
        return total

    def length(self, cutoff: int | None) -> Floats:
        """Return how many documents of the list a measure takes into account."""
        return self.depth if cutoff is None else np.minimum(self.depth, cutoff)


@overload
def expected_random_ap(documents: int, relevant: int, depth: int | None = None) -> float: ...


@overload
def expected_random_ap(
    documents: Counts, relevant: Counts, depth: Counts | None = None
) -> float | Floats: ...


def expected_random_ap(
    documents: Counts, relevant: Counts, depth: Counts | None = None
) -> float | Floats:
    """Return the expected AP of a random ranking, exactly ([Bestgen2015] in closed form).

    A score is good only in relation to that of chance, which is above R/N for AP.

    Parameters
    ----------
    documents, relevant
        Number of documents N in the collection, and R of relevant ones; numbers or arrays.
    depth
        Length of the list; by default all documents are ranked.

    Examples
    --------
    >>> confir.expected_random_ap(5, 2)
    0.5925
    """
    return random_score_moments("AP", documents, relevant, depth)[0]


def expected_random_score(
    measure: str | Measure, documents: Counts, relevant: CountsByGain, depth: Counts | None = None
) -> float | Floats:
    """Return the expected score of a random ranking by a measure, exactly.

    It is what scores of different topics or collections must be compared with: chance does better
    where more of the documents are relevant.

    Parameters
    ----------
    measure
        One of AP, P@k, R@k, Rprec, RR, nDCG, RBP and Success@k, with their parameters.
    documents
        Number of documents in the collection.
    relevant
        Number of relevant documents, all of gain 1; or a mapping of gains to numbers.
    depth
        Length of the list; by default all documents are ranked.

    Examples
    --------
    >>> confir.expected_random_score("P@10", 1000, 10)
    0.01
    """
    return random_score_moments(measure, documents, relevant, depth)[0]


def random_score_moments(
    measure: str | Measure, documents: Counts, relevant: CountsByGain, depth: Counts | None = None
) -> tuple[float | Floats, float | Floats]:
    """Return mean and variance of the score of a random ranking; arguments as above."""
    chosen = parse_measure(measure)
    name = chosen.definition.name
    if name not in _MOMENTS:
        raise UnsupportedMethodError(
            f"the expected {chosen} of a random ranking is not known; measures with a closed form: "
            f"{enumerate_names(_MOMENTS)}"
        )
    collection = check_collection(documents, relevant, depth)
    mean, variance = _MOMENTS[name](collection, **chosen.keywords)
    return (float(mean[0]), float(variance[0])) if collection.scalar else (mean, variance)


def chance_corrected(score: Floats, expected: Floats) -> Floats:
    """Return ``(score - E) / (1 - E)``: 0 for chance, 1 for a perfect list; NaN if E >= 1."""
    room = 1.0 - np.broadcast_to(expected, np.broadcast_shapes(score.shape, expected.shape))
    nothing: Floats = np.full(room.shape, np.nan)
    corrected: Floats = np.divide(score - expected, room, out=nothing, where=room > 0)
    return corrected


def check_collection(
    documents: Counts, relevant: CountsByGain, depth: Counts | None
) -> RankedCollection:
    """Return the numbers as arrays of one shape; raise if no such collection exists."""
    n = _whole("documents", documents, lowest=1)
    levels = relevant if isinstance(relevant, Mapping) else {1: relevant}
    by_gain = {
        as_integer("a gain of relevant", gain, lowest=0): _whole("relevant", count, lowest=0)
        for gain, count in levels.items()
    }
    k = n if depth is None else _whole("depth", depth, lowest=1)
    try:
        n, k, *counts = np.broadcast_arrays(n, k, *by_gain.values())
        scalar = n.ndim == 0
        n, k, *counts = np.atleast_1d(n, k, *counts)
    except ValueError:
        raise InvalidValueError(
            "documents, relevant and depth have incompatible shapes; expected numbers, "
            "or arrays of one shape"
        ) from None
    total = np.zeros(n.shape)
    for count in counts:
        total = total + count
    for part, problem in (
        (total, "{} documents cannot be relevant: the collection has only {}"),
        (k, "a depth of {} exceeds the {} documents of the collection"),
    ):
        wrong = part > n
        if wrong.any():
            raise InvalidValueError(problem.format(int(part[wrong][0]), int(n[wrong][0])))
    return RankedCollection(n, dict(zip(by_gain, counts, strict=True)), k, scalar)


def _whole(name: str, value: Any, lowest: int) -> Floats:
    expected = f"a whole number from {lowest} to {MOST_DOCUMENTS}, or an array of them"
    numbers = as_reals(name, value, expected)
    if np.asarray(value).dtype.kind == "b":
        raise invalid(name, value, expected)
    wrong = ~((numbers >= lowest) & (numbers <= MOST_DOCUMENTS) & (numbers == np.floor(numbers)))
    if wrong.any():
        found = value if numbers.ndim == 0 else numbers[wrong].flat[0]
        raise invalid(name, found, expected)
    return numbers


def average_precision(
    c: RankedCollection, *, cutoff: int | None = None, rel: int = 1
) -> ChanceMoments:
    """Return E(AP), ``(H + (R-1)(k-H)/(N-1)) / N`` with H = H_k, and Var(AP).

    The variance is a sum over pairs of terms, by the ranks that they share:
    ``R·AP = Σ_i X_i/i + Σ_{i<j} X_i X_j/j``, with X_i = 1 where rank i holds a relevant document. Two
    terms on a and b ranks, u of them distinct, have the covariance p_u - p_a p_b, where p_j is the
    probability that j given ranks are all relevant. Each such difference is written as a multiple
    of N - R: the second moment minus the squared mean would cancel for large R.
    """
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    h, g = harmonic(k), harmonic_squares(k)
    left = n - r
    n1, n2, n3 = (np.maximum(n - i, 1.0) for i in (1.0, 2.0, 3.0))
    mean = (h + (r - 1.0) * (k - h) / n1) / n
    p1, p2 = r / n, r * (r - 1.0) / (n * n1)
    # ranks with ranks: the same one, two different ones
    value = p1 * left / n * (g - (h * h - g) / n1)
    # ranks with pairs: the rank in the pair, or outside it
    inside = 2.0 * (h - g) + (h * h - g)
    outside = 2.0 * h * (k - h) - inside
    value += p2 * left / n * (inside - 2.0 * outside / n2)
    # pairs with pairs: the same, sharing a rank, or apart
    same = h - g
    shared = 5.0 * k - 7.0 * h + 4.0 * g - 2.0 * h * h
    apart = (k - h) ** 2 - shared - same
    pairs = (n + r - 1.0) * same + ((n - 2.0) * (r - 2.0) - 2.0) / n2 * shared
    pairs -= ((2.0 * n - 3.0) * (2.0 * r - 3.0) - 3.0) / (n2 * n3) * apart
    value += p2 * left / (n * n1) * pairs
    variance = np.maximum(value, 0.0) / np.maximum(r, 1.0) ** 2
    return ChanceMoments(np.where(r > 0, mean, 0.0), np.where(r > 0, variance, 0.0))


def _found_variance(n: Floats, r: Floats, k: Floats, out_of: Floats | int) -> Floats:
    """Return the variance of (relevant documents among k) / out_of: hypergeometric."""
    variance: Floats = k * r * (n - r) * (n - k) / (n * n * np.maximum(n - 1.0, 1.0))
    return variance / np.square(out_of)


def precision(c: RankedCollection, *, cutoff: int, rel: int = 1) -> ChanceMoments:
    """Return the moments of P@k; the mean is R/N, less where the list is shorter than k."""
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    return ChanceMoments(r / n * k / cutoff, _found_variance(n, r, k, cutoff))


def recall(c: RankedCollection, *, cutoff: int, rel: int = 1) -> ChanceMoments:
    """Return the moments of R@k; the mean is k/N."""
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    variance = _found_variance(n, r, k, np.maximum(r, 1.0))
    return ChanceMoments(np.where(r > 0, k / n, 0.0), variance)


def r_precision(c: RankedCollection, *, rel: int = 1) -> ChanceMoments:
    """Return the moments of Rprec; the mean is R/N, less where the list is shorter than R."""
    n, r = c.documents, c.relevant(rel)
    k = np.minimum(r, c.depth)
    return ChanceMoments(k / n, _found_variance(n, r, k, np.maximum(r, 1.0)))


def success(c: RankedCollection, *, cutoff: int, rel: int = 1) -> ChanceMoments:
    """Return the moments of Success@k: ``1 - C(N-R, k) / C(N, k)``, and a Bernoulli variance."""
    missed = log_miss_probability(c.documents, c.relevant(rel), c.length(cutoff))
    mean: Floats = -np.expm1(missed)
    return ChanceMoments(mean, mean * np.exp(missed))


def reciprocal_rank(
    c: RankedCollection, *, cutoff: int | None = None, rel: int = 1
) -> ChanceMoments:
    """Return the moments of RR.

    The mean is ``R/(N-R+1) (H_N - H_{R-1})`` for a full ranking, else a sum over ranks; the variance
    the mean of (RR - E)², which avoids cancellation.
    """
    n, r, k = c.documents, c.relevant(rel), c.length(cutoff)
    some = np.maximum(r, 1.0)
    mean = some / (n - some + 1.0) * harmonic_between(some - 1.0, n)
    cut = k < n - some + 1.0
    if cut.any():
        mean = np.where(
            cut,
            first_rank_sum(n, some, k, lambda rank, _: 1.0 / rank, lambda rank, _: -1.0 / rank**2),
            mean,
        )
    mean = np.where(r > 0, mean, 0.0)
    found = first_rank_sum(
        n,
        some,
        k,
        lambda rank, where: (1.0 / rank - mean[where]) ** 2,
        lambda rank, where: -2.0 * (1.0 / rank - mean[where]) / rank**2,
    )
    missed = np.exp(log_miss_probability(n, some, k))
    return ChanceMoments(mean, np.where(r > 0, found + missed * mean**2, 0.0))


def _linear(
    c: RankedCollection, gains: Mapping[float, Floats], first: Floats, second: Floats
) -> ChanceMoments:
    """Return the moments of Σ a_r·gain_r, from Σ a_r and Σ a_r²: sampling without replacement."""
    n, total = c.documents, np.zeros(c.documents.shape)
    for gain, count in gains.items():
        total = total + gain * count
    mean = total / n
    spread = (n - c.relevant()) * mean**2
    for gain, count in gains.items():
        spread = spread + count * (gain - mean) ** 2
    variance: Floats = spread / np.maximum(n - 1.0, 1.0) * np.maximum(second - first**2 / n, 0.0)
    return ChanceMoments(mean * first, variance)


def _dcg_gains(c: RankedCollection, dcg: str, gains: str | None) -> dict[float, Floats]:
    """Return the number of documents of each gain of DCG, highest gain first."""
    levels = np.array([gain for gain in c.by_gain if gain >= 1], np.int64)
    values = dcg_gain(levels, dcg, gains, highest=_HIGHEST_EXPONENT)
    counts: dict[float, Floats] = {}
    for place in np.argsort(-values, kind="stable").tolist():
        gain = float(values[place])
        counts[gain] = counts.get(gain, 0.0) + c.by_gain[int(levels[place])]
    return counts


def _ideal_dcg(c: RankedCollection, gains: Mapping[float, Floats], cutoff: int | None) -> Floats:
    """Return the DCG of the ideal list; 1 if there is no gain."""
    best, placed = np.zeros(c.documents.shape), np.zeros(c.documents.shape)
    bound = np.inf if cutoff is None else cutoff
    for gain, count in gains.items():
        start, placed = np.minimum(placed, bound), placed + count
        best = best + gain * (discount_sum(np.minimum(placed, bound)) - discount_sum(start))
    return np.where(best > 0, best, 1.0)


def ndcg(
    c: RankedCollection, *, cutoff: int | None = None, dcg: str = "log2", gains: str | None = None
) -> ChanceMoments:
    """Return the moments of nDCG: those of DCG, over the DCG of the ideal list."""
    counted, k = _dcg_gains(c, dcg, gains), c.length(cutoff)
    gained = _linear(c, counted, discount_sum(k), discount_sum(k, power=2))
    ideal = _ideal_dcg(c, counted, cutoff)
    return ChanceMoments(gained.mean / ideal, gained.variance / ideal**2)


def rank_biased_precision(
    c: RankedCollection,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: int | None = None,
    gains: str | None = None,
) -> ChanceMoments:
    """Return the moments of RBP: the mean gain times the weight of the ranks of the list."""
    check_rbp(p, rel, gains)
    if rel is None:
        counted = _dcg_gains(c, "log2", gains)
    else:
        counted = {1.0: c.relevant(rel), 0.0: c.relevant() - c.relevant(rel)}
    decay = c.length(cutoff) * np.log(p)
    squares = -np.expm1(2.0 * decay) * (1.0 - p) / (1.0 + p)
    return _linear(c, counted, -np.expm1(decay), squares)


_MOMENTS: dict[str, Callable[..., ChanceMoments]] = {
    "AP": average_precision,
    "P": precision,
    "R": recall,
    "Rprec": r_precision,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "RBP": rank_biased_precision,
    "Success": success,
}
