"""Names of files and runs that are not valid text: commands show them, or reject them in one sentence."""

import json
import os
import sys

import pytest

from requirements import required

pytestmark = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="names of files are text there"
)
ODD = os.fsdecode(b"\xff")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Qrels, runs and score tables whose names, and folders, are no UTF-8."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / f"dir{ODD}"
    (place / "runs").mkdir(parents=True)
    lists = [(topic, f"d{d}") for topic in range(1, 6) for d in range(4)]
    (place / "q.txt").write_text("".join(f"{t} 0 {d} {int(d == 'd1')}\n" for t, d in lists))
    for name in (f"a{ODD}.txt", "b.txt"):
        run = "".join(f"{t} Q0 {d} 1 {9 - n % 4} x\n" for n, (t, d) in enumerate(lists))
        (place / "runs" / name).write_text(run)
    (place / f"s{ODD}.csv").write_text("topic,a,b\n1,0.5,0.25\n2,0.3,0.4\n3,0.1,0.2\n")
    return place


def given(files):
    return files / "q.txt", files / "runs" / f"a{ODD}.txt", f"{ODD}={files / 'runs' / 'b.txt'}"


@pytest.mark.parametrize("kind", ["csv", "json", "tex", "md", "html", "parquet", "svg", "pdf"])
def test_results_of_odd_names_are_written(confir_command, files, kind):
    output = f"out{ODD}.{kind}"
    outcome = confir_command("evaluate", *given(files), "-m", "AP", "--quiet", "-o", output)
    assert (outcome.code, outcome.err) == (0, "")
    assert os.path.getsize(output) > 50


def test_odd_names_are_shown_with_question_marks(confir_command, files):
    outcome = confir_command("evaluate", *given(files), "-m", "AP", "--quiet", "--format", "json")
    assert [record["run"] for record in json.loads(outcome.out)] == ["a?", "?"]


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "-m", "AP", "--baseline", "a?", "--quiet"),
        ("report", "-m", "AP", "--title", ODD, "-o", f"p{ODD}.html", "--replicates", 19, "--quiet"),
        (
            *("compare", "-m", "AP", "--baseline", "a?", "--fail-if-worse", "AP"),
            *("--history", f"h{ODD}.jsonl", "--junit", f"j{ODD}.xml", "--commit", ODD),
        ),
    ],
    ids=["compare", "report", "gate"],
)
def test_commands_work_with_odd_names(confir_command, files, words):
    command, *options = words
    outcome = confir_command(command, *given(files), *options)
    assert outcome.code == 0, outcome.err
    assert "bug" not in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "--scores", f"nowhere{ODD}.csv"),
        ("evaluate", "q", "r", "-m", ODD),
        (ODD,),
        ("completion", ODD),
        ("evaluate", f"irds:{ODD}", "r"),
        ("evaluate", f"http://127.0.0.1:9/{ODD}", "r", "--download"),
    ],
    ids=lambda words: ascii(words[-1]),
)
def test_odd_names_that_name_nothing_are_reported_in_one_sentence(confir_command, words):
    outcome = confir_command(*words)
    assert outcome.code == 2
    assert outcome.err.startswith("confir: error: ")
    assert outcome.err.count("\n") == 1
    assert "bug" not in outcome.err


@pytest.mark.parametrize("place", ["file", "folder"])
def test_parquet_with_an_odd_name_is_refused_in_one_sentence(confir_command, files, place):
    pa, pq = required("pyarrow"), required("pyarrow.parquet")
    pq.write_table(pa.table({"topic": ["1", "2"], "a": [0.5, 0.25]}), files.parent / "x.parquet")
    odd = files / f"x{ODD}.parquet"
    (files.parent / "x.parquet").rename(odd)
    (files / "tables").mkdir()
    (files / "tables" / "x.parquet").symlink_to(odd)
    path = odd if place == "file" else files / "tables"
    outcome = confir_command("evaluate", "--scores", path, "--quiet")
    assert "bug" not in outcome.err
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
