"""Runs compared with random rankings."""

import math

import numpy as np
import pytest

import confir
from confir.data.formats.runs_and_qrels import as_qrels
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.intervals.confidence_intervals import confidence_interval
from confir.measures.chance_tail import combine_probabilities
from confir.measures.random_rankings import (
    expected_random_ap,
    expected_random_score,
    random_score_moments,
)
from confir.studies.chance.chance import p_or_bound
from confir.studies.chance.random_baseline import compare_with_chance, describe_chance
from samples import short_sample

QRELS = {
    "1": {"a": 1, "b": 2, "c": 0},
    "2": {"a": 1, "b": 0, "c": 0},
    "3": {"a": 0, "b": 0, "d": -1},
}


def qrels():
    return confir.as_qrels(QRELS)


@pytest.fixture(scope="module")
def sample():
    collection = short_sample()
    with pytest.warns(confir.errors.TopicWarning, match="bm25-rm3"):
        scores = confir.evaluate(collection.qrels, collection.runs, ["AP", "nDCG@10"], depth=1_000)
    return collection, scores


def test_every_topic_has_the_expectation_of_its_relevant_documents():
    chance = compare_with_chance(qrels(), documents=10, measures=["AP", "AP(rel=2)", "nDCG@2"])
    assert chance.topics == ("1", "2", "3")
    assert chance.relevant.tolist() == [[2, 1, 2], [1, 0, 1], [0, 0, 0]]
    assert chance.expected[:, 0] == pytest.approx(
        [expected_random_ap(10, 2), expected_random_ap(10, 1), 0]
    )
    assert chance.expected[:, 1] == pytest.approx([expected_random_ap(10, 1), 0, 0])
    assert chance.expected[0, 2] == expected_random_score("nDCG@2", 10, {1: 1, 2: 1})
    assert chance.sd[0, 0] == pytest.approx(math.sqrt(random_score_moments("AP", 10, 2)[1]))
    assert chance.prevalence[:, 0].tolist() == [0.2, 0.1, 0.0]


def test_means_over_topics_are_those_of_independent_topics():
    chance = compare_with_chance(qrels(), documents=10, measures=["AP"])
    (record,) = chance.to_records()
    assert record["topic"] == "all"
    assert record["relevant"] == 1.0
    assert record["expected"] == pytest.approx(chance.expected.mean())
    assert record["sd"] == pytest.approx(math.sqrt((chance.sd**2).sum()) / 3)
    assert list(record) == [
        "topic",
        "documents",
        "relevant",
        "depth",
        "measure",
        "expected",
        "sd",
        "prevalence",
    ]


def test_runs_are_compared_with_chance_with_corrected_scores(sample):
    collection, scores = sample
    chance = compare_with_chance(collection.qrels, scores, documents=64_000, depth=1_000, rng=1)
    expected = chance.expected[:, None]
    assert chance.corrected.values == pytest.approx((scores.values - expected) / (1 - expected))
    record = next(r for r in chance.to_records() if (r["run"], r["measure"]) == ("rerank", "AP"))
    assert record["score"] == pytest.approx(scores.mean()[scores.runs.index("rerank"), 0])
    assert record["corrected"] < record["score"]
    assert record["p"] < 1e-100


def test_probabilities_of_topics_are_combined(sample):
    collection, scores = sample
    chance = compare_with_chance(
        collection.qrels, scores, documents=64_000, measures=["AP"], draws=199, rng=1
    )
    records = {(r["run"], r["topic"]): r for r in chance.to_records(per_topic=True)}
    parts = np.array([records["tfidf", topic]["p"] for topic in chance.topics])
    whole = next(r for r in chance.to_records() if r["run"] == "tfidf")
    assert whole["p"] == pytest.approx(combine_probabilities(parts))
    assert all(r["p_low"] <= r["p"] <= r["p_high"] for r in records.values())
    assert whole["p_low"] == 0
    assert whole["p_high"] > whole["p"]
    assert p_or_bound(whole) == f"<{whole['p_high']:.2g}"


def test_scores_corrected_for_chance_may_be_negative_and_have_intervals(sample):
    collection, scores = sample
    low = Scores(scores.topics, scores.runs, scores.measures, scores.values * 1e-5)
    chance = compare_with_chance(collection.qrels, low, documents=64_000, draws=0)
    assert (chance.corrected.values < 0).any()
    interval = confidence_interval(chance.corrected)
    assert (interval.method, interval.assumed) == ("t", ())


def test_other_measures_than_ap_have_no_probability(sample):
    collection, scores = sample
    chance = compare_with_chance(collection.qrels, scores, documents=64_000, draws=9, rng=1)
    assert np.isnan(chance.p[:, :, 1]).all()
    assert not np.isnan(chance.p[:, :, 0]).any()


def test_no_draws_leave_the_probability_out(sample):
    collection, scores = sample
    chance = compare_with_chance(collection.qrels, scores, documents=64_000, draws=0)
    assert np.isnan(chance.p).all()


