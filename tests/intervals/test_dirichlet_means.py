"""The limits of `gaffke` without random numbers against its Dirichlet-weighted means."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import BSpline

from confir.arrays import logit
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.dirichlet_means import (
    FarthestLimits,
    dirichlet_limit,
    least_limit,
    share_above,
)
from confir.intervals.interval import Limits

VALUES = (0.02, 0.2, 0.45, 0.7, 0.93)


def share_of(scores, value):
    ordered = -np.sort(-np.asarray(scores, float))[:, None]
    return float(share_above(ordered, np.array([value]))[0])


def upper_limits(scores, level):
    """Upper limits of columns, looked for from 0 to 1."""
    count = np.sum(~np.isnan(scores), axis=0)
    nothing = np.zeros(scores.shape[1])
    return dirichlet_limit(scores, count, (1 - level) / 2, nothing, nothing + 1)


def gaffke_limits(scores, level):
    return Limits(1 - upper_limits(1 - scores, level), upper_limits(scores, level))


def samples(n, columns, seed):
    rng = np.random.default_rng(seed)
    kinds = (
        rng.beta(0.4, 2, (n, columns)),
        rng.beta(3, 1, (n, columns)),
        rng.integers(0, 4, (n, columns)) / 3,
        np.where(rng.random((n, columns)) < 0.8, 0.0, rng.random((n, columns))),
        np.where(np.arange(n)[:, None] < 1, rng.random(columns), 0.01),
    )
    return np.column_stack(kinds)


@pytest.mark.parametrize("n", [2, 3, 6, 12])
@pytest.mark.parametrize("value", VALUES)
def test_share_above_against_divided_differences(n, value):
    """``Σ (x_i - h)^n / Π (x_i - x_j)`` over the scores and the 1 above h, in whole numbers."""
    scores = np.random.default_rng(n).permutation(997)[:n] / 997
    knots = [*(Fraction(x) for x in scores.tolist()), Fraction(1)]
    total = Fraction(0)
    for place, knot in enumerate(knots):
        if knot > Fraction(value):
            term = (knot - Fraction(value)) ** n
            for other in knots[:place] + knots[place + 1 :]:
                term /= knot - other
            total += term
    assert share_of(scores, value) == pytest.approx(float(total), rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 9])
@pytest.mark.parametrize("value", VALUES)
def test_share_above_against_a_spline_with_the_scores_as_knots(n, value):
    scores = np.sort(np.random.default_rng(n).beta(0.5, 1, n))
    knots = np.append(scores, 1.0)
    spline = BSpline.basis_element(knots, extrapolate=False)
    edges = np.unique(np.append(knots[knots > value], max(value, knots[0])))
    places, weights = np.polynomial.legendre.leggauss(n)  # exact for a polynomial of degree n - 1
    total = 0.0
    for left, right in pairwise(edges.tolist()):
        half = (right - left) / 2
        total += half * float(weights @ spline(left + half * (1 + places)))
    assert share_of(scores, value) == pytest.approx(n / (1 - knots[0]) * total, rel=1e-9)


@pytest.mark.parametrize("ones", [0, 1, 7, 20])
@pytest.mark.parametrize("value", VALUES)
def test_share_above_of_zeros_and_ones_against_the_beta_distribution(ones, value):
    scores = np.repeat([1.0, 0.0], [ones, 20 - ones])
    expected = 1.0 if ones == 20 else stats.beta.sf(value, ones + 1, 20 - ones)
    assert share_of(scores, value) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("score", [0.0, 0.3, 0.9])
def test_share_above_of_equal_scores_is_a_power(score):
    for value in (0.1, 0.5, 0.95):
        expected = 1.0 if value <= score else ((1 - value) / (1 - score)) ** 8
        assert share_of(np.full(8, score), value) == pytest.approx(expected, rel=1e-12)


def test_missing_scores_do_not_count():
    scores = np.random.default_rng(1).beta(1, 2, (9, 2))
    scores[5:, 0] = np.nan
    assert share_of(scores[:, 0], 0.6) == pytest.approx(share_of(scores[:5, 0], 0.6), rel=1e-14)
    assert upper_limits(scores, 0.9)[0] == pytest.approx(
        upper_limits(scores[:5], 0.9)[0], abs=1e-14
    )


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("n", [2, 7, 40])
def test_the_tail_lies_beyond_the_limit(n, level):
    scores = samples(n, 20, n)
    limits = upper_limits(scores, level)
    shares = share_above(-np.sort(-scores, axis=0), limits)
    inside = limits < 1
    assert inside.mean() > 0.9
    np.testing.assert_allclose(shares[inside], (1 - level) / 2, rtol=1e-9)


def test_limits_of_zeros_and_ones_are_those_of_clopper_and_pearson():
    for n in (5, 50, 120):
        ones = np.unique(np.linspace(0, n, 7).astype(int))
        limits = upper_limits((np.arange(n)[:, None] < ones).astype(float), 0.95)
        expected = np.append(stats.beta.ppf(0.975, ones[:-1] + 1, n - ones[:-1]), 1.0)
        np.testing.assert_allclose(limits, expected, atol=1e-12)


def test_limits_against_gaffke_with_random_weights():
    scores, draws = samples(12, 6, 3), 20_000
    drawn = confidence_interval(scores, method="gaffke", level=0.9, replicates=draws, rng=5)
    exact = gaffke_limits(scores, 0.9)
    error = 4 * np.sqrt(0.05 * 0.95 / draws)
    ordered = -np.sort(-scores, axis=0)
    mirrored = -np.sort(scores - 1, axis=0)
    assert (np.abs(share_above(ordered, drawn.high) - 0.05) < error).all()
    shares = share_above(mirrored, 1 - drawn.low)[drawn.low > 0]  # a run without any score has 0
    assert (np.abs(shares - 0.05) < error).all()
    np.testing.assert_allclose(drawn.low, exact.low, atol=0.015)
    np.testing.assert_allclose(drawn.high, exact.high, atol=0.015)


@pytest.mark.parametrize("outer", [0.3, 0.6, 0.99])
def test_a_limit_beyond_another_is_that_one(outer):
    scores = samples(9, 10, 2)
    free = upper_limits(scores, 0.95)
    ends = np.full((2, len(free)), [[0.0], [outer]])
    found = dirichlet_limit(scores, np.full(len(free), 9), 0.025, *ends)
    np.testing.assert_allclose(found, np.minimum(free, outer), atol=1e-12)


def test_limits_move_at_most_as_far_as_a_score():
    scores = samples(10, 30, 4)
    moved = scores.copy()
    moved[0] = np.clip(moved[0] + 0.01, 0, 1)
    change = upper_limits(moved, 0.95) - upper_limits(scores, 0.95)
    assert (change >= -1e-12).all()
    assert (change <= 0.01 + 1e-12).all()


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("n", [2, 6, 30])
def test_all_limits_of_a_mean_lie_between_bounds(n, level):
    scores, tail = samples(n, 30, n), (1 - level) / 2
    mean, count = scores.mean(axis=0), np.full(scores.shape[1], n)
    limits = upper_limits(scores, level)
    assert (limits >= least_limit(count, mean, tail) - 1e-12).all()
    grid = (1 - np.geomspace(1e-5, 0.99, 99))[:, None] + np.zeros(len(limits))
    bounds = FarthestLimits.of(count, mean, tail)
    beyond = bounds.lie_within(logit(grid), np.log(grid), np.arange(len(limits)))
    assert beyond.any()
    assert (grid >= limits)[beyond].all()
