"""Runs and qrels in TREC and JSON files, by their endings."""

import json

import pytest

from confir.data.formats.runs_and_qrels import (
    as_qrels,
    as_run,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)
from confir.errors import ConfirError, FormatError

RUN = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 0.5}}
QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}


@pytest.mark.parametrize("ending", ["json", "JSON", "json.gz", "txt", "txt.gz", "jsonx"])
def test_runs_and_qrels_are_read_as_they_were_written(tmp_path, ending):
    run, qrels = tmp_path / f"x.{ending}", tmp_path / f"q.{ending}"
    write_run(RUN, run)
    write_qrels(QRELS, qrels)
    assert read_run(run).to_dict() == as_run(run).to_dict() == RUN
    assert read_qrels(qrels).to_dict() == as_qrels(qrels).to_dict() == QRELS


def test_the_ending_json_writes_json(tmp_path):
    write_run(as_run(RUN), tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == RUN
    write_qrels(as_qrels(QRELS), tmp_path / "q.json")
    assert json.loads((tmp_path / "q.json").read_text()) == QRELS


def test_json_without_its_ending_is_recognised_by_its_start(tmp_path):
    (tmp_path / "x.txt").write_text(json.dumps(RUN))
    assert read_run(tmp_path / "x.txt", name="mine").name == "mine"


def test_unknown_ways_of_naming_are_refused(tmp_path):
    write_run(RUN, tmp_path / "x.txt")
    with pytest.raises(ConfirError, match="unknown name_by 'tags'; did you mean tag"):
        read_run(tmp_path / "x.txt", name_by="tags")


def test_blanks_around_ids_in_delimited_text_are_no_part_of_them(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("topic,docid,score\n1 , d1,0.5\n 1,d2 , 0.25 \n")
    assert read_run(path).to_dict() == {"1": {"d1": 0.5, "d2": 0.25}}
    path.write_text("topic,docid,score\n1,d1,0.5\n1,d1 ,0.25\n")
    with pytest.raises(FormatError, match="'d1'"):
        read_run(path)
