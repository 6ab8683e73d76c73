"""Closed and full streams, control characters in names, and Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from confir import cli
from confir.cli import streams
from requirements import ON_LINUX, ON_UNIX

CONFIR = [sys.executable, "-m", "confir"]

# What a terminal would obey: colours, a title, a C1 sequence, DEL, and text from right to left.
WICKED = "\x1b[31mred\x1b]0;owned\x07\x9b2J\x7f\u202eevil"


def in_shell(command: str, folder, **settings) -> subprocess.CompletedProcess:
    """Run a shell command, in which confir is the command at test."""
    words = " ".join(f"'{word}'" for word in CONFIR)
    return subprocess.run(
        ["bash", "-c", f'confir() {{ {words} "$@"; }}; {command}'],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **settings,
    )


@pytest.fixture
def score_table(tmp_path):
    lines = [f"{run},AP,{topic},0.{topic}" for run in "ab" for topic in range(1, 10)]
    (tmp_path / "scores.csv").write_text("\n".join(["run,measure,topic,score", *lines, ""]))
    return tmp_path


@ON_UNIX
def test_a_closed_output_is_reported_in_one_sentence(score_table):
    done = in_shell("confir evaluate --scores scores.csv >&-", score_table)
    assert done.returncode == 2
    assert done.stderr == (
        "confir: error: standard output is closed; expected -o FILE, or somewhere to print\n"
    )


@ON_UNIX
def test_a_closed_output_does_not_matter_to_what_is_written(score_table):
    done = in_shell("confir evaluate --scores scores.csv -o means.csv >&- 2>&- <&-", score_table)
    assert done.returncode == 0
    assert (score_table / "means.csv").read_text().startswith("run,measure")


@ON_UNIX
def test_messages_without_stderr_do_not_reach_the_results(score_table):
    done = in_shell("confir evaluate --scores nowhere.csv 2>&-", score_table)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@ON_UNIX
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path, unbuffered):
    lines = [f"a,AP,{topic},0.5" for topic in range(20_000)]
    (tmp_path / "scores.csv").write_text("\n".join(["run,measure,topic,score", *lines, ""]))
    done = in_shell(
        "set -o pipefail; confir evaluate --scores scores.csv -q --format csv | head -1",
        tmp_path,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert done.returncode == 141
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


GATE = "compare --scores scores.csv --baseline a --fail-if-worse AP --require superior"


@ON_UNIX
@pytest.mark.parametrize("command", ["--help", "evaluate --help", "", "--version", "methods", GATE])
def test_a_reader_that_is_gone_is_never_taken_for_a_closed_gate(score_table, command):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*CONFIR, *command.split()],
        cwd=score_table,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 141
    assert not re.search(b"error|Traceback", done.stderr)


@ON_UNIX
def test_a_gate_is_closed_with_1(score_table):
    assert in_shell(f"confir {GATE}", score_table).returncode == 1


@ON_LINUX
def test_a_full_output_is_reported_in_one_sentence(score_table):
    done = in_shell("confir evaluate --scores scores.csv > /dev/full", score_table)
    assert done.returncode == 2
    assert done.stderr == (
        "confir: error: standard output: cannot be written (No space left on device)\n"
    )
    done = in_shell("confir evaluate --scores nowhere.csv 2> /dev/full", score_table)
    assert done.returncode == 2


@ON_UNIX
@pytest.mark.parametrize(
    "command", ["evaluate --scores scores.csv -q -o out.json", "demo --write d"]
)
def test_a_full_disk_is_reported_in_one_sentence(score_table, command):
    done = in_shell(f"ulimit -f 1; confir {command}", score_table)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert ": cannot be written (File too large)" in done.stderr
    assert not (score_table / "out.json").exists()


def test_confir_alone_shows_what_it_is_for():
    done = subprocess.run(CONFIR, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == ""
    assert "How far can an information-retrieval evaluation score be trusted?" in done.stdout
    assert "evaluate" in done.stdout


# The import of confir.cli is all that comes before somebody listens, and takes no time.
STARTS = {
    "script": "from confir.cli import main; tell(); main()",
    "module": "import runpy, confir.cli; tell(); runpy.run_module('confir', run_name='__main__')",
}


@ON_UNIX
@pytest.mark.parametrize("start_of", STARTS)
@pytest.mark.parametrize("delay", [0.02, 0.1, 0.25, 0.5])
def test_an_interrupt_at_any_moment_prints_no_traceback(whole_files, start_of, delay):
    interrupt(whole_files, start_of, delay)


def interrupt(sample_files, start_of, delay):
    """Send Ctrl-C to a command so many seconds after its start; tests/verify tries more of them.

    On a busy machine it may arrive before confir has begun, which says nothing of confir.
    """
    outcome = _interrupted(sample_files, start_of, delay)
    while "KeyboardInterrupt" in outcome[1] and "confir" not in outcome[1]:
        delay += 0.1
        outcome = _interrupted(sample_files, start_of, delay)
    assert outcome in [(130, "confir: error: interrupted\n"), (0, "")]


def _interrupted(sample_files, start_of, delay):
    code = f"import os\ndef tell(): os.write(2, b'ready\\n')\n{STARTS[start_of]}"
    arguments = ["evaluate", sample_files / "qrels.txt", sample_files / "runs", "--quiet"]
    child = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr.readline() == "ready\n"
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    said = child.communicate()[1]
    return child.returncode, said


def test_an_interrupt_that_python_could_only_print_is_raised_again(monkeypatch):
    class Unlucky:
        def __del__(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "unraisablehook", cli._raise_interrupt_again)
    # a shell may have started the tests in the background, where Ctrl-C is ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            lose(Unlucky())
    finally:
        signal.signal(signal.SIGINT, before)


def lose(thing):
    del thing
    for _ in range(600):  # until it is raised again
        time.sleep(0.1)


def test_an_import_that_ctrl_c_cut_short_counts_as_interrupted(confir_command, monkeypatch):
    def fail(*_):
        raise ImportError("a part of the package is missing") from KeyboardInterrupt()

    monkeypatch.setattr("confir.cli.start._invoke", fail)
    outcome = confir_command("methods")
    assert outcome.code == 130
    assert outcome.err == "confir: error: interrupted\n"


def test_nothing_that_takes_time_is_imported_before_somebody_listens():
    code = "import sys; before = set(sys.modules); import confir.cli; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {name.removeprefix("importlib.") for name in done.stdout.split()}
    light = {"importlib", "_bootstrap", "_bootstrap_external", "__future__", "warnings", "gc"}
    assert found <= light | {"confir", "confir.cli", "confir.lazy_names"}


LESS_AT_A_TIME = "fewer runs or topics at a time need less, and long tables in Parquet, which are"


def memory_error_in(modules: str):
    """Return a function that fails for want of memory in a module, which others have called."""

    def called(*_, **__):
        raise MemoryError

    for module in reversed(modules.split()):
        held = {"__name__": module, "inner": called}
        called = eval("lambda *_: inner()", held)  # noqa: S307
    return called


@pytest.mark.parametrize(
    ("command", "module", "advice"),
    [
        ("evaluate", "confir.resampling.topic_sample", "fewer --replicates need less"),
        ("split-half", "confir.resampling.document_bootstrap", "fewer --replicates need less"),
        ("chance", "confir.studies.chance.chance", "fewer --draws need less"),
        ("simulate", "confir.data.simulation", "fewer --topics, --runs or a smaller --depth"),
        (
            "plan",
            "confir.studies.planning.planning",
            LESS_AT_A_TIME,
        ),
        (
            "evaluate",
            "confir.data.trec",
            LESS_AT_A_TIME,
        ),
        ("methods", "confir.report.tables", LESS_AT_A_TIME),
        ("evaluate", "confir.studies.means.command", LESS_AT_A_TIME),
        ("evaluate", "confir.studies.means.command confir.data.tables.input_table", LESS_AT_A_TIME),
        ("compare", "confir.pairs.compare confir.data.run", LESS_AT_A_TIME),
        (
            "compare",
            "confir.studies.comparison.command confir.resampling.topic_sample",
            "fewer --replicates need less",
        ),
    ],
)
def test_advice_on_memory_fits_the_command(confir_command, monkeypatch, command, module, advice):
    monkeypatch.setattr("confir.cli.start._invoke", memory_error_in(module))
    outcome = confir_command(command)
    assert outcome.code == 2
    assert outcome.err.startswith(f"confir: error: there is not enough memory for this; {advice}")


def obeyed(text: str) -> bool:
    """Whether a terminal would obey something in a text."""
    return any(sign in text for sign in "\x1b\x07\x9b\x7f\u202e")


@pytest.fixture
def wicked_files(tmp_path):
    topic = WICKED.replace(" ", "")
    (tmp_path / "qrels.txt").write_text(f"{topic} 0 d 1\n2 0 d 1\n")
    (tmp_path / "a.run").write_text(f"{topic} Q0 d 1 1.0 {topic}\nodd{topic} Q0 d 1 1.0 tag\n")
    return tmp_path


@pytest.mark.parametrize("kind", ["table", "csv", "tsv", "md", "tex", "html", "json", "jsonl"])
def test_names_do_not_command_the_terminal(confir_command, wicked_files, kind):
    for view in (["-q"], ["--name-by", "tag"]):
        outcome = confir_command(
            *("evaluate", wicked_files / "qrels.txt", wicked_files / "a.run", "-m", "AP"),
            *(*view, "--format", kind),
        )
        assert outcome.code == 0
        assert "lacks 1 topic (2)" in outcome.err
        assert "evil" in outcome.err
        assert not obeyed(outcome.err)
        assert not obeyed(outcome.out)


def test_errors_do_not_command_the_terminal(confir_command, wicked_files):
    for arguments in (
        ("evaluate", f"{WICKED}.txt", "a.run"),
        ("evaluate", wicked_files / "qrels.txt", wicked_files / "a.run", "-m", WICKED),
        (WICKED,),
        ("evaluate", f"--{WICKED}"),
        ("evaluate", "q.txt", "a.run", "--missing", WICKED),
    ):
        outcome = confir_command(*arguments)
        assert outcome.code == 2
        assert outcome.err.count("\n") == 1
        assert not obeyed(outcome.err)


def test_json_holds_names_exactly(confir_command, wicked_files):
    outcome = confir_command(
        *("evaluate", wicked_files / "qrels.txt", wicked_files / "a.run", "-m", "AP"),
        *("-q", "--format", "json"),
    )
    assert WICKED in {record["topic"] for record in json.loads(outcome.out)}


def test_blanks_of_printed_text_stay_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    streams.print_text("a\tb\x1b[2J\n")
    assert capsys.readouterr().out == "a\tb\N{REPLACEMENT CHARACTER}[2J\n"
