"""`calibrated-beta` as the inversion of its test, and its error rate."""

import importlib.util
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from confir.arrays import inverse_logit, logit
from confir.intervals import beta_intervals, pivot_test
from confir.intervals.beta_intervals import (
    NEARLY_EQUAL,
    calibrated_beta_interval,
    equal_scores_limits,
)
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.dirichlet_means import FarthestLimits, dirichlet_limit
from confir.intervals.interval import Limits
from confir.intervals.method_list import METHODS
from confir.intervals.pivot import (
    Pivot,
    compress,
    expand,
    interpolate_rows,
    pivot_of_moments,
    pivot_quantiles,
)
from confir.resampling.topic_bootstrap import bootstrap_topics

HIGHEST = 0.999
RNG = np.random.default_rng(23)
SAMPLES = {
    "even": RNG.beta(2, 2, 9),
    "skewed": RNG.beta(0.3, 2, 30),
    "high": RNG.beta(4, 0.5, 50),
    "few values": RNG.integers(0, 11, 17) / 10,
    "three topics": np.array([0.2, 0.5, 0.3]),
}


def load_script(name):
    path = Path(__file__).resolve().parents[2] / name
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def distribution_of(sample):
    return bootstrap_topics(sample, replicates=1, rng=0)


def limits_of(sample, level=0.95):
    interval = confidence_interval(np.asarray(sample), method="calibrated-beta", level=level)
    return float(interval.low), float(interval.high)


def gaffke_limits(samples, level):
    """Limits of Dirichlet-weighted means, of which test_dirichlet_means.py gives proof."""
    count, tail = np.sum(~np.isnan(samples), axis=0), (1 - level) / 2
    least, most = np.zeros(samples.shape[1]), np.ones(samples.shape[1])
    low, high = (dirichlet_limit(x, count, tail, least, most) for x in (1 - samples, samples))
    return Limits(1 - low, high)


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


@pytest.mark.every(2)
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
    ("size", "mean", "dispersion"),
    [
        (3, 0.3, 0.2),
        pytest.param(9, 0.3, 0.3, marks=pytest.mark.slow),
        pytest.param(30, 0.7, 0.08, marks=pytest.mark.slow),
        (400, 0.4, 0.3),
    ],
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


@pytest.mark.every(2)
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


@pytest.mark.every(5)
@pytest.mark.parametrize("n", [2, 5, 50])
@pytest.mark.parametrize("centre", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_limits_have_no_jump_on_the_way_from_equal_to_spread_scores(n, centre, level):
    samples = from_equal_scores(n, centre, 3_000)
    interval = confidence_interval(samples, method="calibrated-beta", level=level)
    for limit in (interval.low, interval.high):
        assert np.abs(np.diff(limit)).max() < 0.02
    equal = np.ravel(equal_scores_limits(distribution_of(samples[:, 0]), level))
    assert [interval.low[0], interval.high[0]] == pytest.approx(equal.tolist(), abs=1e-12)


@pytest.mark.parametrize("size", [0.003, 0.02, 0.03, 0.04, 0.05])
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


@pytest.mark.parametrize("n", [2, 5, 9, 50])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999, 0.9999])
def test_no_limit_is_farther_out_than_that_of_gaffke(n, level):
    samples = all_samples(n)
    interval = confidence_interval(samples, method="calibrated-beta", level=level)
    farthest = gaffke_limits(samples, level)
    assert (interval.low >= farthest.low - 1e-12).all()
    assert (interval.high <= farthest.high + 1e-12).all()
    mean = samples.mean(axis=0)
    assert (interval.low <= mean + 1e-12).all()
    assert (interval.high >= mean - 1e-12).all()


def first_rejections(sample, level):
    """The first means rejected on either side of the sample's, on a fine grid."""
    table, mean = pivot_quantiles(), sample.mean()
    dispersion = np.array([sample.var(ddof=1) / (mean * (1 - mean))])
    rows = table.rows(np.array([len(sample)]), dispersion, (1 - level) / 2)
    found = []
    for own in (sample, 1 - sample):
        steps = logit(own.mean()) - np.linspace(1e-6, 9, 20_000)
        row = np.zeros(1, int)
        quantiles = expand(interpolate_rows(table.logits, rows, row, steps[:, None])[:, 0])
        rejected = plain_pivot(own[:, None], inverse_logit(steps)) > quantiles
        found.append(float(inverse_logit(steps[np.argmax(rejected)])))
    return found[0], 1 - found[1]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_limits_are_the_first_means_rejected_on_either_side_of_the_mean(name, level):
    low, high = first_rejections(SAMPLES[name], level)
    farthest = np.ravel(gaffke_limits(SAMPLES[name][:, None], level)).tolist()
    expected = max(low, farthest[0]), min(high, farthest[1])
    assert limits_of(SAMPLES[name], level) == pytest.approx(expected, abs=2e-4)


