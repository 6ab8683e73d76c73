"""The guaranteed coverage of `betting` and `gaffke` for scores in [0, 1]."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from confir.intervals import bounded
from confir.intervals.bounded import betting_interval, gaffke_interval
from confir.intervals.confidence_intervals import confidence_interval
from confir.resampling.topic_bootstrap import bootstrap_topics

RNG = np.random.default_rng(41)
SAMPLES = {
    "uniform": RNG.random(12),
    "skewed": RNG.beta(0.3, 2, 30),
    "yes or no": (RNG.random(20) < 0.3).astype(float),
    "all 0": np.zeros(8),
    "all 1": np.ones(8),
    "all a third": np.full(9, 1 / 3),
    "high then low": np.repeat([1.0, 0.0], [15, 15]),
    "one topic above 0": np.where(np.arange(50) == 3, 0.4, 0.0),
    "one topic": np.array([0.7]),
}
POPULATIONS = {
    "Bernoulli 0.02": (lambda rng, shape: rng.random(shape) < 0.02, 0.02),
    "Bernoulli 0.1": (lambda rng, shape: rng.random(shape) < 0.1, 0.1),
    "Bernoulli 0.5": (lambda rng, shape: rng.random(shape) < 0.5, 0.5),
    "Beta(0.3, 2)": (lambda rng, shape: rng.beta(0.3, 2, shape), 0.3 / 2.3),
    "Beta(2, 2)": (lambda rng, shape: rng.beta(2, 2, shape), 0.5),
    "0 or Beta(1, 3)": (
        lambda rng, shape: (rng.random(shape) < 0.4) * rng.beta(1, 3, shape),
        0.1,
    ),
}


def plain_capital(scores, mean):
    """Largest capital of a bettor on each side, topic by topic.

    Waudby-Smith & Ramdas 2023: hedged capital with half of it on each side, predictable plug-in
    bets ``√(2 ln(2/α)/(n σ²))`` for a fixed n, none above half of what would ruin the bettor; α
    is 0.05 at every level.
    """
    n, alpha = len(scores), 0.05
    up = down = most_up = most_down = 1.0
    total, squares = 0.5, 0.25
    for seen, x in enumerate(scores.tolist()):
        bet = math.sqrt(2 * math.log(2 / alpha) / (n * squares / (seen + 1)))
        up *= 1 + min(bet, 0.5 / mean if mean > 0 else math.inf) * (x - mean)
        down *= 1 - min(bet, 0.5 / (1 - mean) if mean < 1 else math.inf) * (x - mean)
        most_up, most_down = max(most_up, up), max(most_down, down)
        total += x
        squares += (x - total / (seen + 2)) ** 2
    return most_up, most_down


def order_of_bets(sample):
    """The scores in the order in which they are bet on."""
    return bounded._shuffled(bootstrap_topics(sample, replicates=1, rng=0))[:, 0]


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "one topic"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_betting_against_a_plain_grid(name, level):
    sample = SAMPLES[name]
    low, high = np.ravel(betting_interval(bootstrap_topics(sample, replicates=1, rng=0), level))
    scores = order_of_bets(sample)
    kept = [
        m
        for m in np.linspace(0, 1, 201).tolist()
        if max(plain_capital(scores, m)) < 2 / (1 - level)
    ]
    assert min(kept) - 1 / 200 <= low <= min(kept) + 1e-12
    assert max(kept) - 1e-12 <= high <= max(kept) + 1 / 200


@pytest.mark.parametrize("name", SAMPLES)
def test_capital_never_rises_with_the_mean_that_is_bet_against(name):
    """So that the means which are not rejected form an interval, found by halving."""
    scores = SAMPLES[name][:, None]
    bets = bounded.bets(scores, len(scores), 0.05)
    grid = np.linspace(1e-6, 1, 500)
    capital = [bounded.log_capital(scores, bets, np.array([m]))[0] for m in grid]
    assert np.diff(capital).max() <= 1e-12


@pytest.mark.parametrize("name", ["uniform", "skewed", "yes or no"])
def test_limits_of_betting_are_where_the_capital_reaches_its_goal(name):
    level = 0.95
    sample = SAMPLES[name]
    low, high = np.ravel(betting_interval(bootstrap_topics(sample, replicates=1, rng=0), level))
    scores = order_of_bets(sample)
    assert plain_capital(scores, low)[0] == pytest.approx(2 / 0.05, rel=1e-9)
    assert plain_capital(scores, high)[1] == pytest.approx(2 / 0.05, rel=1e-9)


@pytest.mark.every(3)
@pytest.mark.parametrize("topics", [5, 10, 25, 50, 100])
@pytest.mark.parametrize("population", POPULATIONS)
def test_betting_covers_as_it_promises(population, topics):
    draw, truth = POPULATIONS[population]
    samples = 400
    scores = draw(np.random.default_rng(topics), (topics, samples)).astype(float)
    interval = confidence_interval(scores, method="betting", level=0.9, rng=7)
    covered = ((interval.low <= truth) & (truth <= interval.high)).mean()
    assert covered >= 0.9 - 3 * np.sqrt(0.9 * 0.1 / samples)


@pytest.mark.parametrize(
    ("topics", "seed"),
    [(50, 0), *(pytest.param(50, seed, marks=pytest.mark.slow) for seed in (1, 2)), (249, 0)],
)
def test_betting_covers_as_it_promises_with_every_seed(topics, seed):
    """The guarantee needs an order that does not depend on the scores, for the seed at hand."""
    samples = 500
    scores = np.random.default_rng(3).beta(0.3, 0.3, (topics, samples))
    interval = confidence_interval(scores, method="betting", level=0.95, rng=seed)
    covered = ((interval.low <= 0.5) & (interval.high >= 0.5)).mean()
    assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / samples)


def test_betting_knows_no_crossed_limits():
    """Bettors on both sides can grow rich in turn, at low levels and with orders like this one."""
    scores = (np.random.default_rng(5).random((60, 1_500)) < 0.5).astype(float)
    scores[:, 0] = np.repeat([1.0, 0.0], [30, 30])
    interval = confidence_interval(scores, method="betting", level=0.4, rng=1)
    assert (interval.low <= interval.high).all()


@pytest.mark.parametrize("topics", [10, 50])
@pytest.mark.parametrize("population", POPULATIONS)
def test_gaffke_covers_as_it_is_conjectured_to(population, topics):
    draw, truth = POPULATIONS[population]
    samples = 400
    scores = draw(np.random.default_rng(topics), (topics, samples)).astype(float)
    interval = confidence_interval(scores, method="gaffke", level=0.9, replicates=1_999, rng=7)
    covered = ((interval.low <= truth) & (truth <= interval.high)).mean()
    assert covered >= 0.9 - 3 * np.sqrt(0.9 * 0.1 / samples)


def quantile_error(probability, density, draws):
    return np.sqrt(probability * (1 - probability) / draws) / density


@pytest.mark.parametrize(("ones", "topics"), [(0, 10), (1, 50), (7, 20), (10, 10)])
def test_gaffke_of_yes_or_no_is_the_clopper_pearson_interval(ones, topics):
    """Dirichlet weights of k of n + 1 scores sum to a Beta(k, n + 1 - k) number."""
    draws = 40_000
    sample = np.repeat([1.0, 0.0], [ones, topics - ones])
    interval = confidence_interval(sample, method="gaffke", replicates=draws, rng=3)
    if ones == 0:
        assert interval.low == 0
    else:
        law = stats.beta(ones, topics + 1 - ones)
        error = quantile_error(0.025, law.pdf(law.ppf(0.025)), draws)
        assert interval.low == pytest.approx(law.ppf(0.025), abs=4 * error)
    if ones == topics:
        assert interval.high == 1
    else:
        law = stats.beta(ones + 1, topics - ones)
        error = quantile_error(0.975, law.pdf(law.ppf(0.975)), draws)
        assert interval.high == pytest.approx(law.ppf(0.975), abs=4 * error)


def chance_above(knots, value):
    """P(Σ w_i z_i > value) for uniform Dirichlet weights and distinct knots, in closed form."""
    degree = len(knots) - 1
    total = 0.0
    for i, z in enumerate(knots):
        if z > value:
            others = np.delete(knots, i)
            total += np.prod((z - value) / (z - others)) if degree else 1.0
    return total


def test_gaffke_limits_stand_at_the_exact_quantiles():
    sample = np.array([0.05, 0.22, 0.41, 0.48, 0.83])
    draws = 40_000
    interval = confidence_interval(sample, method="gaffke", replicates=draws, rng=3)
    error = np.sqrt(0.025 * 0.975 / draws)
    below = 1 - chance_above(np.array([0.0, *sample]), float(interval.low))
    above = chance_above(np.array([*sample, 1.0]), float(interval.high))
    assert below == pytest.approx(0.025, abs=4 * error)
    assert above == pytest.approx(0.025, abs=4 * error)


@pytest.mark.parametrize("name", ["all 0", "all 1", "all a third"])
def test_equal_scores_have_an_interval_here(name):
    for method in ("betting", "gaffke"):
        interval = confidence_interval(SAMPLES[name], method=method, rng=0)
        assert 0 <= interval.low <= interval.estimate + 1e-12
        assert interval.estimate - 1e-12 <= interval.high <= 1
        assert interval.high - interval.low > 0.05


@pytest.mark.parametrize("method", ["betting", "gaffke"])
def test_missing_scores_are_left_out(method):
    there = np.array([0.2, 0.9, 0.4, 0.5, 0.0, 0.3])
    with_gaps = np.array([0.2, np.nan, 0.9, 0.4, np.nan, 0.5, 0.0, 0.3])
    mixed = np.column_stack([with_gaps, np.linspace(0, 1, 8)])
    compute = {"betting": betting_interval, "gaffke": gaffke_interval}[method]
    found = compute(bootstrap_topics(mixed, replicates=1, rng=0), 0.95)
    if method == "gaffke":
        alone = compute(bootstrap_topics(there, replicates=1, rng=0), 0.95)
        np.testing.assert_allclose([found.low[0], found.high[0]], np.ravel(alone), atol=1e-12)
    else:
        scores = bounded._shuffled(bootstrap_topics(mixed, replicates=1, rng=0))[:6, 0]
        assert sorted(scores) == sorted(there)
        assert plain_capital(scores, found.low[0])[0] == pytest.approx(40, rel=1e-9)
        assert plain_capital(scores, found.high[0])[1] == pytest.approx(40, rel=1e-9)


@pytest.mark.parametrize("method", ["betting", "gaffke"])
def test_a_column_without_scores_says_nothing(method):
    scores = np.column_stack([np.full(5, np.nan), np.linspace(0.1, 0.9, 5)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interval = confidence_interval(scores, method=method, rng=0)
    assert (interval.low[0], interval.high[0]) == (0, 1)
    assert 0 < interval.low[1] + interval.high[1] < 2
