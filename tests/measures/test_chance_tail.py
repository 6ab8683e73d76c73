"""The probability of a random score at least as high, against all rankings."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from confir.errors import InvalidValueError
from confir.measures import chance_tail
from confir.measures.chance_tail import (
    Tail,
    combine_probabilities,
    combine_tails,
    random_ap_tail,
    simulate_random_ap,
)
from confir.measures.random_rankings import expected_random_ap, random_score_moments


def tail(documents, relevant, observed, depth=None, draws=999, seed=1):
    rng = np.random.default_rng(seed)
    return random_ap_tail(documents, relevant, np.array(observed), depth, draws=draws, rng=rng)


def all_aps(documents: int, relevant: int, depth: int) -> list[Fraction]:
    return [
        sum((Fraction(i, r) for i, r in enumerate(ranks, 1) if r <= depth), Fraction(0)) / relevant
        for ranks in combinations(range(1, documents + 1), relevant)
    ]


@pytest.mark.parametrize("documents", range(1, 10))
def test_small_collections_are_exact_against_enumeration(documents):
    for relevant in range(1, documents + 1):
        for depth in {1, (documents + 1) // 2, documents}:
            values = all_aps(documents, relevant, depth)
            observed = sorted(set(values))
            found = tail(documents, relevant, [float(value) for value in observed], depth)
            exact = [sum(v >= x for v in values) / len(values) for x in observed]
            assert found.p == pytest.approx(exact, abs=1e-15)
            assert (found.low == found.p).all()
            assert (found.high == found.p).all()


@pytest.mark.parametrize(("documents", "relevant"), [(28, 5), (29, 5), (20, 17)])
def test_rankings_are_listed_where_they_are_at_most_100_000(documents, relevant):
    found = tail(documents, relevant, [0.5])
    assert (found.low == found.high).all() == (comb(documents, relevant) <= 100_000)


def test_one_relevant_document_is_exact_in_any_collection():
    found = tail(10**12, 1, [1.0, 0.5, 1 / 3, 1e-12, 0.0, np.nan], draws=1)
    expected = [1e-12, 2e-12, 3e-12, 1.0, 1.0]
    assert found.p[:5] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(found.p[5])


def test_one_relevant_document_beyond_the_depth_is_never_found():
    assert tail(1_000, 1, [1e-9], depth=100).p == pytest.approx([0.1])


def test_simulation_agrees_with_enumeration(monkeypatch):
    observed = sorted({float(value) for value in all_aps(12, 4, 9)})[::10]
    exact = tail(12, 4, observed, depth=9)
    monkeypatch.setattr("confir.measures.chance_tail._FEW_RANKINGS", 0)
    simulated = tail(12, 4, observed, depth=9, draws=40_000)
    assert simulated.p == pytest.approx(exact.p, abs=0.01)
    assert (simulated.low <= exact.p).all()
    assert (simulated.high >= exact.p).all()


def test_a_simulated_probability_is_never_0_and_lies_within_its_limits():
    found = tail(1_000, 10, [0.0, 0.01, 0.02, 0.1, 0.999])
    assert (found.p > 0).all()
    assert (found.low <= found.p).all()
    assert (found.p <= found.high).all()
    assert found.p[0] == 1
    assert found.p[-1] == pytest.approx(1 / 1_000)
    assert found.low[-1] == 0
    # 1 - 0.005^(1/999), Clopper and Pearson's upper limit for no success
    assert found.high[-1] == pytest.approx(1 - 0.005 ** (1 / 999))


def test_limits_of_a_simulated_probability_are_those_of_clopper_and_pearson():
    found = tail(1_000, 10, [0.0, 0.01, 0.013, 0.02, 0.03, 0.05, 0.1], draws=999)
    counts = np.rint(found.p * 1_000).astype(int) - 1
    assert 0 < counts[-3] < counts[1] < 999
    for count, low, high in zip(counts, found.low, found.high, strict=True):
        exact = stats.binomtest(int(count), 999).proportion_ci(0.99, method="exact")
        assert low == pytest.approx(exact.low, abs=1e-12)
        assert high == pytest.approx(exact.high, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [19, 99])
def test_the_combined_p_of_random_rankings_is_small_no_more_often_than_it_says(draws):
    rng = np.random.default_rng(draws)
    found = []
    for _ in range(1_000):
        tails = [
            random_ap_tail(60, 5, simulate_random_ap(60, 5, draws=1, rng=rng), draws=draws, rng=rng)
            for _ in range(3)
        ]
        joined = Tail(*(np.concatenate(part) for part in zip(*tails, strict=True)))
        found.append(combine_tails(joined, draws)[0])
    for error in (0.02, 0.1, 0.3):
        allowed = error + 3 * np.sqrt(error * (1 - error) / 1_000)
        assert np.mean(np.array(found) <= error) <= allowed


def test_the_limits_of_the_combined_p_hold_the_exact_one_as_often_as_they_say(monkeypatch):
    values = sorted({float(value) for value in all_aps(12, 4, 12)})
    observed = [values[-2], values[-6], values[-40]]
    exact = combine_probabilities(tail(12, 4, observed).p)
    monkeypatch.setattr("confir.measures.chance_tail._FEW_RANKINGS", 0)
    held, unknown = 0, 0
    for seed in range(1_000):
        p, low, high = combine_tails(tail(12, 4, observed, draws=150, seed=seed), 150)
        assert low <= p <= high
        held += low <= exact <= high
        unknown += low == 0
    assert held >= 983  # 99% but for three standard errors, and mostly more
    assert 0 < unknown < 1_000


def test_a_bound_from_draws_alone_is_no_smaller_than_they_support():
    """Of n topics no draw does as well: each p may be as high as 1 - (0.01/(2n))^(1/draws)."""
    for draws in (99, 999, 9_999):
        topics = 20
        nothing = tail(10_000, 50, [0.99], draws=draws)
        joined = Tail(*(np.repeat(part, topics) for part in nothing))
        p, low, high = combine_tails(joined, draws)
        highest = 1 - (0.01 / (2 * topics)) ** (1 / draws)
        assert low == 0
        assert high == pytest.approx(stats.combine_pvalues([highest] * topics).pvalue)
        assert p == pytest.approx(stats.combine_pvalues([1 / (draws + 1)] * topics).pvalue)
        assert p < high


def test_exact_probabilities_have_no_error_when_combined():
    exact = Tail(*[np.array([0.01, 0.2, 1e-9])] * 3)
    assert len(set(combine_tails(exact, 99))) == 1
    mixed = Tail(np.array([0.01, 0.2]), np.array([0.01, 0.1]), np.array([0.01, 0.3]))
    p, low, high = combine_tails(mixed, 99)
    assert low < p < high
    assert np.isnan(combine_tails(Tail(*[np.array([np.nan])] * 3), 99)).all()


@pytest.mark.parametrize(
    ("documents", "relevant", "depth"),
    [
        (1_000, 10, None),
        (1_000, 10, 100),
        (60, 40, None),
        (60, 40, 25),
        (3_000, 900, None),
        (200_000, 300, 1_000),
        (3 * 10**9, 5, None),
        (3 * 10**9, 4, 2 * 10**9),
    ],
)
def test_simulated_ap_has_the_exact_moments(documents, relevant, depth):
    draws = 4_000
    rng = np.random.default_rng(11)
    values = simulate_random_ap(documents, relevant, depth, draws=draws, rng=rng)
    sd = np.sqrt(random_score_moments("AP", documents, relevant, depth)[1])
    expected = expected_random_ap(documents, relevant, depth)
    assert abs(values.mean() - expected) < 4 * sd / np.sqrt(draws)
    assert (values >= 0).all()
    assert (values <= 1).all()


def test_random_ranks_are_distinct_and_uniform():
    from confir.measures.chance_tail import _draw_ranks

    found = np.array([3, 1, 0] * 20_000)
    ranks = _draw_ranks(7, found, 3, np.random.default_rng(5))
    assert (np.diff(ranks, axis=1) > 0).all()
    assert ((ranks <= 7).sum(axis=1) == found).all()
    sets, counts = np.unique(ranks[found == 3], axis=0, return_counts=True)
    assert len(sets) == 35
    assert np.abs(counts - 20_000 / 35).max() < 4.5 * np.sqrt(20_000 / 35)


def test_no_relevant_document_says_nothing():
    assert tail(100, 0, [0.0]).p == [1.0]


def test_the_same_seed_gives_the_same_probability():
    assert (tail(500, 7, [0.03]).p == tail(500, 7, [0.03]).p).all()


def test_probabilities_combine_as_in_scipy():
    from scipy.stats import combine_pvalues

    p = np.array([0.01, 0.2, 0.6, 1.0])
    assert combine_probabilities(p) == pytest.approx(combine_pvalues(p, "fisher").pvalue)
    with_missing = np.append(p, np.nan)
    assert combine_probabilities(with_missing) == combine_probabilities(p)
    assert np.isnan(combine_probabilities(np.array([np.nan])))


def test_combined_probabilities_of_random_runs_are_spread_evenly():
    rng = np.random.default_rng(3)
    combined = []
    for _ in range(200):
        observed = simulate_random_ap(2_000, 3, draws=12, rng=rng)
        parts = [tail(2_000, 3, [ap], draws=400, seed=rng.integers(2**32)).p[0] for ap in observed]
        combined.append(combine_probabilities(np.array(parts)))
    assert np.mean(np.array(combined) < 0.05) < 0.12
    assert 0.35 < np.median(combined) < 0.65


def test_draws_below_1_are_an_error():
    with pytest.raises(InvalidValueError, match="draws is 0"):
        tail(100, 10, [0.5], draws=0)


@pytest.mark.parametrize("documents", [1, 2, 7, 12, 30])
def test_rankings_are_few_where_their_number_is_small(documents):
    for relevant in range(documents + 1):
        few = comb(documents, relevant) <= chance_tail._FEW_RANKINGS
        assert chance_tail._few_rankings(documents, relevant) == few


def test_very_many_rankings_are_not_counted_to_the_end():
    assert not chance_tail._few_rankings(10**12, 10**11)
    assert not chance_tail._few_rankings(10**12, 10**12 - 10**6)
