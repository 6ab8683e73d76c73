"""The lines of docs/coming-from.md against the tools that they replace."""

import json
import re
import subprocess
import sys
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import scipy.stats

import confir
from confir.cli.commands import COMMANDS
from samples import whole_sample

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coming-from.md"
# As validation/ranx_values.py wrote it; `make verify` compares it with ranx itself.
RANX = json.loads((ROOT / "validation" / "reference_values" / "ranx.json").read_text("utf-8"))
SAMPLE = whole_sample()
QRELS = SAMPLE.qrels.to_dict()
# Distinct retrieval scores: tools break ties each in its own way.
RUNS = {
    run.name: {
        topic: {document: 1000.0 - rank for rank, document in enumerate(listed)}
        for topic, listed in run.to_dict().items()
    }
    for run in SAMPLE.runs
    if run.name in ("bm25", "dense", "rerank")
}
BM25 = RUNS["bm25"]


@pytest.fixture(scope="module")
def scores():
    return confir.evaluate(QRELS, RUNS, ["AP", "nDCG@10"])


def of_topics(scores, run, measure):
    """Return topic → score of a run by a measure."""
    chosen = scores.select(run=run, measure=measure)
    return dict(zip(chosen.topics, chosen.values[:, 0, 0].tolist(), strict=True))  # noqa: PD011


def test_topics_of_pytrec_eval_have_the_same_scores(scores):
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "ndcg_cut.10"})
    results = evaluator.evaluate(BM25)
    for measure, theirs in (("AP", "map"), ("nDCG@10", "ndcg_cut_10")):
        expected = {topic: found[theirs] for topic, found in results.items()}
        assert of_topics(scores, "bm25", measure) == pytest.approx(expected, abs=1e-9)
    means = confir.confidence_interval(confir.as_scores(results)).to_records()
    expected = np.mean([found["map"] for found in results.values()])
    assert next(r["mean"] for r in means if r["measure"] == "AP") == pytest.approx(expected)


def test_means_and_topics_of_ir_measures_are_the_same(scores):
    measures = [ir_measures.AP, ir_measures.nDCG @ 10]
    means = ir_measures.calc_aggregate(measures, QRELS, BM25)
    ours = confir.evaluate(QRELS, {"bm25": BM25}, ["AP", "nDCG@10"]).mean()[0]
    assert ours.tolist() == pytest.approx([means[measure] for measure in measures], abs=1e-9)
    listed = confir.as_scores(list(ir_measures.iter_calc(measures, QRELS, BM25)))
    for measure in ("AP", "nDCG@10"):
        theirs = of_topics(listed, listed.runs[0], measure)
        assert theirs == pytest.approx(of_topics(scores, "bm25", measure), abs=1e-9)


def test_means_and_tests_of_ranx_are_the_same(scores):
    means = dict(zip(scores.runs, scores.select(measure="AP").mean()[:, 0].tolist(), strict=True))
    theirs = {run: measured["map"] for run, measured in RANX["means"].items()}
    assert means == pytest.approx(theirs, abs=1e-6)
    comparison = confir.compare_runs(scores.select(measure="AP"), correction="none", test="t")
    records = comparison.to_records()
    assert len(records) == len(RANX["p_values"]) == 3
    for record in records:
        pair = " ".join(sorted((record["run"], record["against"])))
        assert record["p"] == pytest.approx(RANX["p_values"][pair], rel=1e-4)


def test_tests_and_limits_of_scipy_are_the_same(scores):
    one = scores.select(measure="AP", run=["bm25", "rerank"])
    bm25, rerank = one.values[:, :, 0].T  # noqa: PD011
    comparison = confir.compare_runs(one, baseline="bm25", method="t", test="t")
    theirs = scipy.stats.ttest_rel(rerank, bm25)
    assert comparison.p.item() == pytest.approx(theirs.pvalue, rel=1e-9)
    low, high = theirs.confidence_interval(0.95)
    assert (comparison.low.item(), comparison.high.item()) == pytest.approx((low, high))
    wilcoxon = confir.compare_runs(one, baseline="bm25", test="wilcoxon").p.item()
    expected = scipy.stats.wilcoxon(rerank - bm25, zero_method="wilcox").pvalue  # scipy's default
    assert wilcoxon == pytest.approx(expected, rel=1e-9)
    interval = confir.confidence_interval(one.select(run="bm25"), method="t")
    sem = scipy.stats.sem(bm25)
    limits = scipy.stats.t.interval(0.95, len(bm25) - 1, bm25.mean(), sem)
    assert (interval.low.item(), interval.high.item()) == pytest.approx(limits)


