"""Quantiles of Student's t, to the last digits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confir.errors import InvalidValueError
from confir.intervals.quantiles import normal_quantile, t_quantile

LEVELS = [0.01, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999]


def quantile(df: float, level: float) -> float:
    return float(t_quantile(np.array([df]), level)[0])


@pytest.mark.parametrize("tail", [0.5, 0.4999, 0.3, 0.1, 0.025, 5e-4, 1e-10, 1e-100, 1e-300])
def test_normal_quantiles_against_scipy(tail):
    assert normal_quantile(tail) == pytest.approx(stats.norm.isf(tail), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("level", LEVELS)
def test_whole_degrees_of_freedom_against_scipy(level):
    df = np.concatenate([np.arange(1.0, 400.0), [1e3, 1e4, 1e5, 1e6]])
    np.testing.assert_allclose(t_quantile(df, level), stats.t.isf((1 - level) / 2, df), rtol=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_other_degrees_of_freedom_against_scipy(level):
    df = np.array([1.0001, 1.5, 2.7, 3.3, 17.25, 299.99, 300.01, 12_345.6])
    np.testing.assert_allclose(t_quantile(df, level), stats.t.isf((1 - level) / 2, df), rtol=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_infinite_degrees_of_freedom_are_the_normal_distribution(level):
    assert quantile(math.inf, level) == pytest.approx(stats.norm.isf((1 - level) / 2), rel=1e-12)
    assert quantile(1e18, level) == pytest.approx(quantile(math.inf, level), rel=1e-12)


@pytest.mark.parametrize("level", [*LEVELS, 1e-9, 1 - 1e-9, 1 - 1e-15])
def test_one_and_two_degrees_of_freedom_against_closed_forms(level):
    tail = 1 - level  # tan(π/2 · level), without the loss of digits near 1
    assert quantile(1.0, level) == pytest.approx(1 / math.tan(math.pi / 2 * tail), rel=1e-6)
    assert quantile(2.0, level) == pytest.approx(
        level * math.sqrt(2 / (tail * (1 + level))), rel=1e-12
    )


@given(st.floats(1.0, 1e7), st.floats(1e-3, 0.9999))
def test_the_level_lies_within_the_quantile(df, level):
    assert 1 - 2 * stats.t.sf(quantile(df, level), df) == pytest.approx(level, rel=1e-10)


def test_the_quantile_is_continuous_where_the_formulas_change():
    within, beyond = (quantile(7.0, stats.t.cdf(1, 7) * 2 - 1 + e) for e in (-1e-12, 1e-12))
    assert within < 1 < beyond
    below, above = (quantile(df, 0.9) for df in (np.nextafter(300.0, 0), 300.0))
    assert below == pytest.approx(above, rel=1e-13)


def test_arrays_keep_their_shape():
    df = np.array([[1.0, 5.0, np.inf], [0.0, 5.0, 9.0]])
    result = t_quantile(df, 0.95)
    assert result.shape == (2, 3)
    assert result[0, 1] == result[1, 1] == quantile(5.0, 0.95)
    assert t_quantile(np.array(np.inf), 0.95).shape == ()
    assert t_quantile(np.zeros(0), 0.95).shape == (0,)


def test_there_is_no_quantile_without_degrees_of_freedom():
    assert np.isnan(t_quantile(np.array([0.999, 0.0, -1.0, -np.inf, np.nan]), 0.95)).all()


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(InvalidValueError, match="level"):
        t_quantile(np.array([5.0]), level)
