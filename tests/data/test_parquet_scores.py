"""Regular Parquet tables are read at once, as the general reader reads them; others are left to it."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from confir.data import score_files
from confir.data.parquet_scores import parquet_bytes, read_regular_parquet
from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.errors import FormatError

NAMES = st.text("ab1é漢 ", min_size=1, max_size=3).filter(lambda name: name != "all")
CELLS = st.one_of(st.floats(-2, 2), st.just(float("nan")))


@st.composite
def tables(draw):
    axes = [draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)) for _ in range(3)]
    topics, runs, measures = sorted(axes[0]), *axes[1:]
    shape = (len(topics), len(runs), len(measures))
    size = int(np.prod(shape))
    cells = draw(st.lists(CELLS, min_size=size, max_size=size))
    values = np.array(cells).reshape(shape)
    values.flat[0] = 0.5
    return Scores(tuple(topics), tuple(runs), tuple(measures), values)


def assert_equal(one, other):
    assert (one.topics, one.runs, one.measures) == (other.topics, other.runs, other.measures)
    np.testing.assert_array_equal(one.values, other.values)


def read_in_general(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(score_files, "read_regular_parquet", lambda *_: None)
        return read_scores(path)


@given(scores=tables(), shuffle=st.randoms(use_true_random=False))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_regular_table_is_read_as_the_general_reader_reads_it(
    tmp_path, monkeypatch, scores, shuffle
):
    records = scores.to_records()
    shuffle.shuffle(records)
    path = tmp_path / "scores.parquet"
    pd.DataFrame(records).to_parquet(path, index=False)
    found = read_regular_parquet(path.read_bytes(), "scores.parquet")
    assert found is not None
    assert_equal(found, read_in_general(path, monkeypatch))


@given(scores=tables())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back(tmp_path, monkeypatch, scores):
    path = tmp_path / "scores.parquet"
    path.write_bytes(parquet_bytes(scores))
    assert_equal(read_scores(path), read_in_general(path, monkeypatch))
    assert read_scores(path).to_dict() == scores.to_dict()


ROW = {"run": "r", "measure": "AP", "topic": "1", "score": 0.5}


@pytest.mark.parametrize(
    "rows",
    [
        [ROW, ROW],
        [ROW, ROW | {"topic": "all", "score": 0.7}],
        [ROW, ROW | {"topic": "2", "score": float("inf")}],
        [ROW, ROW | {"topic": ""}],
        [ROW, ROW | {"topic": None}],
        [ROW | {"score": None}],
        [ROW | {"topic": 7}],
        [ROW | {"score": "0.5"}],
        [ROW | {"other": "x"}],
        [{"topic": "1", "score": 0.5}],
    ],
)
def test_what_is_not_regular_is_left_to_the_general_reader(tmp_path, monkeypatch, rows):
    path = tmp_path / "scores.parquet"
    pd.DataFrame(rows).to_parquet(path, index=False)
    assert read_regular_parquet(path.read_bytes(), "scores.parquet") is None
    try:
        expected = read_in_general(path, monkeypatch)
    except FormatError as error:
        with pytest.raises(FormatError, match=f"^{re.escape(str(error))}$"):
            read_scores(path)
    else:
        assert_equal(read_scores(path), expected)


def test_names_given_for_a_file_are_still_heeded(tmp_path):
    path = tmp_path / "scores.parquet"
    pd.DataFrame([ROW]).to_parquet(path, index=False)
    named = read_scores(path, run="mine", measure="nDCG")
    assert (named.runs, named.measures) == (("mine",), ("nDCG",))


def test_missing_scores_and_other_number_types_are_read(tmp_path):
    path = tmp_path / "scores.parquet"
    rows = [ROW, ROW | {"topic": "2", "score": None}, ROW | {"topic": "3", "score": 1.0}]
    pd.DataFrame(rows).astype({"score": "float32"}).to_parquet(path, index=False)
    found = read_regular_parquet(path.read_bytes(), "scores.parquet")
    assert found.topics == ("1", "2", "3")
    assert [record["score"] for record in found.to_records()] == [0.5, 1.0]
