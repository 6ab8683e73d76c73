"""The studentised bootstraps against a plain loop over resampled topics."""

import warnings

import numpy as np
import pytest

from confir.errors import DegenerateSampleWarning
from confir.intervals.bootstrap_t import (
    bootstrap_t_interval,
    bootstrap_t_logit_interval,
    hall_logit_interval,
    symmetric_t_interval,
    symmetric_t_logit_interval,
)
from confir.intervals.confidence_intervals import confidence_interval
from confir.resampling.replicates import draw_topics
from confir.resampling.topic_bootstrap import bootstrap_topics

REPLICATES, LEVELS = 400, (0.5, 0.95)
RNG = np.random.default_rng(31)
SPARSE = np.where(np.arange(25) % 6 == 0, RNG.random(25), 0.0)
SAMPLES = {
    "skewed": RNG.beta(0.4, 2, 20),
    "steps of a tenth": RNG.integers(0, 11, 10) / 10,
    "yes or no": np.repeat([0.0, 1.0], [9, 3]),
    "three topics": np.array([0.1, 0.2, 0.3]),
    "few topics above 0": SPARSE,
    "few topics below 1": 1 - SPARSE,
    "one topic above 0": np.where(np.arange(25) == 4, 0.66, 0.0),
    "half missing": np.where(np.arange(12) % 2, np.nan, RNG.random(12)),
    "five of eight missing": np.array([*[np.nan] * 5, 0.3, 0.4, 0.8]),
}


def plain_replicates(sample, seed):
    """Scores of topics drawn one by one; replicates without any score left out."""
    n = len(sample)
    weights = draw_topics(n, REPLICATES, np.random.default_rng(seed)).shares()
    for row in weights:
        values = np.repeat(sample, np.rint(row * n).astype(int))
        values = values[~np.isnan(values)]
        if len(values):
            yield values


def se_of(values):
    return values.std(ddof=1) / np.sqrt(len(values)) if np.ptp(values) > 0 else 0.0


def logit(p):
    return np.log(p / (1 - p))


def inverse_logit(x):
    return 1 / (1 + np.exp(-x))


def plain_t(sample, seed):
    there = sample[~np.isnan(sample)]
    drawn = [v for v in plain_replicates(sample, seed) if np.ptp(v) > 0]
    return np.array([(v.mean() - there.mean()) / se_of(v) for v in drawn])


def signed_infinity(values, mean):
    deviation = values[0] - mean
    return 0.0 if abs(deviation) <= 1e-12 else np.copysign(np.inf, deviation)


def plain_logit_t(sample, seed):
    mean = sample[~np.isnan(sample)].mean()
    result = []
    for values in plain_replicates(sample, seed):
        if np.ptp(values) == 0:
            result.append(signed_infinity(values, mean))
        else:
            m = values.mean()
            result.append((logit(m) - logit(mean)) / (se_of(values) / (m * (1 - m))))
    return np.array(result)


def quantile(values, p):
    """Linear quantile; infinite as soon as an infinite value has weight."""
    ordered = np.sort(values)
    place = p * (len(ordered) - 1)
    lower = int(np.floor(place))
    part = place - lower
    if part == 0:
        return ordered[lower]
    low, high = ordered[lower], ordered[lower + 1]
    return low if low == high else (1 - part) * low + part * high


