"""``confir reusability`` as a user runs it."""

import json

import pytest

TEAMS = "bm25 lexical\nbm25-rm3 lexical\ntfidf lexical\ndense vectors\nsplade sparse\n"


@pytest.fixture
def words(sample_files, tmp_path):
    (tmp_path / "teams.txt").write_text(TEAMS)
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "tfidf", "dense", "splade")]
    given = ("reusability", sample_files / "qrels.txt", *runs, "-m", "AP")
    return (*given, "--teams", tmp_path / "teams.txt", "--pool-depth", 10)


def test_the_answer_is_a_table_and_in_words(confir_command, words):
    outcome = confir_command(*words, "--unjudged", "bounds")
    assert outcome.code == 0
    table, _, notes = outcome.out.partition("\n\n")
    head, *rows = table.splitlines()
    assert head.split() == [
        *("measure", "run", "team", "mean", "left", "out", "drop", "rank", "unique", "bounds")
    ]
    assert [row.split()[1] for row in rows] == ["splade", "dense", "bm25", "tfidf"]
    assert notes.startswith("A run of a team that did not take part would lose 0.0")
    assert "uniqueness and drops are overstated" in notes
    assert "contain the mean by all judgements for 4 of 4 runs" in notes


def test_records_say_what_the_table_does(confir_command, words):
    records = json.loads(confir_command(*words, "--format", "json").out)
    assert [record["team"] for record in records] == ["lexical", "lexical", "vectors", "sparse"]
    assert all(
        record["drop"] == pytest.approx(record["mean"] - record["left_out"]) for record in records
    )
    assert {record["pool_depth"] for record in records} == {10}


def test_a_deeper_pool_has_fewer_unique_documents(confir_command, words, tmp_path):
    shallow = json.loads(confir_command(*words, "--format", "json").out)
    named = tmp_path / "all.txt"
    judged = words[1].read_text().splitlines()
    named.write_text("".join(f"{line} 3 lexical vectors sparse\n" for line in judged))
    shared = json.loads(
        confir_command(*words[:-2], "--contributors", named, "--format", "json").out
    )
    assert sum(record["drop"] for record in shallow) > 0
    assert {record["drop"] for record in shared} == {0.0}
    assert {record["pool_depth"] for record in shared} == {None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda words: words[:-4], "expected --teams FILE, the team of each run"),
        (
            lambda words: (*words, "--contributors", "x"),
            "--pool-depth is for the pool of these runs",
        ),
        (lambda words: (*words[:-4], "--teams", words[1]), "expected a run and its team"),
        (lambda words: (*words, "--unjudged", "all"), "unknown value of --unjudged"),
        (lambda words: (*words[:-1], 0), "--pool-depth is 0; expected 1 or more"),
    ],
)
def test_what_is_wrong_is_named(confir_command, words, change, message):
    outcome = confir_command(*change(words))
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
