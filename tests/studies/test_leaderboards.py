"""Correlations of leaderboards: Kendall's τ_b and the AP correlation, vectorised over samples."""

import numpy as np
import pytest
from scipy import stats

from confir.studies.judgements import leaderboards
from confir.studies.judgements.leaderboards import correlate_leaderboards


def correlations(first, second):
    tau, tau_ap = correlate_leaderboards(np.array([[first], [second]], float), [(0, 1)])
    return float(tau[0, 0]), float(tau_ap[0, 0])


@pytest.mark.parametrize("ties", [False, True])
def test_tau_b_against_scipy(ties):
    rng = np.random.default_rng(3)
    for size in (2, 3, 7, 20):
        first, second = rng.normal(size=(2, size))
        if ties and size > 2:
            first, second = np.round(first), np.round(second)
        expected = stats.kendalltau(first, second).statistic
        assert correlations(first, second)[0] == pytest.approx(expected, abs=1e-12)


def plain_ap_correlation(reference, judge):
    """The definition as a loop: the runs strictly above each run, ties of the reference half."""
    shares = []
    for run in range(len(judge)):
        above = [other for other in range(len(judge)) if judge[other] > judge[run]]
        if above:
            right = sum(
                1.0
                if reference[other] > reference[run]
                else 0.5 * (reference[other] == reference[run])
                for other in above
            )
            shares.append(right / len(above))
    return 2 * np.mean(shares) - 1


def test_ap_correlation_by_hand():
    """Runs a to d; the judge reads a, c, b, d: places 2 to 4 have 1 of 1, 1 of 2 and 3 of 3 right."""
    tau, tau_ap = correlations([4, 3, 2, 1], [4, 2, 3, 1])
    assert tau_ap == pytest.approx(2 / 3 * (1 + 1 / 2 + 1) - 1)
    assert tau == pytest.approx(4 / 6)


def test_an_error_at_the_top_costs_more():
    top = correlations([4, 3, 2, 1], [3, 4, 2, 1])
    bottom = correlations([4, 3, 2, 1], [4, 3, 1, 2])
    assert top[0] == bottom[0]
    assert top[1] < bottom[1]


def test_ap_correlation_against_a_plain_loop_with_and_without_ties():
    rng = np.random.default_rng(5)
    for decimals in (6, 0):
        for _ in range(30):
            first, second = np.round(rng.normal(size=(2, 6)), decimals)
            if np.ptp(second) == 0:
                continue
            expected = plain_ap_correlation(first, second)
            assert correlations(first, second)[1] == pytest.approx(expected, abs=1e-12)


def test_without_ties_it_is_the_published_formula_over_all_orders_of_four_runs():
    from itertools import permutations

    reference = np.array([4, 3, 2, 1])
    for order in permutations(range(4)):
        judge = np.argsort(np.argsort([-place for place in np.argsort(order)]))
        ranked = list(order)  # runs as the judge lists them, best first
        score = 0.0
        for place in range(1, 4):
            above = ranked[:place]
            score += sum(reference[o] > reference[ranked[place]] for o in above) / place
        expected = 2 / 3 * score - 1
        assert correlations(reference, judge)[1] == pytest.approx(expected, abs=1e-12)


def test_all_samples_and_pairs_at_once_are_those_one_by_one(monkeypatch):
    rng = np.random.default_rng(7)
    means = np.round(rng.random((3, 11, 5)), 1)
    pairs = [(0, 1), (0, 2), (1, 2)]
    whole = correlate_leaderboards(means, pairs)
    for sample in range(11):
        for place, (a, b) in enumerate(pairs):
            expected = correlations(means[a, sample], means[b, sample])
            np.testing.assert_allclose([one[sample, place] for one in whole], expected)
    monkeypatch.setattr(leaderboards, "_MOST_SIGNS", 200)
    for one, other in zip(whole, correlate_leaderboards(means, pairs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_means_that_differ_by_rounding_are_ties():
    tau, tau_ap = correlations([0.1 + 0.2, 0.3, 0.5], [1, 2, 3])
    assert tau == pytest.approx(2 / np.sqrt(2 * 3))
    assert tau_ap == pytest.approx(2 * np.mean([1.0, (1 + 0.5) / 2]) - 1)


def test_correlations_of_equal_means_are_undefined():
    assert all(map(np.isnan, correlations([1, 1, 1], [1, 1, 1])))
