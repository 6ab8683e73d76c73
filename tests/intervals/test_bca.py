"""`bca` against Efron's formulas with an explicit jackknife."""

import numpy as np
import pytest
from scipy import stats

from confir.intervals.percentile import bca_interval
from confir.resampling.replicates import draw_topics
from confir.resampling.topic_bootstrap import bootstrap_topics

REPLICATES = 400
RNG = np.random.default_rng(23)
SAMPLES = {
    "skewed": RNG.beta(0.3, 2, 20),
    "steps of a tenth": RNG.integers(0, 11, 10) / 10,
    "yes or no": np.repeat([0.0, 1.0], [9, 3]),
    "three topics": np.array([0.1, 0.2, 0.3]),
    "half missing": np.where(np.arange(12) % 2, np.nan, RNG.random(12)),
    "two of eight there": np.array([0.3, *[np.nan] * 6, 0.8]),
}


def plain_bca(sample, level, seed):
    n = len(sample)
    weights = draw_topics(n, REPLICATES, np.random.default_rng(seed)).shares()
    drawn = [np.repeat(sample, np.rint(row * n).astype(int)) for row in weights]
    means = np.array([np.nanmean(values) for values in drawn if not np.isnan(values).all()])
    there = sample[~np.isnan(sample)]
    estimate = there.mean()
    tied = np.abs(means - estimate) <= 1e-12
    bias = stats.norm.ppf(((means < estimate) & ~tied).mean() + tied.mean() / 2)
    a = plain_acceleration(there)
    limits = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + stats.norm.ppf(tail)
        limits.append(np.quantile(means, stats.norm.cdf(bias + z / (1 - a * z))))
    return limits


def plain_acceleration(sample):
    without = np.array([np.delete(sample, i).mean() for i in range(len(sample))])
    d = without.mean() - without
    return (d**3).sum() / (6 * (d**2).sum() ** 1.5)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bca_against_a_plain_loop(name, level):
    for seed in range(3):
        found = bca_interval(
            bootstrap_topics(SAMPLES[name], replicates=REPLICATES, rng=seed), level
        )
        expected = plain_bca(SAMPLES[name], level, seed)
        np.testing.assert_allclose(np.ravel(found), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SAMPLES)
def test_acceleration_against_the_explicit_jackknife(name):
    found = bootstrap_topics(SAMPLES[name], replicates=1, rng=0).acceleration
    there = SAMPLES[name][~np.isnan(SAMPLES[name])]
    assert found == pytest.approx(plain_acceleration(there), abs=1e-12)


def test_replicates_tied_with_the_mean_count_half():
    sample = np.repeat([0.0, 1.0], [5, 5])  # a quarter of all replicates have the mean ½
    distribution = bootstrap_topics(sample, replicates=9_999, rng=1)
    low, high = bca_interval(distribution, 0.95)
    assert (low[0], high[0]) == (pytest.approx(0.2), pytest.approx(0.8))
