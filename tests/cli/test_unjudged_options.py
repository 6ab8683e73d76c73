"""``confir evaluate --show unjudged`` and ``ties`` as a user runs them."""

import json

import pytest

import confir

QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 c 2\n3 0 d 1\n"
RUN = "1 Q0 a 1 3 x\n1 Q0 u 2 3 x\n2 Q0 v 1 3 x\n2 Q0 a 2 2 x\n3 Q0 d 1 1 x\n"


@pytest.fixture
def evaluate(confir_command, tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.run").write_text(RUN)

    def run(*arguments):
        return confir_command("evaluate", tmp_path / "qrels.txt", tmp_path / "good.run", *arguments)

    return run


def record(outcome):
    assert outcome.code == 0, outcome.err
    (found,) = json.loads(outcome.out)
    return found


def test_bounds_are_added_to_the_records(evaluate):
    found = record(
        evaluate("-m", "P@2", "--show", "unjudged", "--treatment", "bounds", "--format", "json")
    )
    assert list(found)[-3:] == ["lowest", "highest", "judged"]
    assert found["mean"] == found["lowest"] == pytest.approx(0.5)
    assert found["highest"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert found["judged"] == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_condensed_means_are_added_to_the_records(evaluate):
    found = record(
        evaluate("-m", "RR", "--show", "unjudged", "--treatment", "condensed", "--format", "json")
    )
    assert found["mean"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert found["condensed"] == pytest.approx(1.0)


def test_resampled_means_are_added_with_their_interval(evaluate):
    found = record(
        evaluate("-m", "P@2", "--show", "unjudged", "--treatment", "resample", "--format", "json")
    )
    assert found["expected_low"] <= found["expected"] <= found["expected_high"]
    # one of the three first documents is judged: too few to draw from
    assert found["expected"] == found["mean"]
    outcome = evaluate("-m", "P@2", "--show", "unjudged", "--treatment", "resample")
    assert "too few documents are judged" in outcome.out


def test_ties_are_added_to_the_records(evaluate):
    found = record(
        evaluate("-m", "RR", "--show", "ties", "--treatment", "bounds", "--format", "json")
    )
    assert found["tie_lowest"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert found["tie_highest"] == pytest.approx((1 + 0.5 + 1) / 3)
    found = record(
        evaluate("-m", "RR", "--show", "ties", "--treatment", "expected", "--format", "json")
    )
    assert found["tie_expected"] == pytest.approx((0.75 + 0.5 + 1) / 3)


def test_the_table_has_a_row_for_each_and_a_note(evaluate):
    outcome = evaluate("-m", "P@2", "--show", "unjudged")
    rows = [line.split() for line in outcome.out.splitlines()]
    assert rows[0] == ["run", "method", "P@2"]
    assert [row[1] for row in rows[1:4]] == ["calibrated-beta", "unjudged", "judged"]
    assert rows[2][2:] == ["[0.5000,", "0.8333]"]
    assert "all that any run has in the lists" in outcome.out
    outcome = evaluate("-m", "P@2", "--show", "ties", "--treatment", "expected")
    rows = [line.split() for line in outcome.out.splitlines()]
    assert [row[1] for row in rows[1:3]] == ["calibrated-beta", "ties"]
    assert "in random order" in outcome.out


def test_a_chart_shows_bounds_and_intervals(evaluate, tmp_path):
    target = tmp_path / "means.svg"
    assert (
        evaluate("-m", "P@2", "--show", "unjudged", "--treatment", "bounds", "-o", target).code == 0
    )
    assert "bounds (grey) and 95% interval" in target.read_text()
    target.unlink()
    assert evaluate("-m", "P@2", "--show", "ties", "--treatment", "bounds", "-o", target).code == 0
    assert "P@2" in target.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-m", "Q", "--show", "unjudged", "--treatment", "bounds"),
            "Q: no bounds over unjudged documents",
        ),
        (("--unjudged", "bounds"), "--unjudged is now --show unjudged --treatment bounds|"),
        (("--ties", "bounds"), "--ties is now --show ties --treatment bounds|expected"),
        (("--show", "unjudged", "--treatment", "bond"), "unknown value of --treatment 'bond'"),
        (
            ("--show", "unjudged", "--treatment", "expected"),
            "unknown value of --treatment with --show unjudged 'expected'",
        ),
        (("--treatment", "bounds"), "--treatment has no effect on --show means"),
        (("--pool-depth", "5"), "--pool-depth has no effect on --show means"),
        (("--show", "ties", "--pool-depth", "5"), "it is for --show unjudged"),
        (
            ("--show", "unjudged", "--treatment", "condensed", "--pool-depth", "5"),
            "--pool-depth is for --treatment bounds and resample",
        ),
        (
            ("--show", "unjudged", "--treatment", "bounds", "--baseline", "good"),
            "--baseline has no effect on",
        ),
        (
            ("--show", "unjudged", "--treatment", "bounds", "-q"),
            "-q is --show topics; leave it out, or --show unjudged",
        ),
        (
            ("-m", "alpha_nDCG@10", "--show", "ties", "--treatment", "bounds"),
            "no rule for tied documents",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(evaluate, arguments, message):
    outcome = evaluate(*arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""


def test_score_tables_have_no_documents(confir_command, tmp_path):
    (tmp_path / "scores.csv").write_text("topic,x\n1,0.5\n2,0.25\n")
    outcome = confir_command(
        "evaluate", "--scores", tmp_path / "scores.csv", "--show", "ties", "--treatment", "bounds"
    )
    assert outcome.code == 2
    assert "--show ties needs the documents" in outcome.err


def test_a_run_with_one_topic_has_bounds_without_interval(confir_command, tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "one.run").write_text("1 Q0 u 1 1 x\n")
    outcome = confir_command(
        *("evaluate", tmp_path / "qrels.txt", tmp_path / "one.run", "-m", "RR"),
        *("--show", "unjudged", "--treatment", "bounds", "--format", "json"),
    )
    found = record(outcome)
    assert (found["lowest"], found["highest"]) == (0.0, 1.0)


def test_bounds_of_differences_are_given_with_a_comparison(confir_command, sample_files):
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense")]
    given = (
        "compare",
        sample_files / "qrels.txt",
        *runs,
        "-m",
        "P@10",
        "--show",
        "unjudged",
    )
    outcome = confir_command(*given, "--baseline", "bm25")
    assert outcome.code == 0, outcome.err
    (record,) = json.loads(confir_command(*given, "--baseline", "bm25", "--format", "json").out)
    (expected,) = confir.bound_differences(
        sample_files / "qrels.txt", [str(run) for run in runs], ["P@10"], baseline="bm25"
    ).to_records()
    assert (record["lowest"], record["highest"]) == (expected["lowest"], expected["highest"])
    assert record["lowest"] <= record["difference"] <= record["highest"]
    assert f"{expected['highest']:+.4f}" in outcome.out
    for refused, message in (
        (given, "--show unjudged needs --baseline"),
        ((*given, "--baseline", "bm25", "--test", "t"), "--test has no effect on --show unjudged"),
    ):
        outcome = confir_command(*refused)
        assert outcome.code == 2
        assert message in outcome.err
