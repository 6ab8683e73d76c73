"""Prediction-powered means: against ppi-python, plain loops, and simulations with known truth."""

import numpy as np
import pytest
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy import stats
from scipy.special import ndtr

from confir.data.sampling_designs.prediction_powered import Judged
from confir.errors import UnsupportedMethodError
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.method_list import METHODS
from confir.resampling.judged_sample import JudgedSample, JudgedWeights
from judge_files import plain_correction, plain_weight


def sample(human, model, rest, support=False):
    arrays = [np.asarray(part, float).reshape(len(part), -1) for part in (human, model, rest)]
    labels = tuple((f"run{c}", "AP") for c in range(arrays[0].shape[1]))
    shape = (len(labels),)
    return JudgedSample(labels, shape, np.full(len(labels), support), Judged(*arrays))


def scores(n, more, columns, correlation=0.7, seed=1, shift=0.1):
    """Scores by human judgements and by a model with a constant bias: n topics of both, more of the model."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(n + more, columns))
    noise = rng.normal(size=y.shape)
    f = 0.5 * (correlation * y + np.sqrt(1 - correlation**2) * noise) + shift
    return y[:n], f[:n], f[n:]


@pytest.mark.parametrize("correlation", [0.9, 0.3, 0.0, -0.8])
@pytest.mark.parametrize(("n", "more"), [(5, 400), (20, 30), (50, 7)])
def test_means_and_weights_against_ppi_python(correlation, n, more):
    y, f, g = scores(n, more, 12, correlation)
    found = sample(y, f, g).values.with_one_weight()
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
    found = judged.values.corrected()
    expected = np.array([plain_correction(y[:, c], f[:, c], g[:, c]) for c in range(30)]).T
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert 0 < (found.weight == 0).sum() < 30
    assert 0 < (found.df[found.weight > 0] == 8).sum() < (found.weight > 0).sum()
    np.testing.assert_array_equal(judged.distribution(slice(None), None).df, found.df)


@pytest.mark.parametrize(("n", "more"), [(3, 20), (4, 3), (6, 400)])
def test_each_topic_is_corrected_by_the_weight_of_the_others(n, more):
    """Three topics leave two, which say too little of the weight: there it is that of all."""
    y, f, g = scores(n, more, 40, 0.5, seed=n)
    found = sample(y, f, g).values.corrected()
    expected = [plain_correction(y[:, c], f[:, c], g[:, c])[0] for c in range(40)]
    np.testing.assert_allclose(found.mean, expected, rtol=1e-10, atol=1e-12)
    same = found.mean == sample(y, f, g).values.with_one_weight().mean
    assert same.all() == (n == 3)


def test_a_model_that_varies_on_one_topic_alone_has_no_weight_there():
    y = np.array([0.1, 0.5, 0.3, 0.9])
    f, g = np.array([0.0, 0.0, 0.0, 1000.0]), np.zeros(6)
    found = sample(y, f, g).values.corrected()
    weight = plain_weight(y, f, g)
    assert found.weight[0] == pytest.approx(weight)
    assert found.mean[0] == pytest.approx(y.mean())


@pytest.mark.parametrize(("n", "correlation", "bias"), [(5, 0.5, -0.0085), (10, 0.8, -0.0071)])
def test_corrected_means_of_skewed_scores_are_without_the_bias_of_one_weight(n, correlation, bias):
    """Scores from beta(1, 2), whose quantiles are 1 - √(1 - p), and N = 400."""
    rng = np.random.default_rng(8)
    shape = (n + 400, 6_000)
    normal = rng.standard_normal(shape)
    noisy = correlation * normal + np.sqrt(1 - correlation**2) * rng.standard_normal(shape)
    y, f = (1 - np.sqrt(ndtr(-part)) for part in (normal, noisy))
    values = sample(y[:n], f[:n], f[n:]).values
    found, plain = values.corrected(), values.with_one_weight()
    error = found.mean.std() / np.sqrt(6_000)
    assert plain.mean.mean() - 1 / 3 == pytest.approx(bias, abs=3 * error)
    assert abs(bias) > 6 * error
    assert found.mean.mean() == pytest.approx(1 / 3, abs=3 * error)
    assert coverage(found, 1 / 3) > coverage(plain, 1 / 3) - 0.002


def coverage(found, truth):
    """Share of 95% intervals by t that contain the truth."""
    return np.mean(np.abs(found.mean - truth) <= stats.t.ppf(0.975, found.df) * found.se)


@pytest.mark.parametrize("n", [5, 10])
def test_intervals_of_very_skewed_scores_cover_as_often_as_with_one_weight(n):
    """Exponential scores: with the standard error of one weight, 0.02 less often."""
    rng = np.random.default_rng(n)
    y, g = (rng.exponential(size=(size, 6_000)) for size in (n, 400))
    f, g = y + rng.exponential(size=y.shape), g + rng.exponential(size=g.shape)
    values = sample(y, f, g).values
    found, plain = values.corrected(), values.with_one_weight()
    assert coverage(found._replace(se=plain.se, df=plain.df), 1) < coverage(plain, 1) - 0.01
    assert coverage(found, 1) > coverage(plain, 1) - 0.005


def test_replicates_re_estimate_the_weight():
    y, f, g = scores(8, 15, 3, 0.6, seed=5)
    judged = sample(y, f, g)
    weights = judged.draw(40, np.random.default_rng(2))
    found = judged.distribution(slice(None), weights)
    for b in range(40):
        drawn = np.repeat(np.arange(8), np.rint(8 * weights.human[b]).astype(int))
        more = np.repeat(np.arange(15), np.rint(15 * weights.model[b]).astype(int))
        for c in range(3):
            mean, _, se, _ = plain_correction(y[drawn, c], f[drawn, c], g[more, c], left_out=False)
            observed, _, own, _ = plain_correction(y[:, c], f[:, c], g[:, c], left_out=False)
            moved, wider = found.replicates[b, c] - found.estimate[c], found.se[c] / own
            assert moved == pytest.approx(wider * (mean - observed), abs=1e-10)
            assert found.replicate_se[b, c] == pytest.approx(wider * se, abs=1e-9)


def test_a_model_without_information_leaves_the_mean_by_human_judgements():
    y, f, g = scores(12, 50, 4, -0.9)
    judged = sample(y, f, g)
    found = judged.distribution(slice(None), None)
    assert (judged.values.corrected().weight == 0).all()
    interval = confidence_interval(found, method="t")
    for c in range(4):
        low, high = stats.t.interval(0.95, 11, y[:, c].mean(), stats.sem(y[:, c]))
        assert (interval.low[c], interval.high[c]) == pytest.approx((low, high), abs=1e-12)
    constant = sample(y, np.ones_like(y), np.ones_like(g)).values.corrected()
    assert (constant.weight == 0).all()
    np.testing.assert_allclose(constant.mean, y.mean(axis=0))


@pytest.mark.parametrize(("n", "covers"), [(5, 0.960), (10, 0.959), (20, 0.957)])
def test_coverage_in_simulation_with_known_truth(n, covers):
    """N = 400, correlation .7; those expected, of 16,000 other samples."""
    y, f, g = scores(n, 400, 8_000, 0.7, seed=n, shift=0.3)
    found = confidence_interval(sample(y, f, g).distribution(slice(None), None), method="t")
    share = np.mean((found.low <= 0) & (found.high >= 0))
    assert share == pytest.approx(covers, abs=0.01)
    model_only = stats.t.interval(0.95, 399, g.mean(axis=0), stats.sem(g))
    assert np.mean((model_only[0] <= 0) & (model_only[1] >= 0)) < 0.01


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize(("n", "more"), [(3, 20), (5, 20), (5, 400), (10, 20), (30, 400)])
def test_intervals_are_hardly_wider_than_those_by_human_judgements_alone(n, more, correlation):
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
