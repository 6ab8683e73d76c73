"""Sign flips, bootstrap shifts and shuffled runs, against enumeration and plain loops."""

import itertools
import random

import numpy as np
import pytest

import confir.parallel
from confir.errors import TopicMismatchError
from confir.pairs import paired_tests as randomisation
from confir.pairs.differences import pair_runs
from confir.pairs.paired_tests import flip_signs, permute_runs, shift_bootstrap
from confir.resampling.kinds import as_topic_sample
from studies.score_tables import table


def units(values):
    return pair_runs(as_topic_sample(table(values)), None).unit_scores()


def all_pairs(values):
    return units(values)


def tukey_p(pairs, replicates, seed):
    """The p-values of the permutations alone."""
    return permute_runs(pairs, replicates, seed)[0]


def enumerated_p(differences):
    """The share of all 2^n sign flips whose sum is as large as the observed one."""
    observed = abs(sum(differences))
    count = 0
    for signs in itertools.product((1, -1), repeat=len(differences)):
        flipped = abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        count += flipped >= observed - 1e-9
    return count / 2 ** len(differences)


@pytest.mark.parametrize("topics", [2, 3, 7, 12])
@pytest.mark.parametrize("decimals", [1, 6])
def test_sign_flips_against_enumeration(topics, decimals):
    values = np.random.default_rng(topics).random((topics, 3)).round(decimals)
    p = flip_signs(all_pairs(values), 10, seed=1)
    pairs = itertools.combinations(range(3), 2)
    expected = [enumerated_p((values[:, j] - values[:, i]).tolist()) for i, j in pairs]
    assert p[:, 0] == pytest.approx(expected, abs=1e-15)


def test_twenty_topics_are_exact_and_one_and_twenty_are_drawn():
    values = np.random.default_rng(3).random((21, 2))
    exact = [flip_signs(all_pairs(values[:20]), 99, seed=seed)[0, 0] for seed in (1, 2)]
    drawn = [flip_signs(all_pairs(values), 9_999, seed=seed)[0, 0] for seed in (1, 2)]
    assert exact[0] == exact[1]
    assert exact[0] * 2**20 == round(exact[0] * 2**20)
    assert drawn[0] != drawn[1]
    assert all(p * 10_000 == pytest.approx(round(p * 10_000)) for p in drawn)


def test_drawn_flips_come_near_all_flips(monkeypatch):
    values = np.random.default_rng(4).random((16, 4))
    exact = flip_signs(all_pairs(values), 1, seed=1)
    monkeypatch.setattr(randomisation, "MOST_EXACT_TOPICS", 0)
    drawn = flip_signs(all_pairs(values), 40_000, seed=1)
    assert np.abs(drawn - exact).max() < 5 * np.sqrt(0.25 / 40_000)
    assert np.abs(drawn - exact).max() > 0


@pytest.mark.parametrize("test", [flip_signs, shift_bootstrap, tukey_p])
def test_no_p_value_is_zero(test):
    values = np.zeros((60, 2))
    values[:, 1] = np.random.default_rng(0).uniform(0.5, 1.0, 60)
    assert test(all_pairs(values), 999, 1)[0, 0] == 1 / 1000


@pytest.mark.parametrize("topics", [10, 30])
def test_equal_runs_have_p_of_one(topics):
    values = np.repeat(np.random.default_rng(0).random((topics, 1)), 2, axis=1)
    assert flip_signs(all_pairs(values), 99, 1)[0, 0] == 1.0
    assert shift_bootstrap(all_pairs(values), 99, 1)[0, 0] == 1.0
    assert tukey_p(all_pairs(values), 99, 1)[0, 0] == 1.0


def test_ties_hidden_by_rounding_are_counted():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in their last bit: with it, 4 of 16 flips would not be ties
    values = np.array([[0.2, 0.3], [0.1, 0.2], [0.8, 0.7], [0.6, 0.7]])
    assert flip_signs(all_pairs(values), 1, 1)[0, 0] == enumerated_p([1, 1, -1, 1])


def test_large_scores_have_ties_too():
    values = np.array([[200.2, 300.3], [100.1, 200.2], [800.8, 700.7], [600.6, 700.7]] * 6)
    wide, narrow = all_pairs(values * 1e4), all_pairs(values / 1e3)
    assert flip_signs(wide, 999, 1) == flip_signs(narrow, 999, 1)


def test_bootstrap_shift_against_a_plain_loop():
    values = np.random.default_rng(5).normal([0.0, 0.3], 1.0, (25, 2))
    difference = values[:, 1] - values[:, 0]
    loop = random.Random(6)  # noqa: S311
    observed, count, replicates = difference.mean(), 0, 20_000
    for _ in range(replicates):
        drawn = [difference[loop.randrange(25)] for _ in range(25)]
        count += abs(sum(drawn) / 25 - observed) >= abs(observed)
    p = shift_bootstrap(all_pairs(values), replicates, 1)[0, 0]
    assert p == pytest.approx(count / replicates, abs=5 * np.sqrt(2 * p * (1 - p) / replicates))


