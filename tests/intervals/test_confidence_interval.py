"""`confidence_interval` for every kind of input, and its errors."""

import dataclasses
import warnings

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.errors import (
    DegenerateSampleWarning,
    InputWarning,
    InvalidValueError,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import means_alone, tail_probabilities
from confir.intervals.method_list import find_method, methods_over
from confir.resampling.replicates import draw_topics
from confir.resampling.statistics import STATISTICS
from confir.resampling.topic_bootstrap import bootstrap_topics

METHODS = methods_over("topics")
OTHERS = [name for name in METHODS if name not in ("betting", "gaffke")]
WITHOUT_LIMITS_FOR_EQUAL_SCORES = [
    name for name in OTHERS if name not in ("beta-logit", "calibrated-beta")
]
BOUNDED = [name for name, method in METHODS.items() if method.bounded]
UNBOUNDED = [name for name in METHODS if name not in BOUNDED]


def scores_of(values, measures=("AP",)):
    values = np.asarray(values, float).reshape(len(values), -1, len(measures))
    runs = tuple("abcdefgh"[: values.shape[1]])
    return Scores(tuple(f"{t:03}" for t in range(len(values))), runs, measures, values)


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(1).beta(0.8, 2, (20, 3, 2))
    return scores_of(values.reshape(20, -1), ("AP", "RR"))


def test_the_catalogue_has_the_methods_of_the_specification():
    assert set(METHODS) == {
        "t",
        "percentile",
        "bca",
        "bootstrap-t",
        "symmetric-t",
        "studentised-logit",
        "logit-t",
        "beta-logit",
        "calibrated-beta",
        "bootstrap-t-logit",
        "symmetric-t-logit",
        "hall-logit",
        "betting",
        "gaffke",
    }
    others = {"calibrated-beta", "betting", "gaffke"}
    assert set(BOUNDED) == {name for name in METHODS if "logit" in name} | others


@pytest.mark.parametrize("name", METHODS)
def test_every_method_describes_itself(name):
    method = METHODS[name]
    use = method.topics
    for text in (method.summary, use.cost, use.assumes, use.source, use.fails):
        assert text
    assert "\n" not in method.summary


def test_results_have_the_shape_runs_by_measures(scores):
    interval = confidence_interval(scores, method="percentile", replicates=999, rng=1)
    for array in (interval.estimate, interval.low, interval.high, interval.topics):
        assert array.shape == (3, 2)
    np.testing.assert_allclose(interval.estimate, scores.mean(), atol=1e-15)
    assert interval.labels[:3] == (("a", "AP"), ("a", "RR"), ("b", "AP"))
    assert (interval.level, interval.method, interval.replicates) == (0.95, "percentile", 999)


def test_each_cell_is_that_of_the_run_alone(scores):
    interval = confidence_interval(scores, method="bca", replicates=999, rng=1)
    for r, run in enumerate(scores.runs):
        for m, measure in enumerate(scores.measures):
            alone = scores.select(run=[run], measure=[measure])
            found = confidence_interval(alone, method="bca", replicates=999, rng=1)
            assert found.low[0, 0] == pytest.approx(interval.low[r, m], abs=1e-12)
            assert found.high[0, 0] == pytest.approx(interval.high[r, m], abs=1e-12)


def test_the_replicates_of_a_seed_are_those_of_the_weights_it_draws(scores):
    """The generator gives a seed to methods that draw by themselves, then the weights."""
    rng = np.random.default_rng(6)
    means = draw_topics(20, 1_999, rng).shares() @ scores.values[:, 1, 0]
    interval = confidence_interval(scores, method="percentile", replicates=1_999, rng=6)
    assert interval.low[1, 0] == pytest.approx(np.quantile(means, 0.025), abs=1e-12)


@pytest.mark.parametrize(("shape", "expected"), [((9,), ()), ((9, 1), (1,)), ((9, 2, 3), (2, 3))])
def test_arrays_keep_the_shape_of_their_columns(shape, expected):
    x = np.random.default_rng(0).random(shape)
    interval = confidence_interval(x, method="t")
    assert interval.low.shape == expected
    np.testing.assert_allclose(interval.estimate, x.mean(axis=0), atol=1e-15)


def test_lists_are_accepted():
    assert confidence_interval([0.1, 0.5, 0.3], method="t").estimate == pytest.approx(0.3)


def test_several_methods_and_levels_come_in_that_order(scores):
    found = confidence_interval(scores, method=["t", "bca"], level=[0.9, 0.99], rng=1)
    assert [(i.method, i.level) for i in found] == [
        ("t", 0.9),
        ("t", 0.99),
        ("bca", 0.9),
        ("bca", 0.99),
    ]


def test_one_method_in_a_list_gives_a_list(scores):
    assert isinstance(confidence_interval(scores, method=["t"]), list)
    assert isinstance(confidence_interval(scores, level=[0.9]), list)


def test_a_method_that_does_not_resample_has_no_replicates(scores):
    assert confidence_interval(scores, method="t").replicates == 0


def test_the_default_suits_the_statistic(scores):
    assert confidence_interval(scores, rng=1).method == "calibrated-beta"
    counts = confidence_interval(10 * scores.values[:, :, 0], rng=1)
    assert counts.method == "t"


def test_each_measure_has_its_own_default_whatever_it_is_combined_with(scores):
    counts = scores_of(scores.values[:, :, 0] * 40, ("NumRet",)).values
    mixed = scores_of(np.concatenate([scores.values, counts], axis=2), ("AP", "RR", "NumRet"))
    found = confidence_interval(mixed)
    assert found.methods == ("calibrated-beta", "calibrated-beta", "t") * 3
    assert found.method == "calibrated-beta (AP, RR), t (NumRet)"
    assert [record["method"] for record in found.to_records()] == list(found.methods)
    alone = confidence_interval(scores)
    for name in ("low", "high"):
        assert (getattr(found, name)[:, :2] == getattr(alone, name)).all()
    student = confidence_interval(counts[:, :, 0], method="t")
    assert (found.low[:, 2] == student.low).all()


def test_another_run_does_not_change_the_default(scores):
    values = scores.values[:, :, :1].copy()
    values[0, 1, 0] = 1.0000001
    with pytest.warns(InputWarning, match="clipped"):
        found = confidence_interval(scores_of(values))
    alone = confidence_interval(scores_of(scores.values[:, :1, :1]))
    assert found.method == alone.method == "calibrated-beta"
    assert found.low[0, 0] == pytest.approx(alone.low[0, 0], rel=1e-14)


def test_an_unknown_measure_is_bounded_if_all_of_its_scores_are_unless_stated(scores):
    values = scores.values[:, :, 0]
    found = confidence_interval(scores_of(values, ("mine",)))
    assert (found.method, found.assumed) == ("calibrated-beta", ("mine",))
    assert confidence_interval(scores_of(values, ("mine",)), method="t").assumed == ()
    stated = dataclasses.replace(scores_of(values, ("mine",)), bounded=False)
    assert (confidence_interval(stated).method, confidence_interval(stated).assumed) == ("t", ())
    higher = values.copy()
    higher[3, 2] = 1.2
    table = scores_of(higher, ("mine",))
    assert confidence_interval(table.select(run=["a"])).method == "t"
    assert confidence_interval(higher).method == "t"


def test_degenerate_columns_are_named_with_their_own_method():
    values = np.stack([np.full(5, 0.2), np.full(5, 4.0)], axis=-1)
    with pytest.warns(DegenerateSampleWarning, match="no t interval for a NumRet: ") as caught:
        found = confidence_interval(scores_of(values, ("AP", "NumRet")))
    assert len(caught) == 1
    assert np.isnan(found.low).tolist() == [[False, True]]


def test_columns_without_an_interval_are_named_with_the_cause():
    values = np.stack([np.full(5, 4.0), np.arange(5.0)], axis=-1)
    values[1:, ..., 1] = np.nan
    with pytest.warns(DegenerateSampleWarning) as caught:
        confidence_interval(scores_of(values, ("NumRet", "NumRel")), method="t")
    assert sorted(str(entry.message).partition("a ")[2] for entry in caught) == [
        "NumRel: fewer than two scores",
        "NumRet: the scores are all equal, or nearly so",
    ]


@pytest.mark.parametrize("statistic", [name for name in STATISTICS if name != "mean"])
def test_what_is_no_mean_of_scores_has_the_interval_of_student(scores, statistic):
    baseline = {"baseline": "c"} if STATISTICS[statistic].compares else {}
    assert confidence_interval(scores, statistic=statistic, **baseline).method == "t"
    resampled = bootstrap_topics(scores, statistic=statistic, replicates=9, rng=1, **baseline)
    assert confidence_interval(resampled).method == "t"


@pytest.mark.parametrize("statistic", [name for name in STATISTICS if name != "mean"])
def test_other_statistics_have_intervals_around_them(scores, statistic):
    baseline = {"baseline": "c"} if STATISTICS[statistic].compares else {}
    for method in UNBOUNDED:
        found = confidence_interval(scores, statistic=statistic, method=method, rng=1, **baseline)
        assert found.low.shape == ((2, 2) if baseline else (3, 2))
        assert ((found.low < found.estimate) & (found.estimate < found.high)).all()


def test_the_interval_of_a_difference_is_that_of_the_differences(scores):
    found = confidence_interval(scores, statistic="difference", baseline="b", method="t")
    direct = confidence_interval(scores.values[:, 0] - scores.values[:, 1], method="t")
    np.testing.assert_allclose(found.low[0], direct.low, atol=1e-14)


def test_a_sampling_distribution_serves_in_place_of_scores(scores):
    distribution = bootstrap_topics(scores, replicates=999, rng=3)
    found = confidence_interval(distribution, method="bca")
    low, high = METHODS["bca"].compute(distribution, 0.95)
    assert (found.low == low).all()
    assert (found.high == high).all()
    assert found.replicates == 999


def test_records_name_run_measure_topics_limits_level_and_method():
    interval = confidence_interval(scores_of([0.1, 0.3, 0.2]), method="t", level=0.9)
    (record,) = interval.to_records()
    names = ("run", "measure", "topics", "mean", "low", "high", "level", "method")
    assert tuple(record) == names
    assert (record["run"], record["measure"], record["topics"]) == ("a", "AP", 3)
    assert (record["level"], record["method"]) == (0.9, "t")
    assert record["mean"] == pytest.approx(0.2)
    assert interval.to_dict()["low"] == [float(interval.low[0, 0])]
    assert tuple(interval.to_frame("pandas").columns) == names
    # t_2 = 2.919986, se = 0.1/√3
    assert repr(interval) == "Interval(0.2000 [0.0314, 0.3686], level=0.9, method='t')"


def test_means_alone_have_no_limits(scores):
    found = means_alone(scores, 0.95)
    np.testing.assert_array_equal(found.estimate, scores.mean())
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, np.nan, [0.9, 1.5]])
def test_a_level_outside_the_unit_interval_is_refused(level):
    with pytest.raises(InvalidValueError, match="expected a number between 0 and 1"):
        confidence_interval([0.1, 0.2, 0.4], level=level)


