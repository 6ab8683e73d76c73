"""Means, topics, differences and variances over collections against their formulas."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from confir.data.qrels import build_qrels
from confir.data.run import build_run
from confir.data.simulation import simulate_collection
from confir.errors import InvalidValueError, UnknownNameError, UnsupportedMethodError
from confir.intervals.small_r import silver_bullet_limit
from confir.resampling.document_bootstrap import resample_documents
from confir.studies.collection.collection_differences import (
    VARIANTS,
    Variant,
    compare_on_collection,
    variants_for,
)
from confir.studies.collection.collection_means import (
    MEAN_METHODS,
    MEAN_SUMMARIES,
    decompose_variance,
    summarise_means,
)
from confir.studies.collection.collection_topic_differences import compare_topics_on_collection
from confir.studies.collection.collection_topics import summarise_topics

Z = stats.norm.ppf(0.975)
EDGE = 1e-6


def clipped_logit(score, edge=EDGE):
    kept = np.clip(score, edge, 1 - edge)
    return np.log(kept / (1 - kept))


@pytest.fixture(scope="module")
def collection():
    return simulate_collection(topics=12, runs=3, depth=80, rng=5)


@pytest.fixture(scope="module")
def sample(collection):
    return resample_documents(
        collection.qrels, collection.runs, ["AP", "nDCG@10"], replicates=600, rng=3, jackknife=True
    )


@pytest.fixture(scope="module")
def means(sample):
    return summarise_means(sample, methods=MEAN_METHODS)


def extreme_sample():
    """Topics whose AP is 0, 1 and between, with a list that retrieved nothing at all."""
    judged = {"none": 4, "all": 4, "some": 4, "empty": 2}
    rows = [(topic, f"{topic}{i}") for topic, number in judged.items() for i in range(number)]
    topics, names = zip(*rows, strict=True)
    qrels = build_qrels(topics, ["0"] * len(rows), names, np.ones(len(rows), np.int64))
    lists = {
        "none": [f"x{i}" for i in range(10)],
        "all": [f"all{i}" for i in range(4)],
        "some": ["x1", "some0", "x2", "some1", "x3"],
    }
    entries = [(topic, d, -float(i)) for topic, ds in lists.items() for i, d in enumerate(ds)]
    where, names, scores = zip(*entries, strict=True)
    run = build_run("run", where, names, np.array(scores))
    with pytest.warns(UserWarning, match="lacks 1 topic"):
        return resample_documents(qrels, [run], replicates=500, rng=2)


def test_bootstrap_of_means_takes_the_spread_over_replicates(sample, means):
    values, score = sample.values[0], sample.scores.values[:, :, 0].T
    for s, summary in enumerate(MEAN_SUMMARIES):
        forward = {
            "mean": lambda x: x,
            "logit-mean": clipped_logit,
            "geometric-mean": lambda x: np.log(np.maximum(x, 1e-5)),
        }[summary]
        back = np.exp if summary == "geometric-mean" else lambda x: x
        centre = forward(score).mean(axis=1)
        half = Z * np.nanmean(forward(values), axis=1).std(axis=1, ddof=1)
        np.testing.assert_allclose(means.mean[:, 0, s], back(centre), atol=1e-12)
        np.testing.assert_allclose(means.low[0, :, 0, s], back(centre - half), atol=1e-12)
        np.testing.assert_allclose(means.high[0, :, 0, s], back(centre + half), atol=1e-12)


def test_parametric_means_combine_the_spreads_of_topics(sample, means):
    score = sample.scores.values[:, :, 0].T
    sd = summarise_topics(sample).logit_sd[..., 0].T
    bounded = np.minimum((score - score**2) * sd, np.sqrt(score * (1 - score)))
    for s, moved in enumerate((bounded, sd, (1.0 - score) * sd)):
        half = Z * np.sqrt(np.square(moved).sum(axis=1)) / 12
        centre = (score, clipped_logit(score), np.log(np.maximum(score, 1e-5)))[s].mean(axis=1)
        back = np.exp if s == 2 else lambda x: x
        np.testing.assert_allclose(means.low[1, :, 0, s], back(centre - half), atol=1e-12)
        np.testing.assert_allclose(means.high[1, :, 0, s], back(centre + half), atol=1e-12)


def test_no_topic_is_taken_to_vary_more_than_a_score_in_0_to_1_can(sample):
    wide = np.where(np.isnan(sample.values), np.nan, np.arange(600) % 2)
    found = summarise_means(
        replace(sample, values=wide), methods=["parametric"], summaries=["mean"], small_r=False
    )
    score = sample.scores.values[:, :, 0]
    half = Z * np.sqrt((score * (1 - score)).sum(axis=0)) / 12
    np.testing.assert_allclose((found.high - found.low)[0, :, 0, 0] / 2, half)


def test_topics_drawn_with_documents_widen_the_interval(means):
    width = means.high - means.low
    assert (width[2] > width[0]).all()


def test_uncorrected_spreads_are_those_of_the_logits(sample):
    plain = summarise_topics(sample, small_r=False)
    expected = np.nanstd(clipped_logit(sample.values), axis=3, ddof=1)
    np.testing.assert_allclose(plain.logit_sd.T, expected, atol=1e-10)
    assert not plain.corrected.any()


def test_spread_of_a_corrected_topic_is_half_its_interval_over_z():
    topics = summarise_topics(extreme_sample())
    place = topics.topics.index("none")
    limit = silver_bullet_limit(np.array([4]), np.array([10]), 0.95)[0]
    assert topics.high[place, 0, 0] == limit
    expected = (clipped_logit(limit) - clipped_logit(0.0)) / (2 * Z)
    assert topics.logit_sd[place, 0, 0] == pytest.approx(expected, abs=1e-10)


def test_scores_of_0_and_1_and_empty_lists():
    found = {record["topic"]: record for record in summarise_topics(extreme_sample()).to_records()}
    assert found["none"]["score"] == found["none"]["low"] == 0.0 < found["none"]["high"]
    assert found["all"]["score"] == found["all"]["high"] == 1.0
    assert found["all"]["low"] == pytest.approx(0.05**0.25)
    assert (found["empty"]["low"], found["empty"]["high"]) == (0.0, 0.0)
    assert found["empty"]["corrected"]
    assert found["some"]["low"] < found["some"]["score"] < found["some"]["high"]
    assert (found["some"]["relevant"], found["some"]["relevant_retrieved"]) == (4, 2)


def test_without_correction_scores_of_0_and_1_are_their_own_interval():
    topics = summarise_topics(extreme_sample(), small_r=False, method="linear")
    for name, score in (("none", 0.0), ("all", 1.0)):
        place = topics.topics.index(name)
        assert topics.low[place, 0, 0] == topics.high[place, 0, 0] == score


@pytest.mark.parametrize("method", ["linear", "logit", "percentile", "bca"])
def test_limits_in_records_lie_in_0_to_1(sample, method):
    for record in summarise_topics(sample, method=method).to_records():
        if method == "bca" and np.isnan(record["low"]):
            continue
        assert 0.0 <= record["low"] <= record["score"] + 1e-12
        assert record["score"] - 1e-12 <= record["high"] <= 1.0


def test_only_average_precision_is_corrected(sample):
    topics = summarise_topics(sample, level=0.999999)
    assert topics.corrected[..., 0].any()
    assert not topics.corrected[..., 1].any()


def test_a_cutoff_limits_the_ranks_of_silver_bullets(collection):
    cut = resample_documents(collection.qrels, collection.runs, "AP@5", replicates=50, rng=1)
    topics = summarise_topics(cut)
    zeros = np.argwhere(topics.score[..., 0] == 0)
    assert len(zeros)
    topic, run = zeros[0]
    expected = silver_bullet_limit(topics.relevant[[topic], 0], np.array([5]), 0.95)[0]
    assert topics.high[topic, run, 0] == expected


def test_records_of_means_name_run_measure_summary_and_method(means):
    records = means.to_records()
    assert list(records[0]) == [
        "run",
        "measure",
        "summary",
        "topics",
        "mean",
        "low",
        "high",
        "level",
        "method",
    ]
    assert len(records) == 3 * 2 * 3 * 3
    keys = {(r["run"], r["measure"], r["summary"], r["method"]) for r in records}
    assert len(keys) == len(records)
    assert len(means.to_frame("pandas")) == len(means.to_dict()["mean"]) == len(records)


def test_epsilon_reaches_the_logits(sample):
    near = summarise_means(sample, epsilon=1e-6).mean[:, 0, 1]
    far = summarise_means(sample, epsilon=0.2).mean[:, 0, 1]
    score = sample.scores.values[:, :, 0].T
    np.testing.assert_allclose(far, clipped_logit(score, 0.2).mean(axis=1), atol=1e-12)
    assert (near != far).all()


def test_counts_and_unknown_methods_are_refused(collection, sample):
    counted = resample_documents(collection.qrels, collection.runs, "NumRet", replicates=5, rng=1)
    with pytest.raises(UnsupportedMethodError, match="NumRet is not"):
        summarise_means(counted)
    with pytest.raises(UnknownNameError, match="did you mean bootstrap"):
        summarise_means(sample, methods=["bootstraps"])


BASELINE = "run2"


def test_paired_differences_take_the_spread_of_the_difference_itself(sample):
    found = compare_on_collection(sample, BASELINE)
    for v, transform in ((0, lambda x: x), (2, clipped_logit)):
        values = transform(sample.values[0])
        drawn = np.nanmean(values[[0, 2]] - values[1], axis=1)
        score = transform(sample.scores.values[:, :, 0].T)
        d = (score[[0, 2]] - score[1]).mean(axis=1)
        sd = drawn.std(axis=1, ddof=1)
        np.testing.assert_allclose(found.difference[v, :, 0], d, atol=1e-12)
        np.testing.assert_allclose(found.low[v, :, 0], d - Z * sd, atol=1e-12)
        np.testing.assert_allclose(found.high[v, :, 0], d + Z * sd, atol=1e-12)
        np.testing.assert_allclose(found.p[v, :, 0], 2 * stats.norm.sf(np.abs(d) / sd), atol=1e-12)


def test_independent_differences_add_variances(sample):
    found = compare_on_collection(sample, BASELINE)
    sd = np.nanmean(sample.values[0], axis=1).std(axis=1, ddof=1)
    half = Z * np.sqrt(sd[[0, 2]] ** 2 + sd[1] ** 2)
    np.testing.assert_allclose((found.high - found.low)[1, :, 0] / 2, half, atol=1e-12)


def test_sharing_documents_narrows_differences_of_similar_runs(collection):
    run = collection.runs[0]
    first = build_run("first", *_entries(run))
    topics, names, scores = _entries(run)
    scores = scores.copy()
    scores[1::50] -= 1e-3
    second = build_run("second", topics, names, scores)
    close = resample_documents(collection.qrels, [first, second], replicates=300, rng=1)
    found = compare_on_collection(close, "first")
    width = (found.high - found.low)[:, 0, 0]
    assert width[0] < 0.5 * width[1]
    assert width[2] < 0.5 * width[3]


def _entries(run):
    topics = np.repeat(run.topics, np.diff(run.offsets)).tolist()
    return topics, run.documents, run.scores


def test_a_run_equal_to_the_baseline_shows_no_difference(collection):
    run = collection.runs[0]
    twins = [build_run(name, *_entries(run)) for name in ("one", "two")]
    found = compare_on_collection(
        resample_documents(collection.qrels, twins, replicates=50, rng=1), "one"
    )
    paired = found.difference[0, 0, 0], found.low[0, 0, 0], found.high[0, 0, 0]
    assert paired == (0.0, 0.0, 0.0)
    assert found.p[0, 0, 0] == 1.0
    assert set(found.verdict.reshape(-1)) == {"identical"}
    assert (found.wins[0, 0], found.ties[0, 0], found.losses[0, 0]) == (0, 12, 0)


def test_verdicts_need_interval_and_corrected_p_value(sample):
    found = compare_on_collection(sample, BASELINE)
    for record in found.to_records():
        shown = record["p_adjusted"] <= 0.05 and (record["low"] > 0 or record["high"] < 0)
        expected = ("better" if record["difference"] > 0 else "worse") if shown else "inconclusive"
        assert record["verdict"] == expected
    assert len({record["verdict"] for record in found.to_records()}) > 1


def test_records_of_differences_are_those_of_comparisons_and_more(sample):
    record = compare_on_collection(sample, BASELINE).to_records()[-1]
    assert record["resampled"] == "topics and documents"
    assert record["pairing"] == "paired"
    assert record["summary"] == "logit-mean"
    assert record["wins"] + record["ties"] + record["losses"] == 12


def test_topic_differences_are_paired_or_add_variances(sample):
    found = compare_topics_on_collection(sample, BASELINE)
    values = sample.values[0]
    paired = np.nanstd(values[[0, 2]] - values[1], axis=2, ddof=1)
    np.testing.assert_allclose(found.sd[0, ..., 0].T, paired, atol=1e-10)
    sd = summarise_topics(sample).logit_sd[..., 0].T
    np.testing.assert_allclose(found.sd[3, ..., 0].T, np.hypot(sd[[0, 2]], sd[1]), atol=1e-12)
    assert len(found.to_records()) == 4 * 2 * 2 * 12


def test_a_topic_on_which_nothing_varies_has_no_interval_of_the_difference():
    qrels = build_qrels(["1"], ["0"], ["x"], np.ones(1, np.int64))
    best, none = (
        build_run(name, ["1"], [d], np.ones(1)) for name, d in (("best", "x"), ("none", "a"))
    )
    found = compare_topics_on_collection(
        resample_documents(qrels, [best, none], replicates=50, rng=1), "none"
    )
    assert found.difference[0, 0, 0, 0] == 1.0
    assert np.isnan(found.low[0, 0, 0, 0])
    assert np.isnan(found.high[0, 0, 0, 0])
    assert found.verdict[0, 0, 0, 0] == "inconclusive"
    assert np.isfinite(found.low[3, 0, 0, 0])


def test_a_topic_that_one_of_two_runs_lacks_is_left_out_of_the_difference(collection):
    topics, names, scores = _entries(collection.runs[0])
    kept = np.array([topic != collection.qrels.topics[0] for topic in topics])
    short = build_run(
        "short", np.array(topics)[kept].tolist(), np.array(names)[kept].tolist(), scores[kept]
    )
    with pytest.warns(UserWarning, match="'short' lacks 1 topic"):
        sample = resample_documents(
            collection.qrels, [collection.runs[1], short], replicates=20, rng=1, missing="drop"
        )
    found = compare_on_collection(sample, "short")
    score = sample.scores.values[1:, :, 0]
    assert found.difference[0, 0, 0] == pytest.approx((score[:, 0] - score[:, 1]).mean())
    assert found.wins.sum() + found.ties.sum() + found.losses.sum() == 11


@pytest.mark.parametrize("baseline", [None, BASELINE])
@pytest.mark.parametrize("summary", ["mean", "logit-mean"])
def test_components_of_variance_come_from_topics_and_replicates(sample, baseline, summary):
    forward = clipped_logit if summary == "logit-mean" else lambda x: x
    score, values = forward(sample.scores.values[:, :, 0].T), forward(sample.values[0])
    if baseline is not None:
        score, values = score[[0, 2]] - score[1], values[[0, 2]] - values[1]
    between = score.var(axis=1, ddof=1)
    of_mean = np.nanmean(values, axis=1).var(axis=1, ddof=1)
    within = np.nanvar(values, axis=2, ddof=1).mean(axis=1)
    interaction = np.minimum(between, np.maximum(0, 12 / 11 * (within - of_mean)))
    found = decompose_variance(sample, baseline=baseline, summaries=[summary])
    np.testing.assert_allclose(found.interaction[:, 0, 0], interaction / 12)
    np.testing.assert_allclose(found.topics[:, 0, 0], (between - interaction) / 12, atol=1e-15)
    documents = np.maximum(0, of_mean - interaction / 12)
    np.testing.assert_allclose(found.documents[:, 0, 0], documents, atol=1e-15)
    np.testing.assert_allclose(found.total[:, 0, 0], between / 12 + documents)


def test_records_of_variance_sum_to_their_total(sample):
    for record in decompose_variance(sample, baseline=BASELINE).to_records():
        parts = record["topics"] + record["documents"] + record["interaction"]
        assert record["total"] == pytest.approx(parts, rel=1e-12)


def test_means_over_topics_and_documents_take_the_total_and_students_t(sample, means):
    found = decompose_variance(sample, summaries=["mean"])
    sampled = (found.topics + found.interaction)[:, 0, 0]
    df = found.total[:, 0, 0] ** 2 / (sampled**2 / 11)
    half = stats.t.ppf(0.975, df) * np.sqrt(found.total[:, 0, 0])
    np.testing.assert_allclose((means.high - means.low)[2, :, 0, 0] / 2, half)


def test_a_single_topic_has_no_interval_over_topics():
    qrels = build_qrels(["1", "1"], ["0"] * 2, ["x", "y"], np.ones(2, np.int64))
    run = build_run("run", ["1"] * 3, ["a", "x", "y"], np.array([3.0, 2.0, 1.0]))
    one = resample_documents(qrels, [run], replicates=10, rng=1)
    found = summarise_means(one, methods=["bootstrap-with-topics"])
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()


def test_what_cannot_be_compared_is_named(sample):
    with pytest.raises(UnknownNameError, match="run"):
        compare_on_collection(sample, "nobody")
    with pytest.raises(InvalidValueError, match="cannot vary over topics"):
        compare_topics_on_collection(
            sample, BASELINE, variants=[Variant("mean", "paired", with_topics=True)]
        )
    with pytest.raises(UnknownNameError, match="did you mean paired"):
        variants_for("pared")
    assert variants_for("both") == VARIANTS


def test_a_baseline_alone_has_nothing_to_be_compared_with(collection):
    one = resample_documents(collection.qrels, collection.runs[:1], replicates=5, rng=1)
    with pytest.raises(InvalidValueError, match="no run to compare with the baseline"):
        compare_on_collection(one, one.runs[0])


def test_one_topic_has_no_variance_over_topics():
    qrels = build_qrels(["1"], ["0"], ["x"], np.ones(1, np.int64))
    run = build_run("run", ["1", "1"], ["a", "x"], np.array([2.0, 1.0]))
    one = resample_documents(qrels, [run], replicates=10, rng=1)
    with pytest.raises(InvalidValueError, match="needs at least 2"):
        decompose_variance(one)
    assert summarise_means(one).mean[0, 0, 0] == 0.5
