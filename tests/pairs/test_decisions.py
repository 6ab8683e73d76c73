"""One decision per pair: verdict, p-value, interval and gate never contradict one another."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confir import compare_runs
from confir.errors import InvalidValueError
from confir.pairs import differences as pairs
from confir.pairs.comparison import Place
from confir.pairs.decisions import Estimates, judge_differences
from confir.pairs.families import CORRECTIONS
from confir.pairs.gate import judge_gate
from confir.pairs.paired_tests import TESTS
from confir.pairs.simultaneous import is_significant
from confir.pairs.verdict_words import comparison_note
from confir.studies.comparison.chart import _matrix_cells
from confir.studies.comparison.table import comparison_table, verdicts_by_run
from strategies import at_most
from studies.score_tables import table

pytestmark = [
    pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning"),
    pytest.mark.filterwarnings("ignore::confir.errors.InputWarning"),
]

ALONE = [name for name in TESTS if name != "tukey-hsd"]

# test, options of the family or the correction, interval method
SINGLE = st.tuples(
    st.sampled_from(ALONE),
    st.sampled_from([{"correction": name} for name in CORRECTIONS]),
    st.sampled_from(["t", "percentile"]),
)
FAMILY = st.tuples(st.just("t"), st.sampled_from([{}, {"family": "none"}]), st.just("t"))


def shifted(*differences, topics=30):
    """A baseline of varied scores, and a run for each difference, the same on every topic."""
    base = np.arange(topics) / (2 * topics)
    return table(np.stack([base, *(base + d for d in differences)], axis=1))


def enumerated_p(differences):
    """Share of all sign flips whose mean is at least as far from 0."""
    differences = np.asarray(differences)
    flips = [
        abs(np.dot(signs, differences))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    return np.mean([total >= abs(differences.sum()) - 1e-9 for total in flips])


@pytest.mark.parametrize("test", ALONE)
@pytest.mark.parametrize(
    ("difference", "topics", "verdict"),
    [(1.0, 50, "better"), (0.01, 30, "better"), (-0.01, 30, "worse"), (-0.1, 2, "inconclusive")],
)
def test_the_same_difference_on_all_topics_is_decided_alike_everywhere(
    test, difference, topics, verdict
):
    scores = shifted(difference, topics=topics)
    comparison = compare_runs(scores, baseline="run0", test=test, rng=1)
    assert comparison.verdict[0, 0, 0] == verdict
    assert verdicts_by_run(comparison) == {("run1", "m0"): verdict}
    assert f"the same difference on all {topics} topics" in comparison.sentences()[0]
    assert judge_gate(comparison, "m0").closed == (verdict == "worse")
    every = compare_runs(scores, test=test, rng=1)
    groups = every.group_runs().by_measure[0].groups
    assert len(groups) == (1 if verdict == "inconclusive" else 2)
    for cell in _matrix_cells(every, 0, range(len(every.runs))):
        assert cell["significant"] == (verdict != "inconclusive")


@pytest.mark.parametrize("topics", range(2, 11))
def test_constant_differences_have_the_p_value_of_all_sign_flips(topics):
    comparison = compare_runs(shifted(0.3, topics=topics))
    assert comparison.p[0, 0, 0] == pytest.approx(enumerated_p([0.3] * topics))
    assert comparison.verdict[0, 0, 0] == ("better" if topics >= 6 else "inconclusive")


@pytest.mark.parametrize("topics", range(2, 11))
@pytest.mark.parametrize("difference", [0.0, 0.02, -0.02, 0.05, 0.07])
def test_equivalence_of_constant_differences_is_that_of_one_sided_sign_flips(topics, difference):
    comparison = compare_runs(shifted(difference, topics=topics), margin=0.05)
    one_sided = [
        np.mean(
            [
                np.sum(signs) >= topics * np.sign(round(distance, 9))
                for signs in itertools.product((-1, 1), repeat=topics)
            ]
        )
        if round(distance, 9) > 0
        else 1.0
        for distance in (0.05 + difference, 0.05 - difference)
    ]
    assert comparison.p_equivalence[0, 0] == pytest.approx(max(one_sided))
    equivalent = comparison.verdict[0, 0, 0] == "equivalent"
    assert equivalent == (max(one_sided) <= 0.05)


def test_identical_runs_are_identical_and_with_a_margin_equivalent_if_topics_suffice():
    words = {
        (topics, margin): compare_runs(shifted(0.0, topics=topics), margin=margin).verdict[0, 0, 0]
        for topics in (3, 30)
        for margin in (None, 0.01)
    }
    assert words == {
        (3, None): "identical",
        (3, 0.01): "identical",
        (30, None): "identical",
        (30, 0.01): "equivalent",
    }


@pytest.mark.parametrize(
    ("correction", "factor"), [("none", 1), *((c, 3) for c in list(CORRECTIONS)[:3])]
)
def test_constant_differences_are_corrected_by_bonferronis_factor(correction, factor):
    rng = np.random.default_rng(1)
    values = shifted(0.2, 0.0, topics=6).values[:, :, 0]
    values = np.concatenate([values, values[:, :1] + rng.normal(0.2, 0.1, (6, 2))], axis=1)
    comparison = compare_runs(table(values), baseline="run0", correction=correction)
    assert comparison.tested.tolist() == [3]  # run2 is identical
    assert comparison.p_adjusted[0, 0, 0] == pytest.approx(factor * 2 / 2**6)
    assert comparison.verdict[0, :2, 0].tolist() == [
        "better" if factor == 1 else "inconclusive",
        "identical",
    ]
    if factor > 1:
        assert "p = .031 alone, p = .094 for 3 pairs" in comparison.reasons[0, 0, 0]
    assert comparison.p_adjusted[0, 1, 0] == 1.0
    if correction == "holm":
        smallest = np.sort(comparison.p[0, 2:, 0])[0]
        assert comparison.p_adjusted[0, 2:, 0].min() == pytest.approx(3 * smallest)


def test_adjusted_p_values_of_equivalence_are_given_with_the_plain_ones():
    rng = np.random.default_rng(9)
    values = shifted(0.0, topics=20).values[:, :, 0]
    values = np.concatenate([values, values[:, :1] + rng.normal(0.0, 0.02, (20, 1))], axis=1)
    comparison = compare_runs(table(values), baseline="run0", margin=0.01, correction="holm")
    raw, adjusted = (
        [record[name] for record in sorted(comparison.to_records(), key=lambda one: one["run"])]
        for name in ("p_equivalence", "p_equivalence_adjusted")
    )
    assert raw[0] == 2**-20
    assert adjusted == pytest.approx([2 * raw[0], raw[1]])
    alone = compare_runs(table(values[:, [0, 2]]), margin=0.01)
    assert alone.p_equivalence[0, 0] == alone.p_equivalence_adjusted[0, 0]
    assert alone.p_equivalence[0, 0] == pytest.approx(raw[1])
    assert "adj. p equiv." in comparison_table(comparison).columns
    assert "adj. p equiv." not in comparison_table(alone).columns
    assert "two one-sided t tests, adjusted by Holm's correction" in comparison_note(comparison)


def test_only_pairs_that_were_tested_are_counted():
    rng = np.random.default_rng(2)
    values = shifted(0.0, topics=20).values[:, :, 0]
    values = np.concatenate([values, values[:, :1] + rng.normal(0.1, 0.1, (20, 1))], axis=1)
    comparison = compare_runs(table(values), baseline="run0")
    assert comparison.tested.tolist() == [1]
    assert comparison.p_adjusted[0, 1, 0] == comparison.p[0, 1, 0]
    assert "holm" not in comparison_note(comparison)
    assert "adj. p" not in comparison_table(comparison).columns
    wider = np.stack([values, values + rng.normal(0.0, 0.1, values.shape)], axis=2)
    wider[:, 1, 0] = wider[:, 0, 0]
    assert (
        "adjusted by Holm's correction for at most 2 pairs within each measure"
        in comparison_note(compare_runs(table(wider), baseline="run0", correction="holm"))
    )
    assert (
        "with simultaneous 95% confidence interval (CI), at most 2 pairs with run0, identical runs left out, over"
        in comparison_note(compare_runs(table(wider), baseline="run0"))
    )


def losing_though_higher():
    """75 topics won by much, 125 lost by little: the mean is higher, signs and ranks are not."""
    rng = np.random.default_rng(3)
    difference = np.concatenate([rng.uniform(0.25, 0.35, 75), -rng.uniform(0.03, 0.1, 125)])
    base = rng.uniform(0.2, 0.6, 200)
    return table(np.stack([base, base + difference], axis=1))


def test_a_test_that_favours_the_other_run_is_inconclusive_and_says_why():
    scores = losing_though_higher()
    comparison = compare_runs(scores, baseline="run0", test=["t", "sign"])
    assert (comparison.wins[0, 0], comparison.losses[0, 0]) == (75, 125)
    assert comparison.low[0, 0] > 0
    assert comparison.p[1, 0, 0] < 0.001
    assert comparison.direction[:, 0, 0].tolist() == [1, -1]
    assert comparison.verdict[:, 0, 0].tolist() == ["better", "inconclusive"]
    reason = "the sign test favours run0, but run1 has the higher mean"
    assert comparison.to_records()[1]["reason"] == reason
    assert comparison.sentences()[1].endswith(f"; {reason})")
    turned = compare_runs(scores, baseline="run1", test="sign")
    assert turned.verdict[0, 0, 0] == "inconclusive"
    assert "favours run0, but run1 has the higher mean" in turned.sentences()[0]
    assert judge_gate(turned, "m0").closed is False
    assert judge_gate(
        compare_runs(scores, baseline="run0", test="sign"), "m0", require="superior"
    ).closed


def test_wilcoxon_has_the_direction_of_its_rank_sums():
    # ranks 1 to 9 are lost and 10 to 12 won: 33 against 45, though the mean difference is positive
    difference = np.concatenate([-np.arange(1, 10) / 100, [0.5, 0.6, 0.7]])
    scores = table(np.stack([np.zeros(12), difference], axis=1))
    comparison = compare_runs(scores, test=["wilcoxon", "sign", "t"])
    assert comparison.direction[:, 0, 0].tolist() == [-1, -1, 1]
    lower = difference.copy()
    lower[-1] = -0.7
    scores = table(np.stack([np.zeros(12), -lower], axis=1))
    assert compare_runs(scores, test="wilcoxon").direction[0, 0, 0] == 1


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_tukey_has_the_direction_of_the_topics_that_all_runs_have():
    rng = np.random.default_rng(4)
    values = rng.normal(0.0, 0.01, (20, 3))
    values[:10, 1] += 0.1
    values[10:, 1] -= 0.5
    values[10:, 2] = np.nan
    comparison = compare_runs(table(values), test="tukey-hsd", replicates=199, rng=1)
    assert comparison.difference[0, 0] < 0
    assert comparison.direction[0, 0, 0] == 1
    assert comparison.verdict[0, 0, 0] == "inconclusive"


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_a_p_value_that_equals_the_error_is_significant(level):
    error = round(1 - level, 9)
    estimates = Estimates(np.array([0.1]), np.array([0.05]), np.array([0.15]), np.array([False]))
    for p, verdict in ((error, "better"), (error * 1.0001, "inconclusive")):
        assert judge_differences(estimates, np.array([1]), np.array([p]), level).tolist() == [
            verdict
        ]
    assert is_significant(3 * (error / 3), level)
    assert is_significant(1.0 - level, level)
    assert not is_significant(float("nan"), level)


def test_exact_p_values_at_the_error_are_significant():
    # five topics: 2/2^5 = 0.0625
    comparison = compare_runs(shifted(0.1, topics=5), level=0.9375)
    assert comparison.p_adjusted[0, 0, 0] == 0.0625
    assert comparison.verdict[0, 0, 0] == "better"
    assert compare_runs(shifted(0.1, topics=5), level=0.94).verdict[0, 0, 0] == "inconclusive"


@pytest.mark.parametrize(
    ("difference", "topics", "require", "margin", "closed"),
    [
        (-0.1, 2, "not-worse", 0.0, False),
        (-0.1, 6, "not-worse", 0.0, True),
        (-0.1, 6, "not-worse", 0.1, False),  # the loss is the margin itself
        (-0.1, 6, "not-worse", 0.09, True),
        (-0.1, 6, "not-worse", 0.2, False),
        (-0.1, 30, "non-inferior", 0.2, False),
        (-0.1, 30, "non-inferior", 0.1, True),
        (-0.1, 3, "non-inferior", 0.2, True),  # three topics cannot reject a loss of 0.2
        (0.1, 30, "non-inferior", 0.0, False),
        (0.1, 3, "non-inferior", 0.0, True),
        (0.0, 2, "not-worse", 0.0, False),
        (0.0, 2, "non-inferior", 0.0, False),
        (0.0, 30, "superior", 0.0, True),
        (0.1, 30, "superior", 0.0, False),
        (0.1, 5, "superior", 0.0, True),
    ],
)
def test_the_gate_follows_the_sign_flip_test(difference, topics, require, margin, closed):
    scores = shifted(difference, topics=topics)
    for equivalence in {None, margin or None}:
        comparison = compare_runs(scores, baseline="run0", margin=equivalence)
        gate = judge_gate(comparison, "m0", require=require, margin=margin)
        assert gate.closed is closed
        assert ("on all" in gate.sentence()) == closed


def test_several_candidates_are_corrected_at_the_gate_as_in_the_table():
    rng = np.random.default_rng(5)
    base = rng.random(40)
    noise = rng.normal(size=(40, 6))
    noise = (noise - noise.mean(axis=0)) / noise.std(axis=0, ddof=1)
    # t = ±2.2: significant alone (p 0.034), not among six
    values = base[:, None] + noise * 0.1 + 2.2 * 0.1 / np.sqrt(40) * np.array([-1, 1, 0, 0, 0, 0])
    scores = table(np.concatenate([base[:, None], values], axis=1))
    for correction in (None, "holm"):
        comparison = compare_runs(scores, baseline="run0", correction=correction)
        assert comparison.high[0, 0] < 0 < comparison.low[1, 0]
        assert set(comparison.verdict[0, :, 0]) == {"inconclusive"}
        assert not judge_gate(comparison, "m0").closed
        gate = judge_gate(comparison, "m0", require="superior")
        assert not gate.candidates[1].passes
    assert "(not significant after Holm's correction for 6 pairs)" in gate.sentence()
    alone = compare_runs(scores.select(run=["run0", "run1"]), baseline="run0")
    assert alone.verdict[0, 0, 0] == "worse"
    assert judge_gate(alone, "m0").closed


def test_what_is_equivalent_within_the_margin_is_non_inferior():
    rng = np.random.default_rng(6)
    noise = rng.normal(size=40)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    base = rng.random(40)
    # the lower limits at 95% and 90% lie below and above -0.05
    se = 0.05 / 1.85
    scores = table(np.stack([base, base + noise * se * np.sqrt(40)], axis=1))
    comparison = compare_runs(scores, baseline="run0", margin=0.05)
    assert comparison.low[0, 0] < -0.05
    assert comparison.verdict[0, 0, 0] == "equivalent"
    assert not judge_gate(comparison, "m0", require="non-inferior", margin=0.05).closed
    assert judge_gate(comparison, "m0", require="non-inferior", margin=0.04).closed


def test_significantly_better_within_the_margin_is_equivalent_and_superior():
    rng = np.random.default_rng(7)
    base = rng.random(40)
    scores = table(np.stack([base, base + rng.normal(0.01, 0.005, 40)], axis=1))
    comparison = compare_runs(scores, baseline="run0", margin=0.05)
    assert comparison.verdict[0, 0, 0] == "equivalent"
    assert comparison.decision(Place(0, 0, 0)).significant == 1
    assert not judge_gate(comparison, "m0", require="superior").closed


@st.composite
def score_tables(draw):
    """Few runs on few topics, with equal runs, constant differences and gaps among them."""
    topics, runs = draw(st.integers(2, 12)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    base = rng.random(topics)
    columns = [base]
    for _ in range(runs - 1):
        shift = draw(st.sampled_from([0.0, 0.05, -0.05, 0.3, -0.3]))
        spread = draw(st.sampled_from([0.0, 0.02, 0.2]))
        columns.append(base + shift + spread * rng.normal(size=topics))
    return table(np.stack(columns, axis=1))


@settings(max_examples=at_most(150))
@given(
    scores=score_tables(),
    chosen=SINGLE | FAMILY,
    margin=st.sampled_from([None, 0.02, 0.1]),
    level=st.sampled_from([0.8, 0.95]),
)
def test_verdict_interval_p_value_and_gate_never_contradict(scores, chosen, margin, level):
    test, options, method = chosen
    comparison = compare_runs(
        scores,
        baseline="run0",
        test=test,
        margin=margin,
        method=method,
        replicates=99,
        rng=1,
        level=level,
        **options,
    )
    every = compare_runs(
        scores, test=test, margin=margin, method=method, replicates=99, rng=1, **options
    )
    for record in every.to_records():
        check_record(record)
    loss = margin or 0.0
    gates = {
        require: judge_gate(comparison, "m0", require=require, margin=loss).candidates
        for require in ("not-worse", "non-inferior", "superior")
    }
    places = {candidate.run: n for n, candidate in enumerate(gates["not-worse"])}
    for record in comparison.to_records():
        check_record(record)
        place = places[record["run"]]
        passes = {require: found[place].passes for require, found in gates.items()}
        word = record["verdict"]
        if not passes["not-worse"]:
            assert word == "worse"
            assert not passes["non-inferior"]
        if not loss:
            assert passes["not-worse"] == (word != "worse")
        if word in ("better", "identical", "equivalent"):
            assert passes["non-inferior"]
        if word != "equivalent":
            assert passes["superior"] == (word == "better")
        if passes["superior"]:
            assert passes["non-inferior"]


def check_record(record):
    word, error = record["verdict"], 1 - record["level"]
    shown = "simultaneous_" if record["family"] != "none" else ""
    low, high = record[f"{shown}low"], record[f"{shown}high"]
    sign = {"better": 1, "worse": -1}.get(word)
    constant, open_end = np.isnan(low), record["open"]
    alone = not np.isnan(record["low"])  # constant differences borrow their variance in a family
    if shown and not constant:
        excludes = low > 0 or high < 0 or open_end is not None
        assert excludes == (record["p_adjusted"] <= error)
        if alone:
            assert low <= record["low"] + 1e-12
            assert record["high"] <= high + 1e-12
        if word != "equivalent":
            assert excludes == (sign is not None)
        if record.get("margin") and max(-low, high) < record["margin"]:
            withheld = record["reason"].startswith("the interval lies within the margin")
            assert word == "equivalent" or (withheld and record["topics"] <= 12)
    if sign is not None:
        assert record["p_adjusted"] <= error + 1e-12
        assert sign * record["difference"] > 0
        near = low if sign > 0 else high
        assert constant or sign * near > 0 or (near == 0 and open_end is not None)
    if word == "identical":
        assert record["p"] == 1.0
        assert record["ties"] == record["topics"]
    if word == "equivalent":
        assert record["p_equivalence_adjusted"] <= error + 1e-12
        assert abs(record["difference"]) < record["margin"]
    if word == "inconclusive" and not record["reason"]:
        assert low <= 0 <= high
        assert record["p_adjusted"] > error
    if constant:
        assert record["reason"].startswith("the same ")
    if alone:
        assert record["p_adjusted"] >= record["p"] * (1 - 1e-12)


def test_more_pairs_than_can_be_compared_are_refused_before_the_work(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_DIFFERENCES", 6)
    values = np.random.default_rng(8).random((5, 4))
    compare_runs(table(values))
    monkeypatch.setattr(pairs, "MOST_DIFFERENCES", 5)
    with pytest.raises(
        InvalidValueError, match=r"4 runs make 6 pairs.*name a baseline.*fewer runs"
    ):
        compare_runs(table(values))
    compare_runs(table(values), baseline="run0")


def test_ten_thousand_runs_are_too_many_for_all_pairs():
    scores = table(np.zeros((2, 10_000)))
    with pytest.raises(InvalidValueError, match="10,000 runs make 49,995,000 pairs"):
        compare_runs(scores)


@pytest.mark.parametrize(
    ("difference", "low", "high", "direction", "verdict"),
    [
        (0.1, 0.05, 0.15, 1, "better"),
        (-0.1, -0.15, -0.05, -1, "worse"),
        (0.1, 0.05, 0.15, -1, "inconclusive"),
        (0.1, -0.05, 0.15, 1, "inconclusive"),
        # limits of resampled means may lie on the other side of 0 than the mean
        (0.1, -0.3, -0.1, -1, "inconclusive"),
        (0.1, -0.3, -0.1, 1, "inconclusive"),
        (0.1, np.nan, np.nan, 1, "inconclusive"),
    ],
)
def test_test_mean_and_interval_must_agree(difference, low, high, direction, verdict):
    estimates = Estimates(*(np.array([part]) for part in (difference, low, high, False)))
    words = judge_differences(estimates, np.array([direction]), np.array([0.001]), 0.95)
    assert words.tolist() == [verdict]
