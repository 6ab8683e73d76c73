"""ranx itself, which compiles its code for a minute: its stored values, and its objects as input."""

import json
from pathlib import Path

import numpy as np
import pytest
import ranx

import confir
from confir import as_qrels, as_run, as_scores, write_run
from confir.data.simulation import sample_collection
from confir.errors import FormatError

VALIDATION = Path(__file__).parents[2] / "validation"
QRELS = {"1": {"a": 1, "b": 2}, "2": {"b": 1}, "3": {"c": 1}}
RUNS = {
    "x": {"1": {"a": 3.0, "z": 2.0, "b": 1.0}, "2": {"z": 2.0, "b": 1.0}, "3": {"c": 1.0}},
    "y": {"1": {"z": 3.0, "a": 2.0}, "2": {"b": 2.0}, "3": {"z": 2.0, "c": 1.0}},
}


def test_stored_values_are_those_of_ranx(monkeypatch):
    monkeypatch.syspath_prepend(VALIDATION)
    from ranx_values import STORED, ranx_values

    stored = json.loads(STORED.read_text(encoding="utf-8"))
    made = ranx_values()
    assert made["means"].keys() == stored["means"].keys()
    for run, means in stored["means"].items():
        assert made["means"][run] == pytest.approx(means, abs=1e-12)
    assert made["p_values"] == pytest.approx(stored["p_values"], rel=1e-9)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # ranx leaves files open
def test_runs_and_qrels_go_there_and_back(tmp_path):
    run, qrels = ranx.Run(RUNS["x"], name="bm25"), ranx.Qrels(QRELS)
    assert as_run(run).name == "bm25"
    assert as_run(run).to_dict() == RUNS["x"]
    assert as_run(run.run).to_dict() == RUNS["x"]
    assert as_run(run.to_dataframe()).to_dict() == RUNS["x"]
    assert as_qrels(qrels).to_dict() == QRELS
    assert as_qrels(qrels.to_dataframe()).to_dict() == QRELS
    write_run(as_run(run), tmp_path / "run.json")
    assert ranx.Run.from_file(str(tmp_path / "run.json")).to_dict() == RUNS["x"]


def test_objects_are_evaluated_as_they_are():
    sample = sample_collection()
    qrels, run = sample.qrels.to_dict(), sample.runs[0].to_dict()
    ours = confir.evaluate(qrels, {"bm25": run}, ["AP"]).mean().item()
    theirs = confir.evaluate(ranx.Qrels(qrels), ranx.Run(run, name="bm25"), ["AP"]).mean().item()
    assert theirs == ours


def test_runs_are_scores_after_evaluate():
    qrels = ranx.Qrels(QRELS)
    runs = [ranx.Run(run, name=name) for name, run in RUNS.items()]
    for run in runs:
        ranx.evaluate(qrels, run, ["map", "recall@5"])
    with pytest.raises(FormatError, match=r"run 'z' of ranx has no scores; expected one after"):
        as_scores(ranx.Run(RUNS["x"], name="z"))
    made = as_scores(runs)
    assert made.measures == ("map", "recall@5")
    ours = confir.evaluate(QRELS, RUNS, ["AP"])
    np.testing.assert_allclose(made.values[:, :, 0], ours.values[:, :, 0], rtol=0, atol=1e-12)
    assert as_scores(runs[0]).runs == ("x",)
    assert as_scores({"other": runs[0]}).runs == ("other",)