def nine_zeros_and(scores):
    samples = np.zeros((10, len(scores)))
    samples[3] = scores
    return samples


def test_far_out_means_that_the_test_accepts_again_are_outside():
    """Of nine zeros and a .05, U is so dispersed near a mean of 1 that it rejects nothing there."""
    samples = nine_zeros_and([0.02, 0.0231951909, 0.05, 0.1, 0.2, 0.4])
    high = confidence_interval(samples, method="calibrated-beta").high
    assert (np.diff(high) > 0).all()
    assert high.tolist() == pytest.approx([0.213, 0.213, 0.220, 0.233, 0.260, 0.305], abs=0.003)


def test_limits_of_zeros_and_one_score_are_continuous_in_it():
    scores = np.concatenate([[0.0], np.geomspace(1e-7, 1.0, 4_000)])
    for level in (0.5, 0.8, 0.95, 0.99):
        interval = confidence_interval(
            nine_zeros_and(scores), method="calibrated-beta", level=level
        )
        for limit in (interval.low, interval.high):
            assert (np.abs(np.diff(limit)) < 100 * np.diff(scores) + 1e-12).all()


# Moves of a score by 1e-6 that hardening/jumps.py found to be the worst, in this version or before:
# level, score that moves, the others
WORST = [
    (0.95, 0.0231951909, [0.0] * 9),
    (0.95, 0.05, [0.0] * 9),
    (0.997757, 0.000567515669, [0.000825069472] * 2),
    (0.943615, 0.00481851705, [0.0071112836]),
    (0.708178, 0.000131967094, [0.00414289551]),
    (0.998579, 8.88088783e-05, [0.000350321154, 0.000369426148, 0.000422776358]),
    (0.960267, 6.40268047e-07, [0.0, 0.0, 0.0, 3.72660133e-05, 0.000192159553]),
    (0.996071, 0.999961673, [0.996252712, 0.996714144, 0.997428174, 0.999938767]),
    (0.991356, 6.54302271e-05, [0.0] * 13 + [6.39749756e-06, 0.000360769175]),
    (0.982746, 0.9999985, [0.99992078, 0.999999304, 0.999999661] + [1.0] * 12),
    (0.999, 0.999164021, [0.998274254] + [0.999852767] * 4 + [1.0] * 8),
]


@pytest.mark.parametrize(("level", "score", "others"), WORST)
def test_no_small_move_of_a_score_moves_a_limit_far(level, score, others):
    samples = np.repeat(np.array([score, *others])[:, None], 3, axis=1)
    samples[0] += [0.0, 1e-6, -1e-6 if score > 1e-6 else 5e-7]
    interval = confidence_interval(samples, method="calibrated-beta", level=level)
    for limit in (interval.low, interval.high):
        assert np.abs(limit - limit[0]).max() < 0.001


@pytest.fixture(scope="module")
def jumps():
    """The script that searches for jumps."""
    return load_script("hardening/jumps.py")


@pytest.mark.parametrize(
    ("topics", "level"), [(2, 0.75), (3, 0.996), (5, 0.95), (9, 0.97), (16, 0.99), (50, 0.9)]
)
def test_a_search_finds_no_jump(jumps, topics, level):
    rng = np.random.default_rng(topics)
    jump = jumps.search(jumps.draw_samples(topics, 6, rng), level, rng)
    assert jump.change < jumps.MOST
    assert np.abs(jump.after - jump.before).sum() == pytest.approx(jumps.MOVE, rel=0.6)


def test_the_search_finds_a_jump_where_there_is_one(jumps, monkeypatch):
    def jumping(samples, _):
        return np.where(samples.mean(axis=0) < 0.3, [[0.0], [0.5]], [[1.0], [1.0]])

    monkeypatch.setattr(jumps, "limits_of", jumping)
    rng = np.random.default_rng(1)
    assert jumps.search(jumps.draw_samples(5, 200, rng), 0.9, rng).change == 1


