"""Simultaneous intervals and adjusted p-values: agreement at every level, and joint coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from confir.pairs.simultaneous import (
    ComparisonFamily,
    is_significant,
)
from confir.resampling.kinds import as_topic_sample
from confir.resampling.pair_draws import (
    NOTHING_BORROWED,
    BorrowedVariance,
    median_variance,
)
from confir.resampling.sample import self_normalised
from confir.resampling.studentised_maxima import largest_statistics


def family(size=6, replicates=999, sides=2, seed=1, df=9):
    rng = np.random.default_rng(seed)
    t = rng.standard_t(df, (size, replicates)) if size else np.empty((1, replicates))
    return ComparisonFamily.of(size, (np.abs(t) if sides == 2 else t).max(axis=0), sides)


def test_one_comparison_is_the_plain_t():
    d, se, topics = np.array([0.3]), np.array([0.1]), np.array([10])
    one = family(1)
    low, high = one.limits(d, se, topics, 0.95).limits
    assert (low[0], high[0]) == pytest.approx(stats.t.interval(0.95, 9, 0.3, 0.1))
    assert one.p_values(d / se, topics - 1)[0] == pytest.approx(2 * stats.t.sf(3.0, 9))
    one_sided = family(1, sides=1)
    assert one_sided.p_values(d / se, topics - 1)[0] == pytest.approx(stats.t.sf(3.0, 9))


def test_one_comparison_keeps_no_maxima():
    assert family(1).maxima.size == 0


@given(
    size=st.integers(1, 40),
    replicates=st.sampled_from([0, 1, 19, 20, 99, 999]),
    sides=st.sampled_from([1, 2]),
    level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]),
    seed=st.integers(0, 1000),
)
def test_p_is_at_most_one_minus_level_exactly_where_t_exceeds_c(
    size, replicates, sides, level, seed
):
    one = family(size, replicates, sides, seed)
    t = np.concatenate([np.linspace(-6, 8, 601), one.maxima, np.nextafter(one.maxima, np.inf)])
    c = one.critical_value(9.0, level)
    size_of_t = np.abs(t) if sides == 2 else t
    clear = np.abs(size_of_t - c) > 1e-9 if c not in one.maxima else np.full(len(t), True)
    p = one.p_values(t, 9.0)
    np.testing.assert_array_equal((p <= 1 - level + 1e-9)[clear], (size_of_t > c)[clear])


def test_limits_are_nested_and_p_values_fall_with_t():
    one = family()
    d, se, topics = np.array([0.1, -0.4]), np.array([0.1, 0.2]), np.array([10, 8])
    widths = [
        np.subtract(*one.limits(d, se, topics, level).limits[::-1])
        for level in (0.5, 0.8, 0.9, 0.95, 0.999, 0.99999)
    ]
    assert (np.diff(widths, axis=0) >= 0).all()
    assert (np.diff(one.p_values(np.linspace(0, 9, 200), 9.0)) <= 0).all()


def test_c_lies_between_a_single_t_and_bonferronis():
    for maxima in (np.zeros(999), np.full(999, np.inf)):
        one = ComparisonFamily.of(5, maxima)
        single, bonferroni = stats.t.ppf([0.975, 0.995], 9)
        expected = single if maxima[0] == 0 else bonferroni
        assert one.critical_value(9.0, 0.95) == pytest.approx(expected)
        p = 2 * stats.t.sf(3.0, 9)
        adjusted = one.p_values(np.array([3.0]), 9.0)[0]
        assert adjusted == pytest.approx(p if maxima[0] == 0 else 5 * p)


def test_without_replicates_p_values_are_bonferronis_against_statsmodels():
    t = np.array([0.5, 2.0, 3.5, 8.0])
    one = ComparisonFamily.of(4, np.empty(0))
    expected = multipletests(2 * stats.t.sf(t, 9), method="bonferroni")[1]
    np.testing.assert_allclose(one.p_values(t, 9.0), expected)


def test_what_has_no_standard_error_has_neither_limits_nor_p():
    one = family()
    nan = np.array([np.nan])
    assert np.isnan(one.limits(np.array([0.1]), nan, np.array([10]), 0.95).low).all()
    assert np.isnan(one.p_values(nan, 9.0)).all()


def test_the_median_is_that_of_variances_above_0():
    assert median_variance(np.array([1.0, 2.0, 9.0, 0.0, np.nan])) == 2.0
    assert median_variance(np.array([0.0, np.nan])) == 0.0


def test_standard_errors_borrow_a_share_of_the_median_that_falls_with_the_topics():
    family = ComparisonFamily.of(3, np.full(99, 2.0), borrowed=BorrowedVariance(3, 0.4))
    units = np.array([10, 10, 10, 40])
    difference, own = np.full(4, 0.01), np.array([0.1, 0.5, np.nan, 0.1])
    se = family.standard_errors(difference, own, units, units - 1.0)
    small, large = 0.4 * (1 - 3 ** (-1 / 10)), 0.4 * (1 - 3 ** (-1 / 40))
    expected = np.sqrt([0.01 + small / 10, 0.25 + small / 10, small / 10, 0.01 + large / 40])
    np.testing.assert_allclose(se, expected, rtol=1e-12)


def test_a_single_comparison_borrows_nothing():
    assert BorrowedVariance(1, 0.4).of(10) == 0
    one = ComparisonFamily.of(1, np.empty(0), borrowed=BorrowedVariance(1, 0.4))
    np.testing.assert_array_equal(
        one.standard_errors(0.1, np.array([0.1, np.nan]), np.array([10, 10]), 9.0), [0.1, np.nan]
    )


@pytest.mark.parametrize("topics", [2, 3, 6, 10])
def test_the_same_difference_on_few_topics_is_no_stronger_evidence_than_its_signs(topics):
    family = ComparisonFamily.of(3, np.full(999, 0.1), borrowed=BorrowedVariance(3, 1e-6))
    difference = np.array([0.5, -0.5])
    se = family.standard_errors(difference, np.full(2, np.nan), topics, topics - 1.0)
    p = family.p_values(difference / se, topics - 1.0)
    assert p == pytest.approx(max(2.0 ** (1 - topics), 1e-3))
    low, high, _ = family.limits(difference, np.full(2, np.nan), np.full(2, topics), 0.95)
    excluded = (low > 0) | (high < 0)
    assert excluded.tolist() == [bool(one <= 0.05) for one in p]


def test_self_normalised_sums_of_moments_are_those_of_the_differences():
    d = np.random.default_rng(5).normal(0.1, 0.3, (12, 4))
    d[:, 1] = 0.2
    d[:, 2] = 0.0
    se = d.std(axis=0, ddof=1) / np.sqrt(12)
    se[1:3] = np.nan
    sums = d.sum(axis=0) / np.sqrt(np.maximum(np.square(d).sum(axis=0), 1e-300))
    found = as_topic_sample(d).self_normalised(d.mean(axis=0), se, np.full(4, 12.0))
    np.testing.assert_allclose(found, sums, rtol=1e-12)
    np.testing.assert_allclose(self_normalised(d), sums, rtol=1e-12)
    assert sums[1] == pytest.approx(np.sqrt(12))
    assert sums[2] == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_an_end_is_open_at_0_where_the_signs_alone_decide(sign):
    family = ComparisonFamily.of(10, np.full(99, 3.0))
    d, se, topics = sign * np.array([0.1, 0.1, 0.5]), np.full(3, 0.05), np.full(3, 50)
    sums = sign * np.array([5.0, 3.0, 5.0])
    low, high, open_end = family.limits(d, se, topics, 0.95, self_normalised=sums)
    assert open_end.tolist() == [sign, 0, 0]  # too small a sum; an interval that excludes 0
    near, far = (low, high) if sign > 0 else (high, low)
    assert near[0] == 0
    np.testing.assert_allclose(far, d + sign * 0.05 * family.critical_value(49.0, 0.95))
    np.testing.assert_allclose(near[1:], d[1:] - sign * 0.05 * family.critical_value(49.0, 0.95))
    p = family.p_values(d / se, 49.0, sums)
    assert is_significant(p, 0.95).tolist() == [True, False, True]


def test_without_a_standard_error_the_signs_alone_give_p():
    family = ComparisonFamily.of(10, np.full(99, 3.0))
    nan = np.array([np.nan])
    (p,) = family.p_values(nan, 49.0, np.array([6.0]))
    factor = 1 / (4 * stats.norm.sf(np.sqrt(2)))
    assert p == pytest.approx(10 * 2 * factor * stats.norm.sf(6.0), rel=1e-12)
    assert np.isnan(family.limits(np.array([0.1]), nan, np.array([50]), 0.95).low).all()


def correlated(rng, runs, topics):
    """Normal scores whose differences from the first run all correlate by 1/2, as Dunnett's do."""
    return rng.normal(0.0, 1.0, (topics, runs))