def test_tukey_against_all_permutations():
    values = np.random.default_rng(7).random((3, 3))
    means = values.mean(axis=0)
    ranges = []
    for rows in itertools.product(*(list(itertools.permutations(row)) for row in values)):
        shuffled = np.mean(rows, axis=0)
        ranges.append(shuffled.max() - shuffled.min())
    pairs = list(itertools.combinations(range(3), 2))
    expected = [np.mean(np.array(ranges) >= abs(means[i] - means[j]) - 1e-9) for i, j in pairs]
    replicates = 40_000
    p = tukey_p(all_pairs(values), replicates, 1)[:, 0]
    assert p == pytest.approx(expected, abs=5 * np.sqrt(0.25 / replicates))


def test_tukey_against_a_plain_loop():
    values = np.random.default_rng(8).random((12, 5)) + np.linspace(0, 0.6, 5)
    loop = random.Random(9)  # noqa: S311
    rows, replicates = values.tolist(), 4_000
    means = values.mean(axis=0)
    pairs = list(itertools.combinations(range(5), 2))
    counts = dict.fromkeys(pairs, 0)
    for _ in range(replicates):
        shuffled = [loop.sample(row, 5) for row in rows]
        totals = [sum(row[r] for row in shuffled) / 12 for r in range(5)]
        for i, j in pairs:
            counts[i, j] += max(totals) - min(totals) >= abs(means[i] - means[j])
    expected = [counts[pair] / replicates for pair in pairs]
    p = tukey_p(all_pairs(values), 4_000, 1)[:, 0]
    assert p == pytest.approx(expected, abs=5 * np.sqrt(2 * 0.25 / replicates))
    assert min(expected) < 0.05


def test_tukey_counts_the_ranges_that_it_returns():
    values = np.random.default_rng(8).random((12, 4)) + np.linspace(0, 0.4, 4)
    p, (ranges,) = permute_runs(all_pairs(values), 500, 1)
    means = values.mean(axis=0)
    assert len(ranges) == 500
    assert (np.diff(ranges) >= 0).all()
    pairs = itertools.combinations(range(4), 2)
    expected = [(1 + np.sum(ranges >= abs(means[i] - means[j]) - 1e-9)) / 501 for i, j in pairs]
    np.testing.assert_allclose(p[:, 0], expected, rtol=1e-12)


def test_tukey_of_two_runs_is_the_sign_flip_test():
    values = np.random.default_rng(10).uniform([0.0, 0.1], [1.0, 1.1], (14, 2))
    replicates = 40_000
    exact = flip_signs(all_pairs(values), 1, 1)[0, 0]
    p = tukey_p(all_pairs(values), replicates, 1)[0, 0]
    assert p == pytest.approx(exact, abs=5 * np.sqrt(0.25 / replicates))


def test_tukey_sees_ties_through_rounding():
    tenths = np.random.default_rng(21).integers(0, 10, (5, 2, 30))
    replicates = 4_000
    p = tukey_p(units(tenths / 10), replicates, 1)[0]
    for measure, found in enumerate(p):
        expected = enumerated_p((tenths[:, 1, measure] - tenths[:, 0, measure]).tolist())
        assert found == pytest.approx(expected, abs=5 * np.sqrt(0.25 / replicates))


def test_tukey_keeps_topics_paired():
    # hard and easy topics differ far more than the runs: without pairing nothing is shown
    rng = np.random.default_rng(11)
    values = rng.random((40, 1)) + rng.normal(0.0, 0.01, (40, 3)) + [0.0, 0.0, 0.05]
    p = tukey_p(all_pairs(values), 999, 1)[:, 0]
    assert p[0] > 0.05
    assert p[1] == p[2] == 1 / 1000


@pytest.mark.parametrize("test", [flip_signs, shift_bootstrap, tukey_p])
def test_threads_change_nothing(test, monkeypatch):
    values = np.random.default_rng(12).random((30, 6, 3))
    results = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(confir.parallel, "usable_cores", lambda cores=cores: cores)
        results.append(test(all_pairs(values), 1_800, 1))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


@pytest.mark.parametrize("topics", [15, 40])
@pytest.mark.parametrize("test", [flip_signs, shift_bootstrap, tukey_p])
def test_the_order_of_the_runs_changes_nothing(test, topics):
    values = np.random.default_rng(13).random((topics, 5))
    p = test(all_pairs(values), 700, 1)[:, 0]
    order = [3, 0, 4, 2, 1]
    shuffled = test(all_pairs(values[:, order]), 700, 1)[:, 0]
    place = {pair: k for k, pair in enumerate(itertools.combinations(range(5), 2))}
    for k, (i, j) in enumerate(itertools.combinations(range(5), 2)):
        pair = tuple(sorted((order[i], order[j])))
        assert shuffled[k] == p[place[pair]]


