"""Bias and variance over topics."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import confir
from confir.data.scores import Scores
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    TopicWarning,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.resampling.replicates import draw_topics
from confir.studies.bias_variance.bias_variance import decompose_error
from confir.studies.bias_variance.robustness import measure_robustness
from judged_positions import JudgedPositions
from samples import short_sample

FEW = {"replicates": 999, "rng": 1}


def table(values, measures=("AP",)):
    values = np.asarray(values, float)
    values = values[:, :, None] if values.ndim == 2 else values
    topics = tuple(f"{t:03d}" for t in range(len(values)))
    runs = tuple(f"run{r}" for r in range(values.shape[1]))
    return Scores(topics, runs, tuple(measures), values)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(4)
    return table(rng.beta(1, 3, (40, 5, 2)), ("AP", "P@10"))


@pytest.fixture(scope="module")
def sample():
    collection = short_sample()
    with pytest.warns(TopicWarning, match="bm25-rm3"):
        return collection, confir.evaluate(collection.qrels, collection.runs, ["AP", "P@20"])


@pytest.mark.parametrize("variable", ["score", "rho"])
@pytest.mark.parametrize("target", ["perfect", "best", "run2"])
def test_parts_sum_exactly_to_the_total(scores, target, variable):
    result = decompose_error(scores, target=target, variable=variable, **FEW)
    assert result.total.value == pytest.approx(
        result.bias.value**2 + result.variance.value, rel=1e-13, abs=1e-17
    )
    assert result.bias.value == pytest.approx(result.target_mean - result.mean, abs=1e-15)
    assert result.error == pytest.approx(
        result.error_to_target + result.target_error + result.cross, abs=1e-14
    )
    assert result.error == pytest.approx(
        (1 - result.mean) ** 2 + scores.values.var(axis=0), abs=1e-14
    )


@given(arrays(float, (6, 3), elements=st.floats(0, 1)), st.floats(0, 1))
@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_the_total_is_the_mean_squared_distance_from_the_target(values, mean):
    result = decompose_error(table(values), target=mean, replicates=2, rng=1)
    assert result.total.value[:, 0] == pytest.approx(((values - mean) ** 2).mean(axis=0), abs=1e-14)


def test_the_best_target_is_the_best_run_of_each_topic(scores):
    result = decompose_error(scores, target="best", variable="rho", **FEW)
    best = scores.values.max(axis=1, keepdims=True)
    assert result.total.value == pytest.approx(((scores.values - best) ** 2).mean(axis=0))
    assert (result.bias.value >= 0).all()


def test_a_named_run_has_no_error_against_itself_but_a_variance_of_its_score(scores):
    rho = decompose_error(scores, target="run1", variable="rho", **FEW)
    assert rho.total.value[1].tolist() == [0, 0]
    assert np.isnan(rho.total.low[1]).all()
    score = decompose_error(scores, target="run1", **FEW)
    assert score.bias.value[1].tolist() == [0, 0]
    assert np.isnan(score.bias.low[1]).all()
    assert (score.variance.low[1] < score.variance.value[1]).all()


def test_moments_are_those_of_the_topics_at_hand(scores):
    result = decompose_error(scores, **FEW)
    assert result.variance.value == pytest.approx(scores.values.var(axis=0, ddof=0))
    assert (result.topics == 40).all()


def test_intervals_hold_their_estimates_and_widen_with_level(scores):
    narrow, wide = (
        decompose_error(scores, level=level, replicates=4_999, rng=1) for level in (0.8, 0.99)
    )
    for name in ("bias", "variance", "total"):
        inner, outer = getattr(narrow, name), getattr(wide, name)
        assert (inner.low < inner.value).all()
        assert (inner.value < inner.high).all()
        assert (outer.low < inner.low).all()
        assert (inner.high < outer.high).all()


def test_percentile_limits_are_quantiles_of_resampled_topics(scores):
    result = decompose_error(scores, target="best", method="percentile", replicates=500, rng=9)
    generator = np.random.default_rng(9)
    drawn = draw_topics(40, 500, generator).shares()
    x, best = scores.values[:, 3, 0], scores.values[:, :, 0].max(axis=1)
    mean, square, target = drawn @ x, drawn @ x**2, drawn @ best
    total = (target - mean) ** 2 + square - mean**2
    assert result.total.low[3, 0] == pytest.approx(np.quantile(total, 0.025))
    assert result.total.high[3, 0] == pytest.approx(np.quantile(total, 0.975))
    assert result.variance.high[3, 0] == pytest.approx(np.quantile(square - mean**2, 0.975))


def test_standard_errors_are_those_of_the_influence_values(scores):
    from scipy.stats import t

    result = decompose_error(scores, target="best", method="t", **FEW)
    x = scores.values[:, 1, 0]
    rho, squares = scores.values[:, :, 0].max(axis=1) - x, (x - x.mean()) ** 2
    influences = {
        "bias": rho,
        "variance": squares,
        "total": 2 * rho.mean() * rho + squares,
    }
    for name, influence in influences.items():
        half_width = t.ppf(0.975, 39) * influence.std(ddof=1) / np.sqrt(40)
        estimate = getattr(result, name)
        assert estimate.high[1, 0] - estimate.value[1, 0] == pytest.approx(half_width)
        assert estimate.value[1, 0] - estimate.low[1, 0] == pytest.approx(half_width)


def test_adding_a_run_changes_no_other_run(scores):
    some = decompose_error(scores.select(run=["run0", "run1"]), **FEW)
    every = decompose_error(scores, **FEW)
    assert some.total.low == pytest.approx(every.total.low[:2], rel=1e-12)


def test_missing_scores_are_left_out(scores):
    values = scores.values.copy()
    values[:5, 0] = np.nan
    result = decompose_error(Scores(scores.topics, scores.runs, scores.measures, values), **FEW)
    alone = decompose_error(
        Scores(scores.topics[5:], ("run0",), scores.measures, values[5:, :1]), **FEW
    )
    assert result.topics[0].tolist() == [35, 35]
    assert result.variance.value[0] == pytest.approx(alone.variance.value[0])
    assert result.bias.value[0] == pytest.approx(alone.bias.value[0])


def test_counts_have_errors_too_but_none_from_a_perfect_score():
    counts = table([[3, 9], [5, 7], [40, 30]], ("NumRelRet",))
    result = decompose_error(counts, target="best", **FEW)
    assert result.bias.value[0, 0] == pytest.approx((9 + 7 + 40) / 3 - 16)
    assert np.isnan(result.error).all()
    assert np.isnan(result.cross).all()
    with pytest.raises(InvalidValueError, match="NumRelRet is not bounded by"):
        decompose_error(counts, target="perfect")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"target": 0.4, "variable": "rho"},
            InvalidValueError,
            "without scores by topic, so there is no",
        ),
        ({"target": 45}, InvalidValueError, "the target's mean is 45; .* from 0 to 1 for AP"),
        ({"target": float("nan")}, InvalidValueError, "target is nan; expected a finite number"),
        ({"target": "run9"}, UnknownNameError, "unknown target 'run9'"),
        ({"variable": "roh"}, UnknownNameError, "unknown variable 'roh'; did you mean rho"),
        ({"baseline": "nobody"}, UnknownNameError, "unknown run 'nobody'"),
        ({"level": 1.5}, InvalidValueError, "level is 1.5"),
        ({"method": "logit-t"}, UnsupportedMethodError, "methods that fit: t, percentile, bca"),
        ({"method": "bootstrapt"}, UnknownNameError, "did you mean bootstrap-t"),
        ({"replicates": 0}, InvalidValueError, "replicates is 0"),
        ({"parameters": ["x=1,2"]}, InvalidValueError, "2 values for 5 runs"),
    ],
)
def test_impossible_requests_say_why(scores, options, error, message):
    with pytest.raises(error, match=message):
        decompose_error(scores, **{**FEW, **options})


def test_one_topic_has_no_variance():
    with pytest.raises(InvalidValueError, match="there is one topic"):
        decompose_error(table([[0.1, 0.2]]))


def test_a_run_named_like_a_kind_of_target_is_an_error():
    scores = Scores(("1", "2"), ("best", "x"), ("AP",), np.zeros((2, 2, 1)))
    with pytest.raises(InvalidValueError, match="a run is named 'best'"):
        decompose_error(scores, target="best")


def test_equal_scores_have_no_interval_and_say_so():
    with (
        pytest.warns(DegenerateSampleWarning, match=r"run0 AP \(bias\)"),
        pytest.warns(DegenerateSampleWarning, match=r"run0 AP \(variance\)"),
        pytest.warns(DegenerateSampleWarning, match=r"run0 AP \(total\)"),
    ):
        result = decompose_error(table([[0.5, 0.1], [0.5, 0.3], [0.5, 0.9]]), **FEW)
    assert np.isnan(result.bias.low[0, 0])
    assert result.variance.value[0, 0] == 0


def test_robustness_counts_topics_and_ignores_rounding():
    base = np.array([0.1, 0.2, 0.3, 0.4])
    run = np.array([0.2, 0.2 + 1e-16, 0.1, 0.5])
    result = measure_robustness(table(np.stack([base, run], axis=1)), "run0")
    assert result.index[:, 0].tolist() == [0, 0.25]
    assert result.hurt[:, 0].tolist() == [0, 0.25]


def test_loss_is_the_net_change_over_topics_hurt():
    scores = table([[0.5, 0.1], [0.5, 0.1], [0.5, 0.9], [0.5, 0.5]])
    precision = table([[0.4, 0.2], [0.2, 0.3], [0.9, 0.0], [0.9, 0.0]], ("P@10",))
    result = measure_robustness(scores, "run0", precision)
    # two lost, one won on the two topics hurt, of four topics
    assert result.loss[:, 0].tolist() == [0, 0.25]
    assert result.loss_depth == 10


def test_loss_equals_a_count_of_the_lists(sample):
    collection, scores = sample
    result = decompose_error(
        scores.select(measure=["AP"]),
        baseline="bm25",
        precision=scores.select(measure=["P@20"]),
        **FEW,
    )
    positions = JudgedPositions(collection.qrels)
    relevant = {
        run.name: positions.rank(run)
        .at_least(1)
        .cut(20)
        .total(np.ones((len(positions.rank(run).at_least(1).cut(20).gain), 1)))[0, :, 0]
        for run in collection.runs
    }
    ap = {run: scores.values[:, r, 0] for r, run in enumerate(scores.runs)}
    for r, run in enumerate(scores.runs):
        hurt = ap[run] < ap["bm25"]
        expected = (relevant["bm25"] - relevant[run])[hurt].sum() / len(hurt)
        assert result.robustness.loss[r, 0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("precision", "message"),
    [
        (table(np.zeros((4, 2)), ("AP",)), "from P@k alone"),
        (table(np.zeros((4, 2, 2)), ("P@5", "P@10")), "from P@k alone"),
        (table(np.zeros((3, 2)), ("P@5",)), "on other topics"),
    ],
)
def test_loss_needs_the_right_scores(precision, message):
    scores = table(np.zeros((4, 2)))
    with pytest.raises(InvalidValueError, match=message):
        measure_robustness(scores, "run0", precision)


def test_loss_without_a_baseline_is_an_error(scores):
    with pytest.raises(InvalidValueError, match="name the baseline"):
        decompose_error(scores, precision=scores.select(measure=["P@10"]))


def test_records_have_one_row_a_run_and_measure(scores):
    result = decompose_error(
        scores,
        target="best",
        baseline="run0",
        precision=scores.select(measure=["P@10"]),
        parameters=["size=run{}"],
        **FEW,
    )
    records = result.to_records()
    assert len(records) == 10
    assert list(records[0])[:4] == ["run", "measure", "target", "variable"]
    assert records[3]["parameter"] == "size"
    assert records[3]["parameter_value"] == 3
    assert records[0]["bias_squared"] == records[0]["bias"] ** 2
    assert result.to_dict()["total"][7] == records[7]["total"] == result.total.value[2, 1]
    assert len(result.to_frame("pandas")) == 10


def test_runs_outside_every_sweep_have_no_parameter(scores):
    result = decompose_error(scores, parameters=["x=1,2,,,"], **FEW)
    assert [r["parameter"] for r in result.to_records()][:5] == ["x", "x", None, None, None]


def test_real_runs_rank_by_total_error(real_data):
    scores = confir.read_scores(real_data / "robust2004_ap.csv")
    result = decompose_error(scores, target="best", method="t", replicates=2, rng=1)
    best = scores.values.max(axis=1)
    assert result.target_mean[0, 0] == pytest.approx(best.mean())
    expected = (best.mean() - scores.mean()) ** 2 + scores.values.var(axis=0)
    assert result.total.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("variable", ["score", "rho"])
@pytest.mark.parametrize("target", ["perfect", "best", "run0", 0.4])
def test_limits_stay_within_what_is_possible(target, variable):
    if variable == "rho" and target == 0.4:
        return
    rng = np.random.default_rng(8)
    few = table(np.clip(rng.normal(0.5, 0.5, (5, 4)), 0.0, 1.0))
    result = decompose_error(few, target=target, variable=variable, **FEW)
    lowest = {"perfect": 0.0, "best": 0.0, "run0": -1.0, 0.4: -0.6}[target]
    highest = 0.4 if target == 0.4 else 1.0
    width = highest - lowest if variable == "rho" else 1.0
    by_topic = target in ("best", "run0") and variable == "score"
    most = max(lowest**2, highest**2) + (0.25 if by_topic else 0.0)
    for part, low, high in (
        (result.bias, lowest, highest),
        (result.variance, 0.0, width**2 / 4),
        (result.total, 0.0, most),
    ):
        known = ~np.isnan(part.low)
        assert (part.low[known] >= low).all()
        assert (part.high[known] <= high).all()
        assert (part.low[known] <= part.value[known] + 1e-12).all()
        assert (part.value[known] <= part.high[known] + 1e-12).all()
    assert result.cut.sum() > 0


def test_only_limits_beyond_what_is_possible_are_cut(scores):
    whole = decompose_error(scores, **FEW)
    assert whole.cut.sum() == 0
    assert "cut" not in whole.note()
    few = table([[0.1, 0.9], [0.8, 0.2], [0.3, 0.5]])
    result = decompose_error(few, **FEW)
    sure = decompose_error(table(few.values, ("mine",)), target=1.0, **FEW)
    free = decompose_error(
        dataclasses.replace(table(few.values, ("mine",)), bounded=False), target=1.0, **FEW
    )
    assert sure.cut.sum() == result.cut.sum() > 0
    assert f"{result.cut.sum()} intervals clipped to the possible range" in result.note()
    assert free.variance.high[0, 0] > result.variance.high[0, 0] == 0.25
    assert free.cut.sum() < result.cut.sum()
    uneven = decompose_error(table(np.random.default_rng(3).beta(0.5, 2, (6, 3))), **FEW)
    assert uneven.variance.low[1, 0] == uneven.total.low[1, 0] == 0.0
    assert uneven.variance.low[0, 0] > 0
    uncut = (free.bias.low > 0) & (free.bias.high < 1)
    assert (result.bias.low[uncut] == free.bias.low[uncut]).all()
