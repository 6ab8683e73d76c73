"""Verdict, interval and p-value of a family never contradict each other, whatever the scores are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confir import compare_runs, evaluate, find_best, judge_gate, rank_runs
from confir.defaults import LEVELS
from confir.pairs.gate import GateEvidence, sides_of_bound
from confir.pairs.simultaneous import ComparisonFamily, is_significant
from confir.studies.comparison.table import comparison_table
from strategies import at_most
from studies.score_tables import table

pytestmark = [
    pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning"),
    pytest.mark.filterwarnings("ignore::confir.errors.SmallSampleWarning"),
    pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning"),
]


@st.composite
def tables(draw, gaps=True):
    """Scores with near-duplicates, constant differences, ties and gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    topics, runs = draw(st.sampled_from([4, 9, 25])), draw(st.integers(2, 6))
    values = rng.random((topics, 1)) / 2 + rng.normal(0.0, 0.1, (topics, runs))
    values += draw(st.sampled_from([0.0, 0.02, 0.1])) * np.arange(runs)
    kinds = ["own", "near", "nearer", "constant", "same", "sparse"]
    for run in range(1, runs):
        kind = draw(st.sampled_from(kinds))
        other = values[:, draw(st.integers(0, run - 1))]
        shift = draw(st.sampled_from([-0.05, 0.01, 0.2]))
        if kind in ("near", "nearer"):
            sd = 1e-3 if kind == "near" else 1e-9
            values[:, run] = other + shift + rng.normal(0.0, sd, topics)
        elif kind == "constant":
            values[:, run] = other + shift
        elif kind == "same":
            values[:, run] = other
        elif kind == "sparse":
            values[:, run] = other
            values[0, run] += shift
    if draw(st.booleans()):
        values = np.round(values, 1)
    if gaps and draw(st.booleans()):
        values[rng.random(values.shape) < 0.1] = np.nan
        values[:2] = np.nan_to_num(values[:2])
    return values


def check_same_records(first, second):
    """Compare records; numbers up to rounding."""
    for one, other in zip(first, second, strict=True):
        assert one.keys() == other.keys()
        for name, value in one.items():
            if isinstance(value, float):
                assert value == pytest.approx(other[name], rel=1e-9, nan_ok=True), name
            else:
                assert value == other[name], name


def check_consistent(comparison):
    """Compare verdict, interval, open end and p-value of every pair."""
    alpha = 1 - comparison.level
    low, high = comparison.simultaneous_low[:, 0], comparison.simultaneous_high[:, 0]
    open_end, verdict = comparison.open_end[:, 0], comparison.verdict[0, :, 0]
    d, p = comparison.difference[:, 0], comparison.p_adjusted[0, :, 0]
    identical, unlimited = comparison.identical[:, 0], np.isnan(low)
    above = (low > 0) | ((low == 0) & (open_end == 1))
    below = (high < 0) | ((high == 0) & (open_end == -1))
    decided = verdict != "inconclusive"
    np.testing.assert_array_equal(is_significant(p, comparison.level), decided & ~identical)
    np.testing.assert_array_equal(above[~unlimited], (verdict == "better")[~unlimited])
    np.testing.assert_array_equal(below[~unlimited], (verdict == "worse")[~unlimited])
    assert (np.sign(d)[verdict == "better"] == 1).all()
    assert (np.sign(d)[verdict == "worse"] == -1).all()
    np.testing.assert_array_equal(verdict == "identical", identical)
    assert (p[identical] == 1).all()
    assert np.isnan(low[identical]).all()
    assert (open_end[unlimited] == 0).all()
    assert (low[open_end == 1] == 0).all()
    assert (high[open_end == -1] == 0).all()
    inside = (low <= d) & (d <= high)
    assert inside[~unlimited].all()
    assert ((p > 0) & (p <= 1)).all()
    assert alpha > 0


