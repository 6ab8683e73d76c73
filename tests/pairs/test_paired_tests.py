"""Paired tests and corrections, against enumeration."""

import itertools

import numpy as np
import pytest

from confir.errors import UnknownNameError
from confir.pairs import paired_tests
from confir.pairs.compare import compare_runs
from confir.pairs.families import CORRECTIONS, adjust_p_values
from confir.pairs.paired_tests import TESTS, find_test
from studies.score_tables import table


def p_value(differences, test, **options):
    values = np.stack([np.zeros(len(differences)), np.asarray(differences, float)], axis=1)
    return compare_runs(table(values), test=test, rng=1, **options).p[0, 0, 0]


def enumerated_signed_ranks(differences):
    """Twice the share of sign flips whose rank sum is at least the larger one, at most 1."""
    changed = [d for d in differences if d != 0]
    sizes = sorted(abs(d) for d in changed)
    rank = {size: np.mean([i for i, s in enumerate(sizes, 1) if s == size]) for size in sizes}
    ranks = [rank[abs(d)] for d in changed]
    positive = sum(r for r, d in zip(ranks, changed, strict=True) if d > 0)
    larger = max(positive, sum(ranks) - positive)
    sums = [
        sum(r for r, kept in zip(ranks, choice, strict=True) if kept)
        for choice in itertools.product((0, 1), repeat=len(ranks))
    ]
    return min(1.0, 2 * np.mean([total >= larger - 1e-9 for total in sums]))


@pytest.mark.parametrize(
    "differences",
    [
        [0.1, -0.2, 0.3, 0.45, -0.05],
        [1, 1, -1, 2, 2, 3, 0, 0, -2],
        [2, 2, 2, 2, 2, 1, -3],
        [1, -1],
        [3, 1, 4, 1, 5, 9, 2, 6, -5, -3, 5, 8],
    ],
)
def test_wilcoxon_against_enumeration(differences):
    assert p_value(differences, "wilcoxon") == pytest.approx(enumerated_signed_ranks(differences))


def test_wilcoxon_sees_ties_through_rounding():
    values = np.array([[0.2, 0.3], [0.1, 0.2], [0.8, 0.7], [0.6, 0.9], [0.1, 0.6]])
    p = compare_runs(table(values), test="wilcoxon").p[0, 0, 0]
    assert p == pytest.approx(enumerated_signed_ranks([1, 1, -1, 3, 5]))


def test_wilcoxon_beyond_fifty_topics_comes_near_the_exact_test(monkeypatch):
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.1, 0.2, 0.3):
        differences = rng.normal(shift, 1.0, 50)
        exact = p_value(differences, "wilcoxon")
        monkeypatch.setattr(paired_tests, "_MOST_EXACT_RANKS", 49)
        approximate = p_value(differences, "wilcoxon")
        monkeypatch.undo()
        assert approximate != exact
        assert approximate == pytest.approx(exact, abs=0.01)


def test_the_sign_test_leaves_ties_out():
    # 9 wins and 1 loss: 2 (1 + 10) / 2^10
    differences = [0.1] * 9 + [-0.1] + [0.0] * 7
    assert p_value(differences, "sign") == pytest.approx(22 / 1024)
    assert p_value([0.1, 0.1, -0.1, -0.1], "sign") == 1.0


@pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")
@pytest.mark.parametrize("test", [name for name in TESTS if name != "tukey-hsd"])
def test_equal_runs_have_p_of_one(test):
    assert p_value([0.0] * 8, test) == 1.0


@pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")
@pytest.mark.parametrize("test", [name for name in TESTS if name != "tukey-hsd"])
@pytest.mark.parametrize("topics", [2, 6, 8, 30])
def test_equal_differences_have_the_exact_p_of_the_sign_flips(test, topics):
    assert p_value([0.25] * topics, test) == 2 / 2**topics


@pytest.mark.parametrize("test", [name for name in TESTS if name != "tukey-hsd"])
def test_swapping_the_runs_changes_no_p_value(test):
    differences = np.random.default_rng(1).normal(0.2, 1.0, 30).round(1)
    assert p_value(differences, test) == p_value(-differences, test)


@pytest.mark.slow
@pytest.mark.parametrize("test", [name for name in TESTS if name != "tukey-hsd"])
def test_p_values_are_uniform_under_the_null(test):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(30, 2, 2000))
    p = compare_runs(table(values), test=test, replicates=499, rng=1).p[0, 0]
    for error in (0.01, 0.05, 0.2, 0.5):
        slack = 4 * np.sqrt(error * (1 - error) / 2000)
        share = np.mean(p <= error)
        # the bootstrap takes the sample's variance for the truth; few topics make it too bold
        assert share <= error + slack + (0.02 if test == "bootstrap-shift" else 0.0)
        # thirty coin flips take few values: the sign test's next p-value may be far below
        assert share >= error - slack - (0.2 if test == "sign" else 0.01)


def test_the_sign_test_is_exact_under_the_null():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(9, 2, 4000))
    p = compare_runs(table(values), test="sign").p[0, 0]
    for value in np.unique(p):
        assert np.mean(p <= value) == pytest.approx(min(value, 1.0), abs=0.03)


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_the_family_wise_error_holds(correction):
    rng = np.random.default_rng(4)
    samples, runs = 1500, 6
    values = rng.normal(size=(20, runs, samples))
    adjusted = compare_runs(table(values), baseline="run0", correction=correction).p_adjusted[0]
    share = np.mean(adjusted.min(axis=0) <= 0.05)
    assert share <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / samples)
    assert share >= 0.02
    unadjusted = compare_runs(table(values), baseline="run0", correction="none").p_adjusted[0]
    assert np.mean(unadjusted.min(axis=0) <= 0.05) > 0.15


def test_the_false_discovery_rate_holds():
    rng = np.random.default_rng(5)
    samples = 1500
    values = rng.normal(size=(20, 9, samples))
    values[:, 1:5] += 1.0  # four of eight differences are real
    comparison = compare_runs(table(values), baseline="run0", correction="benjamini-hochberg")
    found = comparison.p_adjusted[0] <= 0.2
    false = found[4:].sum(axis=0) / np.maximum(found.sum(axis=0), 1)
    assert false.mean() <= 0.2
    assert false.mean() >= 0.05


def test_corrections_against_their_definitions():
    p = np.array([0.01, 0.04, 0.03, 0.005, 0.041])
    adjusted = {name: adjust_p_values(p[:, None], name)[:, 0] for name in CORRECTIONS}
    assert adjusted["none"] == pytest.approx(p)
    assert adjusted["bonferroni"] == pytest.approx([0.05, 0.2, 0.15, 0.025, 0.205])
    assert adjusted["holm"] == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.09])
    assert adjusted["benjamini-hochberg"] == pytest.approx([0.025, 0.041, 0.041, 0.025, 0.041])
    assert adjust_p_values(np.array([[0.6], [0.7]]), "bonferroni").tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_missing_test_does_not_count(correction):
    p = np.array([[0.01, 0.2], [np.nan, 0.3], [0.02, 0.01]])
    adjusted = adjust_p_values(p, correction)
    assert np.isnan(adjusted[1, 0])
    assert adjusted[[0, 2], :1] == pytest.approx(adjust_p_values(p[[0, 2], :1], correction))
    assert adjusted[:, 1:] == pytest.approx(adjust_p_values(p[:, 1:], correction))


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean randomisation"):
        find_test("randomization")
    with pytest.raises(UnknownNameError, match="did you mean bonferroni"):
        adjust_p_values(np.ones((2, 1)), "bonferoni")
