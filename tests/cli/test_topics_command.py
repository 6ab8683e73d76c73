"""``confir topics`` as a user runs it."""

import json

import pytest

# Run b is the best by AP; c fails on topic 3, and no run has a score on topic 4.
SCORES = """\
topic,run,AP,RR
1,a,0.1,0.5
1,b,0.3,1
1,c,0.2,1
2,a,0.5,1
2,b,0.9,1
2,c,0.8,1
3,a,0.4,0.2
3,b,0.6,0.1
3,c,0.0,0.3
4,a,,
4,b,,
4,c,,
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES, encoding="utf-8")
    return path


@pytest.fixture
def on_scores(confir_command, table):
    """The command on a score table of three runs and four topics."""

    def run(*arguments):
        return confir_command("topics", "--scores", table, "--quiet", *arguments)

    return run


@pytest.fixture
def on_runs(confir_command, sample_files):
    """The command on two runs of the sample collection, by AP."""

    def run(*arguments):
        runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense")]
        return confir_command("topics", sample_files / "qrels.txt", *runs, "-m", "AP", *arguments)

    return run


def listed(text):
    """Topics by list, in the order of the rows; the last name of a row is the topic."""
    rows = [line.split("  ") for line in text.partition("\n\n")[0].splitlines()[1:]]
    found = {}
    for row in rows:
        cells = [cell.strip() for cell in row if cell.strip()]
        found.setdefault(cells[0], []).append(cells[1])
    return found


def test_lists_hard_easy_and_discriminating_topics_and_where_the_best_run_fails(on_scores):
    outcome = on_scores("-m", "AP", "--most", 2)
    assert outcome.code == 0
    # Medians 0.2, 0.8 and 0.4; correlations 0.79, 0.32 and 0.14; b is the best everywhere.
    assert listed(outcome.out) == {
        "hardest": ["1", "3"],
        "easiest": ["2", "3"],
        "discriminating": ["1", "2"],
    }
    assert "score of b, and its shortfall" in outcome.out


def test_a_chosen_run_fails_where_it_is_furthest_below_the_best(on_scores):
    outcome = on_scores("-m", "AP", "--run", "c")
    assert listed(outcome.out)["c fails"] == ["3", "1", "2"]
    (row,) = [
        line for line in outcome.out.splitlines() if line.startswith("c fails") and " 3 " in line
    ]
    assert row.split()[-2:] == ["0.0000", "0.6000"]


def test_several_measures_have_lists_each(on_scores):
    lines = on_scores("--run", "a", "--most", 1).out.splitlines()
    assert lines[0].split()[:3] == ["measure", "list", "topic"]
    assert [line.split()[0] for line in lines[1:9]] == ["AP"] * 4 + ["RR"] * 4


@pytest.mark.parametrize("options", [[], ["-q"]])
def test_a_topic_without_scores_is_left_out(on_scores, options):
    outcome = on_scores("-m", "AP", *options)
    assert outcome.code == 0
    rows = outcome.out.partition("\n\n")[0].splitlines()[1:]
    names = (
        {row.split()[0] for row in rows}
        if options
        else {topic for topics in listed(outcome.out).values() for topic in topics}
    )
    assert names == {"1", "2", "3"}


def test_per_topic_prints_every_topic_hardest_first(on_scores):
    lines = on_scores("-m", "AP", "-q", "--run", "c").out.splitlines()
    assert lines[0].split() == [
        *("topic", "runs", "lowest", "median", "highest", "discr.", "score", "shortfall")
    ]
    assert [line.split()[0] for line in lines[1:4]] == ["1", "3", "2"]
    assert lines[1].split() == [
        "1",
        "3",
        "0.1000",
        "0.2000",
        "0.3000",
        "0.7924",
        "0.2000",
        "0.1000",
    ]


def test_per_topic_refuses_the_option_of_lists(on_scores):
    outcome = on_scores("-q", "--most", 3)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "--most has no effect on --show topics" in outcome.err


def test_lists_have_at_least_one_topic(on_scores):
    outcome = on_scores("--most", 0)
    assert outcome.code == 2
    assert "--most" in outcome.err


def test_a_run_may_be_named_or_given_as_its_file(on_runs, sample_files):
    by_name = on_runs("--run", "bm25", "--most", 2)
    assert by_name.code == 0
    assert len(listed(by_name.out)["bm25 fails"]) == 2
    assert on_runs("--run", sample_files / "runs" / "bm25.txt", "--most", 2).out == by_name.out


def test_a_file_that_is_not_among_the_runs_is_one_more(on_runs, sample_files):
    outcome = on_runs("--run", sample_files / "runs" / "tfidf.txt", "--most", 1)
    assert "score of 3 runs" in outcome.out
    assert len(listed(outcome.out)["tfidf fails"]) == 1


def test_an_unknown_run_is_an_error_that_names_the_known(on_runs):
    outcome = on_runs("--run", "bm52")
    assert outcome.code == 2
    assert "bm52" in outcome.err
    assert "bm25" in outcome.err


def test_records_hold_every_topic_and_the_numbers_of_the_run(on_scores):
    records = json.loads(on_scores("-m", "AP", "--run", "c", "--format", "json").out)
    assert [record["topic"] for record in records] == ["1", "3", "2"]
    assert records[1].keys() == {
        *("measure", "topic", "runs", "lowest", "median", "highest", "discrimination"),
        *("run", "score", "shortfall"),
    }
    assert records[1]["discrimination"] == pytest.approx(1 / 7)
    expected = {"measure": "AP", "topic": "3", "runs": 3, "lowest": 0.0, "median": 0.4}
    expected |= {"highest": 0.6, "run": "c", "score": 0.0, "shortfall": 0.6}
    assert {name: records[1][name] for name in expected} == expected


def test_one_run_has_no_discrimination_and_no_shortfall(confir_command, sample_files):
    outcome = confir_command(
        *("topics", sample_files / "qrels.txt", sample_files / "runs" / "bm25.txt"),
        *("-m", "AP", "--most", 1, "--quiet"),
    )
    assert outcome.code == 0
    assert list(listed(outcome.out)) == ["hardest", "easiest"]
    assert [line.split()[5] for line in outcome.out.splitlines()[1:3]] == ["–", "–"]


HOSTILE = ["<b>x", "a|b & %s", "x\x1b[31mred", "=1+1", "ünï, cödé"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_runs_and_topics_are_text_and_nothing_else(confir_command, tmp_path, name):
    path = tmp_path / "scores.json"
    records = [
        {"run": run, "topic": topic, "measure": "AP", "value": value}
        for run, value in ((name, 0.1), ("b", 0.4))
        for topic in (name, "t")
    ]
    path.write_text(json.dumps(records), encoding="utf-8")
    options = ("topics", "--scores", path, "--run", name, "--quiet")
    made = json.loads(confir_command(*options, "--format", "json").out)
    assert {record["run"] for record in made} == {name}
    assert {record["topic"] for record in made} == {name, "t"}
    for kind in ("table", "md", "tex", "html", "csv"):
        outcome = confir_command(*options, "--format", kind)
        assert outcome.code == 0
        assert "\x1b" not in outcome.out or kind == "csv"
        assert "<b>x" not in outcome.out or kind not in ("html", "md")
