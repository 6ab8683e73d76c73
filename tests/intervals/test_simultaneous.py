"""A family's intervals and p-values agree at every level, and hold for all comparisons at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from confir.intervals.simultaneous import ComparisonFamily, variance_floor
from confir.resampling.studentised_maxima import studentised_maxima


def family(size=6, replicates=999, sides=2, seed=1, df=9):
    rng = np.random.default_rng(seed)
    t = rng.standard_t(df, (size, replicates)) if size else np.empty((1, replicates))
    return ComparisonFamily.of(size, (np.abs(t) if sides == 2 else t).max(axis=0), sides)


def test_one_comparison_is_the_plain_t():
    d, se, topics = np.array([0.3]), np.array([0.1]), np.array([10])
    one = family(1)
    low, high = one.limits(d, se, topics, 0.95)
    assert (low[0], high[0]) == pytest.approx(stats.t.interval(0.95, 9, 0.3, 0.1))
    assert one.p_values(d / se, topics)[0] == pytest.approx(2 * stats.t.sf(3.0, 9))
    one_sided = family(1, sides=1)
    assert one_sided.p_values(d / se, topics)[0] == pytest.approx(stats.t.sf(3.0, 9))


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
    topics = np.full(len(t), 10)
    c = one.critical_value(9.0, level)
    size_of_t = np.abs(t) if sides == 2 else t
    clear = np.abs(size_of_t - c) > 1e-9 if c not in one.maxima else np.full(len(t), True)
    p = one.p_values(t, topics)
    np.testing.assert_array_equal((p <= 1 - level + 1e-9)[clear], (size_of_t > c)[clear])


def test_limits_are_nested_and_p_values_fall_with_t():
    one = family()
    d, se, topics = np.array([0.1, -0.4]), np.array([0.1, 0.2]), np.array([10, 8])
    widths = [
        np.subtract(*one.limits(d, se, topics, level)[::-1])
        for level in (0.5, 0.8, 0.9, 0.95, 0.999, 0.99999)
    ]
    assert (np.diff(widths, axis=0) >= 0).all()
    assert (np.diff(one.p_values(np.linspace(0, 9, 200), np.full(200, 10))) <= 0).all()


def test_c_lies_between_a_single_t_and_bonferronis():
    for maxima in (np.zeros(999), np.full(999, np.inf)):
        one = ComparisonFamily.of(5, maxima)
        single, bonferroni = stats.t.ppf([0.975, 0.995], 9)
        expected = single if maxima[0] == 0 else bonferroni
        assert one.critical_value(9.0, 0.95) == pytest.approx(expected)
        p = 2 * stats.t.sf(3.0, 9)
        adjusted = one.p_values(np.array([3.0]), np.array([10]))[0]
        assert adjusted == pytest.approx(p if maxima[0] == 0 else 5 * p)


def test_without_replicates_p_values_are_bonferronis_against_statsmodels():
    t = np.array([0.5, 2.0, 3.5, 8.0])
    one = ComparisonFamily.of(4, np.empty(0))
    expected = multipletests(2 * stats.t.sf(t, 9), method="bonferroni")[1]
    np.testing.assert_allclose(one.p_values(t, np.full(4, 10)), expected)


def test_what_has_no_standard_error_has_neither_limits_nor_p():
    one = family()
    nan = np.array([np.nan])
    assert np.isnan(one.limits(np.array([0.1]), nan, np.array([10]), 0.95).low).all()
    assert np.isnan(one.p_values(nan, np.array([10]))).all()


def test_the_least_variance_is_a_share_of_the_median_and_never_a_single_pairs_own():
    assert variance_floor(np.array([1.0, 2.0, 9.0, np.nan])) == pytest.approx(0.006 * 2.0)
    assert variance_floor(np.repeat([1.0, 2.0, 9.0], 100)) == pytest.approx(0.4 * 2.0)
    assert variance_floor(np.array([0.01])) < 0.01
    assert variance_floor(np.array([np.nan])) == 0.0
    one = ComparisonFamily.of(3, np.full(99, 2.0), floor=0.4)
    se = one.standard_errors(np.array([0.1, 0.5, np.nan]), np.array([10, 10, 10]))
    np.testing.assert_allclose(se, [0.2, 0.5, np.nan])


def correlated(rng, runs, topics):
    """Normal scores whose differences from the first run all correlate by 1/2, as Dunnett's do."""
    return rng.normal(0.0, 1.0, (topics, runs))


def test_c_of_runs_against_one_approaches_dunnetts_against_scipy():
    """With many topics, paired differences of independent runs are Dunnett's many-to-one problem."""
    values = correlated(np.random.default_rng(2), 6, 2_000)
    maxima = studentised_maxima(values, 9_999, np.random.default_rng(1), runs=[0]).either[0]
    t = 2.4
    p = ComparisonFamily.of(5, maxima).p_values(np.array([t]), np.array([2_000]))[0]
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
        maxima = studentised_maxima(values, 399, rng, runs).either.max(axis=0)
        one = ComparisonFamily.of(len(first), maxima)
        low, high = one.limits(d.mean(axis=0), se, np.full(len(first), n), 0.95)
        held += bool(((low <= 0) & (high >= 0)).all())
    assert held / samples == pytest.approx(0.95, abs=0.035)


def test_p_values_of_two_comparisons_count_the_maxima_that_reach_them():
    family = ComparisonFamily.of(2, np.linspace(0.0, 3.0, 99)[::-1])
    t = np.array([0.5, 2.0, 2.5])
    single = 2 * stats.t.sf(t, 29)
    counted = (1 + (np.linspace(0.0, 3.0, 99)[:, None] >= t).sum(axis=0)) / 100
    expected = np.clip(np.minimum(2 * single, counted), single, 1.0)
    assert (expected < 2 * single).any()
    np.testing.assert_allclose(family.p_values(t, np.array([30])), expected, rtol=1e-12)
