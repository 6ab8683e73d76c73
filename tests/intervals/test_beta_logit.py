"""Is `beta-logit` what its formula says, and does it cover as it claims?"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from confir.intervals.beta_logit import beta_logit_interval, equal_scores_limits
from confir.intervals.catalogue import confidence_interval
from confir.resampling.topics import bootstrap_topics

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
