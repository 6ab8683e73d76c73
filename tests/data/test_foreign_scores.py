"""Scores returned by other libraries: the same numbers as confir's own evaluation."""

# ruff: noqa: PD011 - the values of scores are no frame's

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import pytrec_eval

import confir
from confir import as_scores
from confir.errors import FormatError, InvalidValueError

QRELS = {"1": {"a": 1, "b": 2}, "2": {"b": 1}, "3": {"c": 1}}
RUNS = {
    "x": {"1": {"a": 3.0, "z": 2.0, "b": 1.0}, "2": {"z": 2.0, "b": 1.0}, "3": {"c": 1.0}},
    "y": {"1": {"z": 3.0, "a": 2.0}, "2": {"b": 2.0}, "3": {"z": 2.0, "c": 1.0}},
}
OURS = confir.evaluate(QRELS, RUNS, ["AP", "nDCG@10"])


def same(made, expected=OURS):
    assert made.runs == expected.runs
    assert made.topics == expected.topics
    np.testing.assert_allclose(made.values, expected.values, rtol=0, atol=1e-12)


def calculated(run):
    return ir_measures.iter_calc([ir_measures.AP, ir_measures.nDCG @ 10], QRELS, run)


def test_lists_and_iterators_of_ir_measures_are_scores():
    one = as_scores(list(calculated(RUNS["x"])))
    assert (one.runs, one.measures) == (("run",), ("AP", "nDCG@10"))
    assert one.values.tolist() == as_scores(calculated(RUNS["x"])).values.tolist()
    same(as_scores({name: list(calculated(run)) for name, run in RUNS.items()}))
    same(as_scores({name: calculated(run) for name, run in RUNS.items()}))


def test_frames_of_ir_measures_have_its_measures_as_cells_and_columns():
    frames = [pd.DataFrame(calculated(run)).assign(run=name) for name, run in RUNS.items()]
    same(as_scores(pd.concat(frames)))
    columns = dict(zip((ir_measures.AP, ir_measures.nDCG @ 10), OURS.values[:, 0].T, strict=True))
    wide = pd.DataFrame({"run": "x", "query_id": OURS.topics, **columns})
    same(as_scores(wide), confir.evaluate(QRELS, {"x": RUNS["x"]}, OURS.measures))


def test_results_of_pytrec_eval_are_scores():
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "ndcg_cut.10"})
    results = {name: evaluator.evaluate(run) for name, run in RUNS.items()}
    made = as_scores(results)
    assert made.measures == ("AP", "nDCG@10")
    same(made)
    one = as_scores(results["y"])
    assert (one.runs, one.measures) == (("run",), ("AP", "nDCG@10"))
    np.testing.assert_allclose(one.values[:, 0], OURS.values[:, 1], rtol=0, atol=1e-12)


def test_all_measures_of_pytrec_eval_are_recognised():
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, pytrec_eval.supported_measures - {"runid"})
    made = as_scores({"x": evaluator.evaluate(RUNS["x"])})
    assert made.topics == ("1", "2", "3")
    assert {"AP", "P@5", "utility"} <= set(made.measures)


class StandInRun:
    """Has the public shape of ranx.Run, which compiles for seconds; tests/verify has ranx itself."""

    def __init__(self, run, name, scores):
        self.run, self.name, self.scores = run, name, scores


StandInRun.__module__ = "ranx.data_structures.run"


def test_runs_of_ranx_are_scores_after_evaluate():
    kept = {
        run: {m: dict(zip(OURS.topics, OURS.values[:, r, 0], strict=True)) for m in ("map", "x@5")}
        for r, run in enumerate(OURS.runs)
    }
    runs = [StandInRun(RUNS[name], name, scores) for name, scores in kept.items()]
    made = as_scores(runs)
    assert made.measures == ("map", "x@5")
    np.testing.assert_allclose(made.values[:, :, 0], OURS.values[:, :, 0], rtol=0, atol=1e-12)
    assert as_scores(runs[0]).runs == ("x",)
    assert as_scores({"other": runs[0]}).runs == ("other",)


def test_a_run_of_ranx_before_evaluate_is_an_error():
    with pytest.raises(FormatError, match=r"run 'x' of ranx has no scores; expected one after"):
        as_scores(StandInRun(RUNS["x"], "x", {}))


