"""Votes from files and objects, in the formats of arenas."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confir.data.votes import Votes, read_votes
from confir.errors import (
    ConfirError,
    FormatError,
    InputWarning,
    InvalidValueError,
    ReadingWarning,
)

ROWS = [("x", "y", "x"), ("y", "z", "tie"), ("z", "x", "x"), ("x", "z", "z")]
RECORDS = [dict(zip(("left", "right", "winner"), row, strict=True)) for row in ROWS]


def as_csv(rows, separator=","):
    return "\n".join(separator.join(row) for row in [("left", "right", "winner"), *rows]) + "\n"


def assert_read(votes):
    assert votes.systems == ("x", "y", "z")
    assert votes.left.tolist() == [0, 1, 2, 0]
    assert votes.right.tolist() == [1, 2, 0, 2]
    assert votes.winner.tolist() == [1.0, 0.5, 0.0, 0.0]


def test_votes_are_the_same_in_every_format(tmp_path):
    texts = {
        "v.csv": as_csv(ROWS),
        "v.tsv": as_csv(ROWS, "\t"),
        "v.json": json.dumps(RECORDS),
        "v.jsonl": "\n".join(map(json.dumps, RECORDS)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert_read(read_votes(tmp_path / name))
    pq.write_table(pa.Table.from_pylist(RECORDS), tmp_path / "v.parquet")
    assert_read(read_votes(tmp_path / "v.parquet"))
    columns = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
    for held in (RECORDS, columns, pd.DataFrame(columns), pl.DataFrame(columns)):
        assert_read(read_votes(held))


def test_a_winner_is_a_side_a_system_or_a_tie_whatever_the_arena_calls_it():
    words = ["model_a", "Model_B", "left", "right", "tie", "tie (bothbad)", "both bad", "y", "x"]
    votes = read_votes({"model_a": ["x"] * 9, "model_b": ["y"] * 9, "winner": words})
    assert votes.winner.tolist() == [1, 0, 1, 0, 0.5, 0.5, 0.5, 0, 1]


def test_the_table_counts_wins_and_ties_of_both_sides():
    table = read_votes(RECORDS).table()
    assert table.wins.tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert table.ties.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert table.votes.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    np.testing.assert_array_equal(
        table.share, [[np.nan, 1, 0.5], [0, np.nan, 0.5], [0.5, 0.5, np.nan]]
    )


def test_topics_and_judges_are_kept_where_named():
    votes = read_votes(
        [{**RECORDS[0], "query": "q2", "judge": None}, {**RECORDS[1], "query": "q1"}]
    )
    assert votes.topic.names == ["q1", "q2"]
    assert votes.topic.codes.tolist() == [1, 0]
    assert votes.judge is None


def test_counts_are_as_many_votes():
    counts = {
        "left": ["a", "a"],
        "right": ["b", "b"],
        "left_wins": [2, 0],
        "right_wins": [1, 1],
        "ties": [0, 1],
        "query": ["q1", "q2"],
    }
    votes = read_votes(counts)
    assert votes.winner.tolist() == [1, 1, 0, 0, 0.5]
    assert votes.topic.codes.tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (as_csv([*ROWS, ("x", "y", "nobody")]), ":6: winner 'nobody' is unknown; expected left"),
        (as_csv([*ROWS, ("x", "y", "z")]), ":6: winner 'z' is unknown"),
        (as_csv([("x", "x", "tie")]), ":2: 'x' against itself; expected two different"),
        (as_csv([("left", "right", "right"), ("right", "left", "left")]), ":3: winner 'left' is a"),
        (as_csv([("x", "", "left")]), ":2: right '' is not an id"),
        ("left,right\nx,y\n", "no column of winners, nor of wins"),
        ("one,two,winner\nx,y,x\n", ":1: no columns of two systems; expected columns left, right"),
        ("left,right,left_wins,right_wins\nx,y,1,-2\n", ":2: right_wins is -2; expected a number"),
        ("left,right,left_wins,right_wins\nx,y,0.5,1\n", ":2: left_wins is 0.5; expected"),
        ("left,right,left_wins,right_wins\nx,y,nan,1\n", ":2: left_wins is missing; expected"),
        ("left,right,left_wins,right_wins\nx,y,0,0\n", "0 votes; expected at least 2"),
        ("", "the file is empty; expected columns left, right and winner"),
    ],
)
def test_an_error_names_file_line_and_what_was_expected(tmp_path, text, problem):
    path = tmp_path / "votes.csv"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_votes(path)
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)


@pytest.mark.parametrize("source", [[], [1], {}, {"left": ["a"], "right": []}, None, 3])
def test_what_holds_no_votes_is_refused_in_a_sentence(source):
    with pytest.raises(ConfirError):
        read_votes(source)


def test_votes_made_by_hand_have_one_winner_each():
    with pytest.raises(InvalidValueError, match="differ in length"):
        Votes(("a", "b"), np.array([0]), np.array([1]), np.array([1.0, 0.0]))


def test_the_arena_of_mteb_is_read(real_data):
    votes = read_votes(real_data / "mteb-arena" / "votes.json")
    assert (len(votes), len(votes.systems)) == (1670, 15)
    assert int(votes.tied.sum()) == 787


def test_votes_of_a_system_against_itself_are_left_out_and_named(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(as_csv([*ROWS, ("alone", "alone", "tie"), *ROWS]))
    line = 2 + len(ROWS)
    with pytest.warns(ReadingWarning, match=rf"left out a vote .* itself \('alone', line {line}\)"):
        votes = read_votes(path)
    assert len(votes) == 2 * len(ROWS)
    assert "alone" not in votes.systems
    counted = {"left": ["a", "b"], "right": ["b", "b"], "left_wins": [2, 9], "right_wins": [1, 9]}
    with pytest.warns(ReadingWarning, match="of a system against itself"):
        assert len(read_votes(counted)) == 3


def test_systems_that_every_output_would_merge_are_refused():
    votes = {"left": ["x\x01", "y"], "right": ["x\x02", "x\x01"], "winner": ["y", "y"]}
    votes["winner"] = votes["left"]
    with pytest.raises(FormatError, match=r"two systems are named .* control characters only"):
        read_votes(votes)


ANSWERS = {"left": "xyzx", "right": "yzxz", "winner": "xyxz"}


@pytest.mark.parametrize(
    "names",
    [
        ("length_left", "length_right"),
        ("left_length", "right_length"),
        ("length_model_a", "length_model_b"),
        ("model_a_length", "model_b_length"),
        ("length_a", "length_b"),
        ("a_length", "b_length"),
    ],
)
def test_a_covariate_is_that_of_the_left_answer_less_the_right_ones(names):
    columns = dict(zip(names, ([10, 20, 30, 5], [1, 2.5, 30, 9]), strict=True))
    votes = read_votes({**ANSWERS, **columns}, covariates=["length"])
    assert votes.covariates["length"].tolist() == [9, 17.5, 0, -4]
    assert votes.where(np.array([3, 0])).covariates["length"].tolist() == [-4, 9]
    assert read_votes({**ANSWERS, **columns}).covariates == {}


def test_a_single_column_is_a_difference_already(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner,longer\nx,y,x,3\ny,x,error,0\ny,z,y,-2\nx,x,x,4\n")
    with pytest.warns(InputWarning):
        votes = read_votes(path, covariates=["longer"])
    assert votes.covariates["longer"].tolist() == [3, -2]


def test_votes_that_are_counted_have_their_rows_covariate():
    counts = {"left_wins": [2, 0], "right_wins": [1, 1], "ties": [0, 1], "length": [3, -1]}
    votes = read_votes({"left": "xy", "right": "yx", **counts}, covariates=["length"])
    assert votes.covariates["length"].tolist() == [3, 3, 3, -1, -1]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({}, "no column, and no pair of columns, for the covariate 'length'; expected either"),
        ({"length_left": [1, 2, 3, 4]}, "no column, and no pair of columns, for the covariate"),
        (
            {"length": [1, -2, 3, 4], "length_a": [1, 2, 3, 4], "length_b": [1, 2, 3, 4]},
            "several columns for the covariate 'length'",
        ),
        ({"length": [1, 2, 3, 4]}, "is no difference between two answers"),
        ({"length": [1, None, -3, 4]}, "the length is missing; expected a number for each vote"),
        ({"length": [1, "long", -3, 4]}, "'long' under 'length' is not a finite number"),
    ],
)
def test_a_covariate_that_could_mean_two_things_is_refused(columns, problem):
    with pytest.raises(FormatError) as caught:
        read_votes({**ANSWERS, **columns}, covariates=["length"])
    assert problem in str(caught.value)
    with pytest.raises(InvalidValueError, match="expected a list of names"):
        read_votes({**ANSWERS, "length": [1, 2, -3, 4]}, covariates="length")


def test_formats_that_merge_both_orders_of_the_answers_have_no_sides(tmp_path):
    record = {"question_id": 1, "model_1": "x", "model_2": "y", "g1_winner": "model_1"}
    path = tmp_path / "pairs.jsonl"
    lines = [{**record, "g2_winner": winner} for winner in ("model_1", "tie")]
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.warns(ReadingWarning, match="changed with the order"):
        votes = read_votes(path)
    assert (votes.has_sides, votes.winner.tolist()) == (False, [1.0, 0.5])
    assert read_votes(RECORDS).has_sides