def check(method, sample, seed, expected_of):
    distribution = bootstrap_topics(sample, replicates=REPLICATES, rng=seed)
    there = sample[~np.isnan(sample)]
    for level in LEVELS:
        expected = expected_of(there, level)
        found = np.ravel(method(distribution, level))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_bootstrap_t_against_a_plain_loop(name, seed):
    t = plain_t(SAMPLES[name], seed)

    def expected(x, level):
        quantiles = (quantile(t, (1 + level) / 2), quantile(t, (1 - level) / 2))
        return [x.mean() - q * se_of(x) for q in quantiles]

    check(bootstrap_t_interval, SAMPLES[name], seed, expected)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_symmetric_t_against_a_plain_loop(name, seed):
    t = plain_t(SAMPLES[name], seed)

    def expected(x, level):
        reach = quantile(np.abs(t), level) * se_of(x)
        return [x.mean() - reach, x.mean() + reach]

    check(symmetric_t_interval, SAMPLES[name], seed, expected)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_bootstrap_t_logit_against_a_plain_loop(name, seed):
    t = plain_logit_t(SAMPLES[name], seed)

    def expected(x, level):
        m = x.mean()
        quantiles = (quantile(t, (1 + level) / 2), quantile(t, (1 - level) / 2))
        return [inverse_logit(logit(m) - q * se_of(x) / (m * (1 - m))) for q in quantiles]

    check(bootstrap_t_logit_interval, SAMPLES[name], seed, expected)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_symmetric_t_logit_against_a_plain_loop(name, seed):
    t = plain_logit_t(SAMPLES[name], seed)

    def expected(x, level):
        m = x.mean()
        reach = quantile(np.abs(t), level) * se_of(x) / (m * (1 - m))
        return [inverse_logit(logit(m) - reach), inverse_logit(logit(m) + reach)]

    check(symmetric_t_logit_interval, SAMPLES[name], seed, expected)


def hall_constants(x, n):
    m, d = x.mean(), x - x.mean()
    skewness = (d**3).mean() / (d**2).mean() ** 1.5
    a = skewness / 3 / np.sqrt(n) - (1 - 2 * m) * se_of(x) / (2 * m * (1 - m))
    return a, skewness / 6 / np.sqrt(n)


def to_u(t, a, b):
    return t + b if abs(a) < 1e-12 else ((1 + a * t) ** 3 - 1) / (3 * a) + b


def from_u(u, a, b):
    return u - b if abs(a) < 1e-12 else (np.cbrt(1 + 3 * a * (u - b)) - 1) / a


@pytest.mark.parametrize("name", [name for name in SAMPLES if "missing" not in name])
@pytest.mark.parametrize("seed", [0, 1])
def test_hall_logit_against_a_plain_loop(name, seed):
    sample = SAMPLES[name]
    n = len(sample)
    u = []
    t = plain_logit_t(sample, seed)
    for values, one in zip(plain_replicates(sample, seed), t, strict=True):
        if np.ptp(values) == 0:
            u.append(one)
        else:
            u.append(to_u(one, *hall_constants(values, n)))

    def expected(x, level):
        m = x.mean()
        a, b = hall_constants(x, n)
        limits = []
        for p in ((1 + level) / 2, (1 - level) / 2):
            q = quantile(np.array(u), p)
            back = q if np.isinf(q) else from_u(q, a, b)
            limits.append(inverse_logit(logit(m) - back * se_of(x) / (m * (1 - m))))
        return limits

    check(hall_logit_interval, sample, seed, expected)


def test_the_loops_meet_replicates_without_variance_and_without_scores():
    assert np.isinf(plain_logit_t(SAMPLES["few topics above 0"], 0)).any()
    assert len(plain_logit_t(SAMPLES["five of eight missing"], 0)) < REPLICATES
    assert (plain_logit_t(SAMPLES["three topics"], 0) == 0).any()


def test_tails_are_not_doubled():
    """At 0.95 each tail is 0.025: the published 95% bootstrap-t interval was a 90% one."""
    sample = SAMPLES["skewed"]
    t = plain_t(sample, 0)
    low, _ = bootstrap_t_interval(bootstrap_topics(sample, replicates=REPLICATES, rng=0), 0.95)
    beyond = (t > (sample.mean() - low[0]) / se_of(sample) + 1e-9).mean()
    assert beyond == pytest.approx(0.025, abs=1 / REPLICATES)


@pytest.mark.parametrize("method", ["bootstrap-t", "symmetric-t"])
def test_two_topics_have_no_studentised_interval(method):
    """Every replicate of two topics that varies has the mean of the sample."""
    with pytest.warns(DegenerateSampleWarning, match=f"{method} interval for column 1 score"):
        interval = confidence_interval([0.2, 0.5], method=method, rng=0)
    assert np.isnan(interval.low)
    assert np.isnan(interval.high)


@pytest.mark.parametrize("method", ["bootstrap-t-logit", "symmetric-t-logit", "hall-logit"])
def test_two_topics_say_nothing_on_the_logit_scale(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interval = confidence_interval([0.2, 0.5], method=method, rng=0)
    assert (interval.low, interval.high) == (0, 1)
