"""Does the progress bar show itself when it should, and what it should?"""

import io
import re

import pytest

from confir.cli import terminal


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """A function that does three steps of work and returns what reaches stderr meanwhile."""

    def work(stderr: io.StringIO, *, total: int | None, patience=0.0, quiet=False) -> str:
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "120")
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(terminal, "_PATIENCE", patience)
        monkeypatch.setattr("sys.stderr", stderr)
        with terminal.Progress("reading runs", total=total, quiet=quiet) as progress:
            for _ in range(3):
                progress(1)
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stderr.getvalue())

    return work


def test_long_work_tells_the_time_left(shown):
    text = shown(Terminal(), total=4)
    assert re.search(r"reading runs .* 75% [-\d]:[-\d]{2}:[-\d]{2} left", text)


def test_work_of_unknown_length_tells_the_time_taken(shown):
    text = shown(Terminal(), total=None)
    assert re.search(r"reading runs .* \d:\d{2}:\d{2}", text)
    assert "left" not in text


def test_short_work_shows_no_bar(shown):
    assert shown(Terminal(), total=4, patience=60.0) == ""


def test_no_bar_is_shown_without_a_terminal(shown):
    assert shown(io.StringIO(), total=4) == ""


def test_no_bar_is_shown_to_the_quiet(shown):
    assert shown(Terminal(), total=4, quiet=True) == ""
