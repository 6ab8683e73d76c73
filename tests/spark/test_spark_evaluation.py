"""Runs and qrels in Spark give the numbers of those in memory: to 1e-12 where sums are merged."""

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import confir
from confir import spark
from confir.errors import (
    FormatError,
    InputWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
)
from parquet_datasets import in_memory, make_rows, qrels_table, run_table, write_folder

# pyspark warns of versions of its neighbours, and leaves sockets to its end
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning"
)

MEASURES = ["AP", "nDCG@10", "P@5", "ERR@20", "alpha_nDCG@5"]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"
RUNS = "run string, topic string, docid string, score double"
QRELS = "topic string, subtopic string, docid string, gain int"


def many_topics(topics=300):
    """The rows of a few topics, repeated under other names with other scores."""
    rng = np.random.default_rng(3)
    retrieved, judged = [], []
    for number in range(topics):
        rows, grades = make_rows(seed=number % 7, topics=1, runs=3)
        name = f"q{number}"
        retrieved += [
            (run, name, document, score + float(rng.integers(0, 3)))
            for run, topic, document, score in rows
            if topic == "01"
        ]
        judged += [(name, *entry[1:]) for entry in grades]
    return retrieved, judged


@pytest.fixture(scope="module")
def rows():
    return many_topics()


@pytest.fixture(scope="module")
def local(rows):
    return confir.evaluate(*in_memory(*rows), MEASURES)


@pytest.fixture(scope="module")
def summary(session, rows):
    runs, qrels = session.createDataFrame(rows[0], RUNS), session.createDataFrame(rows[1], QRELS)
    return spark.evaluate(runs, qrels, MEASURES)


def same(one, other, names):
    for name in names:
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12, err_msg=name
        )


def test_scores_are_those_of_the_local_evaluation_to_the_bit(summary, local):
    assert len(summary.topics) == len(local.topics) == 300
    assert summary.sample.topics == local.topics
    np.testing.assert_array_equal(summary.sample.values, local.values)