@settings(max_examples=at_most(60))
@given(
    values=tables(),
    baseline=st.sampled_from([None, "run0"]),
    level=st.sampled_from([0.5, 0.8, 0.95, 0.999]),
    replicates=st.sampled_from([9, 99]),
)
def test_verdict_interval_and_p_agree(values, baseline, level, replicates):
    options = {"baseline": baseline, "replicates": replicates, "rng": 1}
    comparison = compare_runs(table(values), level=level, **options)
    check_consistent(comparison)
    for other in (0.5, 0.9, 0.999):
        check_consistent(comparison.at(other))


@settings(max_examples=at_most(25))
@given(values=tables(), levels=st.permutations(LEVELS))
def test_a_comparison_at_another_usual_level_equals_a_new_one(values, levels):
    first, second = levels[:2]
    made = compare_runs(table(values), level=first, replicates=99, rng=1).at(second)
    new = compare_runs(table(values), level=second, replicates=99, rng=1)
    check_same_records(made.to_records(), new.to_records())


@settings(max_examples=at_most(25))
@given(values=tables(gaps=False), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_best_sets_limits_and_p_agree(values, level):
    found = find_best(table(values), level=level, replicates=99, rng=1)
    in_set, p = found.in_set[:, 0], found.p[:, 0]
    lower, upper, gap = found.lower[:, 0], found.upper[:, 0], found.difference[:, 0]
    np.testing.assert_array_equal(in_set, ~is_significant(p, level))
    assert in_set[found.mean[:, 0].argmax()]
    assert (upper[~in_set] == 0).all()
    assert not (upper[in_set] < 0).any()
    assert not (lower > 0).any()
    assert not (lower > gap + 1e-12).any() or in_set.sum() == 1
    assert not (upper < gap - 1e-12).any()
    if in_set.sum() == 1:
        assert lower[in_set][0] == 0


def near_constant(noise, others=0.15):
    """Forty runs on 53 topics; the second is the first plus .02 and some noise."""
    rng = np.random.default_rng(4)
    values = rng.random((53, 1)) / 2 + rng.normal(0.0, others, (53, 40))
    values[:, 1] = values[:, 0] + 0.02 + noise * rng.normal(0.0, 1.0, 53)
    return table(values)


@pytest.fixture(scope="module")
def near_constants():
    """Comparisons by the noise of the second run."""
    options = {"replicates": 499, "rng": 1}
    sizes = (0.0, 1e-9, 1e-6, 1e-4, 0.02)
    return {noise: compare_runs(near_constant(noise), **options) for noise in sizes}


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-4, 0.02])
def test_a_run_that_is_better_on_nearly_all_topics_is_better_among_forty(near_constants, noise):
    comparison = near_constants[noise]
    assert comparison.tested[0] == 780
    assert comparison.verdict[0, 0, 0] == "better"
    assert (comparison.simultaneous_low[0, 0], comparison.open_end[0, 0]) == (0, 1)
    assert comparison.simultaneous_high[0, 0] > 0.02
    assert comparison.p_adjusted[0, 0, 0] < 0.01


def test_constant_differences_are_the_limit_of_ever_smaller_noise(near_constants):
    """But for the median variance, which is that of 779 pairs in place of 780."""
    exact = near_constants[0.0]
    for noise in (1e-9, 1e-6):
        comparison = near_constants[noise]
        for name in ("difference", "simultaneous_low", "simultaneous_high"):
            found, expected = (getattr(one, name)[0, 0] for one in (comparison, exact))
            assert found == pytest.approx(expected, rel=1e-4)
        p = comparison.p_adjusted[0, 0, 0]
        assert p == pytest.approx(exact.p_adjusted[0, 0, 0], rel=1e-4)
        np.testing.assert_array_equal(comparison.verdict, exact.verdict)
    factor = 1 / (4 * stats.norm.sf(np.sqrt(2)))
    bound = 780 * 2 * factor * stats.norm.sf(np.sqrt(53))
    assert exact.p_adjusted[0, 0, 0] == pytest.approx(bound, rel=1e-9)