def test_tails_are_half_of_the_error_each():
    assert tail_probabilities(0.95) == (pytest.approx(0.025), pytest.approx(0.975))


def test_an_unknown_method_is_named_with_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean bootstrap-t or"):
        confidence_interval([0.1, 0.2], method="bootstrapt")
    with pytest.raises(UnknownNameError, match="'welch'; known: t, percentile"):
        find_method("welch")


@pytest.mark.parametrize("method", BOUNDED)
def test_bounded_methods_refuse_other_scores_and_name_those_that_fit(method):
    scores = scores_of([[0.1, 3.0], [0.4, 2.0], [0.2, 5.0]], ("mine",))
    with pytest.raises(UnsupportedMethodError) as caught:
        confidence_interval(scores, method=method)
    message = str(caught.value)
    assert message.startswith(f"method {method!r} does not fit")
    assert "mine of a" in message
    assert message.endswith(f"methods that fit: {', '.join(UNBOUNDED)}")


@pytest.mark.parametrize("method", BOUNDED)
def test_bounded_methods_refuse_differences(scores, method):
    with pytest.raises(UnsupportedMethodError, match=f"methods that fit: {', '.join(UNBOUNDED)}"):
        confidence_interval(scores, method=method, statistic="difference", baseline="a")


@pytest.mark.parametrize("method", ["betting", "gaffke", "hall-logit"])
def test_methods_for_means_refuse_the_geometric_mean(scores, method):
    with pytest.raises(UnsupportedMethodError, match="methods that fit: t, percentile"):
        confidence_interval(scores, method=method, statistic="geometric-mean")


