"""Arbitrary small files and options: a command answers, or says in one sentence what is wrong.

With CONFIR_EXAMPLES, which asks for so many new examples, each command also has a budget of time and
memory, which a small input must never exceed.
"""

import json
import re
import time
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreign_files import QRELS as FOREIGN_QRELS
from foreign_files import RUNS as FOREIGN_RUNS
from foreign_files import SCORES as FOREIGN_SCORES
from foreign_files import WRONG_VALUES, places, with_value
from strategies import NEW_EXAMPLES, at_most

# Seconds of the processor for a command, compiling aside, and more megabytes than before.
SECONDS, MEGABYTES = 60.0, 1000

many = settings(
    max_examples=at_most(8),
    suppress_health_check=list(HealthCheck),
)

IDS = st.sampled_from(
    ["1", "2", "01", "NA", "constructor", "<script>alert(1)", "Ωx", "a'b", "%s", "$x$"]
)
NUMBERS = st.one_of(
    st.integers(-1, 3).map(str), st.sampled_from(["0.5", "1e300", "nan", "inf", "-0", "", "x"])
)
GRADES = st.integers(-1, 3).map(str)


def rows(*columns, separator=" ", least=0):
    """Lines of cells, of which a few are damaged."""
    line = st.tuples(*columns).map(separator.join)
    return st.lists(line, min_size=least, max_size=12).map(lambda lines: "\n".join(lines) + "\n")


QRELS = rows(IDS, st.just("0"), IDS, GRADES)
RUNS = rows(IDS, st.just("Q0"), IDS, st.just("1"), st.integers(0, 9).map(str), st.just("tag"))
TABLES = st.tuples(
    st.sampled_from(["topic,run,score", "topic,run,measure,score", "topic,a,b", "run,score"]),
    st.one_of(rows(IDS, IDS, NUMBERS, separator=","), rows(IDS, IDS, IDS, NUMBERS, separator=",")),
).map("\n".join)
WINNERS = st.sampled_from(["left", "tie", "model_b"])
VOTES = st.tuples(
    st.sampled_from(["left,right,winner", "model_a,model_b,winner", "left,right,judge"]),
    st.one_of(
        rows(IDS, IDS, st.one_of(IDS, WINNERS), separator=","),
        rows(st.just("Ωx"), st.sampled_from(["<script>alert(1)", "a'b"]), WINNERS, separator=","),
    ),
).map("\n".join)
OUTPUTS = st.sampled_from(["", "x.svg", "x.csv", "x.json", "x.tex", "x.md", "x.parquet", "x.html"])
FROM_RUNS = ["evaluate", "compare", "topics", "collection", "bias-variance", "components", "report"]
FROM_RUNS += ["reproduce", "reusability"]
FROM_SCORES = ["evaluate", "compare", "plan", "topics", "bias-variance", "leaderboard", "report"]
EXTRA = {
    "collection": ["--replicates", "20"],
    "plan": ["--half-width", "0.1"],
    "report": ["-o", "x.html"],
}


def assert_answered(outcome, folder, words):
    """The command did its work, or refused in a sentence; what it wrote is whole."""
    assert outcome.code in (0, 2), (words, outcome.err)
    lines = outcome.err.splitlines()
    assert all(re.match(r"confir: (error|warning|note): \S", line) for line in lines), outcome.err
    errors = [line for line in lines if line.startswith("confir: error: ")]
    assert len(errors) == (outcome.code == 2), (words, outcome.err)
    assert "Traceback" not in outcome.err
    assert "unexpected" not in outcome.err
    written = [path for path in folder.glob("x.*") if path.stat().st_size == 0]
    assert not written
    if outcome.code == 2:
        assert not list(folder.glob("x.*"))
    elif (folder / "x.json").exists():
        json.loads((folder / "x.json").read_text("utf-8"), parse_constant=pytest.fail)
    elif (folder / "x.html").exists():
        assert "<script>alert" not in (folder / "x.html").read_text("utf-8")


def run(confir_command, monkeypatch, folder, command, words, output):
    monkeypatch.chdir(folder)
    for old in folder.glob("x.*"):
        old.unlink()
    given = [command, *words, *EXTRA.get(command, [])]
    if output and command != "report":
        given += ["-o", output]
    with budget(given):
        outcome = confir_command(*given)
    assert_answered(outcome, folder, given)


