"""Which topics are hard: worked by hand."""

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.studies.topic_difficulty import describe_topics

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
    assert records[0] == {
        "measure": "AP",
        "topic": "b",
        "runs": 3,
        "lowest": 0.0,
        "median": 0.1,
        "highest": 0.2,
    }


def test_columns_and_frames_hold_the_records(difficulty):
    assert difficulty.to_dict()["topic"] == ["b", "c", "a", "a", "b"]
    frame = difficulty.to_frame("pandas")
    assert frame["median"].tolist() == [r["median"] for r in difficulty.to_records()]
