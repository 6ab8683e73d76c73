"""ERR, exponential nDCG and Judged against ir_measures' providers."""

import shutil

import ir_measures
import numpy as np
import pytest

import confir
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.errors import ConfirError, MissingTopicWarning, TopicWarning
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions
from requirements import missing_requirement

DATA = {
    "trec-covid-r5": ("qrels.txt", "covidex.r5.1s.xz"),
    "trec-web-2012-diversity": ("qrels.adhoc.txt.gz", "ql-catb.gz"),
}


def load(real_data, name):
    """Return the rankings of a run, and qrels and run as ir_measures takes them."""
    qrels_name, run_name = DATA[name]
    qrels = read_qrels(real_data / name / qrels_name)
    run = read_run(real_data / name / "runs" / run_name)
    # The negated rank as the score: the providers break ties each in its own way.
    ranked = {
        topic: {document: -float(rank) for rank, (document, _) in enumerate(run[topic])}
        for topic in run
    }
    return JudgedPositions(qrels).rank(run), qrels.to_dict(), ranked


def provided(provider, measures, qrels, ranked):
    """Return (measure, topic) → score of a provider of ir_measures."""
    parsed = {ir_measures.parse_measure(text): text for text in measures}
    found = provider.evaluator(list(parsed), qrels).iter_calc(ranked)
    return {(parsed[metric.measure], metric.query_id): metric.value for metric in found}


@pytest.fixture
def perl():
    """Perl, which gdeval is written in."""
    if shutil.which("perl") is None:
        missing_requirement("no perl")


@pytest.mark.usefixtures("perl")
@pytest.mark.parametrize("name", DATA)
def test_graded_measures_against_gdeval(real_data, name):
    rankings, qrels, ranked = load(real_data, name)
    measures = ["ERR@1", "ERR@20", "ERR@1000", "nDCG(dcg='exp-log2')@20"]
    expected = provided(ir_measures.gdeval, measures, qrels, ranked)
    for measure in measures:
        scores = parse_measure(measure)(rankings)[0, :, 0]
        assert scores.any()
        for topic, score in zip(qrels, scores, strict=True):
            # It prints five decimals, and topics without relevant documents not at all.
            assert score == pytest.approx(expected.get((measure, topic), 0.0), abs=5.0001e-6)


@pytest.mark.parametrize("name", DATA)
def test_judged_share_against_ir_measures(real_data, name):
    rankings, qrels, ranked = load(real_data, name)
    measures = ["Judged@1", "Judged@10", "Judged@500", "Judged"]
    expected = provided(ir_measures.judged, measures, qrels, ranked)
    for measure in measures:
        scores = parse_measure(measure)(rankings)[0, :, 0]
        np.testing.assert_array_equal(scores, [expected[measure, topic] for topic in qrels])


@pytest.mark.parametrize("gains", ["{0:1,1:4}", "{0: 0, 1: 4}", "{1:1,2:8}"])
def test_gains_in_the_spelling_of_ir_measures(gains):
    """Those of levels below 1 are computed by ir_measures, for which such documents gain, too."""
    qrels = {"1": {"a": 1, "b": 0, "c": 2, "d": 1}}
    run = {"1": {"b": 3.0, "a": 2.0, "z": 1.5, "c": 1.0}}
    measure = ir_measures.parse_measure(f"nDCG(gains={gains})@10")
    (theirs,) = ir_measures.iter_calc([measure], qrels, run)
    for spelt in (measure, f"nDCG(gains={gains})@10", str(measure)):
        assert confir.evaluate(qrels, run, spelt).values.item() == pytest.approx(theirs.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("P(depth=1)@3", "unknown parameter of P 'depth'; known: rel"),
        ("infAP(depth=1)", r"unknown measure 'infAP\(depth=1\)'"),
        ("-" * 100_000, "unknown measure '---"),
        ("SDCG@10", "ir_measures cannot compute SDCG@10: invalid param max_rel"),
    ],
)
def test_what_ir_measures_cannot_compute_is_said_in_a_sentence(name, message):
    with pytest.raises(ConfirError, match=f"^{message}.*$"):
        confir.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, name)


def test_a_measure_that_is_not_defined_on_a_topic_is_missing_there_against_ir_measures():
    """Accuracy compares relevant documents with others: topic 2 retrieves none of grade 2."""
    qrels = {
        "1": {"a": 2, "b": 0, "c": 2, "d": 0},
        "2": {"a": 1, "b": 0},
        "3": {"a": 2, "b": 0},
    }
    runs = {"x": {"1": {"a": 4, "b": 3, "c": 2, "d": 1}, "2": {"a": 2, "b": 1}}}
    with (
        pytest.warns(TopicWarning, match=r"Accuracy\(rel=2\) of run 'x' is not defined on 1 topic"),
        pytest.warns(MissingTopicWarning),
    ):
        scores = confir.evaluate(qrels, runs, "Accuracy(rel=2)")
    found = ir_measures.iter_calc([ir_measures.parse_measure("Accuracy(rel=2)")], qrels, runs["x"])
    expected = {metric.query_id: metric.value for metric in found}
    assert expected == {"1": pytest.approx(0.75)}
    # topic 3, which the run lacks, scores 0
    np.testing.assert_allclose(scores.values[:, 0, 0], [0.75, np.nan, 0.0])
    assert scores.mean()[0, 0] == pytest.approx(0.375)
