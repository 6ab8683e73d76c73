"""The gate follows the decisions, for any candidate."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from confir import compare_runs
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnknownNameError
from confir.pairs.gate import judge_gate
from confir.pairs.missing_pairs import compare_at_worst
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
        ("non-inferior", "is significantly worse; required: significantly above -0.01"),
        ("superior", "is significantly worse; required: significantly above 0"),
    ],
)
def test_a_closed_gate_says_why(require, reason):
    gate = judge_gate(candidates(-0.3), "m0", require=require, margin=0.01)
    assert gate.sentence().endswith(reason)
    if require != "not-worse":
        unclear = judge_gate(candidates(-0.02), "m0", require=require, margin=0.01)
        assert unclear.sentence().endswith(
            reason.replace("is significantly worse; required: ", "is not ")
        )


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


def lacking(number, *, topics=30, runs=2, loss=0.02, measure="AP"):
    """A baseline and candidates that lose a little; the first lacks the scores of its worst topics."""
    rng = np.random.default_rng(3)
    base = rng.uniform(0.2, 0.8, topics)
    values = np.stack(
        [base, *(base - loss + rng.normal(0, 0.1, topics) for _ in range(runs - 1))], 1
    )
    values[np.argsort(values[:, 1] - base)[:number], 1] = np.nan
    values = np.clip(values, 0.0, 1.0)
    names = ("base", *(f"new{place}" for place in range(1, runs)))
    topics = tuple(f"t{place:03d}" for place in range(topics))
    return Scores(topics, names, (measure,), values[:, :, None])


def compared(scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare_runs(scores, baseline="base", **options)


def test_a_candidate_with_few_of_the_topics_cannot_open_the_gate():
    for runs, require in itertools.product((2, 3), ("not-worse", "non-inferior", "superior")):
        comparison = compared(lacking(28, runs=runs))
        with pytest.raises(
            InvalidValueError,
            match=r"base or new1 lacks AP on 28 of 30 topics \(93%\), more than 10%: the gate cannot dec",
        ):
            judge_gate(comparison, "AP", require=require)
    assert not judge_gate(compared(lacking(28)), "AP", missing="drop").closed
    with pytest.raises(InvalidValueError, match="run 'new1' has no interval by AP"):
        judge_gate(compared(lacking(29, runs=3)), "AP", missing="drop")


@pytest.mark.parametrize("loss", [-0.06, 0.02])
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("runs", [2, 4])
def test_a_gate_decides_only_as_with_missing_scores_at_their_worst_against_a_filled_table(
    loss, number, runs
):
    scores = lacking(number, topics=60, runs=runs, loss=loss)
    filled = np.where(np.isnan(scores.values), 0.0, scores.values)
    worst = judge_gate(compared(replace(scores, values=filled)), "AP")
    dropped = judge_gate(compared(scores), "AP", missing="drop")
    assert dropped.cautions == (
        f"base or new1 lacks AP on {number} of 60 topics ({[0, 2, 0, 5][number]}%), left out",
    )
    if worst.closed and not dropped.closed:
        with pytest.raises(
            InvalidValueError, match=r"new1 passes by AP .*, and fails with missing sc"
        ):
            judge_gate(compared(scores), "AP")
    else:
        assert judge_gate(compared(scores), "AP").closed == dropped.closed


def test_the_baselines_missing_scores_are_the_highest_at_worst():
    scores = lacking(2, topics=60, loss=0.0)
    turned = replace(scores, values=np.nan_to_num(scores.values[:, ::-1], nan=np.nan))
    found = compare_at_worst(compared(turned), "AP", None)
    lost = np.isnan(turned.values[:, 0, 0])
    assert lost.sum() == 2
    assert (found.scores.values[lost, 0] == 1.0).all()
    assert not np.isnan(found.scores.values).any()


def test_the_range_of_an_unknown_measure_is_never_taken_from_its_scores():
    comparison = compared(lacking(1, loss=0.0, measure="faithfulness"))
    rule = {"require": "non-inferior", "margin": 0.2}
    with pytest.raises(
        InvalidValueError,
        match="the range of faithfulness, which lacks scores, is not known; expected",
    ):
        judge_gate(comparison, "faithfulness", **rule)
    assert not judge_gate(
        comparison, "faithfulness", **rule, bounds={"faithfulness": (0, 1)}
    ).closed
    with pytest.raises(InvalidValueError, match=r"new1 passes .* and fails"):
        judge_gate(comparison, "faithfulness", **rule, bounds={"": (-50, 2)})
    with pytest.raises(InvalidValueError, match=r"faithfulness of run 'base' .* in \[0.5, 1\]"):
        judge_gate(comparison, "faithfulness", **rule, bounds={"": (0.5, 1)})
    with pytest.raises(InvalidValueError, match=r"AP lies in \[0, 1\]; --bounds is for"):
        judge_gate(compared(lacking(1)), "AP", bounds={"AP": (0, 2)})


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