def test_a_frame_of_pyterrier_is_scores():
    """The columns that ``pt.Experiment(..., perquery=True)`` documents: name, qid, measure, value."""
    rows = [(r["run"], r["topic"], r["measure"], r["score"]) for r in OURS.to_records()]
    same(as_scores(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_long_and_wide_frames_are_scores(make):
    same(as_scores(make(OURS.to_dict())))
    wide = {"topic": list(OURS.topics)}
    wide |= {run: OURS.values[:, i, 0].tolist() for i, run in enumerate(OURS.runs)}
    same(as_scores(make(wide)), OURS.select(measure=["AP"]))


def test_mappings_of_runs_keep_their_meaning():
    by_topic = {"x": {"P1": 0.5, "P2": 0.25}, "y": {"P1": 1.0, "P2": 0.0}}
    made = as_scores(by_topic)
    assert (made.runs, made.topics) == (("x", "y"), ("P1", "P2"))
    by_measure = {"x": {"map": {"1": 0.5, "2": 0.25}}}
    assert as_scores(by_measure).measures == ("map",)


def test_every_verb_takes_them():
    results = {name: list(calculated(run)) for name, run in RUNS.items()}
    assert confir.confidence_interval(results["x"], method="t").low.size == 2
    assert confir.compare_runs(results, replicates=19, rng=1).runs == ("x", "y")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([ir_measures.util.Metric("1", ir_measures.AP, 0.5), 3], "entry 2 is int; expected scores"),
        ([ir_measures.util.Metric("1", ir_measures.AP, 0.5)] * 2, "a second score of run 'run'"),
        ({"x": {"1": {"map": 0.5}, "2": {"map": "bad"}}}, "'bad' under 'score' is not a finite"),
        ({"x": {"1": {"map": 0.5}, "2": {}}, "y": {}}, None),
        ({}, "no scores; expected one"),
    ],
)
def test_bad_results_are_named(source, message):
    if message is None:
        assert as_scores(source).topics == ("1",)
        return
    with pytest.raises(FormatError, match=message):
        as_scores(source)


def test_means_without_topics_are_an_error():
    with pytest.raises((FormatError, InvalidValueError)):
        as_scores({ir_measures.AP: 0.5})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_a_frame_with_a_column_of_runs_holds_several_runs(make):
    rows = [
        (run, topic, document, score)
        for topic in QRELS
        for run in RUNS
        for document, score in RUNS[run][topic].items()
    ]
    columns = dict(
        zip(("run", "qid", "docno", "score"), map(list, zip(*rows, strict=True)), strict=True)
    )
    same(confir.evaluate(QRELS, make(columns), ["AP", "nDCG@10"]))
    experiment = confir.Experiment(QRELS, [make(columns)], ["AP", "nDCG@10"])
    same(confir.evaluate(experiment))
    with pytest.raises(FormatError, match=r"run: holds 2 runs \(x, y\); expected one here"):
        confir.as_run(make(columns))
    with pytest.raises(FormatError, match=r"holds 2 runs \(x, y\); expected one here"):
        confir.evaluate(QRELS, {"both": make(columns)}, "AP")
    single = {name: column[:3] for name, column in columns.items()}
    assert confir.as_run(make(single)).name == "x"
    assert confir.as_run(make(single), name="z").name == "z"


def test_results_of_mteb_without_splits_are_said_to_have_none(tmp_path):
    path = tmp_path / "Task.json"
    path.write_text('{"mteb_version": "1", "task_name": "Task", "scores": {}}')
    with pytest.raises(FormatError, match=r"Task\.json: no splits; expected results of MTEB"):
        confir.read_scores(path)


@pytest.mark.parametrize(("held", "lacking"), [("", "subsets"), (', "default": {}', "splits")])
def test_predictions_of_mteb_without_parts_are_said_to_have_none(tmp_path, held, lacking):
    path = tmp_path / "Task_predictions.json"
    path.write_text(f'{{"mteb_model_meta": {{}}{held}}}')
    with pytest.raises(FormatError, match=rf"json: has no {lacking}; expected one or more"):
        confir.read_run(path)