def test_an_open_end_is_named_in_records_and_shown_by_a_round_bracket(near_constants):
    comparison = near_constants[1e-4]
    (first,) = [one for one in comparison.to_records() if one["open"] is not None]
    assert (first["run"], first["open"], first["simultaneous_low"]) == ("run1", "low", 0)
    high = comparison.simultaneous_high[0, 0]
    (said,) = [
        one
        for one in comparison.sentences()
        if one.startswith("run1 is significantly better than ")
    ]
    assert f"CI (0.000, {high:+.3f}], " in said
    cells = [cell.text for row in comparison_table(comparison).rows for cell in row]
    assert any(f"(0.0000, {high:+.4f}]" in text for text in cells)
    turned = compare_runs(near_constant(1e-4), baseline="run1", replicates=99, rng=1)
    assert "high" in {one["open"] for one in turned.to_records()}
    assert turned.verdict[0, 0, 0] == "worse"


def test_the_copy_of_a_baseline_changes_no_family():
    rng = np.random.default_rng(2)
    values = rng.random((20, 1)) / 2 + rng.normal(0.0, 0.1, (20, 4))
    alone = compare_runs(table(values), baseline="run0", replicates=99, rng=1)
    copied = np.column_stack([values, values[:, 0]])
    more = compare_runs(table(copied), baseline="run0", replicates=99, rng=1)
    assert alone.tested.tolist() == more.tested.tolist() == [3]
    np.testing.assert_allclose(more.p_adjusted[0, :3], alone.p_adjusted[0], rtol=1e-12)
    np.testing.assert_allclose(more.simultaneous_low[:3], alone.simultaneous_low, rtol=1e-9)
    assert more.verdict[0, 3, 0] == "identical"
    every = compare_runs(table(copied), replicates=99, rng=1)
    assert every.tested[0] == 9  # of 10 pairs


def test_a_single_pair_with_identical_runs_is_a_plain_t_test():
    rng = np.random.default_rng(2)
    base = rng.random(20)
    values = np.stack([base, base, base + rng.normal(0.05, 0.1, 20)], axis=1)
    found = compare_runs(table(values), baseline="run0", replicates=99, rng=1)
    expected = stats.ttest_rel(values[:, 2], values[:, 0])
    assert found.tested[0] == 1
    assert found.p_adjusted[0, 1, 0] == pytest.approx(expected.pvalue, rel=1e-10)
    low, high = expected.confidence_interval(0.95)
    assert found.simultaneous_low[1, 0] == pytest.approx(low)
    assert found.simultaneous_high[1, 0] == pytest.approx(high)


@pytest.mark.parametrize("topics", [2, 5, 6, 50])
def test_a_constant_difference_of_two_runs_is_judged_by_exact_sign_flips(topics):
    base = np.random.default_rng(3).random(topics)
    found = compare_runs(table(np.stack([base, base + 0.01], axis=1)))
    assert found.p_adjusted[0, 0, 0] == pytest.approx(2.0 ** (1 - topics), rel=1e-12)
    assert np.isnan(found.simultaneous_low).all()
    assert found.open_end[0, 0] == 0
    assert found.verdict[0, 0, 0] == ("better" if topics >= 6 else "inconclusive")


def test_an_open_end_at_0_passes_every_bound_below_0_and_none_above():
    values = near_constant(1e-4, others=0.4).values[:, :12]
    comparison = compare_runs(table(values), baseline="run0", replicates=199, rng=1)
    assert comparison.open_end[0, 0] == 1
    half = comparison.simultaneous_high[0, 0] - comparison.difference[0, 0]
    assert comparison.difference[0, 0] - half < -0.01  # by the interval alone it would fail
    for margin in (1e-9, 0.005, 0.01):
        gate = judge_gate(comparison, "m0", require="non-inferior", margin=margin)
        assert gate.candidates[0].passes
    assert judge_gate(comparison, "m0", require="superior").candidates[0].passes
    turned = compare_runs(table(values), baseline="run1", replicates=199, rng=1)
    assert turned.open_end[0, 0] == -1
    assert not judge_gate(turned, "m0").candidates[0].passes
    for margin in (1e-9, 0.005, 0.01):  # significantly below 0, but not below -margin
        gate = judge_gate(turned, "m0", margin=margin)
        assert gate.candidates[0].passes


