"""``confir simulate`` as a user runs it."""

import csv
import json

import numpy as np
import pytest

from confir.data.score_files import read_scores
from confir.data.score_writers import write_scores
from confir.data.scores import Scores
from confir.studies.simulation.score_simulation import fit_population


@pytest.fixture(scope="module")
def score_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    rng = np.random.default_rng(3)
    values = np.clip(rng.beta(1.0, 2.0, (30, 2, 2)) + rng.normal(0.0, 0.1, (30, 1, 1)), 0.0, 1.0)
    values[:, 1] *= 0.5
    topics = tuple(f"{number:02d}" for number in range(1, 31))
    write_scores(Scores(topics, ("good", "weak"), ("AP", "nDCG@10"), values), path)
    return path


def test_scores_go_to_a_file_and_the_true_means_are_printed(confir_command, score_file, tmp_path):
    output = tmp_path / "simulated.csv"
    outcome = confir_command("simulate", "--scores", score_file, "--topics", 250, "-o", output)
    assert outcome.code == 0
    simulated = read_scores(output)
    truth = fit_population(read_scores(score_file)).truth
    assert len(simulated.topics) == 250
    assert simulated.runs == ("good", "weak")
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["run", "AP", "nDCG@10"]
    assert lines[1].split() == ["good", f"{truth[0, 0]:.4f}", f"{truth[0, 1]:.4f}"]
    assert lines[2].split() == ["weak", f"{truth[1, 0]:.4f}", f"{truth[1, 1]:.4f}"]
    assert "fitted to 30 topics" in lines[-1]
    assert "seed 2006" in lines[-1]


def test_true_means_go_to_a_file_where_one_is_named(confir_command, score_file, tmp_path):
    truth_file = tmp_path / "truth.csv"
    outcome = confir_command(
        "simulate", "--scores", score_file, "-o", tmp_path / "s.csv", "--truth", truth_file
    )
    assert outcome == (0, "", "")
    records = list(csv.DictReader(truth_file.read_text().splitlines()))
    assert list(records[0]) == ["run", "measure", "truth", "mean"]
    scores = read_scores(score_file)
    truth, mean = fit_population(scores).truth, scores.mean()
    assert float(records[2]["truth"]) == truth[1, 0]
    assert float(records[2]["mean"]) == mean[1, 0]


def test_there_are_as_many_topics_as_in_the_table_where_none_are_named(
    confir_command, score_file, tmp_path
):
    confir_command("simulate", "--scores", score_file, "-o", tmp_path / "s.jsonl")
    assert len(read_scores(tmp_path / "s.jsonl").topics) == 30


def test_the_seed_decides(confir_command, score_file, tmp_path):
    files = [tmp_path / f"{number}.csv" for number in range(3)]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        confir_command("simulate", "--scores", score_file, "-o", file, "--seed", seed)
    first, again, other = (file.read_text() for file in files)
    assert first == again != other


def test_measures_can_be_chosen(confir_command, score_file, tmp_path):
    outcome = confir_command(
        "simulate",
        "--scores",
        score_file,
        "-o",
        tmp_path / "s.csv",
        "-m",
        "map",
        "--format",
        "json",
    )
    assert read_scores(tmp_path / "s.csv").measures == ("AP",)
    assert {record["measure"] for record in json.loads(outcome.out)} == {"AP"}


def test_a_collection_can_be_evaluated(confir_command, tmp_path):
    folder = tmp_path / "made"
    outcome = confir_command(
        "simulate", "--collection", folder, "--topics", 6, "--runs", 3, "--depth", 20
    )
    assert outcome.code == 0
    assert f"3 runs on 6 topics are in {folder}, seed 2006" in outcome.out
    assert sorted(path.name for path in (folder / "runs").iterdir()) == [
        "run1.txt",
        "run2.txt",
        "run3.txt",
    ]
    assert len((folder / "runs" / "run1.txt").read_text().splitlines()) == 6 * 20
    evaluated = confir_command("evaluate", folder / "qrels.txt", folder / "runs", "-m", "AP")
    assert evaluated.code == 0
    assert "over 6 topics" in evaluated.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "expected either --scores FILE or --collection FOLDER"),
        (["--scores", "s.csv", "--collection", "c"], "expected either --scores FILE or"),
        (["--scores", "s.csv"], "expected -o FILE"),
        (["--scores", "s.csv", "-o", "x.csv"], "s.csv: no such file"),
        (["--scores", "s.csv", "-o", "x.csv", "--runs", "3"], "--runs goes with --collection"),
        (["--scores", "s.csv", "-o", "x.csv", "--truth", "x.csv"], "cannot go to the same file"),
        (["--scores", "s.csv", "-o", "x.csv", "--truth", "x.svg"], "unknown ending of a file of"),
        (["--scores", "s.csv", "-o", "x.csv", "--format", "cvs"], "did you mean csv"),
        (["--collection", "c", "-m", "AP"], "--measure goes with --scores, not with --collection"),
        (["--collection", "c", "--runs", "0"], "--runs is 0; expected 1 or more"),
        (["--collection", "c", "--topics", "0"], "--topics is 0; expected 1 or more"),
        (["--collection", "c", "--format", "json"], "--format goes with --scores"),
        (["--scores", "s.csv", "-o", "x.csv", "--truth", "./x.csv"], "cannot go to the same file"),
        (
            ["--scores", "s.csv", "-o", "x.csv", "--truth", "t.csv", "--format", "json"],
            "--format is for true means that are printed",
        ),
    ],
)
def test_bad_arguments_are_named_and_nothing_is_written(
    confir_command, tmp_path, monkeypatch, arguments, complaint
):
    monkeypatch.chdir(tmp_path)
    outcome = confir_command("simulate", *arguments)
    assert outcome.code == 2
    assert complaint in outcome.err
    assert not list(tmp_path.iterdir())


def test_a_table_of_one_topic_is_an_error(confir_command, tmp_path):
    table = tmp_path / "one.csv"
    table.write_text("run,measure,topic,score\na,AP,1,0.5\n")
    outcome = confir_command("simulate", "--scores", table, "-o", tmp_path / "x.csv")
    assert outcome.code == 2
    assert "run 'a' has 1 score by AP" in outcome.err
    assert not (tmp_path / "x.csv").exists()


def test_no_scores_are_written_where_the_true_means_cannot_be(confir_command, score_file, tmp_path):
    files = ("-o", tmp_path / "x.csv", "--truth", tmp_path / "nowhere" / "truth.csv")
    outcome = confir_command("simulate", "--scores", score_file, *files)
    assert outcome.code == 2
    assert "cannot be written (no such folder)" in outcome.err
    assert not (tmp_path / "x.csv").exists()


def test_an_ending_that_is_no_score_format_leaves_no_file(confir_command, score_file, tmp_path):
    outcome = confir_command("simulate", "--scores", score_file, "-o", tmp_path / "x.html")
    assert outcome.code == 2
    assert ".parquet" in outcome.err
    assert outcome.out == ""
    assert not (tmp_path / "x.html").exists()
