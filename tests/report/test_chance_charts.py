"""Charts and tables of the random baseline show the numbers of the result."""

import math

import numpy as np
import pytest

import confir
from chart_labels import data_of, names_of, without_numbers
from confir.data.scores import Scores
from confir.report.result_chart import specification as chart
from confir.report.result_table import records_table, result_table
from confir.studies.chance.chance import TOPIC_COLUMNS
from confir.studies.chance.random_baseline import compare_with_chance, describe_chance

QRELS = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}


@pytest.fixture(scope="module")
def with_runs():
    values = np.array([[[0.9, 0.1], [0.3, 0.2]], [[0.5, 0.0], [0.2, 0.1]]])
    scores = Scores(("1", "2"), ("good", "bad"), ("AP", "P@10"), values)
    qrels = confir.as_qrels(QRELS)
    return compare_with_chance(qrels, scores, documents=20, rng=1)


def topic_table(chance):
    return records_table(chance.to_records(per_topic=True), TOPIC_COLUMNS)


def without_nan(records):
    return [
        {key: None if value != value else value for key, value in record.items()}  # noqa: PLR0124
        for record in records
    ]


def test_the_chart_of_runs_has_a_dashed_line_for_chance(with_runs):
    drawing = chart(with_runs)
    layers = drawing["spec"]["layer"]
    rules = [layer for layer in layers if layer["mark"]["type"] == "rule"]
    assert rules[0]["mark"]["strokeDash"]
    assert rules[0]["encoding"]["x"]["field"] == "expected"
    assert without_nan(with_runs.to_records()) in map(without_numbers, data_of(drawing))


def test_without_runs_the_chart_shows_topics():
    chance = compare_with_chance(confir.as_qrels(QRELS), documents=20)
    assert chance.to_records(per_topic=True) in map(without_numbers, data_of(chart(chance)))


def test_the_table_puts_runs_above_chance_and_marks_the_best(with_runs):
    table = result_table(with_runs)
    assert table.columns == ("run", "AP", "P@10", "p of AP")
    assert [row[0].text for row in table.rows] == ["good", "bad", "chance"]
    assert [cell.strong for cell in table.rows[0]] == [False, True, False, False]
    corrected = with_runs.corrected.mean()[0, 0]
    assert table.rows[0][1].text == f"0.7000 ({corrected:.4f})"


@pytest.fixture(scope="module")
def with_missing():
    """Runs that lack topics: the first has no score at all, the others have one each, or both."""
    nothing = np.nan
    values = [[nothing, 0.3, nothing, 0.9], [nothing, 0.2, 0.5, nothing]]
    scores = Scores(
        ("1", "2"), ("none", "both", "second", "first"), ("AP",), np.array(values)[:, :, None]
    )
    qrels = confir.as_qrels(QRELS)
    return compare_with_chance(qrels, scores, documents=20, draws=0)


def test_runs_with_topics_of_their_own_have_a_chance_of_their_own(with_missing):
    table = result_table(with_missing)
    assert table.columns == ("run", "topics", "AP", "chance, AP")
    first, second = with_missing.expected[:, 0]
    shown = {row[0].text: row[3].text.split(" ± ")[0] for row in table.rows}
    assert shown == {
        "first": f"{first:.4g}",
        "second": f"{second:.4g}",
        "both": f"{(first + second) / 2:.4g}",
        "none": "–",
    }
    assert list(shown) == ["first", "second", "both", "none"]
    assert [row[1].text for row in table.rows] == ["1", "1", "2", "0"]
    assert not any(row[2].strong for row in table.rows)
    assert table.rows[-1][2].text == "–"
    assert [record["topics"] for record in with_missing.to_records()] == [0, 2, 1, 1]
    assert "means over 1 to 2 topics" in with_missing.note()


def test_the_chart_shows_a_chance_of_each_run_where_the_table_does(with_missing):
    spec = chart(with_missing)["spec"]["layer"]
    assert [layer["mark"]["type"] for layer in spec] == ["point", "tick"]
    assert spec[1]["encoding"]["x"]["field"] == "expected"
    assert spec[1]["encoding"]["y"] == spec[0]["encoding"]["y"]
    assert names_of(spec[0]["encoding"]["y"]) == ["first", "second", "both", "none"]


def test_a_run_without_scores_leaves_the_chance_of_the_others_shared(with_runs):
    values = with_runs.scores.values.copy()
    values[:, 0] = np.nan
    scores = Scores(("1", "2"), ("none", "bad"), ("AP", "P@10"), values)
    qrels = confir.as_qrels(QRELS)
    table = result_table(compare_with_chance(qrels, scores, documents=20, draws=0))
    assert [row[0].text for row in table.rows] == ["bad", "none", "chance"]
    assert table.rows[2][1].text.startswith(f"{with_runs.expected[:, 0].mean():.4g} ± ")


def test_probabilities_that_underflow_are_shown_as_bounds(with_runs):
    from dataclasses import replace

    tiny = replace(with_runs, p=np.full_like(with_runs.p, 1e-300))
    assert result_table(tiny).rows[0][3].text == "<1e-300"


def test_unknown_probabilities_have_no_column_and_show_as_dashes(with_runs):
    from dataclasses import replace

    untested = replace(with_runs, p=np.full_like(with_runs.p, math.nan))
    assert result_table(untested).columns == ("run", "AP", "P@10")
    assert topic_table(untested).rows[0][-1].text == "–"


def test_the_topic_table_has_a_row_for_each_topic(with_runs):
    table = topic_table(with_runs)
    assert table.columns[:3] == ("measure", "run", "topic")
    assert len(table.rows) == 8
    assert len(topic_table(describe_chance(5, 2, ["AP"])).rows) == 1
