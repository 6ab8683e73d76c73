"""The overview of topics: their selection, order and numbers."""

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.studies.topic_difficulty.table import overview_table
from confir.studies.topic_difficulty.topic_difficulty import describe_topics

# Topics × runs. Medians 0.2, 0.2, 0.6, 0.9; on topic d the first run has no score.
VALUES = np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.1], [0.6, 0.6, 0.6], [np.nan, 0.9, 0.9]])


@pytest.fixture
def scores():
    return Scores(tuple("abcd"), ("r1", "r2", "r3"), ("AP",), VALUES[:, :, None])


def rows(table):
    return [tuple(cell.text for cell in row[: table.names]) for row in table.rows]


def test_topics_that_tie_stand_in_their_own_order(scores):
    table = overview_table(describe_topics(scores), 2)
    assert [row for row in rows(table) if row[0] == "hardest"] == [
        ("hardest", "a"),
        ("hardest", "b"),
    ]


def test_easiest_topics_come_from_the_other_end(scores):
    table = overview_table(describe_topics(scores), 3)
    found = [topic for kind, topic in rows(table) if kind == "easiest"]
    assert found == ["d", "c", "a"]


def test_topics_without_a_discrimination_are_not_among_the_most_discriminating(scores):
    topics = describe_topics(scores)
    assert np.isnan(topics.discrimination[2:, 0]).all()
    table = overview_table(topics, 4)
    found = [topic for kind, topic in rows(table) if kind == "discriminating"]
    expected = sorted("ab", key=lambda name: -topics.discrimination["ab".index(name), 0])
    assert found == expected


def test_a_run_fails_only_where_it_has_a_score_below_the_best(scores):
    table = overview_table(describe_topics(scores, run="r1"), 4)
    assert [row for row in rows(table) if row[0] == "r1 fails"] == [
        ("r1 fails", "a"),
        ("r1 fails", "b"),
    ]
    assert table.columns[-2:] == ("score", "shortfall")
    last = [cell.text for cell in table.rows[-2]]
    assert last[-2:] == ["0.1000", "0.2000"]


def test_without_a_run_there_are_three_lists_and_no_columns_of_a_run(scores):
    table = overview_table(describe_topics(scores), 1)
    assert [kind for kind, _ in rows(table)] == ["hardest", "easiest", "discriminating"]
    assert table.columns == ("list", "topic", "lowest", "median", "highest", "discr.")
    assert "shortfall" not in table.note


def test_several_measures_are_named_in_each_row(scores):
    both = Scores(scores.topics, scores.runs, ("AP", "RR"), np.repeat(scores.values, 2, axis=2))
    table = overview_table(describe_topics(both), 1)
    assert table.names == 3
    assert [row[0] for row in rows(table)] == ["AP"] * 3 + ["RR"] * 3


def test_a_longer_list_than_there_are_topics_has_them_all(scores):
    table = overview_table(describe_topics(scores), 100)
    assert len([row for row in rows(table) if row[0] == "hardest"]) == 4
