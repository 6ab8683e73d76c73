"""Does `calibrated-beta` invert the test that it says, with the error that it claims?"""

import importlib.util
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from confir.intervals.beta_logit import NEARLY_EQUAL, equal_scores_limits
from confir.intervals.calibrated_beta import calibrated_beta_interval, pivot
from confir.intervals.catalogue import METHODS, confidence_interval
from confir.intervals.pivot_quantiles import compress, expand, pivot_quantiles
from confir.resampling.topics import bootstrap_topics

HIGHEST = 0.999
RNG = np.random.default_rng(23)
SAMPLES = {
    "even": RNG.beta(2, 2, 9),
    "skewed": RNG.beta(0.3, 2, 30),
    "high": RNG.beta(4, 0.5, 50),
    "few values": RNG.integers(0, 11, 17) / 10,
    "three topics": np.array([0.2, 0.5, 0.3]),
}


def distribution_of(sample):
    return bootstrap_topics(sample, replicates=1, rng=0)


def limits_of(sample, level=0.95):
    interval = confidence_interval(np.asarray(sample), method="calibrated-beta", level=level)
    return float(interval.low), float(interval.high)


def plain_pivot(samples, truth):
    """U of each column by the formulas of Hall's correction; ±∞ for equal scores."""
    n = len(samples)
    m, s = samples.mean(axis=0), samples.std(axis=0, ddof=1)
    with np.errstate(all="ignore"):
        bend = (1 - 2 * m) * s / (m * (1 - m))
        of_beta = 2 * bend / (1 + s**2 / (m * (1 - m)))
        gamma = (n * stats.skew(samples, axis=0) + 100 * of_beta) / (n + 100)
        a, b = (gamma / 3 - bend / 2) / math.sqrt(n), gamma / (6 * math.sqrt(n))
        t = (stats.logistic.ppf(m) - stats.logistic.ppf(truth)) * m * (1 - m) * math.sqrt(n) / s
        u = t + a * t**2 + a**2 * t**3 / 3 + b
    return np.where(np.isfinite(u), u, np.where(m > truth, np.inf, -np.inf))


def beta_samples(n, mean, dispersion, number, seed):
    size = 1 / dispersion - 1
    return np.random.default_rng(seed).beta(mean * size, (1 - mean) * size, (n, number))


@pytest.mark.filterwarnings("ignore:Precision loss occurred")
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.94])
def test_a_limit_is_the_mean_at_which_the_test_just_does_not_reject(name, level):
    """The pivot lies beyond the sample's in a share (1-level)/2 of beta samples drawn there."""
    sample, number = SAMPLES[name], 40_000
    dispersion = sample.var(ddof=1) / (sample.mean() * (1 - sample.mean()))
    tail = (1 - level) / 2
    error = 4 * math.sqrt(tail / number) + 0.06 * tail  # by chance, by interpolation
    for side, limit in zip((1, -1), limits_of(sample, level), strict=True):
        drawn = plain_pivot(beta_samples(len(sample), limit, dispersion, number, 3), limit)
        own = plain_pivot(sample[:, None], limit)
        assert (side * drawn >= side * own).mean() == pytest.approx(tail, abs=error)


@pytest.mark.parametrize(
    ("size", "mean", "dispersion"), [(3, 0.3, 0.2), (9, 0.3, 0.3), (30, 0.7, 0.08), (400, 0.4, 0.3)]
)
def test_each_tail_errs_as_often_as_claimed_for_beta_distributions(size, mean, dispersion):
    samples = beta_samples(size, mean, dispersion, 8_000, size)
    for level in (0.8, 0.95):
        tail = (1 - level) / 2
        interval = confidence_interval(samples, method="calibrated-beta", level=level)
        error = 4 * math.sqrt(tail / 8_000) + tail * (0.05 + 0.6 / size)
        assert (mean < interval.low).mean() == pytest.approx(tail, abs=error)
        assert (mean > interval.high).mean() == pytest.approx(tail, abs=error)


def yes_or_no(n):
    """All samples of zeros and ones, by the number of ones, but those of equal scores."""
    counts = np.arange(1, n)
    return counts, (np.arange(n)[:, None] < counts).astype(float)


def mid_p_limits(ones, n, level):
    """Limits where the probability of more ones and half of that of as many is (1-level)/2."""
    tail = (1 - level) / 2

    def above(mean):
        return stats.binom.sf(ones, n, mean) + stats.binom.pmf(ones, n, mean) / 2

    return (
        optimize.brentq(lambda mean: above(mean) - tail, 0, 1),
        optimize.brentq(lambda mean: above(mean) - 1 + tail, 0, 1),
    )


