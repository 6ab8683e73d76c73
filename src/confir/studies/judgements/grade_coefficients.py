"""Coefficients of agreement: Cohen's κ and Krippendorff's α from counts of grades, and those of scores."""

from __future__ import annotations

import numpy as np

from confir.arrays import Floats, Integers


def count_grades(
    topic: Integers,
    first: Integers,
    second: Integers,
    topics: int,
    size: int,
    weight: Floats | None = None,
) -> Floats:
    """Return how often two judges gave which grades, weighted if asked: topics × grades × grades."""
    cells = np.ravel_multi_index((topic, first, second), (topics, size, size))
    counts = np.bincount(cells, weights=weight, minlength=topics * size * size)
    return counts.reshape(topics, size, size).astype(np.float64)


def joint_coincidences(topic: Integers, grades: Integers, topics: int, size: int) -> Floats:
    """Return how often grades meet in a document, by topic: each counts 1 in all of its pairs."""
    judged = grades >= 0
    others = judged.sum(axis=1) - 1
    total = np.zeros((topics, size, size))
    for first in range(grades.shape[1]):
        for second in range(first):
            both = judged[:, first] & judged[:, second]
            places = topic[both], grades[both, first], grades[both, second]
            cells = np.ravel_multi_index(places, total.shape)
            share = np.bincount(cells, weights=1.0 / others[both], minlength=total.size)
            total += share.reshape(total.shape)
    return total + total.transpose(0, 2, 1)


def drawn_counts(weights: Floats, counts: Floats) -> Floats:
    """Return the counts of resampled topics: replicates × grades × grades."""
    topics, size, _ = counts.shape
    drawn: Floats = topics * (weights @ counts.reshape(topics, size * size))
    return drawn.reshape(-1, size, size)


def cohen_kappa(confusion: Floats, *, power: int) -> Floats:
    """Return Cohen's κ of confusion matrices (the last two axes); NaN where grades do not vary.

    ``1 - Σ w·p / Σ w·p_i·p_j`` with the disagreement w = |i - j|^power of the grades' ranks; of
    power 0, all disagreements weigh the same ([Cohen1960], [Cohen1968]).
    """
    ranks = np.arange(confusion.shape[-1])
    apart = np.abs(ranks[:, None] - ranks)
    weight = np.where(apart == 0, 0.0, np.power(apart, power, dtype=np.float64))
    total = confusion.sum(axis=(-2, -1))
    rows, columns = confusion.sum(axis=-1), confusion.sum(axis=-2)
    observed = (confusion * weight).sum(axis=(-2, -1)) * total
    expected = ((rows @ weight) * columns).sum(axis=-1)
    return _one_minus_ratio(observed, expected)


def ordinal_alpha(coincidence: Floats) -> Floats:
    """Return Krippendorff's α for ordinal grades, of coincidence matrices (the last two axes).

    ``1 - (n-1) Σ o·δ² / Σ n_c·n_k·δ²``, δ_ck the number of grades from c to k, those of c and k
    counted half ([Krippendorff2011] §C). NaN where grades do not vary.
    """
    given = coincidence.sum(axis=-1)
    upto = np.cumsum(given, axis=-1) - given / 2.0
    delta = np.square(upto[..., :, None] - upto[..., None, :])
    total = given.sum(axis=-1)
    observed = (coincidence * delta).sum(axis=(-2, -1)) * (total - 1.0)
    expected = (given[..., :, None] * given[..., None, :] * delta).sum(axis=(-2, -1))
    return _one_minus_ratio(observed, expected)


def moment_agreement(sums: Floats) -> tuple[Floats, Floats]:
    """Return Pearson's correlation and Krippendorff's α for an interval scale, of pairs of scores.

    α is ``1 - D_o/D_e``, D_o the mean square difference of a pair and D_e that of any two of the 2n
    scores ([Krippendorff2011] §D). NaN where scores do not vary.

    Parameters
    ----------
    sums
        Of n, x, y, x², y² and xy, in the last axis.
    """
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x * x / n) * (yy - y * y / n)
        correlation = (xy - x * y / n) / np.sqrt(np.where(spread > 0, spread, np.nan))
        expected = 2.0 * (xx + yy - (x + y) ** 2 / (2.0 * n)) / (2.0 * n - 1.0)
        alpha = _one_minus_ratio((xx + yy - 2.0 * xy) / n, expected)
    return np.clip(correlation, -1.0, 1.0), alpha


def _one_minus_ratio(observed: Floats, expected: Floats) -> Floats:
    undefined: Floats = np.full(np.shape(expected), np.nan)
    ratio = np.divide(observed, expected, out=undefined, where=expected > 0)
    return 1.0 - ratio
