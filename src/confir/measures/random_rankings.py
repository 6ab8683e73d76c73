"""Exact expectations and variances of measures for random rankings.

N documents, R of them relevant, in random order, the list truncated after ``depth`` documents
([Bestgen2015]). Everything is a closed form or a sum evaluated by `long_sums`: vectorised over arrays
of N, R and depth, and numerically stable from 1 to 10¹² documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from confir.arguments import as_integer, as_reals, invalid
from confir.arrays import Floats
from confir.errors import InvalidValueError, UnsupportedMethodError, enumerate_names
from confir.measures import chance_moments
from confir.measures.chance_moments import ChanceMoments, RankedCollection
from confir.measures.measure import Measure
from confir.measures.parsing import parse_measure

Counts = int | Sequence[int] | np.ndarray[Any, Any]
CountsByGain = Counts | Mapping[int, Counts]

# Whole numbers up to here are exact in double precision.
MOST_DOCUMENTS = 2**53


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
    collection = check_collection(documents, relevant, depth)
    return collection.shaped(chance_moments.average_precision(collection).mean)


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
    return collection.shaped(mean), collection.shaped(variance)


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
    _check_at_most(total, n, "{} documents cannot be relevant: the collection has only {}")
    _check_at_most(k, n, "a depth of {} exceeds the {} documents of the collection")
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


def _check_at_most(part: Floats, whole: Floats, problem: str) -> None:
    wrong = part > whole
    if wrong.any():
        raise InvalidValueError(problem.format(*(int(a[wrong][0]) for a in (part, whole))))


_MOMENTS: dict[str, Callable[..., ChanceMoments]] = {
    "AP": chance_moments.average_precision,
    "P": chance_moments.precision,
    "R": chance_moments.recall,
    "Rprec": chance_moments.r_precision,
    "RR": chance_moments.reciprocal_rank,
    "nDCG": chance_moments.ndcg,
    "RBP": chance_moments.rank_biased_precision,
    "Success": chance_moments.success,
}