def test_a_function_has_no_studentised_replicates(scores):
    with pytest.raises(
        UnsupportedMethodError, match=r"needs replicate_se.*fit: t, percentile, bca"
    ):
        confidence_interval(scores, method="bootstrap-t", statistic=lambda w, x: w @ x)


def test_a_function_of_wrong_shape_is_refused(scores):
    with pytest.raises(InvalidValueError, match="expected \\(1, 6\\): replicates × columns"):
        confidence_interval(scores, statistic=lambda w, x: (w @ x).sum(axis=1))


def test_one_topic_is_refused():
    for one in ([0.4], scores_of([[0.4, 0.5]])):
        with pytest.raises(InvalidValueError, match="one topic"):
            confidence_interval(one)


@pytest.mark.parametrize("method", ["percentile", "gaffke"])
def test_few_replicates_are_warned_of(method):
    with pytest.warns(InputWarning, match="99 replicates leave 2.5 beyond each limit.* 399 or"):
        confidence_interval([0.1, 0.5, 0.4], method=method, replicates=99, rng=1)


def test_the_number_of_replicates_does_not_matter_without_resampling():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        confidence_interval([0.1, 0.5, 0.4], method="t", replicates=1)


def test_few_replicates_of_a_distribution_are_warned_of():
    few = bootstrap_topics([0.1, 0.5, 0.4], replicates=99, rng=1)
    with pytest.warns(InputWarning, match="99 replicates"):
        confidence_interval(few, method="percentile")