def test_documents_that_do_not_count_are_left_out_on_workers(session, rows):
    topics = sorted({topic for _, topic, _, _ in rows[0]})
    own = [(run, topic, topic, 99.0) for run in ("run0", "run1") for topic in topics]
    frames = (
        session.createDataFrame([*rows[0], *own], RUNS),
        session.createDataFrame(rows[1], QRELS),
    )
    excluded = {topic: ["d1", "d2"] for topic in topics[::2]}
    lists = in_memory([*rows[0], *own], rows[1])
    with pytest.warns(
        InputWarning, match="retrieves the document with the id of the topic for 300"
    ):
        spark.evaluate(*frames, MEASURES)
    for options in ({"exclude_identical": True}, {"exclude": excluded}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = confir.evaluate(*lists, MEASURES, **options)
            found = spark.evaluate(*frames, MEASURES, **options).sample
        assert found.topics == expected.topics
        np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize("method", ["calibrated-beta", "percentile", "bootstrap-t"])
def test_intervals_are_those_of_a_local_summary(summary, local, method):
    one, other = (
        confir.confidence_interval(scores, method=method, replicates=399, rng=7)
        for scores in (summary, confir.summarise_scores(local))
    )
    same(one, other, ("estimate", "low", "high"))
    assert one.replicates == other.replicates


def test_comparisons_best_runs_and_plans_are_those_of_a_local_summary(summary, local):
    held = confir.summarise_scores(local)
    one, other = (confir.compare_runs(scores, baseline="run0", rng=1) for scores in (summary, held))
    same(one, other, ("difference", "low", "high", "p", "simultaneous_low", "simultaneous_high"))
    assert (one.verdict == other.verdict).all()
    plans = [confir.plan_topics(scores, half_width=0.01) for scores in (summary, held)]
    assert plans[0].topics.tolist() == plans[1].topics.tolist()


@pytest.mark.usefixtures("session")
@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_the_job_of_the_documentation_prints_the_local_intervals(tmp_path, capsys):
    retrieved, judged = make_rows()
    write_folder(run_table(retrieved), tmp_path / "runs", "run")
    write_folder(qrels_table(judged), tmp_path / "qrels")
    job = re.search(
        r"```text\n(import confir\nfrom confir import spark\n.*?)```", PAGE.read_text(), re.DOTALL
    )
    here = re.sub(r'parquet\("(\w+)"\)', rf'parquet("{tmp_path}/\1")', job[1])
    assert here.count(str(tmp_path)) == 2
    exec(compile(here, "job.py", "exec"), {})  # noqa: S102 - the page's own code
    local = confir.evaluate(*in_memory(retrieved, judged), ["AP", "nDCG@10"])
    known = confir.confidence_interval(local, method="t").to_records()
    printed = ast.literal_eval(capsys.readouterr().out.splitlines()[-1])
    assert [record["run"] for record in printed] == [record["run"] for record in known]
    for name in ("mean", "low", "high"):
        both = ([record[name] for record in records] for records in (printed, known))
        np.testing.assert_allclose(*both, rtol=1e-12)


def test_frames_are_read_as_pyterrier_names_them_and_numbers_become_ids(session):
    runs = session.createDataFrame(
        [(1, "d1", 3), (1, "d2", 2), (10, "d1", 1)], "qid int, docno string, score int"
    )
    qrels = session.createDataFrame(
        [(1, "d2", 1), (10, "d1", 1)], "qid long, docno string, label long"
    )
    summary = spark.evaluate(runs, qrels, "RR")
    assert summary.runs == ("run",)
    assert summary.sample.topics == ("1", "10")
    assert summary.sample.values[:, 0, 0].tolist() == [0.5, 1.0]


def test_topics_that_differ_are_counted_as_locally(session):
    rows = [
        ("a", "1", "d1", 1.0),
        ("a", "9", "d1", 1.0),
        ("b", "1", "d1", 2.0),
        ("b", "2", "d", 1.0),
    ]
    runs = session.createDataFrame(rows, RUNS)
    qrels = session.createDataFrame([("1", "0", "d1", 1), ("2", "0", "d1", 1)], QRELS)
    with pytest.warns(TopicWarning) as caught:
        spark.evaluate(runs, qrels, "AP")
    texts = [str(one.message) for one in caught]
    assert "run 'a' lacks 1 topic of the qrels, scored 0" in texts
    assert "run 'a' has 1 topic that the qrels lack, left out" in texts
    with pytest.raises(TopicMismatchError, match="expected all of them"):
        spark.evaluate(runs, qrels, "AP", missing="error")


def test_what_is_wrong_on_a_worker_is_said_in_one_sentence(session):
    qrels = session.createDataFrame([("1", "0", "d1", 1)], QRELS)
    graded = session.createDataFrame([("1", "0", "d1", 7)], QRELS)
    twice = session.createDataFrame([("a", "1", "d1", 1.0)] * 2, RUNS)
    missing = session.createDataFrame([("a", "1", "d1", None)], RUNS)
    runs = session.createDataFrame([("a", "1", "d1", 1.0)], RUNS)
    with pytest.raises(FormatError, match=r"^runs_df: document 'd1' occurs twice in topic '1'"):
        spark.evaluate(twice, qrels, "AP")
    with pytest.raises(FormatError, match=r"^runs_df: score of document 'd1'.* is missing"):
        spark.evaluate(missing, qrels, "AP")
    unnamed = session.createDataFrame([("a", "1", "d1", 1.0), (None, "1", "d2", 1.0)], RUNS)
    with pytest.raises(FormatError, match=r"^runs_df: run is missing in a row; expected an id"):
        spark.evaluate(unnamed, qrels, "AP")
    with pytest.raises(InvalidValueError, match="above ERR's gmax"):
        spark.evaluate(runs, graded, "ERR@20")
    with pytest.raises(FormatError, match="qrels are empty"):
        spark.evaluate(runs, qrels.where("topic = '2'"), "AP")
    with pytest.raises(FormatError, match="runs are empty"):
        spark.evaluate(runs.where("topic = '2'"), qrels, "AP")
    with pytest.raises(FormatError, match="looks like qrels"):
        spark.evaluate(qrels, qrels, "AP")
    with pytest.raises(FormatError, match="column 'score' is string; expected numbers"):
        spark.evaluate(runs.withColumn("score", runs["docid"]), qrels, "AP")
    with pytest.raises(InvalidValueError, match="expected a frame of Spark"):
        spark.evaluate({"1": {"d1": 1.0}}, qrels, "AP")
