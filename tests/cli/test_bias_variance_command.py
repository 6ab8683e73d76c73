"""``confir bias-variance`` as a user runs it."""

import json

import pytest


@pytest.fixture
def command(confir_command, sample_files):
    """The command on the sample's runs, with few replicates."""

    def run(*arguments):
        return confir_command(
            *("bias-variance", sample_files / "qrels.txt", sample_files / "runs"),
            *("--replicates", 499, *arguments),
        )

    return run


def test_prints_a_row_a_run_the_smallest_total_first(command):
    outcome = command("-m", "AP", "--target", "best")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["run", "mean", "bias", "variance", "total"]
    assert lines[1].startswith("rerank")
    assert lines[8].startswith("tfidf")
    assert "against target best" in lines[-1]
    assert "95% interval by bootstrap-t; 499 replicates, seed 2006" in lines[-1]


def test_a_baseline_adds_robustness(command, sample_files):
    by_name = command("-m", "AP", "--baseline", "bm25", "--loss-depth", 20)
    assert by_name.out.splitlines()[0].split()[-3:] == ["RI", "<Init", "R-Loss@20"]
    by_path = command(
        "-m", "AP", "--baseline", sample_files / "runs" / "bm25.txt", "--loss-depth", 20
    )
    assert by_path.out == by_name.out


def test_records_hold_the_decomposition_of_rho(command):
    outcome = command("-m", "AP", "--target", "rerank", "--variable", "rho", "--format", "json")
    records = json.loads(outcome.out)
    assert len(records) == 8
    assert all(record["variable"] == "rho" for record in records)
    for record in records:
        assert record["total"] == pytest.approx(record["bias"] ** 2 + record["variance"])
        assert record["total"] == pytest.approx(record["error_to_target"], abs=1e-15)
    target = next(record for record in records if record["run"] == "rerank")
    assert (target["total"], target["total_low"]) == (0, None)


def test_a_number_is_a_mean_to_reach(command):
    outcome = command("-m", "AP", "--target", 0.5, "--format", "json")
    record = json.loads(outcome.out)[0]
    assert record["target"] == "0.5"
    assert record["bias"] == pytest.approx(0.5 - record["mean"])
    assert record["error_to_target"] is None


def test_the_default_measures_are_all_decomposed(command):
    outcome = command("--format", "json")
    measures = {record["measure"] for record in json.loads(outcome.out)}
    assert measures == {"AP", "nDCG@10", "P@10", "RR", "R@1000"}


def test_the_measure_that_counts_losses_shows_only_where_it_is_wanted(command):
    options = ("--baseline", "bm25", "--loss-depth", 10, "--format", "json")
    alone = json.loads(command("-m", "AP", *options).out)
    assert {record["measure"] for record in alone} == {"AP"}
    wanted = json.loads(command("-m", "AP", "-m", "P_10", *options).out)
    assert {record["measure"] for record in wanted} == {"AP", "P@10"}
    strict = json.loads(command("-m", "AP", "-l", 2, *options).out)
    assert {record["measure"] for record in strict} == {"AP(rel=2)"}


def test_runs_of_a_sweep_show_their_parameter(command):
    outcome = command("-m", "AP", "--parameter", "size=,1,,2,,,,", "--format", "json")
    found = {r["run"]: r["parameter_value"] for r in json.loads(outcome.out) if r["parameter"]}
    assert found == {"bm25": 1.0, "dense": 2.0}


def test_score_tables_serve_as_input(confir_command, tmp_path):
    path = tmp_path / "scores.csv"
    rows = ["run,measure,topic,score"]
    rows += [
        f"{run},AP,{t},{0.1 * run_place + t / 50}"
        for run_place, run in enumerate("AB")
        for t in range(9)
    ]
    rows += [
        f"{run},P_20,{t},{0.05 * run_place + t / 20}"
        for run_place, run in enumerate("AB")
        for t in range(9)
    ]
    path.write_text("\n".join(rows) + "\n")
    options = ("--scores", path, "--baseline", "A", "--loss-depth", 20, "--replicates", 499)
    outcome = confir_command("bias-variance", *options, "-m", "AP", "--format", "json")
    assert outcome.code == 0
    records = json.loads(outcome.out)
    assert [record["measure"] for record in records] == ["AP", "AP"]
    assert [record["robustness_index"] for record in records] == [0, 1]
    lacking = confir_command(
        "bias-variance", "--scores", path, "--baseline", "A", "--loss-depth", 5
    )
    assert lacking.code == 2
    assert "counts relevant documents from P@5, which the score table lacks" in lacking.err


@pytest.mark.parametrize("ending", ["svg", "pdf", "md", "csv"])
def test_files_are_written(command, tmp_path, ending):
    path = tmp_path / f"picture.{ending}"
    options = ("-m", "AP", "-m", "P@10", "--parameter", "k=1,2,3,,,,,")
    outcome = command(*options, "-o", path)
    assert (outcome.code, outcome.out) == (0, "")
    assert path.stat().st_size > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", 0.4, "--variable", "rho"], "without scores by topic, so there is no rho"),
        (["--target", "rerankk"], "unknown target 'rerankk'; did you mean rerank"),
        (["--target", 45], "from 0 to 1 for AP"),
        (["--variable", "rhoo"], "unknown value of --variable 'rhoo'"),
        (["--loss-depth", 10], "expected --baseline RUN"),
        (["--loss-depth", 0, "--baseline", "bm25"], "--loss-depth is 0; expected 1 or more"),
        (["--baseline", "bm52"], "bm25"),
        (["--method", "logit-t"], "methods that fit: t, percentile"),
        (["--parameter", "x=1,2"], "2 values for 8 runs"),
        (["--level", 2], "level is 2"),
        (["-o", "x.doc"], "ending of an output file"),
    ],
)
def test_impossible_requests_are_one_sentence_and_exit_2(command, arguments, message):
    outcome = command("--quiet", "-m", "AP", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert outcome.err.startswith("confir: error: ")
    assert len(outcome.err.splitlines()) == 1


def test_counts_have_no_perfect_score(command):
    outcome = command("--quiet", "-m", "NumRelRet")
    assert outcome.code == 2
    assert "NumRelRet is not bounded by [0, 1]" in outcome.err


def test_without_input_the_usage_is_reported(confir_command):
    outcome = confir_command("bias-variance")
    assert outcome.code == 2
    assert "expected QRELS and at least one RUN" in outcome.err