@pytest.mark.parametrize("n", [2, 5, 9, 25])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_what_is_not_looked_at_changes_no_limit(monkeypatch, n, level):
    """Moments and the nearest means of the table mostly suffice to find the limits."""
    samples = all_samples(n)
    usual = calibrated_beta_interval(distribution_of(samples), level)
    monkeypatch.setattr(pivot_test, "_NEAR", 1_000.0)
    monkeypatch.setattr(pivot_test, "_TOGETHER", 7)
    monkeypatch.setattr(
        beta_intervals, "is_within", lambda moments, *_: np.zeros(len(moments.mean), bool)
    )
    whole = calibrated_beta_interval(distribution_of(samples), level)
    np.testing.assert_allclose(usual, whole, rtol=0, atol=1e-12)


def test_a_limit_between_the_two_lowest_means_of_the_table_is_where_the_pivot_crosses():
    """U is the negative logit, and its quantile falls from 2 to 1 between the logits -1 and -2."""
    test = Pivot(*np.array([[0.0], [1.0], [0.0], [0.0]]))
    logits = np.array([-2.0, -1.0, 1.0])
    rows = compress(np.array([[1.0, 2.0, 2.0]]))
    nothing_beyond = FarthestLimits(*np.full((3, 1), np.inf))
    with np.errstate(invalid="ignore"):
        found, _ = pivot_test.first_rejected(test, logits, rows, np.array([10]), nothing_beyond)
    crossing = optimize.brentq(lambda x: compress(-x) - np.interp(x, logits, rows[0]), -2, -1)
    assert -2 < crossing < -1
    assert found[0] == pytest.approx(crossing, abs=1e-9)


def test_moments_alone_give_the_same_limits_for_usual_scores():
    """As a summary of a table too long for memory has no single scores."""
    samples = np.random.default_rng(2).beta(1, 2, (60, 30))
    distribution = distribution_of(samples)
    summary = replace(distribution, sample=None, skewness=stats.skew(samples, axis=0))
    np.testing.assert_allclose(
        calibrated_beta_interval(summary, 0.95),
        calibrated_beta_interval(distribution, 0.95),
        rtol=0,
        atol=1e-12,
    )


def test_limits_are_continuous_in_a_score():
    scores = np.tile(np.append(SAMPLES["even"], 0.0)[:, None], 2_001)
    scores[-1] = np.linspace(0.0, 1.0, 2_001)
    interval = confidence_interval(scores, method="calibrated-beta")
    assert np.abs(np.diff(interval.low)).max() < 0.001
    assert np.abs(np.diff(interval.high)).max() < 0.001


@pytest.mark.parametrize("name", SAMPLES)
def test_above_the_highest_level_the_interval_holds_that_of_beta_logit_within_gaffke(name):
    sample, level = SAMPLES[name], 0.9999
    inner, other = (
        limits_of(sample, HIGHEST),
        confidence_interval(sample, method="beta-logit", level=level),
    )
    assert 1 - 2 * pivot_quantiles().tails[-1] == pytest.approx(HIGHEST)
    farthest = gaffke_limits(sample[:, None], level)
    low = max(min(inner[0], float(other.low)), float(farthest.low[0]))
    high = min(max(inner[1], float(other.high)), float(farthest.high[0]))
    assert limits_of(sample, level) == pytest.approx((low, high), abs=1e-12)


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
    return load_script("tables/pivot_quantiles.py")


@pytest.mark.parametrize("place", [(0, 9, 5), (3, 18, 10), (7, 10, 7), (11, 25, 2), (13, 5, 9)])
def test_the_table_is_that_of_its_script_against_a_new_simulation(script, place):
    table, number = pivot_quantiles(), 40_000
    assert (table.sizes.tolist(), table.tails.tolist()) == (list(script.SIZES), list(script.TAILS))
    n, m, d = place
    scores = script.beta_quantiles(float(table.logits[m]), float(table.dispersions[d]))
    drawn = script.simulate_pivots(scores, int(table.sizes[n]), number, np.random.default_rng(7))
    for tail, quantile in zip(table.tails, table.quantiles[place], strict=True):
        drawn_before = script.samples_of(int(table.sizes[n]))
        error = 4.5 * math.sqrt(tail * (1 - tail) * (1 / number + 1 / drawn_before))
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
    assert pivot_of_moments(10, np.array([0.2, 0.4]), none, none, 0.3).tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("mirrored", [False, True])
def test_one_tiny_score_among_zeros_has_limits_that_are_continuous_in_it(mirrored, level):
    tiny = np.append(0.0, 10.0 ** np.linspace(-300, -6, 400))
    values = np.zeros((50, len(tiny)))
    values[7] = tiny
    found = confidence_interval(
        1.0 - values if mirrored else values, method="calibrated-beta", level=level
    )
    low, high = np.ravel(found.low), np.ravel(found.high)
    assert not np.isnan([low, high]).any()
    assert np.abs(np.diff([low, high])).max() < 1e-4
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
