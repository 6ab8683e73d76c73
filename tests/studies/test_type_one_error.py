"""Error rates of intervals from few topics, as found by [Park2011]."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import confir
from confir.errors import InvalidValueError
from confir.studies.coverage.miss_counts import count_misses
from confir.studies.coverage.type_one_error import (
    PARK_LEVELS,
    PARK_TOPICS,
    estimate_type_one_error,
)
from studies.score_tables import table

METHODS = ["t", "percentile"]


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(2).beta(1, 4, (60, 5))
    return table(values, runs=list("abcde"))


@pytest.fixture(scope="module")
def error(scores):
    return estimate_type_one_error(
        scores, methods=METHODS, topics=(4, 9), levels=(0.9, 0.6), samples=50, replicates=60, rng=3
    )


def test_each_size_is_an_experiment_of_its_own(scores, error):
    start = np.random.default_rng(3).integers(2**63)
    for t, size in enumerate((4, 9)):
        misses = count_misses(
            scores,
            methods=METHODS,
            topics=size,
            levels=(0.9, 0.6),
            samples=50,
            replicates=60,
            sampling="without",
            rng=np.random.default_rng([start, size]),
        )
        np.testing.assert_array_equal(error.error[:, t], misses.error)
        np.testing.assert_array_equal(error.below[:, t], misses.below / 50)
        np.testing.assert_array_equal(error.above[:, t], misses.above / 50)
        np.testing.assert_array_equal(error.undefined[:, t], misses.undefined / 50)
        np.testing.assert_array_equal(error.mean_error_se[:, t], misses.mean_error_se)
        np.testing.assert_array_equal(error.bias[t], misses.bias)


def test_records_are_averaged_over_runs(error):
    records = error.to_records()
    assert len(records) == 2 * 2 * 2
    columns = ("method", "topics", "level", "error", "sampling")
    assert all(tuple(record) == columns for record in records)
    record = records[1 * 4 + 0 * 2 + 1]
    assert record == {
        "method": "percentile",
        "topics": 4,
        "level": 0.6,
        "error": pytest.approx(error.error[1, 0, 1].mean()),
        "sampling": "without",
    }
    assert error.to_dict()["topics"] == [record["topics"] for record in records]
    assert error.to_frame("pandas").shape == (8, 5)


def test_records_by_run_have_skewness_and_bias(error):
    records = error.by_run()
    assert len(records) == 5 * 8
    record = records[3 * 8 + 1 * 4 + 1 * 2 + 0]
    assert record == {
        "run": "d",
        "measure": "m0",
        "skewness": error.skewness[3],
        "bias": error.bias[1, 3],
        "method": "percentile",
        "topics": 9,
        "level": 0.9,
        "error": error.error[1, 1, 0, 3],
        "sampling": "without",
    }


def test_skewness_is_that_of_scipy(error, scores):
    np.testing.assert_allclose(error.skewness, stats.skew(scores.values[:, :, 0]), rtol=1e-12)


def test_skewness_leaves_missing_scores_out(scores):
    values = scores.values.copy()
    values[:20, 0] = np.nan
    values[:, 1] = 0.1
    values[:, 2] = np.nan
    gappy = replace(scores, values=values)
    error = estimate_type_one_error(gappy, methods="t", topics=5, levels=0.9, samples=5, rng=1)
    assert error.skewness[0] == pytest.approx(stats.skew(values[20:, 0, 0]))
    assert error.skewness[1] == 0
    assert np.isnan(error.skewness[2])
    assert np.isnan(error.error[..., 2]).all()
    assert error.mean_error[0, 0, 0] == pytest.approx(np.nanmean(error.error[0, 0, 0]))


def test_a_bias_of_the_mean_is_chance(error, scores):
    spread = scores.values[:, :, 0].std(axis=0)
    for t, size in enumerate(error.topics):
        assert (np.abs(error.bias[t]) < 5 * spread / np.sqrt(50 * size)).all()


def test_without_options_the_experiment_is_that_of_the_paper():
    assert PARK_TOPICS == (5, 10, 20)
    assert PARK_LEVELS == (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)


def test_a_size_named_twice_is_studied_once(scores, tmp_path):
    options = {"methods": "t", "levels": 0.9, "samples": 3, "rng": 1, "resume": tmp_path}
    assert estimate_type_one_error(scores, topics=(7, 3, 7), **options).topics == (7, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["topics-3", "topics-7"]


def test_the_study_goes_on_from_its_folder(scores, error, tmp_path):
    options = {"methods": METHODS, "topics": (4, 9), "levels": (0.9, 0.6), "samples": 50}
    first, second = (
        estimate_type_one_error(scores, replicates=60, rng=3, resume=tmp_path, jobs=jobs, **options)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(first.error, error.error)
    np.testing.assert_array_equal(second.error, error.error)


def test_sampling_with_replacement_is_another_experiment(scores):
    options = {"methods": "t", "topics": 55, "levels": 0.9, "samples": 100, "rng": 1}
    without = estimate_type_one_error(scores, **options)
    independent = estimate_type_one_error(scores, sampling="with", **options)
    assert without.error.max() == 0  # 55 of 60 topics are nearly all
    assert independent.error.mean() > 0.05
    assert independent.to_records()[0]["sampling"] == "with"


def test_the_numbers_do_not_depend_on_other_sizes(scores, error):
    alone = estimate_type_one_error(
        scores, methods=METHODS, topics=9, levels=(0.9, 0.6), samples=50, replicates=60, rng=3
    )
    np.testing.assert_array_equal(alone.error[:, 0], error.error[:, 1])


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (1, "a sample of 1 topic has no interval"),
        (61, "61 topics cannot be drawn without.*--topics"),
    ],
)
def test_sizes_are_checked_before_any_work(scores, size, message):
    steps = []
    with pytest.raises(InvalidValueError, match=message):
        estimate_type_one_error(scores, topics=(5, size), rng=1, progress=steps.append)
    assert steps == []


def test_no_size_is_refused(scores):
    with pytest.raises(InvalidValueError, match="no topic is named; expected at least one"):
        estimate_type_one_error(scores, topics=(), rng=1)


def test_resuming_needs_a_seed(scores, tmp_path):
    with pytest.raises(InvalidValueError, match="needs a seed"):
        estimate_type_one_error(scores, rng=None, resume=tmp_path)


def test_results_are_short_in_text_and_a_table_in_a_notebook(error):
    assert repr(error) == (
        "TypeOneError(column: 5, method: 2, topics: 2, level: 2, sampling='without')"
    )
    assert "n = 9" in error._repr_html_()


@pytest.fixture(scope="module")
def robust2004(real_data):
    """AP of the runs, each with its topics in another order: so runs are independent, as there."""
    scores = confir.read_scores(real_data / "robust2004_ap.csv")
    values = np.random.default_rng(20).permuted(scores.values, axis=0)
    return replace(scores, values=values)


def test_percentile_intervals_of_20_topics_err_as_table_1_of_park2011_says(robust2004):
    error = estimate_type_one_error(
        robust2004,
        methods="percentile",
        topics=20,
        levels=(0.95, 0.8, 0.5),
        samples=100,
        replicates=1_000,
        rng=2011,
    )
    published = np.array([0.0701, 0.2151, 0.5035])
    theirs = np.sqrt(published * (1 - published) / (110 * 1_000))
    reach = 4 * np.hypot(error.mean_error_se[0, 0], theirs)
    assert (np.abs(error.mean_error[0, 0] - published) < reach).all()
    assert reach.max() < 0.02