@pytest.mark.parametrize("n", [2, 5, 10, 50, 130])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_zeros_and_ones_have_the_limits_of_clopper_and_pearson_with_mid_p(n, level):
    counts, samples = yes_or_no(n)
    interval = confidence_interval(samples, method="calibrated-beta", level=level)
    low, high = np.transpose([mid_p_limits(int(k), n, level) for k in counts])
    np.testing.assert_allclose(interval.low, low, atol=0.01)
    np.testing.assert_allclose(interval.high, high, atol=0.01)


@pytest.mark.parametrize("n", [3, 10, 40])
def test_zeros_and_ones_err_about_as_claimed_against_enumeration(n):
    counts, samples = yes_or_no(n)
    intervals = [
        confidence_interval(x, method="calibrated-beta", level=0.9)
        for x in (np.zeros(n), samples, np.ones(n))
    ]
    low, high = (np.hstack([getattr(one, side) for one in intervals]) for side in ("low", "high"))
    truths = np.linspace(0.02, 0.98, 193)[:, None]
    probability = stats.binom.pmf(np.array([0, *counts, n]), n, truths)
    below, above = (
        (probability * (truths < low)).sum(axis=1),
        (probability * (truths > high)).sum(axis=1),
    )
    assert max(below.max(), above.max()) < 0.1
    assert (below + above).mean() < 0.1
    np.testing.assert_allclose(below, above[::-1], atol=1e-9)


def from_equal_scores(n, centre, steps):
    """Samples on the way from equal scores to spread ones, a column each, in small steps."""
    spread = np.random.default_rng(n).uniform(0.0, 1.0, n)
    sizes = np.concatenate([[0.0], np.geomspace(1e-9, 1.0, steps)])
    return centre + sizes * (spread - centre)[:, None]


