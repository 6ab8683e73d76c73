"""Coverage as the share of intervals that contain the mean, with its own error."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.sampling_designs.prediction_powered import Judged
from confir.errors import InvalidValueError
from confir.intervals.method_list import METHODS, methods_over
from confir.parallel import task_seeds
from confir.resampling.kinds import as_sample
from confir.studies.coverage.coverage import estimate_coverage, wilson_interval
from confir.studies.coverage.miss_counts import count_misses
from studies.score_tables import table


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(4)
    values = rng.beta(1, 3, (40, 4, 2))
    values[:, 3, 1] = np.where(np.arange(40) < 38, 0.0, 0.9)
    return table(values, runs=list("abcd"))


@pytest.fixture(scope="module")
def coverage(scores):
    methods = ["t", "percentile", "gaffke"]
    return estimate_coverage(scores, methods=methods, samples=200, replicates=100, rng=7)


@pytest.mark.parametrize("count", [1, 20, 1_000])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_interval_of_a_share_is_that_of_scipy(count, level):
    hits = np.unique([0, 1, count // 3, count // 2, count - 1, count])
    low, high = wilson_interval(hits / count, count, level)
    for place, hit in enumerate(hits.tolist()):
        expected = stats.binomtest(hit, count).proportion_ci(level, method="wilson")
        assert low[place] == pytest.approx(expected.low, abs=1e-14)
        assert high[place] == pytest.approx(expected.high, abs=1e-14)


def test_coverage_is_what_is_not_missed(scores, coverage):
    misses = count_misses(
        scores, methods=coverage.methods, samples=200, replicates=100, rng=7, levels=0.95
    )
    held = 200 - (misses.below + misses.above)[:, 0]
    np.testing.assert_array_equal(coverage.coverage, held.reshape(3, 4, 2) / 200)
    np.testing.assert_array_equal(coverage.below, misses.below[:, 0].reshape(3, 4, 2) / 200)
    np.testing.assert_array_equal(coverage.above, misses.above[:, 0].reshape(3, 4, 2) / 200)
    np.testing.assert_array_equal(coverage.undefined, misses.undefined[:, 0].reshape(3, 4, 2) / 200)
    np.testing.assert_array_equal(coverage.mean_se, misses.mean_error_se[:, 0])
    assert coverage.undefined[0, 3, 1] > 0 == coverage.undefined[2, 3, 1]


def test_records_name_run_measure_method_and_level(coverage):
    records = coverage.to_records()
    assert len(records) == 4 * 2 * 3
    columns = ("run", "measure", "method", "level", "coverage", "low", "high")
    assert all(tuple(record) == columns for record in records)
    record = records[(2 * 2 + 1) * 3 + 1]
    assert (record["run"], record["measure"], record["method"]) == ("c", "m1", "percentile")
    assert record["coverage"] == coverage.coverage[1, 2, 1]
    assert record["low"] < record["coverage"] < record["high"]
    assert record["level"] == 0.95
    assert coverage.to_dict()["coverage"] == [record["coverage"] for record in records]
    assert coverage.to_frame("pandas").shape == (24, 7)


def test_the_summary_is_by_method(coverage):
    summary = coverage.summary()
    assert [record["method"] for record in summary] == list(coverage.methods)
    second = summary[1]
    assert second["coverage"] == pytest.approx(coverage.coverage[1].mean())
    assert (second["least"], second["greatest"]) == (
        coverage.coverage[1].min(),
        coverage.coverage[1].max(),
    )
    assert second["se"] == coverage.mean_se[1]
    assert second["coverage"] + second["below"] + second["above"] == pytest.approx(1)


def test_outliers_are_named_with_the_reason(coverage):
    outliers = coverage.outliers()
    assert {(record["run"], record["measure"]) for record in outliers} == {("d", "m1")}
    assert {record["method"] for record in outliers} == {"t", "percentile"}
    assert {record["reason"] for record in outliers} == {"38 of 40 topics score 0"}
    shares = [record["coverage"] for record in outliers]
    assert shares == sorted(shares)
    assert shares[-1] < 0.9


def test_a_method_that_is_too_narrow_for_all_runs_has_no_outliers(scores):
    narrow = replace(METHODS["t"], name="narrow", compute=lambda d, _: METHODS["t"].compute(d, 0.5))
    usual = scores.select(measure=["m0"])
    coverage = estimate_coverage(usual, methods=narrow, samples=200, rng=1)
    assert coverage.coverage.max() < 0.7
    assert coverage.outliers() == []


def test_runs_without_any_interval_are_outliers_even_if_they_are_most():
    flat = estimate_coverage(table(np.full((10, 3), 0.3)), samples=20, replicates=9, rng=1)
    found = flat.outliers()
    assert {record["run"] for record in found} == set(flat.runs)
    assert {record["reason"] for record in found} == {"10 of 10 topics score 0.3"}
    assert "t" in {record["method"] for record in found}
    assert "betting" not in {record["method"] for record in found}
    assert "runs with unusually low coverage:" in flat.note()
    values = np.full((10, 3), 0.3)
    values[:, 2] = np.linspace(0.1, 0.9, 10)
    mixed = estimate_coverage(table(values), methods="t", samples=200, rng=1)
    assert {record["run"] for record in mixed.outliers()} == set(mixed.runs[:2])


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([0.0] * 41 + [0.1 * i for i in range(1, 10)], "41 of 50 topics score 0"),
        ([0.5] * 3 + [0.1], "3 of 4 topics score 0.5"),
        ([0.1, 0.2, 0.3, 0.4], "skewness 0.0 over 4 topics"),
        ([0.0, 0.01, 0.02, 0.03, 1.0], "skewness 1.5 over 5 topics"),
        ([np.nan, 0.1, 0.2, 0.4, np.nan, 0.8], "skewness 0.7 over 4 topics"),
    ],
)
def test_the_reason_says_what_is_unusual(values, reason):
    scores = table(np.array(values)[:, None])
    coverage = estimate_coverage(scores, methods="t", samples=1, rng=1)
    assert coverage.reasons == ((reason,),)


def test_a_run_without_scores_by_a_measure_has_no_coverage(scores):
    values = scores.values.copy()
    values[:, 1, 0] = np.nan
    gappy = replace(scores, values=values)
    coverage = estimate_coverage(gappy, methods=["t"], samples=50, rng=1)
    assert np.isnan(coverage.coverage[0, 1, 0])
    assert np.isnan(coverage.low[0, 1, 0])
    assert np.isnan(coverage.coverage).sum() == 1
    assert coverage.reasons[1][0] == "no scores"
    rest = np.delete(coverage.coverage.ravel(), 2)
    (summary,) = coverage.summary()
    assert summary["coverage"] == pytest.approx(rest.mean())
    assert ("b", "m0") not in {(record["run"], record["measure"]) for record in coverage.outliers()}


def test_by_default_all_methods_that_fit_are_studied(scores):
    found = estimate_coverage(scores, samples=1, replicates=9, rng=1)
    assert found.methods == tuple(methods_over("topics"))


def test_a_level_beyond_1_is_refused(scores):
    with pytest.raises(InvalidValueError, match=r"level is 95\.0; expected a number"):
        estimate_coverage(scores, level=95, rng=1)


def test_results_are_short_in_text_and_a_table_in_a_notebook(coverage):
    assert repr(coverage) == "Coverage(run: 4, measure: 2, method: 3, level=0.95)"
    shown = coverage._repr_html_()
    assert "<table>" in shown
    assert "38 of 40 topics score 0" in shown


def test_one_sample_has_no_standard_error(scores):
    assert np.isnan(estimate_coverage(scores, methods="t", samples=1, rng=1).mean_se).all()


@pytest.fixture(scope="module")
def trec8(real_data):
    """AP of 129 runs, each with its topics in another order: the mean over runs is steadier so."""
    path = real_data / "soboroff2014" / "scores" / "trec8.adhoc.csv.gz"
    scores = confir.read_scores(path).select(measure=["AP"])
    rng = np.random.default_rng(8)
    return replace(scores, values=rng.permuted(scores.values, axis=0))


def test_bootstrap_t_keeps_its_word_and_the_published_one_does_not_on_trec8(trec8):
    methods = ["bootstrap-t", "bootstrap-t-published"]
    coverage = estimate_coverage(trec8, methods=methods, samples=120, replicates=1_000, rng=2014)
    corrected, published = coverage.summary()
    # [Soboroff2014]: 0.904 on average over all collections.
    assert corrected["coverage"] == pytest.approx(0.95, abs=0.005 + 4 * corrected["se"])
    assert published["coverage"] == pytest.approx(0.904, abs=0.005 + 4 * published["se"])
    assert corrected["se"] < 0.004
    assert published["se"] < 0.004


def test_the_standard_error_allows_for_runs_that_share_samples():
    rng = np.random.default_rng(1)
    values = rng.beta(1, 3, (30, 1)) + 0.05 * rng.random((30, 10))  # runs differ little
    experiments = [
        estimate_coverage(table(values), methods="t", samples=40, level=0.8, rng=seed)
        for seed in range(60)
    ]
    means = [experiment.coverage.mean() for experiment in experiments]
    expected = np.mean([experiment.mean_se[0] for experiment in experiments])
    assert np.std(means, ddof=1) == pytest.approx(expected, rel=0.3)
    assert expected > 2 * np.sqrt(0.8 * 0.2 / (40 * 10))  # more than that of independent runs


def test_coverage_of_corrected_means_is_that_of_plain_loops():
    rng = np.random.default_rng(5)
    human = rng.beta(2, 3, (12, 2))
    model = np.clip(0.6 * human + 0.2 + rng.normal(0, 0.1, human.shape), 0, 1)
    topics = tuple(f"t{place:02}" for place in range(30))
    every = np.concatenate([model, np.clip(rng.beta(2, 3, (18, 2)), 0, 1)])
    by_model = confir.Scores(topics, ("a", "b"), ("AP",), every[:, :, None])
    people = confir.Scores(topics[:12], ("a", "b"), ("AP",), human[:, :, None])
    scores = by_model.with_human(people, "random-topics")
    found = confir.estimate_coverage(scores, methods="t", samples=20, rng=3)
    # the draws of the first and only task, by hand
    seed = task_seeds(np.random.default_rng(3), 2)[0]
    outer, covered = np.random.default_rng(seed), np.zeros(2)
    for _ in range(20):
        places, rest = outer.integers(0, 12, 12), outer.integers(0, 12, 18)
        drawn = Judged(human[places], model[places], model[rest]).corrected()
        half = stats.t.ppf(0.975, drawn.df) * drawn.se
        covered += np.abs(drawn.mean - human.mean(axis=0)) <= half
    np.testing.assert_allclose(found.coverage[0, :, 0], covered / 20)


def test_coverage_of_means_over_repeats_is_lower_where_repeats_are_ignored():
    rng = np.random.default_rng(4)
    values = 0.5 + 0.05 * rng.normal(size=(20, 1, 1)) + 0.1 * rng.normal(size=(1, 2, 4))
    values = values + 0.02 * rng.normal(size=(20, 2, 4))
    names = tuple(f"s{s}@{k}" for s in range(2) for k in range(4))
    topics = tuple(f"t{place:02}" for place in range(20))
    scores = confir.Scores(topics, names, ("NumRet",), values.reshape(20, -1, 1)).with_repeats()
    found = confir.estimate_coverage(scores, methods="t", samples=400, rng=1)
    assert (found.coverage > 0.8).all()  # 4 repeats, drawn from 4, vary by 3/4 of their variance
    sample = as_sample(scores)
    truth, missed = sample.population_means(), np.zeros(2)
    rng = np.random.default_rng(1)
    for _ in range(200):
        drawn = sample.sampled_again(lambda one: one.integers(0, 20, 20), rng)
        alone = drawn.without_repeats.distribution(slice(None), None, ("se",))
        missed += np.abs(alone.estimate - truth) > 2.1 * alone.se
    assert (missed / 200 > 0.3).all()