def test_no_replicates_are_refused():
    with pytest.raises(InvalidValueError, match="replicates is 0"):
        confidence_interval([0.1, 0.5], method="percentile", replicates=0)


def test_a_baseline_alone_is_refused():
    with pytest.raises(InvalidValueError, match="run"):
        confidence_interval(scores_of([0.1, 0.2]), statistic="difference", baseline="a")


@pytest.mark.parametrize("method", WITHOUT_LIMITS_FOR_EQUAL_SCORES)
@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, 1 / 3])
def test_equal_scores_have_no_interval_and_a_warning_names_run_and_measure(method, constant):
    values = np.random.default_rng(2).random((7, 3))
    values[:, 1] = constant
    with pytest.warns(DegenerateSampleWarning) as caught:
        interval = confidence_interval(scores_of(values), method=method, rng=1)
    assert np.isnan(interval.low).tolist() == [[False], [True], [False]]
    assert np.isnan(interval.high).tolist() == [[False], [True], [False]]
    assert interval.estimate[1, 0] == pytest.approx(constant)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"no {method} interval for b AP: ")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("method", OTHERS)
def test_fewer_than_two_scores_have_no_interval(method):
    values = np.random.default_rng(2).random((6, 3))
    values[1:, 0] = np.nan
    values[:, 2] = np.nan
    with pytest.warns(DegenerateSampleWarning, match="for a AP, c AP"):
        interval = confidence_interval(scores_of(values), method=method, rng=1)
    assert np.isnan(interval.low).tolist() == [[True], [False], [True]]
    assert interval.topics.tolist() == [[1], [6], [0]]


def test_each_method_warns_once_for_all_levels():
    with pytest.warns(DegenerateSampleWarning) as caught:
        confidence_interval([0.5, 0.5, 0.5], method=["t", "bca"], level=[0.9, 0.95], rng=1)
    assert [str(w.message)[:12] for w in caught] == ["no t interva", "no bca inter"]


@pytest.mark.parametrize("method", UNBOUNDED)
@pytest.mark.parametrize("statistic", ["difference", "ratio", "logit-difference"])
def test_equal_differences_have_no_interval_though_rounding_makes_them_differ(method, statistic):
    run = np.array([0.1, 0.2, 0.3, 0.4, 0.7])
    other = {"difference": run + 0.1, "ratio": run * 1.1, "logit-difference": run}[statistic]
    assert len(set(run + 0.1 - run)) > 1
    with pytest.warns(DegenerateSampleWarning, match="for b AP"):
        interval = confidence_interval(
            scores_of(np.column_stack([run, other])),
            statistic=statistic,
            baseline="a",
            method=method,
            rng=1,
        )
    assert np.isnan(interval.low).all()


@pytest.mark.parametrize("constant", [0.1, 0.3, 2 / 3])
def test_a_function_of_equal_scores_has_no_interval(constant):
    with pytest.warns(DegenerateSampleWarning):
        interval = confidence_interval(
            np.full(7, constant), statistic=lambda w, x: w @ x, method="t"
        )
    assert np.isnan(interval.low)


@pytest.mark.parametrize("method", OTHERS)
def test_one_score_above_0_in_fifty_has_an_interval_that_holds_the_mean(method):
    sample = np.where(np.arange(50) == 3, 0.4, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interval = confidence_interval(sample, method=method, rng=1)
    assert interval.low <= interval.estimate <= interval.high
    assert interval.low < interval.high


@pytest.mark.parametrize("method", METHODS)
def test_two_topics_do_not_break_a_method(method):
    """They leave bootstrap-t and symmetric-t nothing to say, and the others very little."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSampleWarning)
        interval = confidence_interval([0.3, 0.6], method=method, rng=1)
    assert np.isnan(interval.low) == (method in ("bootstrap-t", "symmetric-t"))
    if not np.isnan(interval.low):
        assert interval.low < 0.45 < interval.high


def test_a_method_is_not_recommended_where_it_fails_itself():
    values = np.array([[0.5, np.nan], [0.7, np.nan], [0.2, 0.4]])[:, :, None]
    scores = Scores(("1", "2", "3"), ("many", "few"), ("AP",), values)
    with pytest.warns(DegenerateSampleWarning) as caught:
        confidence_interval(scores, method="beta-logit")
    assert "give one" not in str(caught[0].message)
