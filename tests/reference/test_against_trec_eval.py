"""Measures against trec_eval, through pytrec_eval and through its printed outputs.

pytrec_eval and trec_eval 9 compare retrieval scores in single precision, trec_eval 10 in double.
Equality is exact: the same divisions, added in the same order.
"""

from functools import cache

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import confir
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.qrels import build_qrels
from confir.data.ranked_lists.rankings import stack_rankings
from confir.data.run import build_run
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions
from strategies import DOCIDS, examples

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
FAMILIES = ("P", "recall", "ndcg_cut", "map_cut")
MEASURES = (
    *("map", "Rprec", "bpref", "recip_rank", "ndcg", "num_ret", "num_rel", "num_rel_ret"),
    *(f"{family}_{cutoff}" for family in FAMILIES for cutoff in CUTOFFS),
    *("success_1", "success_5", "success_10"),
)
REQUEST = {"map", "Rprec", "bpref", "recip_rank", "ndcg", "num_ret", "num_rel", "num_rel_ret"} | {
    *FAMILIES,
    "success",
}

REAL = {
    "trec-robust-2003": ("qrels.txt", "runs/input.*.gz", 4),
    "trec-covid-r5": ("qrels.txt", "runs/*.xz", 2),
    "clef-ehealth-2015": ("qrels.txt", "runs/*.gz", 6),
    "clef-ehealth-2015 graded": ("qrels.graded.txt", "runs/*.gz", 6),
    "trec_eval-tests/test": ("qrels.test", "results.test", 1),
    "trec_eval-tests/test levels": ("qrels.rel_level", "results.test", 1),
    "trec_eval-tests/test comments": ("qrels.comment.test", "results.comment.test", 1),
}


@cache
def load(folder, name):
    """Return qrels, runs and, with scores compared in single precision, their rankings."""
    qrels_name, pattern, limit = REAL[name]
    place = folder / name.split()[0]
    qrels = read_qrels(place / qrels_name)
    positions = JudgedPositions(qrels)
    runs = [read_run(path) for path in sorted(place.glob(pattern))[:limit]]
    return qrels, runs, stack_rankings([positions.rank(run, "single") for run in runs])


