"""Prediction-powered means: against ppi-python, plain loops, and simulations with known truth."""

import numpy as np
import pytest
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy import stats

from confir.data.sampling.judged_scores import Judged
from confir.errors import UnsupportedMethodError
from confir.intervals.catalogue import METHODS, confidence_interval
from confir.resampling.human_judgements import JudgedSample, JudgedWeights
from judge_files import plain_correction


def sample(human, model, rest, support=False):
    arrays = [np.asarray(part, float).reshape(len(part), -1) for part in (human, model, rest)]
    labels = tuple((f"run{c}", "AP") for c in range(arrays[0].shape[1]))
    shape = (len(labels),)
    return JudgedSample(labels, shape, Judged(*arrays), np.full(len(labels), support))


def scores(n, more, columns, correlation=0.7, seed=1, shift=0.1):
    """Scores by people and by a model that is off by a shift: n topics of both, more of the model."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(n + more, columns))
    noise = rng.normal(size=y.shape)
    f = 0.5 * (correlation * y + np.sqrt(1 - correlation**2) * noise) + shift
    return y[:n], f[:n], f[n:]


@pytest.mark.parametrize("correlation", [0.9, 0.3, 0.0, -0.8])
@pytest.mark.parametrize(("n", "more"), [(5, 400), (20, 30), (50, 7)])
def test_means_and_weights_against_ppi_python(correlation, n, more):
    y, f, g = scores(n, more, 12, correlation)
    found = sample(y, f, g).corrected()
    for c in range(12):
        mean = ppi_mean_pointestimate(y[:, c], f[:, c], g[:, c])
        assert found.mean[c] == pytest.approx(float(np.squeeze(mean)), abs=1e-10)
        fixed = ppi_mean_pointestimate(y[:, c], f[:, c], g[:, c], lam=found.weight[c])
        assert found.mean[c] == pytest.approx(float(np.squeeze(fixed)), abs=1e-10)
    assert ((found.weight >= 0) & (found.weight <= 1)).all()
    if correlation < 0:
        assert (found.weight == 0).any()


def test_with_many_topics_the_interval_is_that_of_ppi_python():
    """ddof 2 and t instead of ddof 0 and normal quantiles vanish with n."""
    y, f, g = scores(20_000, 40_000, 1)
    found = confidence_interval(sample(y, f, g).distribution(slice(None), None), method="t")
    low, high = ppi_mean_ci(y, f, g, alpha=0.05)
    assert found.low[0] == pytest.approx(low[0], abs=2e-5)
    assert found.high[0] == pytest.approx(high[0], abs=2e-5)


def test_standard_errors_and_degrees_of_freedom_against_the_formulas():
    y, f, g = scores(9, 40, 30, 0.2, seed=3)
    judged = sample(y, f, g)
    found = judged.corrected()
    expected = np.array([plain_correction(y[:, c], f[:, c], g[:, c]) for c in range(30)]).T
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert 0 < (found.weight == 0).sum() < 30
    assert 0 < (found.df[found.weight > 0] == 8).sum() < (found.weight > 0).sum()
    np.testing.assert_array_equal(judged.distribution(slice(None), None).df, found.df)


def test_replicates_estimate_the_weight_anew():
    y, f, g = scores(8, 15, 3, 0.6, seed=5)
    judged = sample(y, f, g)
    weights = judged.draw(40, np.random.default_rng(2))
    found = judged.distribution(slice(None), weights)
    for b in range(40):
        drawn = np.repeat(np.arange(8), np.rint(8 * weights.human[b]).astype(int))
        more = np.repeat(np.arange(15), np.rint(15 * weights.model[b]).astype(int))
        for c in range(3):
            mean, _, se, _ = plain_correction(y[drawn, c], f[drawn, c], g[more, c])
            assert found.replicates[b, c] == pytest.approx(mean, abs=1e-10)
            assert found.replicate_se[b, c] == pytest.approx(se, abs=1e-9)


def test_a_model_without_information_leaves_the_mean_of_people():
    y, f, g = scores(12, 50, 4, -0.9)
    judged = sample(y, f, g)
    found = judged.distribution(slice(None), None)
    assert (judged.corrected().weight == 0).all()
    interval = confidence_interval(found, method="t")
    for c in range(4):
        low, high = stats.t.interval(0.95, 11, y[:, c].mean(), stats.sem(y[:, c]))
        assert (interval.low[c], interval.high[c]) == pytest.approx((low, high), abs=1e-12)
    constant = sample(y, np.ones_like(y), np.ones_like(g)).corrected()
    assert (constant.weight == 0).all()
    np.testing.assert_allclose(constant.mean, y.mean(axis=0))


@pytest.mark.parametrize(("n", "covers"), [(5, 0.965), (10, 0.953), (20, 0.949)])
def test_coverage_in_simulation_with_known_truth(n, covers):
    """N = 400, correlation .7; those expected, of a sketch with λ as if known and width unbounded."""
    y, f, g = scores(n, 400, 8_000, 0.7, seed=n, shift=0.3)
    found = confidence_interval(sample(y, f, g).distribution(slice(None), None), method="t")
    share = np.mean((found.low <= 0) & (found.high >= 0))
    assert covers - 0.005 < share < covers + 0.02  # wider than the sketch: λ is estimated
    model_only = stats.t.interval(0.95, 399, g.mean(axis=0), stats.sem(g))
    assert np.mean((model_only[0] <= 0) & (model_only[1] >= 0)) < 0.01


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize(("n", "more"), [(3, 20), (5, 20), (5, 400), (10, 20), (30, 400)])
def test_intervals_are_hardly_wider_than_those_of_people_alone(n, more, correlation):
    y, f, g = scores(n, more, 4_000, correlation, seed=7)
    found = confidence_interval(sample(y, f, g).distribution(slice(None), None), method="t")
    width = np.mean(found.high - found.low)
    people = np.mean(2 * stats.t.ppf(0.975, n - 1) * y.std(axis=0, ddof=1) / np.sqrt(n))
    assert width / people <= 1.05
    if correlation == 0.95 and n == 30:
        assert width / people < 0.65


def test_methods_for_one_independent_sample_refuse_and_the_default_is_logit_t():
    rng = np.random.default_rng(3)
    y = rng.beta(2, 3, size=(12, 2))
    f = np.clip(y + rng.normal(0.1, 0.1, y.shape), 0, 1)
    g = rng.beta(2, 2, size=(60, 2))
    judged = sample(y, f, g, support=True)
    found = judged.distribution(slice(None), judged.draw(399, rng))
    assert confidence_interval(found).methods == ("logit-t", "logit-t")
    declared = [name for name, method in METHODS.items() if method.one_sample]
    assert {"betting", "gaffke", "beta-logit"} <= set(declared)
    for name in declared:
        with pytest.raises(UnsupportedMethodError, match="one simple random sample of topics"):
            confidence_interval(found, method=name)
    low, high = confidence_interval(found, method="percentile").low, confidence_interval(found).high
    assert (low < high).all()


def test_even_weights_give_the_estimate_itself():
    y, f, g = scores(6, 9, 2, 0.5)
    judged = sample(y, f, g)
    even = JudgedWeights(np.full((1, 6), 1 / 6), np.full((1, 9), 1 / 9))
    found = judged.distribution(slice(None), even)
    np.testing.assert_allclose(found.replicates[0], found.estimate, atol=1e-12)