def test_signs_alone_show_that_a_difference_is_beyond_bounds_on_the_other_side_of_0():
    values = near_constant(1e-4, others=0.4).values[:, :12]
    comparison = compare_runs(table(values), baseline="run0", replicates=199, rng=1)
    limits = comparison.limits
    for bound, side in ((-0.01, 1), (-1e-9, 1), (0.0, 1), (1e-9, 0), (0.01, 0), (0.03, 0)):
        sides = sides_of_bound(GateEvidence.of(comparison), bound)
        assert sides[0, 0] == side, bound
        # 0 is excluded by the signs alone, any other bound by the interval
        if not side:
            assert limits.low[0, 0] <= bound <= limits.high[0, 0]


def test_signs_alone_show_no_equivalence():
    """The same standard error and maxima decide, whatever the signs of the differences are."""
    values = near_constant(1e-4, others=0.4).values[:, :12]
    margin = 0.021
    comparison = compare_runs(table(values), baseline="run0", margin=margin, replicates=199, rng=1)
    assert comparison.open_end[0, 0] == 1
    family = comparison.families[0]
    se = family.standard_errors(comparison.difference[:1, 0], comparison.se[:1, 0], 53, 52.0)
    t = (margin - comparison.difference[0, 0]) / se[0]
    single = stats.t.sf(t, 52)
    beyond = (1 + np.sum(family.maxima >= t)) / (len(family.maxima) + 1)
    expected = np.clip(min(beyond, 11 * single), single, 1)
    assert comparison.p_equivalence_adjusted[0, 0] == pytest.approx(expected, rel=1e-9)
    assert comparison.verdict[0, 0, 0] == "better"


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("decimals", [1, 15])
def test_intervals_of_tukeys_test_agree_with_its_p_values(level, decimals):
    """Also where scores have one decimal, so that many differences are equal up to rounding."""
    significant = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = rng.random((10, 1)) / 2 + rng.normal(0.0, 0.1, (10, 5)) + 0.04 * np.arange(5)
        scores = table(np.round(values, decimals))
        comparison = compare_runs(scores, test="tukey-hsd", level=level, replicates=199, rng=1)
        assert comparison.family == "all-pairs"
        check_consistent(comparison)
        widths = comparison.simultaneous_high - comparison.simultaneous_low
        np.testing.assert_allclose(widths, widths[0, 0])  # one permutation distribution
        significant.append(np.mean(comparison.verdict != "inconclusive"))
    assert 0.1 < np.mean(significant) < 0.9


def test_tukeys_test_at_another_usual_level_equals_a_new_one():
    rng = np.random.default_rng(1)
    scores = table(rng.random((10, 1)) / 2 + rng.normal(0.0, 0.1, (10, 5)) + 0.04 * np.arange(5))
    made, new = (
        compare_runs(scores, test="tukey-hsd", level=level, replicates=199, rng=1)
        for level in (0.9, 0.99)
    )
    check_same_records(made.at(0.99).to_records(), new.to_records())


def test_a_constant_difference_by_tukeys_test_agrees_with_its_interval():
    rng = np.random.default_rng(5)
    values = rng.random((12, 1)) / 2 + rng.normal(0.0, 0.2, (12, 4))
    values[:, 1] = values[:, 0] + 0.02
    comparison = compare_runs(table(values), test="tukey-hsd", replicates=199, rng=1)
    check_consistent(comparison)


def test_intervals_of_tukeys_test_agree_with_its_p_values_where_scores_are_missing():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = rng.random((14, 1)) / 2 + rng.normal(0.0, 0.1, (14, 5)) + 0.04 * np.arange(5)
        values[0, 0] = values[1, 3] = values[2, 1] = np.nan
        comparison = compare_runs(table(values), test="tukey-hsd", replicates=199, rng=1)
        check_consistent(comparison)


def thresholds(seed=3):
    """Runs below the first by differences near the threshold of their family."""
    rng = np.random.default_rng(seed)
    values = rng.random((30, 1)) / 2 + rng.normal(0.0, 0.1, (30, 16))
    values -= values.mean(axis=0)
    below = [[0.0], np.linspace(0.06, 0.09, 8), np.linspace(0.092, 0.12, 7)]
    return table(0.5 + values - np.concatenate(below))