def assert_equals_pytrec_eval(qrels, runs, rankings, rel=1):
    """Compare every shared measure on every topic that the run and the qrels have."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels.to_dict(), REQUEST, relevance_level=rel)
    found = [evaluator.evaluate(run.to_dict()) for run in runs]
    present = rankings.present
    for name in MEASURES:
        expected = [
            [scores[topic][name] if topic in scores else 0.0 for topic in qrels] for scores in found
        ]
        ours = parse_measure(name, rel=rel)(rankings)[:, :, 0]
        np.testing.assert_array_equal(ours[present], np.array(expected)[present], err_msg=name)


@pytest.mark.parametrize("name", REAL)
def test_real_data_against_pytrec_eval(real_data, name):
    assert_equals_pytrec_eval(*load(real_data, name))


@pytest.mark.parametrize(
    "name", ["trec-covid-r5", "clef-ehealth-2015 graded", "trec_eval-tests/test levels"]
)
def test_relevance_level_against_pytrec_eval(real_data, name):
    assert_equals_pytrec_eval(*load(real_data, name), rel=2)


@given(
    judged=st.dictionaries(st.sampled_from(DOCIDS), st.integers(-3, 4), min_size=1),
    retrieved=st.dictionaries(
        st.sampled_from(DOCIDS), st.sampled_from((0.1, 0.10000000001, 1.0, 2.0, -3.0)), min_size=1
    ),
    rel=st.integers(1, 3),
)
@examples(100)
def test_small_lists_with_tied_scores_against_pytrec_eval(judged, retrieved, rel):
    # Without any gain of 0 or more, trec_eval goes on with the last topic's number of levels.
    judged = {**judged, "anchor": 0}
    qrels = build_qrels(["t"] * len(judged), ["0"] * len(judged), *columns(judged, np.int64))
    run = build_run("run", ["t"] * len(retrieved), *columns(retrieved, np.float64))
    rankings = JudgedPositions(qrels).rank(run, "single")
    assert_equals_pytrec_eval(qrels, [run], rankings, rel)


def columns(values, kind):
    return list(values), np.array(list(values.values()), kind)


@pytest.mark.parametrize("name", ["trec-covid-r5", "clef-ehealth-2015 graded"])
def test_exponential_gains_are_trec_evals_ndcg_on_gains_of_two_to_the_gain_less_one(
    real_data, name
):
    qrels, runs, rankings = load(real_data, name)
    mapped = {
        topic: {document: 2 ** max(gain, 0) - 1 for document, gain in qrels[topic].items()}
        for topic in qrels
    }
    for cutoff, theirs in ((None, "ndcg"), (10, "ndcg_cut_10"), (1000, "ndcg_cut_1000")):
        ours = "nDCG(dcg='exp-log2')" + ("" if cutoff is None else f"@{cutoff}")
        assert_ndcg_equals(mapped, runs, rankings, ours, theirs)


@pytest.mark.parametrize("gains", ["1:3,2:9,4:45", "1:9,2:3,3:4,4:0"])
def test_gain_maps_against_pytrec_eval_on_mapped_qrels(real_data, gains):
    qrels, runs, rankings = load(real_data, "trec_eval-tests/test levels")
    mapping = {int(pair[0]): int(pair[2:]) for pair in gains.split(",")}
    mapped = {
        topic: {document: mapping.get(gain, gain) for document, gain in qrels[topic].items()}
        for topic in qrels
    }
    assert_ndcg_equals(mapped, runs, rankings, f"nDCG(gains='{gains}')", "ndcg")
    assert_ndcg_equals(mapped, runs, rankings, f"nDCG(gains='{gains}')@20", "ndcg_cut_20")


def assert_ndcg_equals(mapped, runs, rankings, ours, theirs):
    evaluator = pytrec_eval.RelevanceEvaluator(mapped, {"ndcg", "ndcg_cut"})
    scores = parse_measure(ours)(rankings)[:, :, 0]
    for run, row, present in zip(runs, scores, rankings.present, strict=True):
        found = evaluator.evaluate(run.to_dict())
        expected = [found.get(topic, {}).get(theirs, 0.0) for topic in mapped]
        np.testing.assert_array_equal(row[present], np.array(expected)[present])


def read_printed(path):
    """Return (measure, topic) → printed value."""
    with path.open() as file:
        rows = [line.split() for line in file]
    return {(name, topic): value for name, topic, value in rows}


def assert_prints(rankings, printed, *, rel=1):
    """Compare with values printed by trec_eval: per topic, and their means or sums as "all"."""
    topics = list(rankings.qrels)
    for name in sorted({name for name, _ in printed} & {*MEASURES}):
        scores = parse_measure(name, rel=rel)(rankings)[0, :, 0]
        counts = name.startswith("num_")
        whole = scores.sum() if counts else scores.mean()
        for topic, score in zip([*topics, "all"], [*scores, whole], strict=True):
            text = f"{score:.0f}" if counts else f"{score:.4f}"
            assert text == printed[name, topic], (name, topic)


@pytest.mark.filterwarnings("ignore:.*text after the tag is left out")
@pytest.mark.parametrize(
    ("expected", "run", "qrels", "depth", "rel"),
    [
        ("out.test.aq", "results.test", "qrels.test", None, 1),
        ("out.test.aqc", "results.trunc", "qrels.test", None, 1),
        ("out.test.aqcM", "results.trunc", "qrels.test", 100, 1),
        ("out.test.aql", "results.test", "qrels.rel_level", None, 2),
    ],
)
def test_printed_outputs_of_trec_eval_are_reproduced(real_data, expected, run, qrels, depth, rel):
    folder = real_data / "trec_eval-tests" / "test"
    rankings = JudgedPositions(read_qrels(folder / qrels)).rank(read_run(folder / run))
    printed = read_printed(folder / expected)
    assert {("bpref", "301"), ("ndcg_cut_20", "all"), ("map_cut_5", "302")} <= set(printed)
    assert_prints(rankings if depth is None else rankings.cut(depth), printed, rel=rel)


def test_printed_output_with_comments_is_reproduced(real_data):
    folder = real_data / "trec_eval-tests" / "test"
    positions = JudgedPositions(read_qrels(folder / "qrels.comment.test"))
    rankings = positions.rank(read_run(folder / "results.comment.test"))
    # Its means are over the 31 topics that both files have.
    shared = np.flatnonzero(rankings.present[0])
    printed = read_printed(folder / "out.comment.test")
    assert printed["num_q", "all"] == str(len(shared))
    for name in ("map", "Rprec", "bpref", "recip_rank", "P_5", "P_100", "P_1000"):
        scores = parse_measure(name)(rankings)[0, shared, 0]
        assert f"{scores.mean():.4f}" == printed[name, "all"], name


def test_printed_measure_parameters_are_reproduced(real_data):
    folder = real_data / "trec_eval-tests" / "test"
    positions = JudgedPositions(read_qrels(folder / "qrels.test"))
    rankings = positions.rank(read_run(folder / "results.test"))
    printed = read_printed(folder / "out.test.meas_params")
    names = {
        "ndcg_1=3,2=9,4=4.5": "nDCG(gains='1:3,2:9,4:4.5')",
        **{name: name for name in ("P_3", "P_7", "recall_20", "recall_2000", "ndcg_cut_23")},
        **{name: name for name in ("success_2", "success_20")},
    }
    for theirs, ours in names.items():
        scores = parse_measure(ours)(rankings)[0, :, 0]
        for topic, score in zip([*rankings.qrels, "all"], [*scores, scores.mean()], strict=True):
            assert f"{score:.4f}" == printed[theirs, topic], (theirs, topic)


@pytest.mark.parametrize(
    ("name", "qrels", "output"),
    [
        ("rbp", "qrels.test", "out.test.aq"),
        ("rbp", "qrels.rel_level", "out.test.aql"),
        # on binary qrels, its scaling of gains changes nothing
        ("RBP(p=0.9)", "qrels.test", "out.test.aq"),
    ],
)
def test_rbp_against_trec_eval_10(real_data, name, qrels, output):
    folder = real_data / "trec_eval-tests" / "test"
    positions = JudgedPositions(read_qrels(folder / qrels))
    scores = parse_measure(name)(positions.rank(read_run(folder / "results.test")))
    printed = read_printed(folder / output)
    assert [f"{score:.4f}" for score in scores[0, :, 0]] == [
        printed["rbp", topic] for topic in positions.qrels
    ]


TREC_EVAL_NAMES = (
    *("num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank", "ndcg", "rbp"),
    *("P_5", "P_20", "recall_10", "recall_100", "success_1", "success_10"),
    *("map_cut_5", "map_cut_100", "ndcg_cut_5", "ndcg_cut_20"),
    *("set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    # between 0 and 1, ir_measures rounds the rank as trec_eval 9 did, and trec_eval 10 otherwise
    *("infAP", "iprec_at_recall_0.00", "iprec_at_recall_1.00"),
)


def test_each_name_of_trec_eval_that_is_taken_is_its_measure(real_data):
    """Those of confir and those of ir_measures, on every topic of its own test."""
    folder = real_data / "trec_eval-tests" / "test"
    printed = read_printed(folder / "out.test.aq")
    scores = confir.evaluate(folder / "qrels.test", folder / "results.test", list(TREC_EVAL_NAMES))
    assert len(scores.measures) == len(TREC_EVAL_NAMES)
    for name, by_topic in zip(TREC_EVAL_NAMES, scores.values[:, 0].T, strict=True):
        for topic, score in zip(scores.topics, by_topic, strict=True):
            expected = float(printed[name, topic])
            assert score == pytest.approx(expected, abs=0.5e-4 + 1e-9), (name, topic)


def test_printed_outputs_of_trec_eval_9_are_reproduced(real_data):
    folder = real_data / "clef-ehealth-2015" / "trec_eval_expected"
    for name, ending in (("clef-ehealth-2015", ""), ("clef-ehealth-2015 graded", ".ndcg")):
        _, runs, rankings = load(real_data, name)
        positions = JudgedPositions(rankings.qrels)
        for run in runs:
            printed = read_printed(folder / f"{run.name}.dat{ending}")
            assert_prints(positions.rank(run, "single"), printed)
