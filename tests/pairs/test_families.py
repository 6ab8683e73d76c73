"""Families of pairs: simultaneous intervals, their p-values, equivalence, gates and groups."""

import numpy as np
import pytest
from scipy import stats

from confir import compare_runs, judge_gate
from confir.errors import InvalidValueError, UnknownNameError
from confir.pairs import families
from confir.pairs.comparison import Place
from confir.pairs.verdict_words import comparison_note, difference_phrase
from confir.resampling.kinds import as_topic_sample
from confir.resampling.normal_draws import NORMAL_TOPICS
from confir.resampling.pair_draws import BorrowedVariance
from confir.resampling.replicates import own_seed
from confir.resampling.studentised_maxima import largest_statistics
from confir.studies.comparison.chart import _records
from confir.studies.comparison.table import comparison_table
from studies.score_tables import table

pytestmark = pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")


@pytest.fixture
def scores():
    """Five runs on 30 topics by two measures, the last far better, the second a twin but for 2."""
    rng = np.random.default_rng(0)
    values = rng.random((30, 1, 2)) / 2 + rng.normal(0.0, 0.05, (30, 5, 2))
    values[:, 4] += 0.06
    values[2:, 1] = values[2:, 0]
    values[:2, 1] = values[:2, 0] + np.array([0.01, 0.02])[:, None]
    return table(values, list("abcde"))


@pytest.mark.parametrize("baseline", [None, "a"])
def test_limits_and_p_values_are_those_of_the_formula(scores, baseline):
    comparison = compare_runs(scores, baseline=baseline, replicates=499, rng=3)
    seed = own_seed(np.random.default_rng(3))
    for number in range(2):
        values = scores.values[:, :, number]
        d = values[:, comparison.second] - values[:, comparison.first]
        m, variance = d.shape[1], d.var(axis=0, ddof=1)
        borrowed = np.median(variance) * (1 - m ** (-1 / 30))
        assert variance.min() < borrowed  # the twin, or the example would show nothing
        se = np.sqrt((variance + borrowed) / 30)
        family = comparison.families[number]
        maxima = np.sort(
            largest_statistics(
                as_topic_sample(values),
                len(family.maxima),
                np.random.default_rng(seed),
                BorrowedVariance(m, np.median(variance)),
                None if baseline is None else [0],
            )
        )
        np.testing.assert_allclose(family.maxima, maxima, rtol=1e-12)
        place = int(np.ceil(round(0.95 * (len(maxima) + 1), 9)))
        bonferroni = stats.t.ppf(1 - 0.05 / (2 * m), 29)
        c = min(max(maxima[place - 1], stats.t.ppf(0.975, 29)), bonferroni)
        single = 2 * stats.t.sf(np.abs(d.mean(axis=0)) / se, 29)
        t = np.abs(d.mean(axis=0)) / se
        beyond = np.array([1 + np.sum(maxima >= one) for one in t]) / (len(maxima) + 1)
        sums = np.abs(d.sum(axis=0)) / np.sqrt(np.square(d).sum(axis=0))
        signs = 2 * m * stats.norm.sf(sums) / (4 * stats.norm.sf(np.sqrt(2)))
        expected = np.minimum(np.clip(np.minimum(beyond, m * single), single, 1.0), signs)
        np.testing.assert_allclose(comparison.p_adjusted[0, :, number], expected)
        np.testing.assert_array_equal(comparison.open_end, 0)
        np.testing.assert_allclose(comparison.simultaneous_low[:, number], d.mean(axis=0) - c * se)
        np.testing.assert_allclose(comparison.simultaneous_high[:, number], d.mean(axis=0) + c * se)
    plain = compare_runs(scores, baseline=baseline, correction="none")
    np.testing.assert_array_equal(comparison.low, plain.low)
    np.testing.assert_array_equal(comparison.p, plain.p)


def test_two_runs_are_a_plain_t_test(scores):
    pair = scores.select(run=["a", "e"], measure=["m0"])
    comparison = compare_runs(pair)
    expected = stats.ttest_rel(pair.values[:, 1, 0], pair.values[:, 0, 0])
    assert comparison.p_adjusted[0, 0, 0] == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert comparison.simultaneous_low[0, 0] == pytest.approx(low)
    assert comparison.simultaneous_high[0, 0] == pytest.approx(high)
    assert "simultaneous" not in difference_phrase(comparison.decision(Place(0, 0, 0)))
    assert "replicates" not in comparison_note(comparison)