def test_what_is_not_called_borderline_is_the_same_by_every_seed():
    scores = thresholds()
    compared = [compare_runs(scores, replicates=199, rng=seed) for seed in range(4)]
    best = [find_best(scores, replicates=199, rng=seed) for seed in range(4)]
    ranks = [rank_runs(scores, replicates=199, rng=seed) for seed in range(4)]
    found: list[Any]
    for found, name in (
        (compared, "verdict"),
        (best, "in_set"),
        (ranks, "low"),
        (ranks, "high"),
        (ranks, "simultaneous_low"),
        (ranks, "simultaneous_high"),
    ):
        values = np.stack([getattr(one, name) for one in found])
        unclear = np.stack([one.borderline for one in found])
        clear = ~unclear.any(axis=0)
        assert (values == values[0])[:, clear].all()
        assert unclear.any()
        assert clear.any()


def test_two_seeds_seldom_contradict_each_other_unmarked():
    # A family of many pairs, whose p-value is the share of the maxima that reach t.
    draws, level = 99_990, 0.95
    family = ComparisonFamily.of(10**9, np.linspace(2.0, 6.0, draws))
    t = family.maxima[int(0.92 * draws) : int(0.98 * draws)]
    marked, significant = family.borderline(t, 1e9, level), family.p_values(t, 1e9) <= 0.05
    assert 0 < significant.sum() < len(t)
    share = (1 + draws - np.searchsorted(family.maxima, t)) / (draws + 1)
    for true in np.linspace(0.047, 0.053, 61):
        chance = stats.norm.pdf(share, true, np.sqrt(true * (1 - true) / draws))
        chance /= chance.sum()
        contradicted = sum(
            chance[~marked & (significant == way)].sum() * chance[significant != way].sum()
            for way in (False, True)
        )
        assert 2 * contradicted < 0.003  # either of the two seeds


def test_borderline_decisions_are_marked_in_records_and_sentences():
    scores = thresholds()
    compared = compare_runs(scores, replicates=199, rng=1)
    marked = [record["borderline"] for record in compared.to_records()]
    assert marked == compared.borderline[0, :, 0].tolist()
    assert any(marked)
    said = [", borderline" in sentence for sentence in compared.sentences()]
    assert said == marked
    best = find_best(scores, replicates=199, rng=1)
    assert [record["borderline"] for record in best.to_records()] == best.borderline[:, 0].tolist()
    assert best.borderline.any()


def test_borderline_is_what_the_monte_carlo_errors_of_two_seeds_would_change():
    comparison = compare_runs(thresholds(), replicates=199, rng=1)
    family = comparison.families[0]
    count, m = len(family.maxima), 120
    difference = comparison.difference[:, 0]
    t = np.abs(difference) / family.standard_errors(difference, comparison.se[:, 0], 30, 29.0)
    share = (1 + np.array([np.sum(family.maxima >= one) for one in t])) / (count + 1)
    error = 3 * np.sqrt(2) * np.sqrt(share * (1 - share) / (count + 1))
    single = 2 * stats.t.sf(t, 29)
    d = comparison.difference[:, 0]
    sums = np.sqrt(30) * d / np.sqrt(d**2 + 29 * comparison.se[:, 0] ** 2)
    signs = 2 * m * stats.norm.sf(np.abs(sums)) / (4 * stats.norm.sf(np.sqrt(2)))
    low, high = (
        np.minimum(np.clip(np.minimum(share + move, m * single), single, 1), signs) <= 0.05
        for move in (-error, error)
    )
    assert (low != high).any()
    np.testing.assert_array_equal(comparison.borderline[0, :, 0], low != high)


def test_more_replicates_are_drawn_for_borderline_decisions_alone():
    near = compare_runs(thresholds(), replicates=199, rng=1)
    assert len(near.families[0].maxima) == 1_990
    rng = np.random.default_rng(1)
    values = rng.random((30, 1)) / 2 + rng.normal(0.0, 0.01, (30, 4)) + 0.1 * np.arange(4)
    clear = compare_runs(table(values), replicates=199, rng=1)
    assert len(clear.families[0].maxima) == 199
    assert not clear.borderline.any()


