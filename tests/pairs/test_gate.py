"""The gate follows the decisions, for any candidate."""

import numpy as np
import pytest
from scipy import stats

from confir import compare_runs
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnknownNameError
from confir.pairs.gate import judge_gate
from studies.score_tables import table


def candidates(*differences, spread=0.05):
    """A baseline, and a run for each mean difference with a 95% interval of ± spread around it."""
    topics = 40
    noise = np.random.default_rng(0).normal(size=topics)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    margin = 2.0226909  # t quantile for 39 degrees of freedom
    base = np.random.default_rng(1).random(topics)
    columns = [base] + [base + d + noise * spread / margin * np.sqrt(topics) for d in differences]
    return compare_runs(table(np.stack(columns, axis=1)), baseline="run0")


@pytest.mark.parametrize(
    ("difference", "require", "margin", "closed"),
    [
        (-0.06, "not-worse", 0.0, True),  # [-0.11, -0.01]
        (-0.04, "not-worse", 0.0, False),  # [-0.09, 0.01]
        (-0.06, "not-worse", 0.02, False),
        (-0.08, "not-worse", 0.02, True),  # [-0.13, -0.03]
        (0.2, "not-worse", 0.0, False),
        (0.04, "non-inferior", 0.0, True),  # [-0.01, 0.09]
        (0.04, "non-inferior", 0.02, False),
        (0.06, "non-inferior", 0.0, False),  # [0.01, 0.11]
        (-0.06, "non-inferior", 0.2, False),
        (0.06, "superior", 0.0, False),
        (0.04, "superior", 0.0, True),
        (0.04, "superior", 0.5, True),  # the margin does not help
    ],
)
def test_requirements(difference, require, margin, closed):
    gate = judge_gate(candidates(difference), "m0", require=require, margin=margin)
    assert gate.closed is closed
    assert gate.sentence().startswith("gate closed:" if closed else "gate open:")


def test_one_bad_candidate_closes_the_gate():
    comparison = candidates(0.1, -0.2, 0.0)
    gate = judge_gate(comparison, "m0")
    assert gate.closed
    low, high = (float(limit[1, 0]) for limit in comparison.limits)
    # the runs vary alike, and borrow 2.7% of their variance
    assert (low, high) == pytest.approx((-0.251, -0.149), abs=0.0025)
    assert low < -0.2506
    assert [candidate.passes for candidate in gate.candidates] == [True, False, True]
    assert gate.sentence() == (
        f"gate closed: by m0 against run0, run2: difference -0.2000, simultaneous 95% interval "
        f"[{low:.4f}, {high:.4f}], is significantly below 0"
    )


@pytest.mark.parametrize(
    ("require", "margin", "sentence"),
    [
        ("not-worse", 0.0, "no candidate is significantly worse than run0"),
        ("not-worse", 0.01, "no candidate is significantly worse than run0 by more than 0.01"),
        ("non-inferior", 0.0, "every candidate is non-inferior to run0"),
        ("non-inferior", 0.01, "every candidate is non-inferior to run0 (margin 0.01)"),
        ("superior", 0.0, "every candidate is significantly better than run0"),
    ],
)
def test_an_open_gate_says_no_more_than_it_knows(require, margin, sentence):
    gate = judge_gate(candidates(0.3), "m0", require=require, margin=margin)
    assert gate.sentence() == f"gate open: by m0, {sentence}"


@pytest.mark.parametrize(
    ("require", "reason"),
    [
        ("not-worse", "is significantly below -0.01"),
        ("non-inferior", "is not significantly above -0.01"),
        ("superior", "is not significantly above 0"),
    ],
)
def test_a_closed_gate_says_why(require, reason):
    gate = judge_gate(candidates(-0.3), "m0", require=require, margin=0.01)
    assert gate.sentence().endswith(reason)


@pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")
@pytest.mark.parametrize(
    ("difference", "require", "closed"),
    [
        (0.0, "not-worse", False),
        (0.0, "non-inferior", False),
        (0.0, "superior", True),
        (-0.25, "not-worse", True),
        (0.25, "superior", False),
    ],
)
def test_equal_differences_decide_without_an_interval(difference, require, closed):
    base = np.arange(8) / 16
    comparison = compare_runs(table(np.stack([base, base + difference], axis=1)), baseline="run0")
    gate = judge_gate(comparison, "m0", require=require)
    assert gate.closed is closed
    if closed:
        what = "difference" if difference else "score"
        assert f"(the same {what} on all 8 topics)" in gate.sentence()


def test_a_gate_without_an_interval_cannot_decide():
    values = np.random.default_rng(0).random((6, 3))
    values[1:, 1] = np.nan
    with pytest.warns(UserWarning, match="do not both have"):
        comparison = compare_runs(table(values), baseline="run0")
    with pytest.raises(InvalidValueError, match="run 'run1' has no interval by m0"):
        judge_gate(comparison, "m0")


@pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")
def test_wrong_options_are_named():
    comparison = candidates(0.1, 0.2)
    with pytest.raises(UnknownNameError, match="unknown measure 'AP'"):
        judge_gate(comparison, "AP")
    with pytest.raises(UnknownNameError, match="did you mean superior"):
        judge_gate(comparison, "m0", require="superiour")
    with pytest.raises(InvalidValueError, match=r"margin is -0.1; expected a number of 0 or more"):
        judge_gate(comparison, "m0", margin=-0.1)
    with pytest.raises(InvalidValueError, match="needs a baseline"):
        judge_gate(compare_runs(comparison.scores), "m0")


@pytest.mark.slow
def test_a_gate_wrongly_closes_in_few_cases():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(30, 2, 3000))
    comparison = compare_runs(table(values), baseline="run0")
    closed = np.mean([judge_gate(comparison, name).closed for name in comparison.measures])
    # one tail of a 95% interval
    assert closed == pytest.approx(0.025, abs=4 * np.sqrt(0.025 * 0.975 / 3000))


def candidates_at(loss, rng, runs=20, topics=30):
    """Scores of a baseline, and of candidates whose true mean is lower by a loss."""
    base = rng.normal(0.5, 0.1, (topics, 1))
    others = base - loss + rng.normal(0.0, 0.04, (topics, runs))
    values = np.concatenate([base, others], axis=1)[:, :, None]
    names = ("base", *(f"r{number:02d}" for number in range(runs)))
    return Scores(tuple(f"{t:02d}" for t in range(topics)), names, ("mark",), values)


def test_a_margin_is_corrected_for_all_candidates_as_verdicts_are_against_scipy():
    scores = candidates_at(0.03, np.random.default_rng(3))
    comparison = compare_runs(scores, baseline="base", correction="holm")
    gate = judge_gate(comparison, "mark", margin=0.01)
    d = scores.values[:, 1:, 0] - scores.values[:, :1, 0]
    p = stats.ttest_1samp(d, -0.01).pvalue
    order = np.argsort(p)
    holm = np.maximum.accumulate(p[order] * np.arange(20, 0, -1))
    closes = np.zeros(20, bool)
    closes[order] = (holm <= 0.05) & (d.mean(axis=0)[order] < -0.01)
    alone = (p <= 0.05) & (d.mean(axis=0) < -0.01)
    assert 0 < closes.sum() < alone.sum()  # or the example would show nothing
    assert [not candidate.passes for candidate in gate.candidates] == closes.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("correction", "bounds"),
    [(None, (0.0, 0.08)), ("holm", (0.0, 0.05)), ("none", (0.2, 0.6))],
)
def test_the_error_of_a_gate_with_a_margin_holds_over_all_candidates(correction, bounds):
    """Every candidate loses just the margin: any that fails does so wrongly."""
    rng = np.random.default_rng(4)
    closed = [
        judge_gate(
            compare_runs(
                candidates_at(0.01, rng), baseline="base", correction=correction, replicates=399
            ),
            "mark",
            margin=0.01,
        ).closed
        for _ in range(300)
    ]
    assert bounds[0] <= np.mean(closed) <= bounds[1]
