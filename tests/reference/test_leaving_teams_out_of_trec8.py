"""Teams left out of the TREC-8 pool, against trec_eval on the left-out qrels, and published scores."""

import lzma

import numpy as np
import pytest

import confir
from requirements import required

# Runs of five teams, those with the largest drops among them.
RUNS = ("iit99ma1", "8manexT3D1N0", "Dm8Nbn", "apl8p", "weaver1")


@pytest.fixture(scope="module")
def folder(real_data):
    return real_data / "trec8-pool"


@pytest.fixture(scope="module")
def judgements(folder):
    """Fields of the lines of contributors: topic, 0, docid, gain, number of teams, teams."""
    with lzma.open(folder / "contributors.txt.xz", "rt") as stream:
        return [line.split() for line in stream]


@pytest.fixture(scope="module")
def found(folder, judgements):
    qrels = [(topic, docid, int(gain)) for topic, _, docid, gain, *_ in judgements]
    return confir.estimate_reusability(
        *(qrels, [folder / "runs" / f"{run}.xz" for run in RUNS], ["AP", "P@10", "nDCG@10"]),
        teams=folder / "teams.txt",
        contributors=folder / "contributors.txt.xz",
        tie_precision="single",
    )


def test_left_out_scores_are_those_of_trec_eval_on_left_out_qrels(found, folder, judgements):
    trec_eval = required("pytrec_eval")
    for r, (run, team) in enumerate(zip(found.runs, found.team, strict=True)):
        qrels = {}
        for topic, _, docid, gain, _, *teams in judgements:
            if teams != [team]:
                qrels.setdefault(topic, {})[docid] = int(gain)
        lists = confir.read_run(folder / "runs" / f"{run}.xz").to_dict()
        measures = ("map", "P_10", "ndcg_cut_10")
        scored = trec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(lists)
        expected = [np.mean([one[name] for one in scored.values()]) for name in measures]
        np.testing.assert_allclose(found.left_out[r], expected, rtol=1e-9, err_msg=run)


def test_left_out_scores_are_the_published_ones(found, folder):
    """The published qrels lack six further relevant documents: see the data's SOURCE.md."""
    names = {"map": 0, "P10": 1, "P_10": 1}
    compared = 0
    for r, run in enumerate(found.runs):
        with lzma.open(folder / "left_out_evals" / f"{run}.eval.xz", "rt") as stream:
            rows = [line.split() for line in stream]
        for name, topic, value in (row for row in rows if len(row) == 3):
            if topic == "all" and name in names:
                assert found.left_out[r, names[name]] == pytest.approx(float(value), abs=5e-4)
                compared += 1
    assert compared == 2 * len(RUNS)


def test_means_by_all_judgements_are_the_official_ones(found, folder):
    official = dict(line.split() for line in (folder / "official_map.txt").read_text().splitlines())
    expected = [float(official[run]) for run in found.runs]
    np.testing.assert_allclose(found.mean[:, 0], expected, atol=5e-5 + 1e-9)
