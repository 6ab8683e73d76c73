"""Misses found by counting replicates against those found by limits."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from confir.errors import InvalidValueError
from confir.intervals.interval import ABOVE, BELOW, INSIDE, UNDEFINED, Limits, side_of_limits
from confir.intervals.method_list import METHODS
from confir.intervals.probe import Probe, TargetCounts, mirrored, side_of_quantiles
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.kinds import as_topic_sample
from confir.resampling.replicates import draw_topics
from confir.studies.coverage.miss_counts import PUBLISHED_BOOTSTRAP_T

COUNTING = [m for m in (*METHODS.values(), PUBLISHED_BOOTSTRAP_T) if m.count_side is not None]
LEVELS = (0.1, 0.5, 0.95, 0.99)
COLUMNS = 8
TIE = np.array([1e-12])


def gappy(values, rng):
    return np.where(rng.random(values.shape) < 0.3, np.nan, values)


# What scores look like: from a generator and a shape to scores.
KINDS = {
    "continuous": lambda rng, shape: rng.beta(1, 3, shape),
    "tenths": lambda rng, shape: rng.integers(0, 11, shape) / 10,
    "yes or no": lambda rng, shape: (rng.random(shape) < 0.4) * 1.0,
    "mostly 0": lambda rng, shape: np.where(rng.random(shape) < 0.7, 0, rng.random(shape)),
    "mostly 1": lambda rng, shape: 1 - np.where(rng.random(shape) < 0.7, 0, rng.random(shape)),
    "0 and thirds": lambda rng, shape: (rng.random(shape) < 0.4) * rng.integers(0, 4, shape) / 3,
    "reciprocal ranks": lambda rng, shape: 1 / rng.integers(1, 6, shape),
    "hardly different": lambda rng, shape: 0.5 + 1e-5 * rng.random(shape),
    "with gaps": lambda rng, shape: gappy(rng.random(shape), rng),
    "tenths with gaps": lambda rng, shape: gappy(rng.integers(0, 11, shape) / 10, rng),
}


def drawn(kind, topics, replicates, seed):
    """The population's mean, and the distribution of a sample from it."""
    rng = np.random.default_rng(seed)
    population = as_topic_sample(KINDS[kind](rng, (40, COLUMNS)))
    truth = population.distribution(slice(None), None, ()).estimate
    sample = population.drawn(rng.integers(0, 40, topics))
    return truth, sample.distribution(slice(None), draw_topics(topics, replicates, rng).shares())


