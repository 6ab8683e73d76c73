"""Sampling distributions: the fields that interval methods read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from confir.errors import UnsupportedMethodError
from confir.resampling.distribution import (
    SamplingDistribution,
    around_quantiles,
    quantile_of_sorted,
)
from strategies import at_most

FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)


def distribution(replicates, replicate_se=None, estimate=0.4, se=0.1):
    replicates = np.array(replicates, float)[:, None]
    return SamplingDistribution(
        labels=(("a", "AP"),),
        estimate=np.array([estimate]),
        count=np.array([5]),
        df=np.array([4.0]),
        support=np.array([True]),
        resampled=frozenset({"topics"}),
        se=np.array([se]),
        replicates=replicates,
        replicate_se=None if replicate_se is None else np.array(replicate_se, float)[:, None],
    )


@given(
    values=arrays(float, st.tuples(st.integers(1, 9), st.integers(1, 3)), elements=FINITE),
    probability=st.floats(0, 1),
)
@settings(max_examples=at_most(150))
def test_quantiles_are_linear_against_numpy(values, probability):
    ordered = np.sort(values, axis=0)
    found = quantile_of_sorted(ordered, probability, np.full(values.shape[1], len(values)))
    expected = np.quantile(values, probability, axis=0, method="linear")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


def test_each_column_has_its_own_probability_and_its_own_number_of_values():
    ordered = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [8.0, np.nan]])
    found = quantile_of_sorted(ordered, np.array([0.5, 0.25]), np.array([4, 3]))
    assert found.tolist() == [3.0, 15.0]


@pytest.mark.parametrize("probability", [0.0, 0.5, 1.0])
def test_every_quantile_of_one_value_is_that_value(probability):
    ordered = np.array([[2.0], [np.nan]])
    assert quantile_of_sorted(ordered, probability, np.array([1])) == [2.0]
    assert quantile_of_sorted(ordered[:1], probability, np.array([1])) == [2.0]


def test_a_column_without_values_has_no_quantile():
    found = quantile_of_sorted(np.array([[np.nan, 2.0]]), 0.5, np.array([0, 1]))
    assert np.isnan(found[0])
    assert found[1] == 2.0


@pytest.mark.parametrize(
    ("probability", "expected"), [(0.0, -np.inf), (0.1, -np.inf), (0.25, 1.0), (0.9, np.inf)]
)
def test_quantiles_next_to_infinities_are_infinite(probability, expected):
    ordered = np.array([[-np.inf], [1.0], [2.0], [3.0], [np.inf]])
    assert quantile_of_sorted(ordered, probability, np.array([5])) == [expected]


def test_quantiles_between_equal_infinities_are_that_infinity():
    ordered = np.array([[-np.inf], [-np.inf], [3.0]])
    assert quantile_of_sorted(ordered, 0.25, np.array([3])) == [-np.inf]


def test_quantiles_between_equal_values_are_that_value_to_the_last_bit():
    values = np.random.default_rng(0).random(500)
    ordered = np.repeat(values[None], 8, axis=0)
    for probability in (0.025, 0.3, 0.975):
        assert (quantile_of_sorted(ordered, probability, np.full(500, 8)) == values).all()


def test_an_undefined_probability_gives_no_quantile():
    found = quantile_of_sorted(np.array([[1.0], [2.0]]), np.array([np.nan]), np.array([2]))
    assert np.isnan(found[0])


def test_undefined_replicates_come_last():
    ordered = distribution([0.5, np.nan, 0.2]).sorted_replicates[:, 0]
    np.testing.assert_array_equal(ordered, [0.2, 0.5, np.nan])


def test_studentised_replicates_without_variance_are_undefined():
    found = distribution([0.5, 0.9, 0.2], replicate_se=[0.1, 0.0, 0.4]).t[:, 0]
    np.testing.assert_allclose(found, [1.0, np.nan, -0.5], atol=1e-12)


@pytest.mark.parametrize("undefined", [0, 3])
@pytest.mark.parametrize("tails", [(0.025, 0.975), (0.0, 1.0), (0.5, 0.5)])
def test_values_around_quantiles_are_where_a_sort_puts_them(undefined, tails):
    values = np.random.default_rng(1).normal(size=(200, 4))
    values[:undefined, 2] = np.nan
    count = 200 - np.isnan(values).sum(axis=0)
    ordered, around = np.sort(values, axis=0), around_quantiles(values, tails)
    for tail in tails:
        np.testing.assert_array_equal(
            quantile_of_sorted(around, tail, count), quantile_of_sorted(ordered, tail, count)
        )


def test_studentised_replicates_on_the_logit_scale_by_hand():
    found = distribution([0.5, 0.25], replicate_se=[0.1, 0.05], estimate=0.2).logit_t[:, 0]
    # logit ½ = 0, logit ¼ = -ln 3, logit ⅕ = -ln 4; se/(m(1-m)) = 0.1/0.25 and 0.05/0.1875
    expected = [np.log(4) / 0.4, (np.log(4) - np.log(3)) / (0.05 / 0.1875)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_logit_replicates_without_variance_are_infinite_by_the_sign_of_their_deviation():
    found = distribution([0.0, 1.0, 0.3, 0.6], replicate_se=[0.1, 0.1, 0.0, 0.0]).logit_t[:, 0]
    assert found.tolist() == [-np.inf, np.inf, -np.inf, np.inf]


@pytest.mark.parametrize("rounding", [0.0, 1e-16, -1e-16])
def test_a_replicate_equal_to_the_estimate_has_no_deviation_even_without_variance(rounding):
    found = distribution([0.4 + rounding], replicate_se=[0.0]).logit_t
    assert found.tolist() == [[0.0]]


def test_an_undefined_replicate_is_undefined_on_the_logit_scale_too():
    found = distribution([np.nan, -np.nan, 0.3], replicate_se=[np.nan, np.nan, 0.1])
    assert np.isnan(found.logit_t[:2]).all()
    assert np.isnan(found.sorted_logit_t[1:]).all()
    assert np.isfinite(found.sorted_logit_t[0])


def test_logits_of_replicates_of_0_and_1_are_infinite():
    """Also where rounding has moved them beyond."""
    found = distribution([0.0, -1e-16, 0.5, 1.0, 1.0 + 3e-16]).replicate_logits[:, 0]
    assert found.tolist() == [-np.inf, -np.inf, 0.0, np.inf, np.inf]


@pytest.mark.parametrize(("se", "degenerate"), [(0.0, True), (np.nan, True), (1e-9, False)])
def test_a_column_without_standard_error_is_degenerate(se, degenerate):
    assert distribution([0.5], se=se).degenerate.tolist() == [degenerate]


def test_a_field_that_is_not_there_is_named():
    with pytest.raises(UnsupportedMethodError, match="no replicate_se"):
        distribution([0.5]).require("replicate_se")
