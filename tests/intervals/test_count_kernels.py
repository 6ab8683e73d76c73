"""Streaming counts of replicates against counts of stored replicates."""

import numpy as np
import pytest

from confir.intervals import count_kernels
from confir.intervals.count_kernels import compile_kernels
from confir.intervals.probe import CountedProbe, Probe
from confir.resampling.kinds import as_topic_sample
from confir.resampling.replicates import draw_topics

COLUMNS, SAMPLES = 6, 3
PROBABILITIES = np.linspace(0.0, 1.0, 81)

# What scores look like: from a generator and a shape to scores.
KINDS = {
    "continuous": lambda rng, shape: rng.beta(1, 3, shape),
    "tenths": lambda rng, shape: rng.integers(0, 11, shape) / 10,
    "yes or no": lambda rng, shape: (rng.random(shape) < 0.4) * 1.0,
    "mostly 0": lambda rng, shape: np.where(rng.random(shape) < 0.8, 0, rng.random(shape)),
    "mostly 1": lambda rng, shape: 1 - np.where(rng.random(shape) < 0.8, 0, rng.random(shape)),
    "constant": lambda _, shape: np.broadcast_to(np.linspace(0, 1, shape[1]), shape).copy(),
    "of either sign": lambda rng, shape: rng.normal(0, 5, shape),
    "large": lambda rng, shape: rng.normal(1e5, 10, shape),
}


@pytest.fixture(scope="module")
def kernels():
    compiled = compile_kernels()
    assert compiled is not None
    return compiled


def test_shares_of_draws_are_topic_weights_bit_for_bit(kernels):
    shares = np.empty((300, 17))
    drawn = np.random.default_rng(4).integers(0, 17, (300, 17), dtype=np.int64)
    kernels.share_draws(drawn, np.arange(17), shares)
    weights = draw_topics(17, 300, np.random.default_rng(4)).shares()
    assert shares.tobytes() == weights.tobytes()


def test_draws_of_things_at_one_place_are_added(kernels):
    shares = np.full((2, 2), np.nan)
    drawn = np.array([[0, 1, 2, 2], [1, 1, 1, 0]])
    kernels.share_draws(drawn, np.array([0, 1, 0]), shares)
    assert shares.tolist() == [[0.75, 0.25], [0.25, 0.75]]


def both_probes(kind, topics, replicates, kernels, *, studentised=True, value=None):
    """A probe of counts for samples side by side, and probes of arrays for each of them."""
    rng = np.random.default_rng([topics, replicates])
    population = as_topic_sample(KINDS[kind](rng, (30, COLUMNS)))
    truth = population.values[0].mean(axis=0)
    chosen = rng.integers(0, 30, (SAMPLES, topics))
    wide = population.drawn_often(chosen)
    distribution = wide.distribution(slice(None), None, ())
    values = np.tile(truth, SAMPLES) if value is None else value(distribution)
    counted = CountedProbe(distribution, values, replicates=replicates, studentised=studentised)
    deviations = wide.values[0] - distribution.estimate
    of_arrays = []
    for number, row in enumerate(chosen):
        columns = slice(number * COLUMNS, (number + 1) * COLUMNS)
        weights = draw_topics(topics, replicates, rng).shares()
        powers = deviations[:, columns]
        if studentised:
            powers = np.concatenate([powers, np.square(powers)], axis=1)
        counted.count(kernels, columns, powers.T @ weights.T)
        sample = population.drawn(row).distribution(slice(None), weights)
        of_arrays.append(Probe(sample, values[columns]))
    return counted, of_arrays


def assert_same_standing(counted, of_arrays, name):
    standing = getattr(counted, name)
    others = [getattr(probe, name) for probe in of_arrays]
    varies = ~counted.distribution.degenerate

    def assert_equal(found, expected):
        np.testing.assert_array_equal(found[varies], np.concatenate(expected)[varies])

    assert_equal(standing.count, [other.count for other in others])
    assert_equal(standing.share_below, [other.share_below for other in others])
    for probability in PROBABILITIES.tolist():
        assert_equal(standing.under(probability), [other.under(probability) for other in others])
        assert_equal(standing.over(probability), [other.over(probability) for other in others])


@pytest.mark.every(3)
@pytest.mark.parametrize("replicates", [1, 4, 80, 1_000])
@pytest.mark.parametrize("topics", [2, 3, 7, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_counted_replicates_stand_where_kept_ones_do(kind, topics, replicates, kernels):
    with np.errstate(all="ignore"):
        probes = both_probes(kind, topics, replicates, kernels)
        for name in ("among_replicates", "estimate_among_replicates", "among_t"):
            assert_same_standing(*probes, name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_equal_to_the_estimate_is_a_tie_by_either_way(kind, kernels):
    with np.errstate(all="ignore"):
        probes = both_probes(kind, 5, 200, kernels, value=lambda d: d.estimate * (1 + 1e-15))
        for name in ("among_replicates", "among_t"):
            assert_same_standing(*probes, name)


def test_a_replicate_as_far_off_as_a_tie_may_be_is_one(kernels):
    distribution = as_topic_sample([0.25, 0.75]).distribution(slice(None), None, ())
    value = np.array([0.5 - 1e-12])
    assert value + 1e-12 == 0.5
    counted = CountedProbe(distribution, value, replicates=4, studentised=False)
    counted.count(kernels, slice(0, 1), np.zeros((1, 4)))  # all replicates are 0.5
    assert counted.among_replicates.share_below.tolist() == [0.5]


def test_without_second_moments_only_replicates_are_counted(kernels):
    counted, of_arrays = both_probes("tenths", 7, 100, kernels, studentised=False)
    assert_same_standing(counted, of_arrays, "among_replicates")
    assert_same_standing(counted, of_arrays, "estimate_among_replicates")


def test_the_nearest_values_are_found_on_both_sides_of_zero(kernels):
    bounds = np.array([-1.5, 0.5, -9.0, 3.0])[:, None]
    moments = np.array([[-2.0, 2.0, -1.0, 1.0, 0.0]])
    plain = count_kernels._count_below_loop  # raises where it reads beyond an array
    for count_below in (plain, kernels.count_below):
        tally = count_kernels.Tally.empty(4, 1)
        count_below(moments, np.zeros(1), bounds, 1e-13, *tally)
        assert tally.below[:, 0].tolist() == [1, 3, 0, 5]
        assert tally.nearest_below[:, 0].tolist() == [-2.0, 0.0, -np.inf, 2.0]
        assert tally.nearest_from[:, 0].tolist() == [-1.0, 1.0, -2.0, np.inf]