def test_the_question_decides_on_the_family(scores):
    assert compare_runs(scores, rng=1).family == "all-pairs"
    assert compare_runs(scores, baseline="a", rng=1).family == "baseline"
    assert compare_runs(scores, test="sign").family == "none"
    assert compare_runs(scores, method="percentile", replicates=99, rng=1).family == "none"
    single = compare_runs(scores, family="none")
    assert (single.family, single.correction) == ("none", "none")
    np.testing.assert_array_equal(single.p, single.p_adjusted)
    assert compare_runs(scores, test="sign", family=None).correction == "holm"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"family": "pairs"}, UnknownNameError, "unknown family 'pairs'"),
        ({"family": "none", "correction": "holm"}, InvalidValueError, "both given; expected one"),
        ({"family": "baseline"}, InvalidValueError, "requires a baseline, the run to compare with"),
        (
            {"family": "all-pairs", "baseline": "a"},
            InvalidValueError,
            "has no baseline, but 'a' is named as one",
        ),
        ({"family": "all-pairs", "test": ["t", "sign"]}, InvalidValueError, "rests on t tests"),
        ({"family": "all-pairs", "method": "bca"}, InvalidValueError, "rests on t tests and t"),
    ],
)
def test_families_that_do_not_fit_are_named(scores, options, error, message):
    with pytest.raises(error, match=message):
        compare_runs(scores, **options)


def test_one_family_against_a_baseline_is_narrower_than_that_of_all_pairs(scores):
    every = compare_runs(scores, rng=1)
    some = compare_runs(scores, baseline="a", rng=1)
    shared = [place for place, pair in enumerate(every.pairs) if pair[0] == "a"]
    width = every.simultaneous_high - every.simultaneous_low
    # the twin's variance counts as a share of the family's median, which differs
    assert (some.simultaneous_high - some.simultaneous_low < width[shared])[1:].all()


def test_a_seed_gives_the_same_family_again(scores):
    first, again, other = (compare_runs(scores, rng=seed, replicates=399) for seed in (1, 1, 2))
    assert np.array_equal(first.p_adjusted, again.p_adjusted)
    assert not np.array_equal(first.p_adjusted, other.p_adjusted)


def test_constant_differences_borrow_their_variance():
    rng = np.random.default_rng(1)
    base = rng.random(8)
    noise = base[:, None] + rng.normal(0.0, 0.1, (8, 3))
    values = np.column_stack([base, base + 0.04, noise])
    comparison = compare_runs(table(values), baseline="run0", replicates=199, rng=1)
    variances = (noise - base[:, None]).var(axis=0, ddof=1)
    se = np.sqrt(np.median(variances) * (1 - 4 ** (-1 / 8)) / 8)
    low, high = comparison.simultaneous_low[0, 0], comparison.simultaneous_high[0, 0]
    c = (high - low) / 2 / se
    assert (low + high) / 2 == pytest.approx(0.04)
    assert stats.t.ppf(0.975, 7) <= c <= stats.t.ppf(1 - 0.05 / 8, 7) + 1e-9
    assert c == pytest.approx(comparison.families[0].critical_value(7.0, 0.95))
    assert comparison.p[0, 0, 0] == pytest.approx(2 / 2**8)


@pytest.mark.parametrize("baseline", [None, "run0"])
def test_what_lies_simultaneously_within_the_margin_is_equivalent(baseline):
    rng = np.random.default_rng(2)
    values = rng.random((40, 1)) + rng.normal(0.0, 0.02, (40, 6))
    comparison = compare_runs(table(values), baseline=baseline, margin=0.02, rng=1)
    low, high = comparison.limits
    inside = np.maximum(-low, high)[:, 0] < 0.02
    equivalent = comparison.verdict[0, :, 0] == "equivalent"
    assert inside.any()
    assert equivalent[inside].all()
    # the distance from the margin, over the family's standard error, against the same maxima
    family, m = comparison.families[0], len(comparison.pairs)
    se = family.standard_errors(comparison.difference[:, 0], comparison.se[:, 0], 40, 39.0)
    t = (0.02 - np.abs(comparison.difference[:, 0])) / se
    single = stats.t.sf(t, 39)
    beyond = [(1 + np.sum(family.maxima >= one)) / (len(family.maxima) + 1) for one in t]
    expected = np.clip(np.minimum(beyond, m * single), single, 1.0)
    np.testing.assert_allclose(comparison.p_equivalence_adjusted[:, 0], expected, rtol=1e-9)
    at_once = compare_runs(table(values), baseline=baseline, margin=0.02, family="none")
    assert (comparison.p_equivalence_adjusted >= at_once.p_equivalence_adjusted - 1e-12).all()


