"""Confidence sequences: against a plain loop, and by simulation with a known truth."""

import numpy as np
import pytest
from scipy import stats

from confir.intervals.bounded import confidence_sequence

GRID = np.linspace(0.0, 1.0, 2001)


def plain_sequence(scores, level):
    """Hedged capital of Waudby-Smith & Ramdas (2023) on a grid of means, one topic at a time."""
    error = 1.0 - level
    high, low = np.ones(len(GRID)), np.ones(len(GRID))
    kept = np.ones(len(GRID), bool)
    total, squares, variance = 0.5, 0.25, 0.25
    with np.errstate(divide="ignore"):
        above, below = 0.5 / GRID, 0.5 / (1.0 - GRID)
    for t, score in enumerate(scores, 1):
        bet = np.sqrt(2.0 * np.log(2.0 / error) / (variance * t * np.log(1.0 + t)))
        high *= 1.0 + np.minimum(bet, above) * (score - GRID)
        low *= 1.0 - np.minimum(bet, below) * (score - GRID)
        kept &= np.maximum(high / 2.0, low / 2.0) < 1.0 / error
        total += score
        mean = total / (t + 1.0)
        squares += (score - mean) ** 2
        variance = squares / (t + 1.0)
    return GRID[kept].min(), GRID[kept].max()


@pytest.mark.parametrize("level", [0.8, 0.95, 0.997])
@pytest.mark.parametrize("shape", [(0.5, 0.5), (5, 1), (50, 50)])
def test_limits_equal_those_of_a_plain_loop(level, shape):
    scores = np.random.default_rng(1).beta(*shape, 120)
    low, high = (limit[0] for limit in confidence_sequence(scores[:, None], level).limits)
    assert (low, high) == pytest.approx(plain_sequence(scores, level), abs=1 / 1000)
    assert high - low < 0.6


# How differences of two runs may be distributed, as scores (d + 1) / 2 with a mean of ½.
DRAWS = {
    "symmetric": lambda rng, size: rng.beta(8, 8, size),
    "mostly equal": lambda rng, size: np.where(rng.random(size) < 0.8, 0.5, rng.beta(2, 2, size)),
    "rare and large": lambda rng, size: np.where(rng.random(size) < 0.1, 0.05, 0.55),
    "all or nothing": lambda rng, size: (rng.random(size) < 0.5).astype(float),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_looking_after_every_topic_errs_in_less_than_5_percent(draw):
    """The limits are the intersection of all looks: the last misses where any one did."""
    scores = draw(np.random.default_rng(2), (250, 1000))
    found = confidence_sequence(scores, 0.95)
    ever = (found.limits.low > 0.5) | (found.limits.high < 0.5)
    assert ever.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)
    assert ever.any()
    np.testing.assert_array_equal(ever, found.p <= 0.05)
    # the same looks by a t interval each, from the tenth topic on, err far more often
    counts = np.arange(1, 251)[:, None]
    mean = scores.cumsum(axis=0) / counts
    variance = np.square(scores).cumsum(axis=0) / counts - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean - 0.5) / np.sqrt(variance / (counts - 1.0))
    limit = stats.t.ppf(0.975, counts - 1.0)
    assert (t > limit)[9:].any(axis=0).mean() > 0.15


def test_earlier_limits_contain_later_ones_and_do_not_know_the_future():
    scores = np.random.default_rng(3).beta(2, 3, (90, 4))
    early, late = (confidence_sequence(scores[:size], 0.95).limits for size in (30, 90))
    assert (early.low <= late.low).all()
    assert (late.high <= early.high).all()
    changed = scores.copy()
    changed[30:] = 1.0
    np.testing.assert_array_equal(confidence_sequence(changed[:30], 0.95).limits, early)


def test_a_large_difference_is_found():
    scores = np.random.default_rng(4).beta(6, 4, (200, 200))
    assert np.mean(confidence_sequence(scores, 0.95).limits.low > 0.5) > 0.9


def test_missing_topics_are_no_bets():
    scores = np.random.default_rng(5).beta(2, 3, (40, 1))
    gaps = np.insert(scores, [0, 7, 40], np.nan, axis=0)
    expected, found = confidence_sequence(scores, 0.9), confidence_sequence(gaps, 0.9)
    np.testing.assert_allclose(found.limits, expected.limits, rtol=0, atol=1e-12)


def test_one_topic_says_little_and_equal_topics_are_no_error():
    low, high = (limit[0] for limit in confidence_sequence(np.array([[0.5]]), 0.95).limits)
    assert (low, high) == (0.0, 1.0)
    same = confidence_sequence(np.full((500, 1), 0.5), 0.95)
    assert same.limits.low[0] < 0.5 < same.limits.high[0]
    assert same.p[0] == 1.0
