"""Bootstrap intervals against those of scipy and arch.

Twice each: from the same replicates, where only rounding may differ, and from replicates that each
library draws itself, where the limits may differ by the chance of two quantiles: √(p(1-p)/B)/f each.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from arch.bootstrap import IIDBootstrap
from scipy import stats

from confir.intervals.method_list import METHODS
from confir.resampling.topic_bootstrap import bootstrap_topics

RNG = np.random.default_rng(77)
SAMPLES = {
    "skewed": RNG.beta(0.4, 2, 30),
    "even": RNG.random(12),
    "with zeros": np.where(RNG.random(40) < 0.4, 0.0, RNG.beta(1, 2, 40)),
    "few": RNG.beta(2, 3, 6),
}
LEVELS = (0.8, 0.95)
REPLICATES, MANY = 999, 40_000


class SameDraws(IIDBootstrap):
    """The bootstrap of arch, on given draws."""

    def __init__(self, sample, draws):
        super().__init__(sample)
        self.draws = iter(draws)

    def update_indices(self):
        return next(self.draws)


def se_of(_, sample):
    return np.array([sample.std(ddof=1) / np.sqrt(len(sample))])


def mean_of(sample):
    return np.array([sample.mean()])


def draws_of(sample, seed, replicates=REPLICATES):
    return np.random.default_rng(seed).integers(0, len(sample), (replicates, len(sample)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("name", SAMPLES)
def test_intervals_of_the_same_replicates_against_scipy(name, method, theirs, level):
    sample = SAMPLES[name]
    distribution = bootstrap_topics(sample, replicates=REPLICATES, rng=5)
    replicates = sample[draws_of(sample, 5)].mean(axis=1)
    # scipy counts ties exactly, though the order of a sum decides its last bit.
    replicates[np.abs(replicates - sample.mean()) <= 1e-12] = sample.mean()
    expected = stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=0,
        method=theirs,
        confidence_level=level,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=replicates),
    ).confidence_interval
    found = np.ravel(METHODS[method].compute(distribution, level))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("name", SAMPLES)
def test_intervals_of_their_own_replicates_against_scipy(name, method, theirs):
    sample = SAMPLES[name]
    distribution = bootstrap_topics(sample, replicates=MANY, rng=6)
    expected = stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=MANY,
        method=theirs,
        rng=np.random.default_rng(7),
        batch=5_000,
    ).confidence_interval
    found = np.ravel(METHODS[method].compute(distribution, 0.95))
    ordered = distribution.sorted_replicates[:, 0]
    for one, other in zip(found, expected, strict=True):
        assert abs(one - other) < 4 * error_of(ordered, one, method)


def error_of(ordered, limit, method):
    """Standard error of the difference of two limits, each from its own replicates.

    BCa's bias correction varies by 1.25/√B, which moves its probability by up to 2φ(z) times that;
    with z = 1.96 this at most doubles the variance.
    """
    p = (ordered <= limit).mean()
    width = min(0.005, p / 2, (1 - p) / 2)
    spacing = np.quantile(ordered, p + width) - np.quantile(ordered, p - width)
    variance = p * (1 - p) * (2 if method == "bca" else 1)
    return np.sqrt(2 * variance / len(ordered)) * spacing / (2 * width)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["skewed", "even"])
def test_quantiles_of_bootstrap_t_on_the_same_draws_against_arch(name, level):
    """arch scales by the spread of the replicates where we take the standard error."""
    sample = SAMPLES[name]
    replicates = sample[draws_of(sample, 5)].mean(axis=1)
    theirs = SameDraws(sample, draws_of(sample, 5)).conf_int(
        mean_of, REPLICATES, method="studentized", std_err_func=se_of, size=level
    )
    expected = (sample.mean() - theirs[:, 0]) / replicates.std(ddof=0)
    distribution = bootstrap_topics(sample, replicates=REPLICATES, rng=5)
    found = np.ravel(METHODS["bootstrap-t"].compute(distribution, level))
    np.testing.assert_allclose((sample.mean() - found) / distribution.se, expected, atol=1e-10)


@pytest.mark.parametrize("name", ["skewed", "even"])
def test_bootstrap_t_of_its_own_draws_against_arch(name):
    sample, replicates = SAMPLES[name], 6_000
    theirs = IIDBootstrap(sample, seed=8).conf_int(
        mean_of, replicates, method="studentized", std_err_func=se_of, size=0.95
    )[:, 0]
    distribution = bootstrap_topics(sample, replicates=MANY, rng=6)
    found = np.ravel(METHODS["bootstrap-t"].compute(distribution, 0.95))
    # The spread of the replicates estimates se·√((n-1)/n), with a relative error of 1/√(2B).
    n = len(sample)
    se = distribution.se[0]
    theirs = sample.mean() + (theirs - sample.mean()) / np.sqrt((n - 1) / n)
    t = np.sort(distribution.t[:, 0])
    for one, other, p in zip(found, theirs, (0.975, 0.025), strict=True):
        spacing = np.quantile(t, p + 0.005) - np.quantile(t, p - 0.005)
        quantile = np.sqrt(0.025 * 0.975 * (1 / replicates + 1 / MANY)) * spacing / 0.01 * se
        spread = abs(one - sample.mean()) / np.sqrt(2 * replicates)
        assert abs(one - other) < 4 * np.hypot(quantile, spread)


@pytest.mark.parametrize("name", ["skewed", "even"])
def test_bca_on_the_same_draws_against_arch(name):
    sample = SAMPLES[name]
    theirs = SameDraws(sample, draws_of(sample, 5)).conf_int(
        mean_of, REPLICATES, method="bca", size=0.95
    )
    distribution = bootstrap_topics(sample, replicates=REPLICATES, rng=5)
    found = np.ravel(METHODS["bca"].compute(distribution, 0.95))
    np.testing.assert_allclose(found, theirs[:, 0], rtol=0, atol=1e-12)
