"""``confir plan`` as a user runs it."""

import csv
import io
import json

import pytest

import confir


@pytest.fixture
def plan(confir_command, sample_files):
    """Plan from runs of the sample collection."""
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]

    def run(*arguments):
        return confir_command(
            "plan", sample_files / "qrels.txt", *runs, "-m", "AP", "--quiet", *arguments
        )

    return run


def test_topics_for_power(plan, sample_files):
    code, out, err = plan("--baseline", "bm25", "--difference", "0.02", "--format", "json")
    assert (code, err) == (0, "")
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    scores = confir.evaluate(sample_files / "qrels.txt", runs, ["AP"])
    expected = confir.plan_topics(scores, baseline="bm25", difference=0.02)
    assert json.loads(out) == expected.to_records()


def test_the_table_says_what_the_plan_is_for(plan):
    _, out, _ = plan("--baseline", "bm25", "--difference", "0.02", "--power", "0.9")
    assert out.splitlines()[0].startswith("measure  run    topics needed")
    assert "to detect a true difference of 0.02 from bm25 with power 0.9" in out
    assert "the range is what the pilot allows" in out


def test_topics_for_a_half_width(plan):
    _, out, _ = plan("--half-width", "0.03", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["run"] for row in rows] == ["bm25", "dense", "tfidf"]
    assert {row["goal"] for row in rows} == {"half width"}
    assert {row["power"] for row in rows} == {""}
    assert "no wider than ±0.03" in plan("--half-width", "0.03").out
    paired = plan("--half-width", "0.03", "--baseline", "bm25").out
    assert "interval of the difference from bm25" in paired


def test_what_the_topics_at_hand_can_show(plan):
    _, out, _ = plan("--baseline", "bm25")
    assert out.splitlines()[0].startswith("measure  run    detectable difference")
    assert "given 50 topics" in out
    assert "given 200 topics" in plan("--baseline", "bm25", "--topics", "200").out


@pytest.mark.parametrize(
    "goal",
    [
        ["--half-width", "0.03"],
        ["--baseline", "bm25"],
        ["--baseline", "bm25", "--difference", "0.03"],
    ],
)
def test_the_curve_is_drawn(plan, tmp_path, goal):
    path = tmp_path / "curve.svg"
    assert plan(*goal, "-o", path).code == 0
    assert "<svg" in path.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "a difference needs a baseline"),
        (["--half-width", "0.1", "--difference", "0.1"], "several goals are given"),
        (["--half-width", "-1"], "half width is -1.0"),
        (["--baseline", "nobody"], "unknown run 'nobody'"),
        (["--baseline", "bm25", "--power", "2"], "power is 2.0"),
        (["--half-width", "0.1", "--power", "0.9"], "--power is for differences to detect"),
        (["--baseline", "bm25", "--topics", "1"], "--topics is 1; expected 2 or more"),
        (["-o", "plan.doc"], "unknown ending"),
    ],
)
def test_errors_exit_with_2(plan, options, message):
    code, out, err = plan(*options)
    assert code == 2
    assert out == ""
    assert message in err


def test_a_score_table_is_a_pilot(confir_command, real_data):
    code, out, _ = confir_command(
        *("plan", "--scores", real_data / "robust2004_ap.csv", "--baseline", "sys1"),
        *("--difference", "0.02", "--format", "json"),
    )
    assert code == 0
    assert len(json.loads(out)) == 109