def test_c_of_runs_against_one_approaches_dunnetts_against_scipy():
    """With many topics, paired differences of independent runs are Dunnett's many-to-one problem."""
    values = correlated(np.random.default_rng(2), 6, 2_000)
    maxima = largest_statistics(
        as_topic_sample(values), 9_999, np.random.default_rng(1), NOTHING_BORROWED, runs=[0]
    )
    t = 2.4
    p = ComparisonFamily.of(5, maxima).p_values(np.array([t]), 1_999.0)[0]
    # samples whose t statistic against the control is 2.4 for one of five groups, 0 for the rest
    n = 2_000
    base = np.tile([-1.0, 1.0], n // 2)
    samples = [base.copy() for _ in range(5)]
    pooled = base.var(ddof=0) * n / (n - 1)
    samples[0] += t * np.sqrt(2 * pooled / n)
    expected = stats.dunnett(*samples, control=base, random_state=np.random.default_rng(3)).pvalue[
        0
    ]
    assert p == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("runs", [None, [0]])
def test_simultaneous_limits_hold_for_all_pairs_in_nineteen_of_twenty_samples(runs):
    rng = np.random.default_rng(4)
    held, samples, k, n = 0, 400, 5, 30
    first, second = (
        np.triu_indices(k, 1) if runs is None else (np.zeros(k - 1, int), np.arange(1, k))
    )
    spread = np.array([1.0, 1.0, 0.5, 2.0, 1.0])
    for _ in range(samples):
        values = rng.normal(size=(n, 1)) + spread * rng.normal(size=(n, k))
        d = values[:, second] - values[:, first]
        se = d.std(axis=0, ddof=1) / np.sqrt(n)
        variance = BorrowedVariance(len(first), np.median(d.var(axis=0, ddof=1)))
        maxima = largest_statistics(as_topic_sample(values), 399, rng, variance, runs)
        one = ComparisonFamily.of(len(first), maxima, borrowed=variance)
        low, high = one.limits(d.mean(axis=0), se, np.full(len(first), n), 0.95).limits
        held += bool(((low <= 0) & (high >= 0)).all())
    assert held / samples == pytest.approx(0.95, abs=0.035)


def test_p_values_of_two_comparisons_count_the_maxima_that_reach_them():
    family = ComparisonFamily.of(2, np.linspace(0.0, 3.0, 99)[::-1])
    t = np.array([0.5, 2.0, 2.5])
    single = 2 * stats.t.sf(t, 29)
    counted = (1 + (np.linspace(0.0, 3.0, 99)[:, None] >= t).sum(axis=0)) / 100
    expected = np.clip(np.minimum(2 * single, counted), single, 1.0)
    assert (expected < 2 * single).any()
    np.testing.assert_allclose(family.p_values(t, 29.0), expected, rtol=1e-12)