@contextmanager
def budget(words):
    """Raise if a command exceeds its budget; with new examples alone, on Linux."""
    if not NEW_EXAMPLES:
        yield
        return
    import resource

    started, held = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.process_time() - started < SECONDS, words
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    assert more < MEGABYTES * 1024, words


@many
@given(
    qrels=QRELS,
    runs=st.lists(RUNS, min_size=1, max_size=2),
    command=st.sampled_from(FROM_RUNS),
    measure=st.sampled_from(["AP", "nDCG@2", "P@1"]),
    output=OUTPUTS,
)
def test_any_runs(tmp_path, monkeypatch, confir_command, qrels, runs, command, measure, output):
    names = []
    (tmp_path / "q.txt").write_text(qrels, encoding="utf-8")
    for number, content in enumerate(runs):
        names.append(f"r{number}.txt")
        (tmp_path / names[-1]).write_text(content, encoding="utf-8")
    words = ["q.txt", *names, "-m", measure]
    if command == "reproduce":
        words = [names[0], *names, "--qrels", "q.txt", "-m", measure, "--ties", "b"]
    elif command == "reusability":
        (tmp_path / "t.txt").write_text("r0 A\nr1 <script>alert(1)\n", encoding="utf-8")
        words += ["--teams", "t.txt", "--unjudged", "bounds"]
    run(confir_command, monkeypatch, tmp_path, command, words, output)


@many
@given(table=TABLES, command=st.sampled_from(FROM_SCORES), output=OUTPUTS)
def test_any_scores(tmp_path, monkeypatch, confir_command, table, command, output):
    (tmp_path / "s.csv").write_text(table, encoding="utf-8")
    words = ["s.csv"] if command == "leaderboard" else ["--scores", "s.csv"]
    run(confir_command, monkeypatch, tmp_path, command, words, output)


@many
@given(
    table=VOTES,
    view=st.sampled_from(["strengths", "pairs", "ranks", "best", "groups", "plan", "sequence"]),
    prior=st.sampled_from([[], ["--prior", "1"]]),
    output=OUTPUTS,
)
def test_any_votes(tmp_path, monkeypatch, confir_command, table, view, prior, output):
    (tmp_path / "v.csv").write_text(table, encoding="utf-8")
    drawn = [] if view in ("plan", "sequence") else ["--replicates", "20"]
    prior = [] if view == "sequence" else prior
    words = ["v.csv", "--show", view, *drawn, *prior]
    run(confir_command, monkeypatch, tmp_path, "preferences", words, output)


@st.composite
def foreign_files(draw, files):
    """A file of another tool, of which one value may be of another kind; its name and content."""
    kind = draw(st.sampled_from([kind for kind in files if kind != "table"]))
    name, text = files[kind]
    held = [json.loads(line) for line in text.splitlines()]
    if draw(st.booleans()):
        place = draw(st.sampled_from(list(places(held))))
        held = with_value(held, place, draw(st.sampled_from(WRONG_VALUES)))
    return name, "".join(json.dumps(line) + "\n" for line in held)


@many
@given(
    qrels=foreign_files(FOREIGN_QRELS),
    run_file=foreign_files(FOREIGN_RUNS),
    command=st.sampled_from(FROM_RUNS),
    output=OUTPUTS,
)
def test_any_files_of_other_tools(
    tmp_path, monkeypatch, confir_command, qrels, run_file, command, output
):
    words = []
    for folder, (name, content) in (("q", qrels), ("r", run_file)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(content, encoding="utf-8")
        words.append(f"{folder}/{name}")
    run(confir_command, monkeypatch, tmp_path, command, [*words, "-m", "AP"], output)


@many
@given(scores=foreign_files(FOREIGN_SCORES), command=st.sampled_from(FROM_SCORES), output=OUTPUTS)
def test_any_scores_of_other_tools(tmp_path, monkeypatch, confir_command, scores, command, output):
    name, content = scores
    (tmp_path / name).write_text(content, encoding="utf-8")
    words = [name] if command == "leaderboard" else ["--scores", name]
    run(confir_command, monkeypatch, tmp_path, command, words, output)
