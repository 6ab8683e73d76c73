"""`t` and `logit-t` against their formulas."""

import numpy as np
import pytest
from scipy import stats

from confir.intervals.confidence_intervals import confidence_interval

SAMPLE = [0.1, 0.2, 0.3, 0.4]


def test_t_by_hand():
    # mean ¼; squares of deviations sum to 0.05; se = √(0.05/3/4) = 0.0645497; t_3 = 3.182446
    interval = confidence_interval(SAMPLE, method="t")
    assert interval.low == pytest.approx(0.25 - 3.182446 * 0.0645497, abs=1e-6)
    assert interval.high == pytest.approx(0.25 + 3.182446 * 0.0645497, abs=1e-6)


def test_logit_t_by_hand():
    # logit ¼ = -1.0986123; se on that scale 0.0645497/0.1875 = 0.3442652
    interval = confidence_interval(SAMPLE, method="logit-t")
    low, high = -1.0986123 - 3.182446 * 0.3442652, -1.0986123 + 3.182446 * 0.3442652
    assert interval.low == pytest.approx(np.exp(low) / (1 + np.exp(low)), abs=1e-6)
    assert interval.high == pytest.approx(np.exp(high) / (1 + np.exp(high)), abs=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_t_against_scipy(level):
    x = np.random.default_rng(2).beta(0.4, 2, (30, 5))
    interval = confidence_interval(x, method="t", level=level)
    low, high = stats.t.interval(level, 29, x.mean(axis=0), stats.sem(x, axis=0))
    np.testing.assert_allclose(interval.low, low, atol=1e-12)
    np.testing.assert_allclose(interval.high, high, atol=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_logit_t_against_the_formula(level):
    x = np.random.default_rng(2).beta(0.4, 2, (30, 5))
    interval = confidence_interval(x, method="logit-t", level=level)
    m, se = x.mean(axis=0), stats.sem(x, axis=0)
    reach = stats.t.ppf((1 + level) / 2, 29) * se / (m * (1 - m))
    centre = np.log(m / (1 - m))
    np.testing.assert_allclose(interval.low, 1 / (1 + np.exp(reach - centre)), atol=1e-12)
    np.testing.assert_allclose(interval.high, 1 / (1 + np.exp(-reach - centre)), atol=1e-12)


def test_limits_of_t_are_not_clipped():
    interval = confidence_interval([0.0, 0.0, 0.0, 1.0], method="t")
    assert interval.low < 0


def test_degrees_of_freedom_follow_the_scores_that_are_there():
    x = np.array([[0.1, 0.1], [0.4, 0.4], [0.3, 0.3], [np.nan, 0.9], [np.nan, 0.2]])
    interval = confidence_interval(x, method="t")
    for column, kept in enumerate((x[:3, 0], x[:, 1])):
        low, high = stats.t.interval(0.95, len(kept) - 1, kept.mean(), stats.sem(kept))
        assert interval.low[column] == pytest.approx(low, abs=1e-12)
        assert interval.high[column] == pytest.approx(high, abs=1e-12)
    assert interval.topics.tolist() == [3, 5]
