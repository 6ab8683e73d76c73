"""Scores made from paths, frames, dicts and arrays."""

import numpy as np
import pytest

from confir.data.score_writers import write_scores
from confir.data.scores import Scores
from confir.errors import ConfirError, FormatError, InputWarning, InvalidValueError
from confir.measures.score_sources import as_scores
from requirements import required

SCORES = Scores(
    ("1", "2", "3"),
    ("x", "y"),
    ("AP", "P@5"),
    np.array([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]], [[0.9, 0.0], [np.nan, 0.2]]]),
)


def same(made: Scores, expected: Scores = SCORES) -> bool:
    names = (made.topics, made.runs, made.measures)
    return names == (expected.topics, expected.runs, expected.measures) and np.array_equal(
        made.values, expected.values, equal_nan=True
    )


def test_scores_stay_as_they_are():
    assert as_scores(SCORES) is SCORES


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_paths_are_read(tmp_path, kind):
    if kind == "parquet":
        required("pyarrow")
    path = tmp_path / f"scores.{kind}"
    write_scores(SCORES, path)
    assert same(as_scores(path))
    assert same(as_scores(str(path)))
    assert same(as_scores([path]))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_are_taken(backend):
    required(backend)
    assert same(as_scores(SCORES.to_frame(backend)))


def test_a_wide_frame_has_a_column_per_run():
    pandas = required("pandas")
    frame = pandas.DataFrame({"topic": ["1", "2"], "x": [0.1, 0.2], "y": [0.3, 0.4]})
    expected = Scores(
        ("1", "2"), ("x", "y"), ("score",), np.array([[[0.1], [0.3]], [[0.2], [0.4]]])
    )
    assert same(as_scores(frame), expected)


def test_nested_dicts_are_taken():
    assert same(as_scores(SCORES.to_dict()))


def nested(topics, measures, *, topics_first):
    """Scores of two runs as nested dicts, in either order."""
    outer, inner = (topics, measures) if topics_first else (measures, topics)
    return {run: {one: dict.fromkeys(inner, 0.5) for one in outer} for run in ("A", "B")}


@pytest.mark.parametrize("topics_first", [True, False])
@pytest.mark.parametrize(
    ("topics", "measures"),
    [
        (("red shoes", "hat"), ("AP", "foo")),
        (("t1", "t2"), ("foo", "hits@1")),
        (("t1", "t2"), ("P10", "foo", "bar")),
        (("101", "102"), ("faithfulness", "tone")),
        (("101", "102"), ("faithfulness2", "tone1")),
    ],
)
def test_levels_of_nested_dicts_are_recognised_by_their_names(topics, measures, topics_first):
    made = as_scores(nested(topics, measures, topics_first=topics_first))
    assert (made.runs, made.topics) == (("A", "B"), tuple(sorted(topics)))
    assert set(made.measures) == {"P@10" if m == "P10" and topics_first else m for m in measures}


def test_one_run_of_pytrec_eval_may_have_measures_of_others():
    made = as_scores({"t1": {"map": 0.5, "foo": 1.0}, "t2": {"map": 0.25, "foo": 0.5}})
    assert (made.runs, made.topics, made.measures) == (("run",), ("t1", "t2"), ("AP", "foo"))


@pytest.mark.parametrize(
    ("topics", "measures", "topics_first", "order"),
    [
        (("t1", "t2"), ("kindness",), True, "topic → measure"),
        (("hat", "coat"), ("kindness", "tone"), False, "measure → topic"),
        (("t1", "t2"), ("m1", "m2"), False, "measure → topic"),
    ],
)
def test_a_guess_at_the_levels_of_nested_dicts_is_reported(topics, measures, topics_first, order):
    with pytest.warns(InputWarning, match=f"scores: read as run → {order} → score: the "):
        made = as_scores(nested(topics, measures, topics_first=topics_first))
    assert (made.topics, made.measures) == (tuple(sorted(topics)), measures)


def test_dicts_of_topics_have_no_measure_to_name():
    made = as_scores({"x": {"1": 0.1, 2: 0.2}, "y": {"1": 0.3, "2": None}})
    values = np.array([[[0.1], [0.3]], [[0.2], [np.nan]]])
    assert same(made, Scores(("1", "2"), ("x", "y"), ("score",), values))


def test_arrays_by_run_number_the_topics():
    made = as_scores({"x": np.arange(10) / 10, "y": [0.5] * 10})
    assert made.topics == tuple(f"{number:02}" for number in range(1, 11))
    np.testing.assert_array_equal(made.values[:, 0, 0], np.arange(10) / 10)


def test_arrays_of_several_lengths_are_refused():
    with pytest.raises(InvalidValueError, match=r"arrays of the shapes \[\(1,\), \(2,\)\]"):
        as_scores({"x": [0.1], "y": [0.1, 0.2]})


def test_a_repeated_score_is_refused():
    pandas = required("pandas")
    frame = pandas.DataFrame({"run": ["x", "x"], "topic": ["1", "1"], "score": [0.1, 0.2]})
    with pytest.raises(FormatError, match="a second score of run 'x'"):
        as_scores(frame)


@pytest.mark.parametrize("source", [None, 3, object(), {}, {"x": {}}, {"x": "y"}, {"x": [1j]}, []])
def test_what_holds_no_scores_is_refused(source):
    with pytest.raises(ConfirError, match="scores"):
        as_scores(source)


def test_empty_scores_are_refused():
    with pytest.raises(InvalidValueError, match="scores hold 0 topics, 1 runs and 1 measures"):
        as_scores(Scores((), ("x",), ("AP",), np.zeros((0, 1, 1))))


def test_names_of_scores_are_text():
    with pytest.raises(InvalidValueError, match="runs is 'x'"):
        Scores(("1",), "x", ("AP",), np.zeros((1, 1, 1)))
    with pytest.raises(InvalidValueError, match="topics is"):
        Scores((1,), ("x",), ("AP",), np.zeros((1, 1, 1)))


def test_scores_of_lists_are_arrays_and_tuples():
    made = Scores(["1"], ["x"], ["AP"], [[[0.5]]])
    assert (made.topics, made.runs, made.measures) == (("1",), ("x",), ("AP",))
    assert made.values.dtype == np.float64


def test_columns_of_scores_make_the_scores_again():
    scores = Scores(("1", "2"), ("b", "a"), ("AP", "RR"), np.arange(8.0).reshape(2, 2, 2) / 8)
    again = as_scores(scores.to_dict())
    assert (again.topics, again.runs, again.measures) == (
        scores.topics,
        scores.runs,
        scores.measures,
    )
    np.testing.assert_array_equal(again.values, scores.values)


def test_columns_of_different_lengths_are_an_error():
    columns = {"run": ["a", "a"], "measure": ["AP"] * 2, "topic": ["1", "2"], "score": [0.5]}
    with pytest.raises(FormatError, match="columns of different lengths"):
        as_scores(columns)
    with pytest.raises(FormatError, match="a table without rows"):
        as_scores({name: [] for name in columns})
