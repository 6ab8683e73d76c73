"""Lists in memory have the scores of the runs that they came from."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given

from confir.data.experiment import Experiment
from confir.data.ranked_lists.list_reader import read_lists
from confir.errors import (
    InputWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
)
from confir.measures.evaluation import evaluate, evaluate_lists
from confir.measures.parsing import parse_measure
from confir.resampling.document_bootstrap import resample_documents
from run_files import make_qrels
from strategies import VARIANTS, collections, examples

ALL = [parse_measure(text) for variants in VARIANTS.values() for text in variants]
QRELS = make_qrels({"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 1}, "3": {"d": 1}})
# Scores that differ in double precision only; a topic that the qrels lack; a topic that is missing.
RUNS = {
    "one": {"1": {"a": 1.00000002, "b": 1.00000001, "c": 1.0, "x": 0.5}, "2": {"x": 2.0, "a": 1.0}},
    "two": {"1": {"c": 3.0, "b": 1.0}, "3": {"d": 1.0}, "9": {"a": 1.0}},
}


def from_lists(qrels, runs, measures=None, **rules):
    """Return the scores of runs whose lists are read."""
    return evaluate_lists(Experiment(qrels, runs, measures, **rules))


def assert_equal(one, other):
    assert one.topics == other.topics
    assert one.runs == other.runs
    assert one.measures == other.measures
    np.testing.assert_array_equal(one.values, other.values)


@given(collection=collections())
@examples(60)
def test_every_measure_scores_lists_as_it_does_runs(collection):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TopicWarning)
        warnings.filterwarnings("ignore", r"RBP.* is up to", InputWarning)
        try:
            expected = evaluate(collection.qrels, collection.runs, ALL)
        except TopicMismatchError as error:
            with pytest.raises(TopicMismatchError, match=re.escape(str(error))):
                from_lists(collection.qrels, collection.runs, ALL)
        else:
            assert_equal(from_lists(collection.qrels, collection.runs, ALL), expected)


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"depth": 2},
        {"missing": "drop"},
        {"rel": 2},
    ],
)
def test_options_are_those_of_evaluate(options):
    names = ["AP", "nDCG", "RR"]
    expected = evaluate(QRELS, RUNS, names, **options)
    assert_equal(from_lists(QRELS, RUNS, names, **options), expected)


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_ties_in_single_precision_change_the_ranks():
    ranked = read_lists(QRELS, RUNS, tie_precision="single")
    for options in ({}, {"depth": 1}):
        expected = evaluate(QRELS, RUNS, ["AP", "RR"], tie_precision="single", **options)
        found = from_lists(QRELS, RUNS, ["AP", "RR"], tie_precision="single", **options)
        assert_equal(found, expected)
    assert [ranked.docids[d] for d in ranked.documents[:4].tolist()] == ["c", "b", "a", "x"]
    assert ranked.scores[:4].tolist() == [1.0, 1.00000001, 1.00000002, 0.5]


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_a_run_comes_back_from_its_lists():
    lists = read_lists(QRELS, RUNS)
    assert lists.run(0).to_dict() == RUNS["one"]
    assert lists.run(1).to_dict() == {topic: RUNS["two"][topic] for topic in "13"}
    assert lists.run(1).name == "two"
    assert lists.run(1)["1"] == [("c", 3.0), ("b", 1.0)]


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_measures_of_ir_measures_see_the_runs():
    assert_equal(from_lists(QRELS, RUNS, ["IPrec@0.5"]), evaluate(QRELS, RUNS, ["IPrec@0.5"]))


def test_warnings_and_errors_are_those_of_evaluate():
    with pytest.warns(TopicWarning) as caught:
        from_lists(QRELS, RUNS)
    with pytest.warns(TopicWarning) as expected:
        evaluate(QRELS, RUNS)
    assert [str(w.message) for w in caught] == [str(w.message) for w in expected]
    with pytest.raises(TopicMismatchError, match="lacks 1 topic"):
        from_lists(QRELS, RUNS, missing="error")
    with pytest.raises(InvalidValueError, match="depth is 0"):
        from_lists(QRELS, RUNS, depth=0)


def test_a_way_to_treat_missing_topics_that_is_none_is_refused():
    with pytest.raises(UnknownNameError, match="missing topics"):
        from_lists(QRELS, RUNS, missing="bogus")
    with pytest.raises(UnknownNameError, match="missing topics"):
        resample_documents(QRELS, RUNS, missing="bogus")


def test_a_score_above_1_by_the_grades_of_the_qrels_is_warned_of_though_the_mean_is_below():
    qrels = {"1": {"a": 2, "b": 2}, "2": {"a": 1}}
    runs = {"x": {"1": {"a": 2.0, "b": 1.0}, "2": {"b": 1.0}}}
    with pytest.warns(InputWarning, match=r"RBP\(p=0\.5\) is up to 1\.50 on a topic"):
        scores = evaluate(qrels, runs, ["RBP(p=0.5)"])
    assert scores.mean()[0, 0] < 1


def test_a_mean_above_1_by_the_grades_of_the_qrels_is_warned_of():
    qrels, runs = {"1": {"a": 2, "b": 2}}, {"x": {"1": {"a": 2.0, "b": 1.0}}}
    with pytest.warns(
        InputWarning, match=r"RBP\(p=0\.5\) is up to 1\.50 on a topic, above 1: .*1:0\.5,2:1"
    ):
        scores = evaluate(qrels, runs, ["RBP(p=0.5)", "NumRet"])
    assert scores.mean()[0, 0] == 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen = ["RBP(gains='1:0.5,2:1')", "RBP(rel=1)", "rbp", "RBP(gains='2:9')"]
        evaluate(qrels, runs, chosen)