def test_identical_runs_count_among_the_pairs_tested_for_equivalence():
    rng = np.random.default_rng(9)
    base = rng.random(20)
    values = np.column_stack([base, base, base + rng.normal(0.0, 0.02, 20)])
    comparison = compare_runs(table(values), baseline="run0", margin=0.01)
    raw = comparison.p_equivalence[:, 0]
    assert raw[0] == 2**-20
    np.testing.assert_allclose(comparison.p_equivalence_adjusted[:, 0], 2 * raw)
    assert comparison.tested[0] == 1  # for the difference from 0


@pytest.mark.slow
def test_equivalence_is_rarely_claimed_of_any_run_at_the_margin():
    """Runs on either side of the baseline by just the margin, which all vary with it alike."""
    rng = np.random.default_rng(3)
    samples = 400
    values = rng.normal(0.0, 0.03, (30, 7, samples))  # each sample is a measure
    values[:, 1:] = values[:, 1:] / 3 + 0.02 * np.array([1, -1, 1, -1, 1, -1])[:, None]
    comparison = compare_runs(table(values), baseline="run0", margin=0.02, replicates=199, rng=1)
    claimed = (comparison.verdict[0] == "equivalent").any(axis=0)
    assert claimed.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / samples)


def test_the_gate_follows_the_simultaneous_interval_at_any_margin(scores):
    comparison = compare_runs(scores, baseline="e", rng=1)
    low, high = comparison.limits
    for margin in np.linspace(0.001, 0.12, 60).tolist():
        gate = judge_gate(comparison, "m0", require="non-inferior", margin=margin)
        passes = [candidate.passes for candidate in gate.candidates]
        assert passes == (low[:, 0] > -margin).tolist()
        gate = judge_gate(comparison, "m0", margin=margin)
        assert [not candidate.passes for candidate in gate.candidates] == (
            high[:, 0] < -margin
        ).tolist()


def test_table_chart_and_sentences_show_the_simultaneous_interval(scores):
    comparison = compare_runs(scores.select(measure="m0"), baseline="a", rng=1)
    low, high = comparison.limits
    assert (
        "simultaneous 95% confidence interval (CI), 4 pairs with a, over 30 topics"
        in comparison_note(comparison)
    )
    (said,) = [text for text in comparison.sentences() if " e " in text or text.startswith("e ")]
    assert f"[{low[3, 0]:+.3f}, {high[3, 0]:+.3f}]" in said
    assert f"[{low[3, 0]:+.4f}, {high[3, 0]:+.4f}]" in comparison_table(comparison).rows[0][3].text
    shown = {record["run"]: (record["low"], record["high"]) for record in _records(comparison)}
    assert shown["e"] == (low[3, 0], high[3, 0])


def test_a_choice_keeps_its_family(scores):
    comparison = compare_runs(scores, rng=1)
    chosen = comparison.select(measure="m1", run="e")
    assert chosen.families == comparison.families[1:]
    np.testing.assert_array_equal(
        chosen.at(0.9).simultaneous_low, comparison.at(0.9).select(measure="m1", run="e").limits.low
    )
    assert "families" not in comparison.to_dict()


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_many_topics_with_gaps_have_bonferronis_t():
    rng = np.random.default_rng(5)
    values = rng.random((NORMAL_TOPICS, 1)) + rng.normal(0, 0.1, (NORMAL_TOPICS, 3))
    values[0, 1] = np.nan
    comparison = compare_runs(table(values))
    expected = np.clip(3 * comparison.p, 0, 1)
    np.testing.assert_allclose(comparison.p_adjusted, expected)
    whole = compare_runs(table(values[1:]), rng=1)
    assert (whole.p_adjusted < np.clip(3 * whole.p, 0, 1)).any()


def test_two_runs_draw_no_replicates(monkeypatch, scores):
    monkeypatch.setattr(families, "largest_statistics", None)
    compare_runs(scores.select(run=["a", "e"]))
    with pytest.raises(TypeError):
        compare_runs(scores)


@pytest.mark.parametrize("others", [1, 4])
def test_runs_that_differ_little_are_found_among_a_few_of_another_kind(others):
    rng = np.random.default_rng(6)
    base = rng.random(50)
    apart = np.column_stack([rng.normal(0.008, 0.01, 50), rng.normal(0.0, 0.06, (50, others))])
    values = np.column_stack([base, base[:, None] + apart])
    assert compare_runs(table(values), baseline="run0", rng=1).verdict[0, 0, 0] == "better"