def test_tests_that_resample_draw_on_for_borderline_decisions():
    rng = np.random.default_rng(1)
    values = rng.random((30, 1)) / 2 + rng.normal(0.0, 0.1, (30, 2))
    values -= values.mean(axis=0)
    spread = (values[:, 1] - values[:, 0]).std(ddof=1) / np.sqrt(30)
    near = values + np.array([0.0, 2.0 * spread])
    found = compare_runs(table(near), test="randomisation", replicates=199, rng=1)
    assert (found.p[0, 0, 0] * 1_991) % 1 == pytest.approx(0, abs=1e-6)
    clear = compare_runs(table(values), test="randomisation", replicates=199, rng=1)
    assert (clear.p[0, 0, 0] * 200) % 1 == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("topics", [10, 25])
def test_families_err_and_cover_as_often_as_promised(topics):
    """Eight runs of equal mean, three of them near-duplicates of others on few topics."""
    rng = np.random.default_rng(topics)
    samples, level = 200, 0.9
    topic = rng.beta(0.6, 1.2, (topics, 1, samples))
    values = topic / 2 + 0.3 * (rng.beta(1, 3, (topics, 8, samples)) - 0.25)
    for twin, original in ((5, 0), (6, 0), (7, 1)):
        differ = rng.random((topics, samples)) < 0.15
        change = 0.2 * (rng.beta(1, 3, (topics, samples)) - 0.25)
        values[:, twin] = values[:, original] + np.where(differ, change, 0.0)
    comparison = compare_runs(table(values), level=level, replicates=99, rng=1)
    wrong = np.isin(comparison.verdict[0], ["better", "worse"]).any(axis=0)
    low, high = comparison.limits
    covered = ((low <= 0) & (high >= 0)) | np.isnan(low)
    error = 3 * np.sqrt(level * (1 - level) / samples)
    assert wrong.mean() <= 1 - level + error
    assert covered.all(axis=0).mean() >= level - error
    assert (~wrong == (covered & (comparison.open_end == 0)).all(axis=0)).all()


@pytest.fixture(scope="module")
def dl_2021(real_data):
    """AP of the 42 runs of TREC DL 2021."""
    folder = real_data / "trec-dl-2021"
    return evaluate(folder / "qrels.nist.txt", sorted((folder / "runs").iterdir()), ["AP"])


def test_a_run_that_wins_45_of_53_topics_is_better_among_42_runs(dl_2021):
    comparison = compare_runs(dl_2021, rng=1)
    pair = comparison.pairs.index(("pash_f1", "pash_f3"))
    assert len(dl_2021.runs) == 42
    assert [int(getattr(comparison, name)[pair, 0]) for name in ("wins", "ties", "losses")] == [
        *(45, 1, 7)
    ]
    assert comparison.p[0, pair, 0] == pytest.approx(1.1e-8, rel=0.05)
    assert comparison.p_adjusted[0, pair, 0] == pytest.approx(0.0017, abs=5e-5)
    assert comparison.verdict[0, pair, 0] == "better"
    assert (comparison.open_end[pair, 0], comparison.simultaneous_low[pair, 0]) == (1, 0)
    assert comparison.simultaneous_high[pair, 0] == pytest.approx(0.052, abs=5e-4)
    said = [
        one for one in comparison.sentences() if "pash_f3 is" in one and "than pash_f1 in" in one
    ]
    assert ["CI (0.000, +0.05" in one for one in said] == [True]
    check_consistent(comparison)


def test_a_run_that_another_beats_on_45_of_53_topics_leaves_the_best_set(dl_2021):
    best = find_best(dl_2021, replicates=499, rng=1)
    place = dl_2021.runs.index("pash_f1")
    assert not best.in_set[place, 0]
    assert best.p[place, 0] == pytest.approx(4e-5, rel=0.05)
    assert best.upper[place, 0] == 0
    assert best.in_set[dl_2021.runs.index("pash_f3"), 0]
