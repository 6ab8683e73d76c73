"""``confir coverage`` and ``confir type-one`` as a user runs them."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

import confir
from confir.intervals.method_list import methods_over
from confir.studies.coverage.coverage import estimate_coverage
from confir.studies.coverage.type_one_error import estimate_type_one_error

FAST = ("--samples", 40, "--replicates", 60)


@pytest.fixture(scope="module")
def score_file(tmp_path_factory):
    """Scores by AP of 6 runs on 30 topics; one run scores 0 on nearly all."""
    values = np.random.default_rng(3).beta(1, 3, (30, 6))
    values[:, 5] = np.where(np.arange(30) == 7, 0.9, 0.0)
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    rows = [
        f"run{r},AP,{t:03d},{values[t, r]:.6f}\n"
        for r in range(values.shape[1])
        for t in range(len(values))
    ]
    path.write_text("run,measure,topic,score\n" + "".join(rows))
    return path


def test_coverage_prints_a_table_by_method(confir_command, score_file):
    outcome = confir_command(
        "coverage", "--scores", score_file, "--method", "t", "--method", "bca", *FAST
    )
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0].split("  ")[0] == "method"
    assert [line.split()[0] for line in lines[1:3]] == ["t", "bca"]
    assert lines[4] == (
        "share of 95% intervals that contain the mean of all topics, ± Monte-Carlo standard error; "
        "6 runs, 1 measure, 30 topics; 40 samples, 60 replicates, seed 2006"
    )
    assert lines[5].endswith("0.025 of each is nominal")
    assert "  run5 AP (29 of 30 topics score 0): " in outcome.out


def test_coverage_records_are_those_of_the_study(confir_command, score_file):
    outcome = confir_command(
        "coverage", "--scores", score_file, "--method", "t", "--format", "json", "--seed", 9, *FAST
    )
    expected = estimate_coverage(
        confir.read_scores(score_file), methods="t", samples=40, replicates=60, rng=9
    )
    records = json.loads(outcome.out)
    assert records == expected.to_records()
    assert list(records[0]) == ["run", "measure", "method", "level", "coverage", "low", "high"]


def test_coverage_of_runs_and_qrels(confir_command, sample_files):
    outcome = confir_command(
        "coverage",
        sample_files / "qrels.txt",
        sample_files / "runs",
        "-m",
        "P@10",
        "--method",
        "percentile",
        "--format",
        "csv",
        *FAST,
    )
    assert outcome.code == 0
    header, *rows = outcome.out.splitlines()
    assert header == "run,measure,method,level,coverage,low,high"
    assert len(rows) == len(list((sample_files / "runs").iterdir()))
    assert all(",P@10,percentile,0.95," in row for row in rows)


@pytest.fixture
def diverse_files(tmp_path):
    """Qrels with two intents a topic, their probabilities, and a run of nearly tied documents."""
    chance = np.random.default_rng(5)
    qrels, intents, run = [], [], []
    for topic in range(20):
        qrels += [
            f"{topic} {intent} {docid} {chance.integers(1, 4)}" for intent, docid in ("1a", "2b")
        ]
        intents += [f"{topic} 1 {chance.random():.3f}", f"{topic} 2 0.5"]
        run += [f"{topic} Q0 a 1 1.000000000001 tag", f"{topic} Q0 b 2 1 tag"]
    for name, lines in (("qrels.txt", qrels), ("intents.txt", intents), ("x.run", run)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    "option", [("intents", "intents.txt"), ("name_by", "tag"), ("tie_precision", "single")]
)
@pytest.mark.parametrize("command", ["coverage", "type-one"])
def test_runs_are_read_as_the_options_say(
    confir_command, diverse_files, monkeypatch, command, option
):
    monkeypatch.chdir(diverse_files)

    def study(**options):
        scores = confir.evaluate("qrels.txt", "x.run", "D_nDCG@1", **options)
        settings = {"methods": "t", "samples": 200, "replicates": 60, "rng": 2006}
        if command == "coverage":
            return estimate_coverage(scores, level=0.8, **settings).to_records()
        return estimate_type_one_error(scores, topics=5, levels=0.8, **settings).by_run()

    name, value = option
    extra = ("--level", 0.8, *(() if command == "coverage" else ("--topics", 5, "--per-run")))
    outcome = confir_command(
        *(command, "qrels.txt", "x.run", "-m", "D_nDCG@1", f"--{name.replace('_', '-')}", value),
        *("--method", "t", "--samples", 200, "--replicates", 60, "--format", "json", *extra),
    )
    assert json.loads(outcome.out) == study(**{name: value}) != study()


def test_the_published_bootstrap_t_is_added_to_the_methods(confir_command, score_file):
    for methods, number in (((), len(methods_over("topics")) + 1), (("--method", "t"), 2)):
        outcome = confir_command(
            "coverage",
            "--scores",
            score_file,
            "--per-tail",
            "published",
            "--samples",
            2,
            "--replicates",
            20,
            *methods,
        )
        names = [line.split()[0] for line in outcome.out.splitlines()[1 : number + 2] if line]
        assert len(names) == number
        assert names[-1] == "bootstrap-t-published"


def test_measures_beyond_0_to_1_get_the_methods_that_fit(confir_command, sample_files):
    outcome = confir_command(
        "coverage",
        sample_files / "qrels.txt",
        sample_files / "runs",
        "-m",
        "NumRelRet",
        "--per-tail",
        "published",
        "--format",
        "json",
        *FAST,
    )
    methods = {record["method"] for record in json.loads(outcome.out)}
    assert methods == {
        "t",
        "percentile",
        "bca",
        "bootstrap-t",
        "symmetric-t",
        "bootstrap-t-published",
    }


def test_type_one_prints_a_table_like_that_of_park2011(confir_command, score_file):
    outcome = confir_command(
        "type-one",
        "--scores",
        score_file,
        "--topics",
        5,
        "--topics",
        10,
        "--level",
        0.95,
        "--level",
        0.5,
        "--method",
        "t",
        *FAST,
    )
    lines = outcome.out.splitlines()
    assert lines[0].split("  ") == ["method", "nominal", " n = 5", "n = 10"]
    assert [line.split()[:2] for line in lines[1:3]] == [["t", "0.05"], ["t", "0.50"]]
    assert lines[4].startswith(
        "share of intervals that miss the mean over all topics, and the nominal share; 6 runs, "
        "1 measure, 30 topics; Monte-Carlo standard error at most 0."
    )
    assert lines[4].endswith(
        "samples without replacement, 40 of each size, 60 replicates, seed 2006"
    )


def test_type_one_records_are_those_of_the_study(confir_command, score_file):
    options = ("--topics", 6, "--sampling", "with", "--seed", 3, "--method", "percentile", *FAST)
    outcome = confir_command(
        "type-one", "--scores", score_file, "--level", 0.8, "--format", "json", *options
    )
    expected = estimate_type_one_error(
        confir.read_scores(score_file),
        methods="percentile",
        topics=6,
        levels=0.8,
        sampling="with",
        samples=40,
        replicates=60,
        rng=3,
    )
    records = json.loads(outcome.out)
    assert records == expected.to_records()
    assert list(records[0]) == ["method", "topics", "level", "error", "sampling"]
    by_run = confir_command(
        "type-one",
        "--scores",
        score_file,
        "--level",
        0.8,
        "--format",
        "json",
        "--per-run",
        *options,
    )
    assert json.loads(by_run.out) == expected.by_run()


def test_type_one_by_run_puts_the_most_skewed_first(confir_command, score_file):
    outcome = confir_command(
        "type-one", "--scores", score_file, "--topics", 5, "--method", "t", "--per-run", *FAST
    )
    assert outcome.out.splitlines()[1].startswith("run5")
    assert "most skewed first" in outcome.out


def test_type_one_of_runs_is_about_ap(confir_command, sample_files):
    outcome = confir_command(
        "type-one", sample_files / "qrels.txt", sample_files / "runs", "--topics", 5, "--per-run",
        "--method", "t", "--format", "json", *FAST,
    )  # fmt: skip
    assert {record["measure"] for record in json.loads(outcome.out)} == {"AP"}


@pytest.mark.parametrize("ending", ["svg", "png"])
@pytest.mark.parametrize("command", ["coverage", "type-one"])
def test_charts_are_written_where_the_ending_says_so(
    confir_command, score_file, tmp_path, command, ending
):
    path = tmp_path / f"chart.{ending}"
    outcome = confir_command(
        command, "--scores", score_file, "--method", "t", "-o", path, "--samples", 5
    )
    assert outcome.code == 0
    assert path.read_bytes().startswith(b"<svg" if ending == "svg" else b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coverage"], "expected QRELS and at least one RUN, or --scores FILE"),
        (["coverage", "QRELS"], "expected QRELS and at least one RUN, or --scores FILE"),
        (["coverage", "--method", "bcaa"], "unknown method 'bcaa'; did you mean bca?"),
        (["coverage", "--level", 95], "level is 95.0; expected a number between 0 and 1"),
        (["coverage", "SCORES", "--jobs", 0], "jobs is 0; expected 1 or more"),
        (["coverage", "SCORES", "--samples", 0], "samples is 0; expected 1 or more"),
        (["coverage", "--per-tail", "both"], "unknown value of --per-tail 'both'; known: half"),
        (["coverage", "SCORES", "-m", "RR"], "unknown measure in the score table 'RR'"),
        (["coverage", "-o", "x.doc"], "unknown ending of an output file 'x.doc'"),
        (["coverage", "QRELS", "x.run", "--name-by", "day"], "unknown value of --name-by 'day'"),
        (["type-one", "QRELS", "x.run", "-m", "AP", "-m", "RR"], "by 2 measures (AP, RR)"),
        (["type-one", "--level", 95], "level is 95.0; expected a number between 0 and 1"),
        (["type-one", "SCORES", "--topics", 1], "a sample of 1 topic has no interval"),
        (
            ["type-one", "SCORES", "--topics", 5, "--topics", 31],
            "31 topics cannot be drawn without replacement from 30",
        ),
        (["type-one", "--sampling", "wiht"], "unknown value of --sampling 'wiht'; did you mean"),
    ],
)
def test_bad_input_is_named_in_one_sentence(
    confir_command, score_file, sample_files, arguments, message
):
    places = {"SCORES": ["--scores", score_file], "QRELS": [sample_files / "qrels.txt"]}
    given = [part for argument in arguments for part in places.get(argument, [argument])]
    outcome = confir_command(*given)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("confir: error: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_type_one_takes_one_measure(confir_command, sample_files):
    outcome = confir_command(
        "type-one", sample_files / "qrels.txt", sample_files / "runs", "-m", "AP", "-m", "RR"
    )
    assert outcome.code == 2
    assert "the scores are by 2 measures (AP, RR); name one of them with -m" in outcome.err


def test_the_folder_of_another_study_is_refused(confir_command, score_file, tmp_path):
    command = ("coverage", "--scores", score_file, "--method", "t", "--resume", tmp_path, *FAST)
    assert confir_command(*command).code == 0
    outcome = confir_command(*command, "--seed", 5)
    assert outcome.code == 2
    assert f"{tmp_path} stores the results of another study, with other seed;" in outcome.err
    assert confir_command(*command).code == 0


def test_a_killed_study_goes_on_where_it_stopped(confir_command, score_file, tmp_path):
    study = [
        "coverage", "--scores", score_file, "--method", "t", "--method", "bca", "--method", "gaffke",
        "--samples", 800, "--replicates", 500, "--format", "json",
    ]  # fmt: skip
    folder = tmp_path / "parts"
    command = [sys.executable, "-m", "confir", *map(str, study), "--jobs", "1", "--resume", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while len(list(folder.glob("task-*.npz"))) < 3 and time.monotonic() < deadline:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.002)
        process.kill()
        assert process.wait() != 0
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("task-*.npz")}
    assert 3 <= len(kept) < 40
    resumed = confir_command(*study, "--jobs", 2, "--resume", folder)
    assert resumed.code == 0
    assert len(list(folder.glob("task-*.npz"))) == 40
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert resumed.out == confir_command(*study).out


def test_the_example_of_the_published_bootstrap_t_on_real_scores(confir_command, real_data):
    scores = real_data / "soboroff2014" / "scores" / "trec8.adhoc.csv.gz"
    outcome = confir_command(
        "coverage", "--scores", scores, "-m", "AP", "--method", "t", "--method", "bootstrap-t",
        "--per-tail", "published", "--samples", 60, "--replicates", 500,
    )  # fmt: skip
    corrected, published = outcome.out.splitlines()[2:4]
    assert corrected.split()[0] == "bootstrap-t"
    assert float(corrected.split()[1]) > float(published.split()[1]) + 0.02
    assert "isa25 AP (32 of 50 topics score 0)" in outcome.out
