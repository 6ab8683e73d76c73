"""The progress bar of the terminal."""

import io
import os
import re
import subprocess
import sys

import pytest

from confir.cli import progress as progress_module
from confir.cli.file_checks import check_output
from confir.errors import UnreadableError
from confir.parallel import name_stage


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """A function that does three steps of work and returns what reaches stderr meanwhile."""

    def work(stderr: io.StringIO, *, total: int | None, patience=0.0, stages=("", "", "")) -> str:
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "120")
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(progress_module, "_PATIENCE", patience)
        monkeypatch.setattr("sys.stderr", stderr)
        with progress_module.Progress("reading runs", total=total) as progress:
            for stage in stages:
                name_stage(progress if stage else None, stage)
                if progress is not None:
                    progress(1)
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stderr.getvalue())

    return work


def test_long_work_shows_the_time_left(shown):
    text = shown(Terminal(), total=4)
    assert re.search(r"reading runs .* 75% [-\d]:[-\d]{2}:[-\d]{2} left", text)


def test_work_of_unknown_length_shows_the_time_taken(shown):
    text = shown(Terminal(), total=None)
    assert re.search(r"reading runs .* \d:\d{2}:\d{2}", text)
    assert "left" not in text


def test_work_in_stages_names_them_and_shows_no_share_of_its_steps(shown):
    text = shown(Terminal(), total=4, stages=("all pairs", "topic by topic", "the data"))
    assert re.search(r"reading runs: the data .* \d:\d{2}:\d{2}", text)
    assert "%" not in text


def test_a_plain_function_hears_of_no_stages():
    steps = []
    name_stage(steps.append, "all pairs")
    assert steps == []


def test_short_work_shows_no_bar(shown):
    assert shown(Terminal(), total=4, patience=60.0) == ""


def test_no_bar_is_shown_without_a_terminal(shown):
    assert shown(io.StringIO(), total=4) == ""


@pytest.mark.parametrize(("installed", "noted"), [(None, True), (object(), False)])
def test_slow_work_without_numba_says_how_to_make_it_fast(monkeypatch, capsys, installed, noted):
    monkeypatch.setattr(progress_module, "find_spec", lambda _: installed)
    monkeypatch.setattr(progress_module, "_SLOW", 0.0)
    progress = progress_module.Progress("drawing samples", total=None)
    with progress:
        if progress._note is not None:
            progress._note.join()
    assert ("pip install 'confir[fast]'" in capsys.readouterr().err) == noted


@pytest.mark.parametrize(
    ("command", "few"),
    [
        ("evaluate", ()),
        ("chance", ("--documents", "1000")),
        ("collection", ("--replicates", "10")),
        ("type-one", ("--samples", "10")),
    ],
)
def test_the_quiet_see_no_progress(monkeypatch, confir_command, sample_files, command, few):
    def fail(*_, **__):
        raise AssertionError

    monkeypatch.setattr(progress_module.Progress, "__enter__", fail)
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense")]
    given = (sample_files / "qrels.txt", *runs, "-m", "AP", *few)
    assert confir_command(command, *given, "--quiet").err == ""
    assert confir_command(command, *given).code == 2


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_signs_that_an_encoding_lacks_are_replaced(encoding):
    process = subprocess.run(
        [sys.executable, "-m", "confir", "methods"],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert b"calibrated-beta" in process.stdout
    assert not process.stderr


def test_an_interrupted_command_says_so(confir_command, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("confir.cli.start._invoke", interrupt)
    outcome = confir_command("methods")
    assert outcome.code == 130
    assert outcome.err == "confir: error: interrupted\n"


def test_too_little_memory_is_said(confir_command, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("confir.cli.start._invoke", fail)
    outcome = confir_command("methods")
    assert outcome.code == 2
    assert "not enough memory" in outcome.err


def test_an_output_that_cannot_be_written_is_named_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UnreadableError, match="it is a folder"):
        check_output(str(tmp_path / "folder.csv"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UnreadableError, match="the folder may not be written to"):
        check_output(str(tmp_path / "table.csv"))
