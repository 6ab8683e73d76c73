"""`beta-logit` against its formula, and its coverage."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats

from confir.data.score_files import read_scores
from confir.intervals.beta_intervals import (
    NEARLY_EQUAL,
    beta_logit_interval,
    equal_scores_limits,
    spread_share,
)
from confir.intervals.confidence_intervals import confidence_interval
from confir.resampling.topic_bootstrap import bootstrap_topics

RNG = np.random.default_rng(17)
SAMPLES = {
    "even": RNG.beta(2, 2, 12),
    "skewed": RNG.beta(0.3, 2, 30),
    "high": RNG.beta(4, 0.5, 50),
    "yes or no": (RNG.random(20) < 0.3).astype(float),
    "one topic above 0": np.where(np.arange(50) == 3, 0.4, 0.0),
    "two topics": np.array([0.2, 0.5]),
}


def distribution_of(sample):
    return bootstrap_topics(sample, replicates=1, rng=0)


def plain_limits(sample, level, prior_topics=100.0):
    """The limits of one sample: moments by sums, Hall's cubic equation by a search."""
    n = len(sample)
    mean = math.fsum(sample) / n
    deviations = [x - mean for x in sample]
    variance = math.fsum(d * d for d in deviations) / (n - 1)
    skewness = math.fsum(d**3 for d in deviations) / n / (variance * (n - 1) / n) ** 1.5
    size = mean * (1 - mean) / variance - 1  # a + b of the beta distribution; 0 or below: yes or no
    if size > 1e-9:
        of_beta = float(stats.beta(mean * size, (1 - mean) * size).stats("s"))
    else:
        phi = variance / (mean * (1 - mean))
        of_beta = 2 / (1 + phi) * (1 - 2 * mean) * math.sqrt(variance) / (mean * (1 - mean))
    if math.isinf(prior_topics):
        gamma = of_beta
    else:
        gamma = (n * skewness + prior_topics * of_beta) / (n + prior_topics)
    bend = (1 - 2 * mean) * math.sqrt(variance) / (2 * mean * (1 - mean))
    a, b = (gamma / 3 - bend) / math.sqrt(n), gamma / (6 * math.sqrt(n))
    reach = float(stats.t.ppf((1 + level) / 2, n - 1))
    se = math.sqrt(variance / n) / (mean * (1 - mean))
    limits = []
    for target in (reach, -reach):
        t = optimize.brentq(lambda t, u=target: t + a * t**2 + a**2 * t**3 / 3 + b - u, -1e4, 1e4)
        limits.append(1 / (1 + math.exp(t * se - math.log(mean / (1 - mean)))))
    return limits


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_limits_against_a_plain_search(name, level):
    interval = confidence_interval(SAMPLES[name], method="beta-logit", level=level)
    expected = plain_limits(SAMPLES[name].tolist(), level)
    assert [float(interval.low), float(interval.high)] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("prior_topics", [0.0, 7.0, math.inf])
def test_the_beta_distribution_counts_as_so_many_topics(prior_topics):
    sample = SAMPLES["skewed"]
    found = np.ravel(beta_logit_interval(distribution_of(sample), 0.9, prior_topics))
    expected = plain_limits(sample.tolist(), 0.9, prior_topics)
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_scores_even_around_a_half_have_the_limits_of_logit_t():
    sample = np.array([0.1, 0.3, 0.45, 0.55, 0.7, 0.9])
    ours, plain = confidence_interval(sample, method=["beta-logit", "logit-t"])
    assert ours.low == pytest.approx(plain.low, abs=1e-14)
    assert ours.high == pytest.approx(plain.high, abs=1e-14)


@pytest.mark.parametrize(("score", "hits"), [(0.0, 0), (1.0, 15)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_zeros_or_ones_alone_have_the_limits_of_clopper_and_pearson(score, hits, level):
    interval = confidence_interval(np.full(15, score), method="beta-logit", level=level)
    exact = stats.binomtest(hits, 15).proportion_ci(level, method="exact")
    assert interval.low == pytest.approx(exact.low, abs=1e-12)
    assert interval.high == pytest.approx(exact.high, abs=1e-12)


@pytest.mark.parametrize("score", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_equal_scores_are_as_rare_as_claimed_where_the_mean_is_at_a_limit(score, level):
    """All but the share of topics that score 1 or 0 have the score: n such are seen with α/2."""
    n, tail = 9, (1 - level) / 2
    low, high = (
        float(limit) for limit in np.ravel(equal_scores_limits(distribution_of([score] * n), level))
    )
    assert ((1 - high) / (1 - score)) ** n == pytest.approx(tail)
    if score > 0:
        assert (low / score) ** n == pytest.approx(tail)


def from_equal_scores(n, centre, steps):
    """Samples on the way from equal scores to spread ones, a column each, in small steps."""
    spread = np.random.default_rng(n).uniform(0.0, 1.0, n)
    sizes = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, steps)])
    return centre + sizes * (spread - centre)[:, None], sizes


@pytest.mark.parametrize("n", [2, 5, 50])
@pytest.mark.parametrize("centre", [0.0, 0.02, 0.5, 1.0])
def test_limits_have_no_jump_on_the_way_from_equal_to_spread_scores(n, centre):
    samples, _ = from_equal_scores(n, centre, 8_000)
    for level in (0.5, 0.95):
        interval = confidence_interval(samples, method="beta-logit", level=level)
        for limit in (interval.low, interval.high):
            assert np.abs(np.diff(limit)).max() < 0.006
        equal = np.ravel(equal_scores_limits(distribution_of(samples[:, 0]), level))
        assert [interval.low[1], interval.high[1]] == pytest.approx(equal.tolist(), abs=1e-5)


