"""Difficulty of topics, computed by hand."""

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.errors import UnknownNameError
from confir.studies.topic_difficulty.topic_difficulty import describe_topics

VALUES = np.array(
    [
        [[0.9, 0.1], [0.5, 0.2], [0.7, 0.6]],  # topic a: runs × measures
        [[0.0, 0.5], [0.2, 0.5], [0.1, 0.5]],  # topic b
        [[0.4, np.nan], [np.nan, np.nan], [0.2, np.nan]],  # topic c
    ]
)


@pytest.fixture
def difficulty():
    scores = Scores(("a", "b", "c"), ("r1", "r2", "r3"), ("AP", "RR"), VALUES)
    return describe_topics(scores)


def test_lowest_median_and_highest_are_over_the_runs_that_have_a_score(difficulty):
    assert difficulty.lowest[:, 0].tolist() == [0.5, 0.0, 0.2]
    assert difficulty.median[:, 0].tolist() == pytest.approx([0.7, 0.1, 0.3])
    assert difficulty.highest[:, 0].tolist() == [0.9, 0.2, 0.4]
    assert difficulty.runs.tolist() == [[3, 3], [3, 3], [2, 0]]


def test_a_topic_without_scores_has_no_numbers_and_no_record(difficulty):
    for part in (difficulty.lowest, difficulty.median, difficulty.highest):
        assert np.isnan(part[2, 1])
    assert [r["topic"] for r in difficulty.to_records() if r["measure"] == "RR"] == ["a", "b"]


def test_records_name_the_hardest_topic_first(difficulty):
    records = [r for r in difficulty.to_records() if r["measure"] == "AP"]
    assert [r["topic"] for r in records] == ["b", "c", "a"]
    assert records[0] | {"discrimination": None} == {
        "measure": "AP",
        "topic": "b",
        "runs": 3,
        "lowest": 0.0,
        "median": 0.1,
        "highest": 0.2,
        "discrimination": None,
    }


def test_discrimination_is_the_correlation_with_the_mean_of_the_other_topics():
    values = np.random.default_rng(4).random((6, 5, 2))
    values[2, 3, 0] = np.nan
    scores = Scores(tuple("abcdef"), tuple("rstuv"), ("AP", "RR"), values)
    found = describe_topics(scores).discrimination
    for topic in range(6):
        for measure in range(2):
            column = values[:, :, measure]
            others = np.nanmean(np.delete(column, topic, axis=0), axis=0)
            there = ~np.isnan(column[topic])
            expected = np.corrcoef(column[topic][there], others[there])[0, 1]
            assert found[topic, measure] == pytest.approx(expected, abs=1e-12)


def test_two_runs_and_equal_scores_have_no_discrimination(difficulty):
    assert np.isnan(difficulty.discrimination[2]).all()  # two runs, and none
    assert np.isnan(difficulty.discrimination[1, 1])  # all runs score the same


def test_a_chosen_run_is_shown_with_the_best():
    scores = Scores(("a", "b", "c"), ("r1", "r2", "r3"), ("AP", "RR"), VALUES)
    found = describe_topics(scores, run="r2")
    records = {r["topic"]: r for r in found.to_records() if r["measure"] == "AP"}
    assert records["a"]["run"] == "r2"
    assert records["a"]["score"] == 0.5
    assert records["a"]["shortfall"] == pytest.approx(0.4)
    assert np.isnan(records["c"]["shortfall"])
    with pytest.raises(UnknownNameError, match="r2"):
        describe_topics(scores, run="r9")


def test_columns_and_frames_hold_the_records(difficulty):
    assert difficulty.to_dict()["topic"] == ["b", "c", "a", "a", "b"]
    frame = difficulty.to_frame("pandas")
    assert frame["median"].tolist() == [r["median"] for r in difficulty.to_records()]
