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
    assert "the range reflects the sampling error" in out


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
    _, out, _ = plan("--baseline", "bm25", "--topics", "50")
    assert out.splitlines()[0].startswith("measure  run    detectable difference")
    assert "given 50 topics" in out
    assert "given 200 topics" in plan("--baseline", "bm25", "--topics", "200").out


def test_every_option_reaches_the_plan(plan, sample_files):
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    scores = confir.evaluate(sample_files / "qrels.txt", runs, ["AP"])
    for words, options in (
        ("--baseline bm25 --difference observed", {"baseline": "bm25", "difference": "observed"}),
        (
            "--baseline bm25 --topics 70 --family none",
            {"baseline": "bm25", "topics": 70, "family": "none"},
        ),
        (
            "--baseline bm25 --difference 0.03 --assurance 0.9 --family baseline",
            {"baseline": "bm25", "difference": 0.03, "assurance": 0.9, "family": "baseline"},
        ),
        ("--half-width 0.05 --family best", {"half_width": 0.05, "family": "best"}),
        ("--topics 80", {"topics": 80}),
        (
            "--baseline bm25 --difference 0.03 --judgements 900 --judgements-per-topic 10",
            {"baseline": "bm25", "difference": 0.03, "judgements": 900, "judgements_per_topic": 10},
        ),
    ):
        code, out, _ = plan(*words.split(), "--format", "csv")
        assert code == 0
        found = list(csv.DictReader(io.StringIO(out)))
        expected = confir.plan_topics(scores, **options).to_records()
        assert list(found[0]) == list(expected[0])
        assert [row["topics"] for row in found] == [str(record["topics"]) for record in expected]
        assert [row["family"] for row in found] == [record["family"] for record in expected]
        for name in ("half_width", "difference", "low"):
            values = [float(row[name]) for row in found]
            assert values == pytest.approx([record[name] for record in expected])


def test_a_plan_for_the_best_run_reads_so(plan):
    _, out, _ = plan("--half-width", "0.05", "--family", "best")
    assert "for a 95% confidence set of the best of 3 runs" in out
    _, out, _ = plan("--baseline", "bm25", "--difference", "observed")
    assert "the range is that of the simultaneous 95% interval of the observed diff" in out
    assert "family baseline: 2 pairs" in out
    _, out, _ = plan("--baseline", "bm25", "--difference", "observed", "--family", "none")
    assert "the range is that of the 95% interval of the observed difference" in out


@pytest.mark.parametrize(
    "goal",
    [
        ["--half-width", "0.05", "--family", "best"],
        ["--topics", "90"],
        ["--baseline", "bm25", "--difference", "observed"],
        ["--baseline", "bm25", "--difference", "0.03", "--topics", "60", "--assurance", "0.8"],
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
        (["--difference", "0.1"], "a difference needs a baseline"),
        (["--half-width", "0.1", "--difference", "0.1"], "several goals are given"),
        (["--half-width", "-1"], "half width is -1.0"),
        (["--baseline", "nobody"], "unknown run 'nobody'"),
        (["--baseline", "bm25", "--power", "2"], "power is 2.0"),
        (["--half-width", "0.1", "--power", "0.9"], "--power is for differences to detect"),
        (["--baseline", "bm25", "--topics", "1"], "--topics is 1; expected 2 or more"),
        (["-o", "plan.doc"], "unknown ending"),
        (["--baseline", "bm25", "--difference", "much"], "--difference is 'much'; expected a num"),
        (["--half-width", "0.1", "--family", "tukey"], "unknown value of --family 'tukey'"),
        (["--half-width", "0.1", "--assurance", "1"], "assurance is 1.0"),
        (["--baseline", "bm25", "--judgements", "900"], "need judgements per topic"),
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
