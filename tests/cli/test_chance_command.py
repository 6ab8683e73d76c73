"""``confir chance`` as a user runs it."""

import csv
import io
import json
import subprocess
import sys

import pytest


def test_numbers_alone_give_a_row_a_measure(confir_command):
    outcome = confir_command("chance", "--documents", 5, "--relevant", 2, "-m", "AP", "-m", "P@10")
    assert outcome.code == 0
    lines = [line.split() for line in outcome.out.splitlines()]
    assert lines[0] == ["measure", "expected", "sd", "prevalence"]
    assert lines[1] == ["AP", "0.5925", "0.210438", "0.4"]
    assert lines[2][:2] == ["P@10", "0.2"]
    assert "random rankings of 5 documents" in outcome.out


def test_a_depth_cuts_the_random_lists(confir_command):
    outcome = confir_command(
        "chance", "--documents", 1000, "--relevant", 10, "--depth", 100, "--format", "json"
    )
    records = json.loads(outcome.out)
    assert [record["measure"] for record in records] == ["AP", "nDCG@10", "P@10", "RR", "R@1000"]
    assert records[4]["expected"] == pytest.approx(0.1)
    assert {record["depth"] for record in records} == {100}


def test_qrels_give_the_mean_baseline_over_topics(confir_command, sample_files):
    outcome = confir_command(
        "chance", sample_files / "qrels.txt", "--documents", 64000, "-m", "AP", "--format", "csv"
    )
    (record,) = csv.DictReader(io.StringIO(outcome.out))
    assert record["topic"] == "all"
    assert float(record["expected"]) > float(record["prevalence"]) > 0


def test_runs_stand_above_a_line_for_chance(confir_command, whole_files):
    outcome = confir_command(
        *("chance", whole_files / "qrels.txt", whole_files / "runs"),
        *("--documents", 64000, "--depth", 1000, "-m", "AP", "-m", "P@10", "--draws", 99),
    )
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["run", "AP", "P@10", "p", "of", "AP"]
    assert lines[1].startswith("rerank")
    assert "0.3776 (0.3775)" in lines[1]
    assert lines[9].startswith("chance")
    assert "±" in lines[9]
    assert lines[1].split()[-1].startswith("<")  # no draw does as well as the best run
    assert "seed 2006" in lines[-1]
    assert "< is a bound that holds with 99% confidence" in lines[-1]
    assert "the first 1,000 kept" in lines[-1]


def test_topics_one_by_one(confir_command, sample_files):
    outcome = confir_command(
        *("chance", sample_files / "qrels.txt", sample_files / "runs" / "bm25.txt"),
        *("--documents", 64000, "-m", "AP", "-q", "--draws", 9, "--format", "json"),
    )
    records = json.loads(outcome.out)
    assert len(records) == 50
    assert records[0]["run"] == "bm25"
    assert {"score", "corrected", "p", "p_low", "p_high"} <= set(records[0])
    table = confir_command(
        *("chance", sample_files / "qrels.txt", "--documents", 64000, "-m", "AP", "-q")
    )
    assert len(table.out.splitlines()) == 1 + 50 + 2


def test_the_same_seed_prints_the_same(confir_command, sample_files):
    arguments = ("chance", sample_files / "qrels.txt", sample_files / "runs" / "tfidf.txt")
    arguments += ("--documents", 5000, "-m", "AP", "--draws", 50, "--seed", 3)
    assert confir_command(*arguments).out == confir_command(*arguments).out


def test_another_lowest_gain_is_shown_in_the_measure(confir_command, sample_files):
    outcome = confir_command(
        *("chance", sample_files / "qrels.txt", sample_files / "runs" / "bm25.txt", "-l", 2),
        *("--documents", 64000, "-m", "AP", "--draws", 0, "--format", "json"),
    )
    (record,) = json.loads(outcome.out)
    assert record["measure"] == "AP(rel=2)"
    assert record["p"] is None


def test_qrels_in_json_are_read_too(confir_command, tmp_path):
    (tmp_path / "qrels.json").write_text('{"1": {"a": 1, "b": 0}}')
    outcome = confir_command(
        "chance", tmp_path / "qrels.json", "--documents", 5, "-m", "P@1", "--format", "json"
    )
    (record,) = json.loads(outcome.out)
    assert record["expected"] == pytest.approx(0.2)


@pytest.mark.parametrize("ending", ["svg", "png", "md", "tex", "html", "parquet"])
def test_files_of_every_kind_are_written(confir_command, sample_files, tmp_path, ending):
    path = tmp_path / f"chance.{ending}"
    outcome = confir_command(
        *("chance", sample_files / "qrels.txt", sample_files / "runs" / "bm25.txt"),
        *("--documents", 64000, "-m", "AP", "--draws", 9, "-o", path),
    )
    assert (outcome.code, outcome.out) == (0, "")
    assert path.stat().st_size > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--relevant", 2], "expected --documents N"),
        (["--documents", 5], "expected QRELS or --relevant R"),
        (["--documents", 0, "--relevant", 0], "--documents is 0; expected 1 or more"),
        (["--documents", 9, "--relevant", 2, "-q"], "-q is for the topics of QRELS"),
        (["--documents", 9, "--relevant", 2, "--select", "x"], "--select is for runs; none are"),
        (["--documents", 9, "--relevant", 2, "--seed", 3], "--seed is for runs; none are given"),
        (["qrels.txt", "--documents", 9, "--draws", 9], "--draws is for runs; none are given"),
        (["qrels.txt", "--documents", 9, "--missing", "drop"], "--missing is for runs"),
        (["nowhere.txt", "a.run", "--documents", 9, "--missing", "dorp"], "did you mean drop"),
        (["--documents", 10, "--relevant", 20], "20 documents cannot be relevant"),
        (["--documents", 10, "--relevant", 2, "-M", 20], "a depth of 20 exceeds the 10"),
        (["--documents", 10, "--relevant", 2, "-m", "ERR@20"], "of a random ranking is not known"),
        (["--documents", 10, "--relevant", 2, "-m", "APP"], "unknown measure 'APP'"),
        (["qrels.txt", "--documents", 10, "--relevant", 2], "--relevant replaces QRELS"),
        (["nowhere.txt", "--documents", 10], "nowhere.txt"),
        (["--documents", 10, "--relevant", 2, "-o", "x.doc"], "ending of an output file"),
        (["--documents", "many", "--relevant", 2], "--documents"),
    ],
)
def test_impossible_requests_are_one_sentence_and_exit_2(confir_command, arguments, message):
    outcome = confir_command("chance", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.err.startswith("confir: error: ")


def test_more_judged_documents_than_documents_are_named(confir_command, sample_files):
    outcome = confir_command("chance", sample_files / "qrels.txt", "--documents", 100)
    assert outcome.code == 2
    assert "judged documents, more than the 100 documents of the collection" in outcome.err


def test_plain_numbers_wait_for_no_heavy_package():
    code = (
        "import sys; sys.argv = 'confir chance --documents 1000 --relevant 10'.split()\n"
        "from confir.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'scipy', 'numba', 'pandas', 'pyarrow', 'altair', 'narwhals'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