def test_one_score_above_zero_leads_from_the_limits_of_zeros_to_its_own():
    scores = np.zeros((50, 2_001))
    scores[7] = np.linspace(0.0, 0.002, 2_001)
    high = confidence_interval(scores, method="beta-logit").high
    assert high[0] == pytest.approx(1 - 0.025 ** (1 / 50))
    falling = scores[7] < 0.001  # so small is its dispersion then, too
    assert (np.diff(high[falling]) < 0).all()
    assert (np.diff(high[~falling][1:]) > 0).all()
    assert np.abs(np.diff(high)).max() < 0.0001


@pytest.mark.parametrize("n", [2, 5, 50])
def test_limits_of_nearly_equal_scores_are_nested_in_level_and_hold_the_mean(n):
    samples, _ = from_equal_scores(n, 0.1, 400)
    levels = (0.5, 0.8, 0.95, 0.99)
    intervals = confidence_interval(samples, method="beta-logit", level=levels)
    for inner, outer in pairwise(intervals):
        assert (outer.low <= inner.low).all()
        assert (inner.low <= inner.estimate).all()
        assert (inner.estimate <= inner.high).all()
        assert (inner.high <= outer.high).all()


@pytest.mark.parametrize("n", [2, 5, 50])
def test_limits_of_nearly_equal_scores_are_mirrored_with_the_scores(n):
    samples, _ = from_equal_scores(n, 0.1, 400)
    ours = confidence_interval(samples, method="beta-logit")
    mirrored = confidence_interval(1.0 - samples, method="beta-logit")
    np.testing.assert_allclose(ours.low, 1.0 - mirrored.high, atol=1e-9)
    np.testing.assert_allclose(ours.high, 1.0 - mirrored.low, atol=1e-9)


@pytest.mark.parametrize("size", [0.003, 0.02, 0.03, 0.04])
def test_nearly_equal_scores_have_limits_between_the_two_by_their_dispersion(size):
    """Scores 0.5 ± size/2·√(9/10), five of each: s² = size²/4, so the dispersion is size²."""
    sample = np.array([0.5 - size / 2 * math.sqrt(0.9), 0.5 + size / 2 * math.sqrt(0.9)] * 5)
    share = min(1.0, size**2 / NEARLY_EQUAL)
    found = np.ravel(beta_logit_interval(distribution_of(sample), 0.9))
    equal = np.ravel(equal_scores_limits(distribution_of(sample), 0.9))
    expected = share * np.array(plain_limits(sample.tolist(), 0.9)) + (1 - share) * equal
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-9)


@pytest.mark.parametrize("size", [1e-20, 1e-110, 1e-160, 5e-324])
def test_the_smallest_differences_leave_no_gap_in_the_limits(size):
    sample = np.zeros(50)
    sample[3] = size
    interval = confidence_interval(sample, method="beta-logit")
    assert float(interval.low) == pytest.approx(0.0, abs=1e-12)
    assert float(interval.high) == pytest.approx(1 - 0.025 ** (1 / 50))


@pytest.mark.filterwarnings("ignore:.*no column of topics")
@pytest.mark.parametrize("topics", [5, 10, 25, 50])
def test_under_one_percent_of_samples_of_real_scores_are_nearly_equal(real_data, topics):
    rng = np.random.default_rng(topics)
    for name in ("robust2004_ap.csv", "urbano2018/web2010_ap.csv", "urbano2018/adhoc8_rr.csv"):
        scores = read_scores(real_data / name).values[:, :, 0]
        drawn = scores[rng.integers(0, len(scores), (topics, 200))].reshape(topics, -1)
        share = spread_share(distribution_of(drawn))
        varying = np.ptp(drawn, axis=0) > 0
        assert (share[varying] < 1).mean() < 0.01
        assert (share[~varying] == 0).all()


def test_a_single_score_has_no_limits():
    values = np.array([[0.2, 0.4], [0.9, np.nan], [0.4, np.nan]])
    assert np.isnan(beta_logit_interval(distribution_of(values), 0.95)).tolist() == [
        [False, True],
        [False, True],
    ]


def test_missing_scores_do_not_count():
    values = np.column_stack([SAMPLES["skewed"], SAMPLES["skewed"]])
    values[20:, 0] = np.nan
    interval = confidence_interval(values, method="beta-logit")
    expected = plain_limits(SAMPLES["skewed"][:20].tolist(), 0.95)
    assert [interval.low[0], interval.high[0]] == pytest.approx(expected, abs=1e-9)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng, shape: rng.beta(0.5, 1.5, shape), 0.25),
        (lambda rng, shape: rng.beta(1.0, 6.0, shape), 1 / 7),
        (lambda rng, shape: (rng.random(shape) < 0.7) * rng.beta(1, 2, shape), 0.7 / 3),
        (lambda rng, shape: rng.binomial(10, 0.6, shape) / 10, 0.6),
    ],
    ids=["Beta(.5, 1.5)", "Beta(1, 6)", "0 or Beta(1, 2)", "P@10"],
)
@pytest.mark.parametrize("topics", [8, 25, 60])
def test_each_tail_errs_as_often_as_claimed(draw, truth, topics):
    scores = draw(np.random.default_rng(5), (topics, 20_000))
    interval = confidence_interval(scores, method="beta-logit", level=0.9)
    below, above = (truth < interval.low).mean(), (truth > interval.high).mean()
    error = 0.004 + 0.1 / topics  # two standard errors and more, and what few topics leave
    assert below == pytest.approx(0.05, abs=error)
    assert above == pytest.approx(0.05, abs=error)
