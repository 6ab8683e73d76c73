"""``--by`` on evaluate, compare, plan and report: groups of topics in a column of the table."""

import json

import pytest

import confir
from samples import short_sample

RUNS = ("bm25", "dense", "tfidf")


@pytest.fixture
def files(sample_files):
    return [sample_files / "qrels.txt", *(sample_files / "runs" / f"{run}.txt" for run in RUNS)]


@pytest.fixture
def topics(tmp_path):
    """A table that groups topics, one of which is alone, and says nothing else of them."""
    path = tmp_path / "topics.csv"
    listed = short_sample().qrels.topics
    labels = [f"{t},{['<b>long', 'short'][n % 2] if n else 'alone'}" for n, t in enumerate(listed)]
    path.write_text("topic,length\n" + "\n".join(labels) + "\n")
    return path


def test_compare_prints_differences_by_group_and_the_answer(confir_command, files, topics):
    words = ("compare", *files, "-m", "AP", "--baseline", "bm25", "--replicates", "99")
    outcome = confir_command(*words, "--design", topics, "--by", "length")
    assert outcome.code == 0, outcome.err
    assert "depends on length" in outcome.out
    assert "too few topics: alone (1 topic)" in outcome.out
    printed = confir_command(*words, "--design", topics, "--by", "length", "--format", "json")
    records = json.loads(printed.out)
    assert [record["group"] for record in records] == ["alone", "short", "<b>long"] * 2
    assert {record["by"] for record in records} == {"length"}
    plain = json.loads(confir_command(*words, "--format", "json").out)
    assert records[0]["overall_difference"] == plain[0]["difference"]


def test_evaluate_prints_the_means_of_each_group(confir_command, files, topics):
    words = ("evaluate", *files, "-m", "AP", "--design", topics, "--by", "length")
    records = json.loads(confir_command(*words, "--format", "json").out)
    scores = confir.evaluate(files[0], files[1:], ["AP"])
    mean = {(record["group"], record["run"]): record["mean"] for record in records}
    short = scores.values[1::2].mean(axis=0)[:, 0]
    shown = [mean["short", run] for run in scores.runs]
    assert shown == pytest.approx(short.tolist())
    assert records[0]["topics"] == 1
    assert records[0]["low"] is None
    text = confir_command(*words).out
    assert "alone 1 topic, short 25 topics, <b>long 24 topics" in text


def test_plan_plans_each_group_that_has_two_topics(confir_command, files, topics):
    words = ("plan", *files, "-m", "AP", "--half-width", "0.1", "--design", topics)
    outcome = confir_command(*words, "--by", "length", "--format", "json")
    assert {record["group"] for record in json.loads(outcome.out)} == {"short", "<b>long"}
    assert "alone has one topic" in outcome.err


def test_report_has_a_part_about_groups_with_escaped_names(confir_command, files, topics, tmp_path):
    page = tmp_path / "page.html"
    words = ("report", *files, "-m", "AP", "--baseline", "bm25", "--replicates", "99", "-o", page)
    outcome = confir_command(*words, "--design", topics, "--by", "length", "--quiet")
    assert outcome.code == 0, outcome.err
    html = page.read_text()
    assert "Does the difference depend on the kind of topic?" in html
    assert "&lt;b&gt;long" in html
    assert "<b>long" not in html


def test_a_chart_and_a_table_for_papers_are_written(confir_command, files, topics, tmp_path):
    words = ("compare", *files, "-m", "AP", "--baseline", "bm25", "--replicates", "99", "--quiet")
    words = (*words, "--design", topics, "--by", "length")
    for name in ("forest.svg", "table.tex"):
        assert confir_command(*words, "-o", tmp_path / name).code == 0
    assert "all topics" in (tmp_path / "forest.svg").read_text()
    assert "all topics" in (tmp_path / "table.tex").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--by", "lengths"),
            "unknown column of topics to group by 'lengths'; did you mean length?",
        ),
        (("--by", "length", "--show", "best"), "--show cannot be combined with --by"),
        (("--by", "length", "--margin", "0.1"), "--margin cannot be combined with --by"),
        (("--by", "length", "--fail-if-worse", "AP"), "cannot be combined with --by"),
    ],
)
def test_wrong_columns_and_options_are_refused(confir_command, files, topics, words, message):
    outcome = confir_command("compare", *files, "-m", "AP", "--design", topics, *words)
    assert outcome.code == 2
    assert message in outcome.err


def test_by_needs_a_table(confir_command, files):
    outcome = confir_command("compare", *files, "-m", "AP", "--by", "length")
    assert outcome.code == 2
    assert "expected --design FILE, with columns topic and length" in outcome.err


def test_without_by_a_table_that_only_groups_is_no_design(confir_command, files, topics):
    outcome = confir_command("compare", *files, "-m", "AP", "--design", topics)
    assert outcome.code == 2
    assert "nothing about the topics" in outcome.err


def test_means_by_group_have_no_chart(confir_command, files, topics, tmp_path):
    words = ("evaluate", *files, "-m", "AP", "--design", topics, "--by", "length")
    outcome = confir_command(*words, "-o", tmp_path / "means.svg")
    assert outcome.code == 2
    assert "confir compare --by draws differences" in outcome.err


def test_the_table_of_groups_is_not_written_over(confir_command, files, topics):
    words = ("compare", *files, "-m", "AP", "--design", topics, "--by", "length", "-o", topics)
    before = topics.read_text()
    assert confir_command(*words).code == 2
    assert topics.read_text() == before