@pytest.mark.parametrize("test", [flip_signs, shift_bootstrap])
def test_other_runs_and_measures_change_nothing(test):
    values = np.random.default_rng(14).random((33, 7, 3))
    alone = test(all_pairs(values[:, 2:4, 1:2]), 900, 1)[0, 0]
    places = list(itertools.combinations(range(7), 2))
    assert test(all_pairs(values), 900, 1)[places.index((2, 3)), 1] == alone


@pytest.mark.parametrize("topics", [18, 60])
@pytest.mark.parametrize("test", [flip_signs, shift_bootstrap])
def test_a_pair_uses_the_topics_that_both_runs_have(test, topics):
    values = np.random.default_rng(15).random((topics, 3))
    values[::5, 0] = np.nan
    values[1::7, 1] = np.nan
    p = test(all_pairs(values), 700, 1)[:, 0]
    for k, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        both = ~np.isnan(values[:, i]) & ~np.isnan(values[:, j])
        assert p[k] == test(all_pairs(values[both][:, [i, j]]), 700, 1)[0, 0]


def test_a_pair_with_one_topic_has_no_p_value():
    values = np.full((10, 3), np.nan)
    values[:6, 0] = values[5:, 1] = values[:, 2] = np.arange(10)[:6].mean()
    values[:6, 0] += np.arange(6)
    for test in (flip_signs, shift_bootstrap):
        p = test(all_pairs(values), 99, 1)[:, 0]
        assert np.isnan(p[0])
        assert not np.isnan(p[1:]).any()


def test_tukey_looks_at_the_topics_of_all_runs():
    values = np.random.default_rng(16).random((30, 4, 2))
    values[3, 1, 0] = values[8, 2, 0] = np.nan
    p = tukey_p(all_pairs(values), 500, 1)
    whole = np.delete(values[:, :, :1], [3, 8], axis=0)
    assert np.array_equal(p[:, :1], tukey_p(all_pairs(whole), 500, 1))
    assert np.array_equal(p[:, 1:], tukey_p(all_pairs(values[:, :, 1:]), 500, 1))


def test_tukey_needs_topics_that_all_runs_have():
    values = np.random.default_rng(17).random((6, 3))
    values[:3, 0] = values[2:, 1] = np.nan
    with pytest.raises(TopicMismatchError, match="fewer than 2 topics"):
        tukey_p(all_pairs(values), 9, 1)


def test_blocks_of_any_size_agree(monkeypatch):
    values = np.random.default_rng(18).random((25, 3))
    counts = []
    for most in (50, 4_000_000):
        monkeypatch.setattr(randomisation, "MOST_NUMBERS", most)
        counts.append(shift_bootstrap(all_pairs(values), 3_000, 1))
    assert np.abs(counts[0] - counts[1]).max() < 5 * np.sqrt(2 * 0.25 / 3_000)


# Under the null hypothesis p-values are uniform. Samples come in blocks, as measures of one table:
# 400 comparisons of two runs, skewed and discrete scores alike.
NULLS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape),
    "discrete": lambda rng, shape: rng.integers(0, 11, shape) / 10,
}


@pytest.mark.parametrize("scores", NULLS)
@pytest.mark.parametrize("topics", [12, 30])
def test_p_values_of_sign_flips_are_uniform_under_the_null(scores, topics):
    rng = np.random.default_rng(19)
    values = NULLS[scores](rng, (topics, 1, 1500)) + NULLS[scores](rng, (topics, 2, 1500))
    p = flip_signs(units(values), 499, 1)[0]
    for error in (0.01, 0.05, 0.1, 0.3, 0.5, 0.8):
        share = np.mean(p <= error)
        slack = 4 * np.sqrt(error * (1 - error) / 1500)
        assert share <= error + slack
        # ties and few flips make a test conservative, never more than the jump of one p-value
        assert share >= error - slack - (0.05 if scores == "discrete" else 0.01)


@pytest.mark.parametrize("scores", NULLS)
def test_the_family_wise_error_of_tukey_holds(scores):
    rng = np.random.default_rng(20)
    samples, topics, runs = 600, 15, 6
    values = NULLS[scores](rng, (topics, 1, samples)) + NULLS[scores](rng, (topics, runs, samples))
    p = tukey_p(units(values), 399, 1)
    for error in (0.05, 0.2):
        share = np.mean(p.min(axis=0) <= error)
        assert share <= error + 4 * np.sqrt(error * (1 - error) / samples)
        assert share >= error - 4 * np.sqrt(error * (1 - error) / samples) - 0.01