@pytest.mark.parametrize("n", [2, 5, 50])
@pytest.mark.parametrize("centre", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_limits_have_no_jump_on_the_way_from_equal_to_spread_scores(n, centre, level):
    samples = from_equal_scores(n, centre, 8_000)
    interval = confidence_interval(samples, method="calibrated-beta", level=level)
    for limit in (interval.low, interval.high):
        assert np.abs(np.diff(limit)).max() < 0.01
    equal = np.ravel(equal_scores_limits(distribution_of(samples[:, 0]), level))
    assert [interval.low[0], interval.high[0]] == pytest.approx(equal.tolist(), abs=1e-12)


@pytest.mark.parametrize("size", [0.003, 0.02, 0.03, 0.04])
def test_nearly_equal_scores_have_limits_between_the_two_by_their_dispersion(size):
    """Scores 0.5 ± size/2·√(9/10), five of each: s² = size²/4, so the dispersion is size²."""
    sample = np.array([0.5 - size / 2 * math.sqrt(0.9), 0.5 + size / 2 * math.sqrt(0.9)] * 5)
    share = min(1.0, size**2 / NEARLY_EQUAL)
    table = pivot_quantiles()
    assert table.logits[18] == 0  # so near to a half that the quantile there holds, and U is T
    reach = float(expand(table.rows(np.array([10]), np.array([size**2]), 0.05))[0, 18])
    spread = 1 / (1 + math.exp(reach * size / 2 / math.sqrt(10) * 4))
    equal = equal_scores_limits(distribution_of(sample), 0.9)
    expected = share * spread + (1 - share) * float(equal.low[0])
    assert limits_of(sample, 0.9)[0] == pytest.approx(expected, abs=2e-4)


def all_samples(n):
    rng = np.random.default_rng(n)
    return np.column_stack(
        [
            rng.beta(0.3, 2, (n, 40)),
            rng.beta(3, 1, (n, 40)),
            np.where(rng.random((n, 40)) < 0.8, 0.0, rng.random((n, 40))),
            rng.integers(0, 3, (n, 40)) / 2,
            from_equal_scores(n, 0.1, 40),
        ]
    )


@pytest.mark.parametrize("n", [2, 5, 9, 50, 300])
def test_limits_are_nested_in_level(n):
    levels = (0.01, 0.3, 0.5, 0.61, 0.8, 0.95, 0.96, 0.99, 0.9985, 0.999, 0.9991, 0.99999)
    intervals = confidence_interval(all_samples(n), method="calibrated-beta", level=levels)
    for inner, outer in pairwise(intervals):
        assert (outer.low <= inner.low + 1e-12).all()
        assert (inner.low <= inner.high).all()
        assert (inner.high <= outer.high + 1e-12).all()


@pytest.mark.parametrize("n", [2, 5, 9, 50, 300])
def test_limits_are_mirrored_with_the_scores(n):
    ours, mirrored = (
        confidence_interval(x, method="calibrated-beta")
        for x in (all_samples(n), 1 - all_samples(n))
    )
    np.testing.assert_allclose(ours.low, 1.0 - mirrored.high, atol=1e-9)
    np.testing.assert_allclose(ours.high, 1.0 - mirrored.low, atol=1e-9)


def test_limits_are_continuous_in_a_score():
    scores = np.tile(np.append(SAMPLES["even"], 0.0)[:, None], 2_001)
    scores[-1] = np.linspace(0.0, 1.0, 2_001)
    interval = confidence_interval(scores, method="calibrated-beta")
    assert np.abs(np.diff(interval.low)).max() < 0.001
    assert np.abs(np.diff(interval.high)).max() < 0.001


def test_above_the_highest_level_the_interval_holds_that_of_beta_logit():
    sample, level = SAMPLES["skewed"], 0.9999
    inner, other = (
        limits_of(sample, HIGHEST),
        confidence_interval(sample, method="beta-logit", level=level),
    )
    assert pivot_quantiles().highest_level == pytest.approx(HIGHEST)
    expected = min(inner[0], float(other.low)), max(inner[1], float(other.high))
    assert limits_of(sample, level) == pytest.approx(expected, abs=1e-12)


def test_with_many_topics_the_limits_are_those_of_t():
    sample = np.random.default_rng(4).beta(2, 2, 20_000)
    expected = confidence_interval(sample, method="t")
    width = float(expected.high - expected.low)
    assert limits_of(sample) == pytest.approx(
        (float(expected.low), float(expected.high)), abs=0.003 * width
    )


def test_a_single_score_has_no_limits_and_missing_scores_do_not_count():
    values = np.column_stack([SAMPLES["skewed"]] * 2)
    values[1:, 0], values[20:, 1] = np.nan, np.nan
    found = calibrated_beta_interval(distribution_of(values), 0.95)
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert (found.low[1], found.high[1]) == pytest.approx(limits_of(SAMPLES["skewed"][:20]))


def test_methods_for_independent_topics_say_so():
    found = {name for name, method in METHODS.items() if method.one_sample}
    assert found == {"beta-logit", "calibrated-beta", "betting", "gaffke"}


def test_compressed_pivots_expand_to_themselves():
    pivots = np.array([-np.inf, -1e6, -2.0, 0.0, 0.3, 40.0, np.inf])
    np.testing.assert_allclose(expand(compress(pivots)), pivots)
    assert np.abs(compress(pivots)).max() == 1.0
    assert pivot_quantiles().quantiles.max() == 1.0  # quantiles of the table may be infinite


@pytest.fixture(scope="module")
def script():
    """The script that makes the table."""
    path = Path(__file__).resolve().parents[2] / "tables" / "pivot_quantiles.py"
    spec = importlib.util.spec_from_file_location("make_pivot_quantiles", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("place", [(0, 9, 5), (3, 18, 10), (7, 10, 7), (11, 25, 2), (13, 5, 9)])
def test_the_table_is_that_of_its_script_against_a_new_simulation(script, place):
    table, number = pivot_quantiles(), 40_000
    assert (table.sizes.tolist(), table.tails.tolist()) == (list(script.SIZES), list(script.TAILS))
    n, m, d = place
    scores = script.beta_quantiles(float(table.logits[m]), float(table.dispersions[d]))
    drawn = script.simulate_pivots(scores, int(table.sizes[n]), number, np.random.default_rng(7))
    for tail, quantile in zip(table.tails, table.quantiles[place], strict=True):
        error = 4.5 * math.sqrt(tail * (1 - tail) * (1 / number + 1 / script.SAMPLES))
        assert (drawn > quantile).mean() == pytest.approx(tail, abs=error + 1e-4)


@pytest.mark.filterwarnings("ignore:Precision loss occurred")
def test_the_pivot_of_the_script_against_the_formulas(script):
    scores = script.beta_quantiles(-1.0, 0.3)
    drawn = script.simulate_pivots(scores, 4, 500, np.random.default_rng(1))
    rows = np.random.default_rng(1).integers(0, len(scores), (4, 500), dtype=np.int32)
    expected = compress(plain_pivot(scores[rows], scores.mean()))
    np.testing.assert_allclose(drawn, expected, atol=1e-9)
    assert scores.mean() == pytest.approx(1 / (1 + math.e), abs=1e-6)
    assert scores.var() / (scores.mean() * (1 - scores.mean())) == pytest.approx(0.3, abs=1e-4)


def test_the_pivot_of_equal_scores_is_infinite_on_their_side():
    none = np.zeros(2)
    assert pivot(10, np.array([0.2, 0.4]), none, none, 0.3).tolist() == [-np.inf, np.inf]