def test_frames_of_pyterrier_give_the_means_and_tests_of_its_experiment(scores):
    # as pyterrier.Experiment(perquery=True) returns it; its p-values are scipy's, Holm's by statsmodels
    rows = [
        {"name": run, "qid": topic, "measure": "map", "value": value}
        for run in scores.runs
        for topic, value in of_topics(scores, run, "AP").items()
    ]
    read = confir.as_scores(pd.DataFrame(rows))
    for run in scores.runs:
        assert of_topics(read, run, "AP") == pytest.approx(of_topics(scores, run, "AP"))
    comparison = confir.compare_runs(read, baseline="bm25", correction="holm", test="t")
    base = np.array(list(of_topics(scores, "bm25", "AP").values()))
    single = {
        run: scipy.stats.ttest_rel(list(of_topics(scores, run, "AP").values()), base).pvalue
        for run in ("dense", "rerank")
    }
    adjusted = {r["run"]: r["p_adjusted"] for r in comparison.to_records()}
    smallest, largest = sorted(single, key=single.get)
    assert adjusted[smallest] == pytest.approx(min(1.0, 2 * single[smallest]))
    assert adjusted[largest] == pytest.approx(max(adjusted[smallest], single[largest]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the page: qrels.txt, qrels.tsv of BEIR, bm25.run and predictions of MTEB."""
    made = tmp_path_factory.mktemp("page")
    confir.write_qrels(confir.as_qrels(QRELS), made / "qrels.txt")
    confir.write_run(confir.as_run(BM25, name="bm25"), made / "bm25.run")
    rows = [f"{t}\t{d}\t{gain}\n" for t, held in QRELS.items() for d, gain in held.items()]
    (made / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    predicted = {"mteb_model_meta": {"model_name": "m"}, "default": {"test": BM25}}
    (made / "Task_predictions.json").write_text(json.dumps(predicted))
    return made


def records(folder, arguments):
    """Return the result of a line of the page, as JSON."""
    line = [sys.executable, "-m", "confir", *arguments.split(), "-o", "answer.json", "--quiet"]
    subprocess.run(line, cwd=folder, check=True)
    return json.loads((folder / "answer.json").read_text())


def trec_eval(measure, qrels=None, run=None, rel=1):
    """Return topic → score by the code of trec_eval, which pytrec_eval runs."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels or QRELS, {measure}, relevance_level=rel)
    return {t: next(iter(found.values())) for t, found in evaluator.evaluate(run or BM25).items()}


def page_line(words):
    """Return the one line of confir on the page that has these words, without its first word."""
    lines = re.findall(r"`confir ([^`]*)`", PAGE.read_text(encoding="utf-8"))
    (found,) = (line for line in lines if words in line)
    return found


def test_the_lines_of_trec_eval_have_the_same_numbers(folder):
    (mean,) = records(folder, page_line("-m map"))
    theirs = trec_eval("map")
    assert mean["mean"] == pytest.approx(np.mean(list(theirs.values())), abs=1e-9)
    assert mean["low"] < mean["mean"] < mean["high"]
    by_topic = {r["topic"]: r["score"] for r in records(folder, page_line("evaluate -q"))}
    assert by_topic == pytest.approx(trec_eval("ndcg_cut.10"), abs=1e-9)
    first = {
        t: dict(sorted(held.items(), key=lambda one: -one[1])[:100]) for t, held in BM25.items()
    }
    (strict,) = records(folder, page_line("-l 2 -M 100"))
    expected = np.mean(list(trec_eval("map", run=first, rel=2).values()))
    assert strict["mean"] == pytest.approx(expected, abs=1e-9)
    lines = [f"map\t{t}\t{score:.4f}\n" for t, score in theirs.items()]
    (folder / "bm25.eval").write_text("".join(lines) + "map\tall\t0.5000\n")
    (read,) = records(folder, page_line("--scores bm25.eval"))
    assert read["mean"] == pytest.approx(mean["mean"], abs=5e-5)
    assert read["high"] == pytest.approx(mean["high"], abs=1e-3)


def test_predictions_of_mteb_give_the_mean_of_trec_eval(folder):
    (mean,) = records(folder, page_line("Task_predictions.json"))
    expected = np.mean(list(trec_eval("ndcg_cut.10").values()))
    assert mean["mean"] == pytest.approx(expected, abs=1e-9)


def python_lines():
    """Return the lines of confir on the page that are Python, but for those that take objects of ranx."""
    lines = re.findall(r"\| `(confir\.[^`]*)`", PAGE.read_text(encoding="utf-8"))
    return [line for line in lines if "Qrels(" not in line]  # as tests/verify/test_ranx.py runs it


@pytest.mark.parametrize("line", python_lines())
def test_every_line_in_python_runs_as_it_stands(scores, line):
    values = scores.select(measure="AP").values  # noqa: PD011
    rows = [
        {"name": "bm25", "qid": topic, "measure": "map", "value": value}
        for topic, value in of_topics(scores, "bm25", "AP").items()
    ]
    given = {
        "confir": confir,
        "ir_measures": ir_measures,
        "AP": ir_measures.AP,
        "qrels": QRELS,
        "run": BM25,
        "results": pytrec_eval.RelevanceEvaluator(QRELS, {"map"}).evaluate(BM25),
        "frame": pd.DataFrame(rows),
        "scores": confir.Scores(scores.topics, ("bm25", "a", "b"), ("AP",), values),
    }
    assert eval(line, given) is not None  # noqa: S307 - our own page


def test_the_commands_of_the_page_exist():
    commands = re.findall(r"`confir ([a-z-]+)", PAGE.read_text(encoding="utf-8"))
    assert commands
    assert set(commands) <= set(COMMANDS)


def test_exponential_gains_of_the_page_are_those_of_ranx():
    (name,) = re.findall(r"`(nDCG\(dcg=[^`]*)`", PAGE.read_text(encoding="utf-8"))
    means = confir.evaluate(QRELS, RUNS, [name]).mean()[:, 0].tolist()
    theirs = [RANX["means"][run]["ndcg_burges@10"] for run in RUNS]
    assert means == pytest.approx(theirs, abs=1e-6)
