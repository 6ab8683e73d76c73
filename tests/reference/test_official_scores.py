"""Measures against the scores that the tracks published, to their printed decimals."""

import csv

import numpy as np
import pytest

from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.ranked_lists.rankings import stack_rankings
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions
from reference.plain_measures import PlainList, rank_biased_precision

# NIST's RBP takes half a gain for the lower of the two levels.
TREC_COVID = {
    "ndcg@20": "nDCG@20",
    "P@20": "P@20",
    "bpref": "Bpref",
    "map": "AP",
    "rbp_p5": "RBP(p=0.5,gains='1:0.5,2:1')",
}


def rank_all(folder, pattern, step=1):
    """Return the rankings of the runs of a folder, ties broken as trec_eval 9 broke them."""
    positions = JudgedPositions(read_qrels(folder / "qrels.txt"))
    paths = sorted((folder / "runs").glob(pattern))[::step]
    return stack_rankings([positions.rank(read_run(path), "single") for path in paths])


def assert_printed_to_four_decimals(means, printed):
    np.testing.assert_allclose(means, np.array(printed, float), rtol=0, atol=0.5e-4 + 1e-9)


def test_every_eighth_run_of_the_trec_covid_leaderboard_is_reproduced(real_data):
    reproduce_trec_covid(real_data / "trec-covid-r5", step=8, number=10)


def reproduce_trec_covid(folder, *, step, number):
    """Compare so many runs of the leaderboard; tests/verify takes all of them."""
    rankings = rank_all(folder, "*.xz", step)
    with (folder / "leaderboard.csv").open() as file:
        official = {row["tag"].removesuffix(".txt"): row for row in csv.DictReader(file)}
    assert len(rankings.runs) == number
    for column, name in TREC_COVID.items():
        means = parse_measure(name)(rankings)[:, :, 0].mean(axis=1)
        assert_printed_to_four_decimals(means, [official[run][column] for run in rankings.runs])


def test_trec_robust_2003_map_is_reproduced(real_data):
    folder = real_data / "trec-robust-2003"
    rankings = rank_all(folder, "input.*.gz")
    with (folder / "official_map.tsv").open() as file:
        official = {row["run"]: row["map"] for row in csv.DictReader(file, delimiter="\t")}
    assert set(rankings.runs) == set(official)
    means = parse_measure("AP")(rankings)[:, :, 0].mean(axis=1)
    assert_printed_to_four_decimals(means, [official[run] for run in rankings.runs])


def test_clef_ehealth_rbp_is_reproduced(real_data):
    # The organisers' tool breaks ties in its own way: topics are compared whose score is the same
    # with ties broken the other way round.
    folder = real_data / "clef-ehealth-2015"
    positions = JudgedPositions(read_qrels(folder / "qrels.txt"))
    compared = 0
    for path in sorted((folder / "runs").glob("*.gz")):
        run = read_run(path)
        with (folder / "trec_eval_expected" / f"{run.name}.dat.urbp").open() as file:
            rows = [line.split() for line in file if line.startswith("RBP(0.8)")]
        printed = {row[1]: float(row[-1]) for row in rows}
        scores = parse_measure("RBP(p=0.8,rel=1)")(positions.rank(run))[0, :, 0]
        for topic, score in zip(positions.qrels, scores, strict=True):
            ranked = sorted(run[topic], key=lambda entry: (-entry[1], entry[0]))
            gains = positions.qrels[topic]
            turned = PlainList([document for document, _ in ranked], list(gains), gains)
            if rank_biased_precision(turned, rel=1) == pytest.approx(score, abs=1e-6):
                assert score == pytest.approx(printed[topic], abs=0.5e-4 + 1e-6), (run, topic)
                compared += 1
    assert compared > 300
