"""Records: safe to open in a spreadsheet, and exact for programs."""

import csv
import io
import json

import pytest

from confir.data.score_files import read_scores
from confir.data.score_writers import write_scores
from confir.report.records import format_result, write_result
from confir.report.tables import Table
from requirements import required
from score_entries import scores_from_entries

SEPARATORS = {"csv": ",", "tsv": "\t"}


def cells(kind: str, *records: dict) -> list[list[str]]:
    """Return the cells of records written as text, read by the standard library."""
    text = format_result(kind, records, Table((), ()))
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=SEPARATORS[kind]))


@pytest.mark.parametrize("kind", SEPARATORS)
@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_text_like_a_formula_gets_a_quote_before_it(kind, name):
    assert cells(kind, {"run": name, "mean": 0.5})[1] == [f"'{name}", "0.5"]


@pytest.mark.parametrize("kind", SEPARATORS)
@pytest.mark.parametrize("value", [-0.5, -3, 1e-300, -1e300])
def test_numbers_stay_numbers(kind, value):
    assert float(cells(kind, {"difference": value, "p": 0.1})[1][0]) == value


@pytest.mark.parametrize("kind", SEPARATORS)
@pytest.mark.parametrize(
    "name", ["plain", "a,b", "a\tb", 'say "x"', "a\rb", "a\nb", "a\r\nb", "'quoted", "a=b", "a-b"]
)
def test_any_other_text_is_read_back_as_it_was(kind, name):
    rows = cells(kind, {"run": name, "mean": 0.5}, {"run": "next", "mean": None})
    assert rows == [["run", "mean"], [name, "0.5"], ["next", ""]]


@pytest.mark.parametrize("kind", SEPARATORS)
def test_control_characters_are_replaced(kind):
    assert cells(kind, {"run": "\x1b[2Ja\x9b\u202eb", "mean": 1})[1][0] == "\ufffd[2Ja\ufffd\ufffdb"


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_json_is_exact_and_harmless(kind):
    name = "=x\x1b\x7f\x9b\u2028\u202e\t\r\né"
    text = format_result(kind, [{"run": name, "mean": -0.5}], Table((), ()))
    read = json.loads(text)
    assert (read[0] if kind == "json" else read) == {"run": name, "mean": -0.5}
    assert not set("\x1b\x7f\x9b\u2028\u202e") & set(text)
    assert "é" in text


@pytest.mark.parametrize("name", ["=1+1", "-x", "@a", "\x1b[0m", "a\rb"])
def test_score_files_are_data_and_hold_names_exactly(tmp_path, name):
    scores = scores_from_entries({(name, "AP", "1"): 0.5, (name, "AP", "2"): 0.25})
    for ending in ("csv", "tsv", "json", "jsonl"):
        write_scores(scores, tmp_path / f"scores.{ending}")
        assert name in (tmp_path / f"scores.{ending}").read_bytes().decode() or "json" in ending
        assert read_scores(tmp_path / f"scores.{ending}").runs == (name,)


@pytest.mark.parametrize("kind", SEPARATORS)
def test_scores_that_a_command_prints_are_read_back_as_they_were(tmp_path, kind):
    names = ["=x", "'=x", "''=x", "'x", "a;b;c", "topic;score", "#x", " x", "-1", "'-1", "a,b"]
    scores = scores_from_entries({(run, "P", topic): 0.5 for run in names for topic in names})
    text = format_result(kind, scores.to_records(), Table((), ()))
    (tmp_path / f"scores.{kind}").write_text(text, encoding="utf-8")
    read = read_scores(tmp_path / f"scores.{kind}")
    assert (read.runs, read.measures, read.topics) == (scores.runs, ("P",), scores.topics)


@pytest.mark.parametrize("name", ["a;b", "a;b,c", ";"])
def test_a_cell_with_a_semicolon_is_quoted(name):
    text = format_result("csv", [{"run": name, "mean": 0.5}], Table((), ()))
    assert text == f'run,mean\n"{name}",0.5\n'


def test_half_a_pair_is_a_question_mark_in_parquet(tmp_path):
    write_result(tmp_path / "x.parquet", [{"run": "a\udcff", "mean": 0.5}], Table((), ()))
    table = required("pyarrow.parquet").read_table(tmp_path / "x.parquet")
    assert table.to_pylist() == [{"run": "a?", "mean": 0.5}]