def test_the_same_seed_gives_the_same_probabilities_on_one_core_and_on_many(sample, monkeypatch):
    collection, scores = sample
    options = {"documents": 5_000, "measures": ["AP"], "draws": 50, "rng": 4}
    many = compare_with_chance(collection.qrels, scores, **options)
    monkeypatch.setattr("confir.parallel.usable_cores", lambda: 1)
    one = compare_with_chance(collection.qrels, scores, **options)
    assert (many.p == one.p).all()


def test_a_random_run_is_not_above_chance():
    rng = np.random.default_rng(2)
    documents = [f"d{i}" for i in range(200)]
    judged = {str(t): {documents[i]: 1 for i in range(t % 7 + 1)} for t in range(60)}
    run = {
        topic: {documents[i]: -float(place) for place, i in enumerate(rng.permutation(200))}
        for topic in judged
    }
    scores = confir.evaluate(judged, {"random": run}, "AP")
    chance = compare_with_chance(confir.as_qrels(judged), scores, documents=200, draws=500, rng=1)
    (record,) = chance.to_records()
    assert abs(record["score"] - record["expected"]) < 4 * record["sd"]
    assert abs(record["corrected"]) < 0.05
    assert 0.01 < record["p"] < 0.99


def test_topics_that_a_run_lacks_are_left_out_of_its_baseline():
    values = np.array([[[0.5]], [[np.nan]], [[0.0]]])
    scores = Scores(("1", "2", "3"), ("x",), ("AP",), values)
    chance = compare_with_chance(qrels(), scores, documents=10, draws=9, rng=1)
    (record,) = chance.to_records()
    assert record["expected"] == pytest.approx(expected_random_ap(10, 2) / 2)
    assert record["score"] == 0.25
    assert np.isnan(chance.corrected.values[1, 0, 0])


def test_a_collection_of_relevant_documents_alone_has_no_corrected_score():
    scores = Scores(("1",), ("x",), ("AP",), np.ones((1, 1, 1)))
    judged = confir.as_qrels({"1": {"a": 1, "b": 1}})
    chance = compare_with_chance(judged, scores, documents=2, rng=1)
    (record,) = chance.to_records()
    assert record["expected"] == 1
    assert math.isnan(record["corrected"])
    assert math.isnan(record["p"])


def test_plain_numbers_are_described_without_qrels():
    chance = describe_chance(5, 2, ["AP", "P@10"], depth=3)
    assert chance.topics == ("all",)
    assert chance.expected[0] == pytest.approx([expected_random_ap(5, 2, 3), 0.4 * 3 / 10])
    assert chance.depth == 3
    assert chance.to_dict()["prevalence"] == [0.4, 0.4]
    assert chance.to_dict()["measure"] == ["AP", "P@10"]


def test_a_higher_lowest_gain_counts_the_same_documents():
    low, high = describe_chance(9, 4, ["AP", "RBP"]), describe_chance(9, 4, ["AP"], rel=3)
    assert high.measures == ("AP(rel=3)",)
    assert high.expected[0, 0] == low.expected[0, 0]


def test_results_become_frames():
    frame = describe_chance(5, 2, ["AP"]).to_frame("pandas")
    assert frame["expected"].tolist() == [pytest.approx(0.5925)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"documents": 2}, InvalidValueError, "topic '1' has 3 judged documents, more than the 2"),
        ({"documents": 0}, InvalidValueError, "documents"),
        ({"documents": 10, "depth": 11}, InvalidValueError, "a depth of 11 exceeds the 10"),
        ({"documents": 10, "draws": -1}, InvalidValueError, "draws is -1"),
        ({"documents": 10, "measures": ["ERR"]}, UnsupportedMethodError, "ERR"),
        ({"documents": 10, "measures": ["MAPP"]}, UnknownNameError, "MAPP"),
    ],
)
def test_impossible_requests_are_named(options, error, message):
    with pytest.raises(error, match=message):
        compare_with_chance(qrels(), **options)


def test_topics_without_qrels_are_named():
    scores = Scores(("1", "9"), ("x",), ("AP",), np.zeros((2, 1, 1)))
    with pytest.raises(TopicMismatchError, match="1 topic that the qrels lack"):
        compare_with_chance(qrels(), scores, documents=10)


def test_real_runs_are_far_above_chance(real_data):
    folder = real_data / "trec-robust-2003"
    judged = confir.read_qrels(folder / "qrels.txt")
    runs = [folder / "runs" / f"input.{name}.gz" for name in ("pircRBa1", "rutcor03100")]
    scores = confir.evaluate(judged, runs, "AP")
    # TREC disks 4 and 5 without the Congressional Record
    chance = compare_with_chance(judged, scores, documents=528_155, depth=1_000, draws=99, rng=1)
    best, worst = chance.to_records()
    assert best["score"] == pytest.approx(0.3101, abs=5e-5)
    assert best["expected"] < 1e-4
    assert best["p"] < 1e-80
    assert worst["p"] < 1e-30


def test_one_topic_without_relevant_documents_scores_0_by_chance():
    qrels = as_qrels({"t": {"d": 0}})
    chance = compare_with_chance(qrels, documents=100, measures=["AP", "P@10"])
    assert chance.relevant.tolist() == [[0, 0]]
    assert chance.expected.tolist() == [[0.0, 0.0]]