@pytest.mark.parametrize("replicates", [1, 5, 99, 1_000])
@pytest.mark.parametrize("topics", [2, 3, 7, 50])
@pytest.mark.parametrize("kind", KINDS)
def test_counting_and_limits_agree_for_every_method_and_level(kind, topics, replicates):
    truth, distribution = drawn(kind, topics, replicates, seed=topics * replicates)
    varies = ~distribution.degenerate
    for method in COUNTING:
        for level in LEVELS:
            if method is PUBLISHED_BOOTSTRAP_T and level <= 0.5:
                continue
            with np.errstate(all="ignore"):
                limits = method.compute(distribution, level)
            for value in (truth, distribution.estimate, distribution.replicates[0]):
                found = method.side(Probe(distribution, value), level)
                expected = side_of_limits(limits, value)
                np.testing.assert_array_equal(found[varies], expected[varies], method.name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_itself_is_inside_by_counting_too(kind):
    _, distribution = drawn(kind, 12, 199, seed=5)
    varies = ~distribution.degenerate
    for name in ("percentile", "bca", "bootstrap-t", "symmetric-t", "symmetric-t-logit"):
        limits = METHODS[name].compute(distribution, 0.9)
        for limit in limits:
            found = METHODS[name].side(Probe(distribution, limit), 0.9)
            assert set(found[varies].tolist()) == {INSIDE}, name


def test_all_three_sides_occur_in_these_cases():
    seen = set()
    for kind in KINDS:
        truth, distribution = drawn(kind, 10, 199, seed=3)
        seen |= set(METHODS["bca"].side(Probe(distribution, truth), 0.5).tolist())
    assert seen >= {BELOW, INSIDE, ABOVE}


def distribution_of(replicates, estimate=0.5, count=10, **fields):
    replicates = np.asarray(replicates, float)[:, None]
    one = np.ones(1)
    return SamplingDistribution(
        labels=(("run", "AP"),),
        estimate=np.array([estimate]),
        count=np.array([count]),
        df=np.array([count - 1.0]),
        support=np.array([True]),
        resampled=frozenset({"topics"}),
        replicates=replicates,
        se=0.1 * one,
        dropped=np.isnan(replicates).sum(axis=0),
        **fields,
    )


def side(name, distribution, value, level=0.5):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return METHODS[name].side(Probe(distribution, np.array([value])), level).item()


def test_a_value_among_counted_replicates():
    distribution = distribution_of([0.1, 0.2, 0.3, 0.4, 0.5])  # quartiles 0.2 and 0.4
    assert side("percentile", distribution, 0.19) == BELOW
    assert side("percentile", distribution, 0.2) == INSIDE
    assert side("percentile", distribution, 0.4) == INSIDE
    assert side("percentile", distribution, 0.41) == ABOVE


def test_a_value_between_two_replicates_is_interpolated():
    distribution = distribution_of([0.0, 0.4, 1.0, 1.0])  # quartiles 0.3 and 1
    assert side("percentile", distribution, 0.29) == BELOW
    assert side("percentile", distribution, 0.31) == INSIDE


def test_without_replicates_that_are_defined_there_is_no_side():
    assert side("percentile", distribution_of([np.nan, np.nan]), 0.5) == UNDEFINED


def test_undefined_replicates_do_not_count():
    some = distribution_of([0.1, np.nan, 0.2, 0.3, np.nan, 0.4, 0.5])
    for value in (0.19, 0.2, 0.4, 0.41):
        whole = distribution_of([0.1, 0.2, 0.3, 0.4, 0.5])
        assert side("percentile", some, value) == side("percentile", whole, value)


def test_bca_without_a_measure_of_bias_has_no_side():
    above = distribution_of([0.6, 0.7, 0.8], acceleration=np.zeros(1))  # all above the estimate
    assert side("bca", above, 0.7) == UNDEFINED


def test_bootstrap_t_has_no_side_below_three_topics():
    se = np.full((4, 1), 0.1)
    replicates = [0.4, 0.45, 0.55, 0.6]
    for name in ("bootstrap-t", "symmetric-t"):
        assert side(name, distribution_of(replicates, replicate_se=se), 0.5) == INSIDE
        assert side(name, distribution_of(replicates, count=2, replicate_se=se), 0.5) == UNDEFINED


def test_bootstrap_t_has_no_side_where_no_replicate_varies():
    se = np.zeros((4, 1))
    distribution = distribution_of([0.4, 0.45, 0.55, 0.6], replicate_se=se)
    assert side("bootstrap-t", distribution, 0.5) == UNDEFINED
    assert side("symmetric-t", distribution, 0.5) == UNDEFINED


def test_logit_replicates_without_variance_are_infinitely_far():
    # One of four replicates is 0: the upper quantile of T is finite, the lower one is not.
    se = np.array([0.0, 0.1, 0.1, 0.1])[:, None]
    distribution = distribution_of([0.0, 0.6, 0.6, 0.6], replicate_se=se)
    low, high = METHODS["bootstrap-t-logit"].compute(distribution, 0.5)
    assert high.item() == 1.0
    assert side("bootstrap-t-logit", distribution, 0.999) == INSIDE
    assert side("bootstrap-t-logit", distribution, low.item() - 0.01) == BELOW


def test_a_quantile_between_infinities_is_none():
    se = np.zeros((2, 1))
    distribution = distribution_of([0.0, 1.0], replicate_se=se)
    assert np.isnan(METHODS["bootstrap-t-logit"].compute(distribution, 0.5).low.item())
    assert side("bootstrap-t-logit", distribution, 0.5) == UNDEFINED


def test_an_unknown_value_has_no_side():
    distribution = distribution_of([0.1, 0.2, 0.3])
    assert side("percentile", distribution, np.nan) == UNDEFINED
    assert side_of_limits(Limits(np.zeros(1), np.ones(1)), np.array([np.nan])).item() == UNDEFINED


def test_the_side_of_limits():
    low, high = np.array([0.2, 0.2, 0.2, np.nan, 0.2]), np.array([0.4, 0.4, 0.4, 0.4, np.nan])
    value = np.array([0.1, 0.2 - 1e-14, 0.5, 0.3, 0.3])
    expected = [BELOW, INSIDE, ABOVE, UNDEFINED, UNDEFINED]
    assert side_of_limits(Limits(low, high), value).tolist() == expected


def test_infinite_limits_hold_everything():
    limits = Limits(np.array([-np.inf]), np.array([np.inf]))
    assert side_of_limits(limits, np.array([3.0])).item() == INSIDE


def test_rounding_of_large_values_makes_no_miss():
    value = np.array([1e6])
    limits = Limits(np.array([1e6 * (1 + 1e-14)]), np.array([2e6]))
    assert side_of_limits(limits, value).item() == INSIDE
    replicates = np.full((9, 1), 1e6 * (1 + 1e-14))
    probe = Probe(replace(distribution_of([0.5] * 9), replicates=replicates), value)
    assert METHODS["percentile"].side(probe, 0.5).item() == INSIDE


def test_limits_of_another_shape_are_refused():
    with pytest.raises(InvalidValueError, match=r"shape \(2,\) and \(2,\); expected \(3,\)"):
        side_of_limits(Limits(np.zeros(2), np.ones(2)), np.zeros(3))


def test_ties_count_half():
    values = np.array([0.1, 0.5, 0.5 + 1e-14, 0.7, np.nan])[:, None]
    ranks = TargetCounts(values, np.array([0.5]), np.array([1e-12]))
    assert ranks.count.item() == 4
    assert ranks.share_below.item() == 0.5  # (1 + half of 2) / 4


def test_nothing_counted_gives_no_share():
    ranks = TargetCounts(np.full((3, 1), np.nan), np.zeros(1), np.zeros(1))
    assert np.isnan(ranks.share_below).all()


def test_a_target_known_in_part_equals_what_lies_in_its_range():
    values = np.arange(5.0)[:, None]  # the median is 2
    for lower, upper, expected in ((1.0, 1.9, BELOW), (1.9, 2.1, INSIDE), (2.1, 3.0, ABOVE)):
        middle, reach = (lower + upper) / 2, (upper - lower) / 2
        counts = TargetCounts(values, np.array([middle]), np.array([reach]))
        assert side_of_quantiles(counts, 0.5, 0.5).item() == expected


def test_a_target_that_starts_at_a_value_lies_above_the_quantile_before_that_value():
    values = np.arange(4.0)[:, None]  # the median is 1.5
    target = TargetCounts(values, np.array([2.25]), np.array([0.25]))
    assert side_of_quantiles(target, 0.5, 0.5).item() == ABOVE


def test_an_infinite_target_equals_an_infinite_quantile():
    values = np.array([0.0, 1.0, np.inf, np.inf])[:, None]
    beyond = np.array([np.inf])
    assert side_of_quantiles(TargetCounts(values, beyond, TIE), 1.0, 1.0).item() == INSIDE
    assert side_of_quantiles(TargetCounts(values, beyond, TIE), 0.0, 0.0).item() == ABOVE
    assert side_of_quantiles(TargetCounts(values, -beyond, TIE), 0.0, 1.0).item() == BELOW


def test_one_quantile_that_is_none_leaves_no_side():
    below = TargetCounts(np.arange(5.0)[:, None], np.array([-1.0]), TIE)
    assert side_of_quantiles(below, 0.5, 0.6).item() == BELOW
    assert side_of_quantiles(below, 0.5, np.array([np.nan])).item() == UNDEFINED
    assert side_of_quantiles(below, np.array([np.nan]), 0.6).item() == UNDEFINED


def test_mirrored_sides():
    sides = np.array([BELOW, INSIDE, ABOVE, UNDEFINED])
    assert mirrored(sides).tolist() == [ABOVE, INSIDE, BELOW, UNDEFINED]
