"""``confir tradeoff``, and the section on costs of ``confir report``."""

import json

import pytest

RUNS = ("bm25", "dense", "tfidf")


@pytest.fixture
def files(sample_files):
    return [sample_files / "qrels.txt", *(sample_files / "runs" / f"{run}.txt" for run in RUNS)]


@pytest.fixture
def costs(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("run,<i>price\nbm25,1\ndense,2\ntfidf,3\n")
    return path


def test_the_answer_names_dominated_runs_and_the_frontier(confir_command, files, costs):
    words = ("tradeoff", *files, "-m", "AP", "--cost", costs, "--replicates", "99")
    outcome = confir_command(*words)
    assert (outcome.code, outcome.err) == (0, "")
    assert "AP against <i>price: on the frontier: bm25" in outcome.out
    assert "dominated by a better run that costs no more: tfidf" in outcome.out
    records = json.loads(confir_command(*words, "--format", "json").out)
    assert [record["run"] for record in records] == list(RUNS)
    assert records[2]["dominated_by"] == "dense, bm25"
    assert records[2]["cost_low"] is None


def test_chart_and_table_for_papers_are_written(confir_command, files, costs, tmp_path):
    words = ("tradeoff", *files, "-m", "AP", "--cost", costs, "--replicates", "99")
    for name in ("chart.svg", "table.tex", "table.html"):
        assert confir_command(*words, "-o", tmp_path / name).code == 0
    assert "tfidf" in (tmp_path / "table.tex").read_text()
    assert "<i>price" not in (tmp_path / "table.html").read_text()
    assert "<i>price" not in (tmp_path / "chart.svg").read_text()


def test_the_report_has_a_part_about_costs(confir_command, files, costs, tmp_path):
    page = tmp_path / "page.html"
    words = ("report", *files, "-m", "AP", "--cost", costs, "--replicates", "99", "-o", page)
    outcome = confir_command(*words, "--quiet")
    assert outcome.code == 0, outcome.err
    html = page.read_text()
    assert "Which runs are worth their cost?" in html
    assert "AP against &lt;i&gt;price: on the frontier: bm25" in html
    assert "<i>price" not in html


def test_costs_of_runs_that_are_not_selected_do_not_matter(confir_command, files, costs):
    words = ("tradeoff", *files, "-m", "AP", "--cost", costs, "--replicates", "99")
    outcome = confir_command(*words, "--select", "bm25", "--select", "dense", "--format", "json")
    assert {record["run"] for record in json.loads(outcome.out)} == {"bm25", "dense"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "run,price\nbm25,1\ndense,\ntfidf,3\n",
            "costs.csv:3: the price of run 'dense' is missing",
        ),
        ("run,price\nbm25,1\ndens,2\ntfidf,3\n", "costs.csv:3 'dens'; did you mean dense"),
        ("run,price\nbm25,1\ndense,2\n", "no price of tfidf"),
        ("price\n1\n", "no column of runs"),
    ],
)
def test_wrong_costs_are_refused(confir_command, files, costs, text, message):
    costs.write_text(text)
    outcome = confir_command("tradeoff", *files, "-m", "AP", "--cost", costs)
    assert outcome.code == 2
    assert message in outcome.err


def test_costs_are_needed(confir_command, files):
    outcome = confir_command("tradeoff", *files, "-m", "AP")
    assert outcome.code == 2
    assert "expected --cost FILE" in outcome.err


def test_the_costs_are_not_written_over(confir_command, files, costs):
    before = costs.read_text()
    outcome = confir_command("tradeoff", *files, "-m", "AP", "--cost", costs, "-o", costs)
    assert outcome.code == 2
    assert "the command reads this file" in outcome.err
    assert costs.read_text() == before
