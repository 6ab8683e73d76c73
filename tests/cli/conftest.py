"""The command line run inside the test's own process."""

import signal
import sys
from functools import cache
from typing import NamedTuple

import pytest

import confir.cli.commands
from confir.data.simulation import write_collection
from samples import short_sample, whole_sample


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def built_once():
    """Commands whose options are read from their functions once, not for each call."""
    built = cache(confir.cli.commands.build_command)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("commands", "start"):
            patch.setattr(f"confir.cli.{module}.build_command", built)
        yield


@pytest.fixture
def confir_command(built_once, monkeypatch, capsys):  # noqa: ARG001 - a fixture that acts
    """A function that runs ``confir`` with arguments and returns exit code, stdout and stderr."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["confir", *map(str, arguments)])
        monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
        listening = signal.getsignal(signal.SIGINT)
        try:
            with pytest.raises(SystemExit) as stop:
                confir.cli.main()
        finally:
            signal.signal(signal.SIGINT, listening)
        captured = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def sample_files(once_per_run):
    """The folder of the sample collection's files, qrels.txt and runs/, with short lists."""
    return once_per_run("short-sample", lambda folder: write_collection(short_sample(), folder))


@pytest.fixture(scope="session")
def whole_files(once_per_run):
    """The folder of the sample collection's files."""
    return once_per_run("sample", lambda folder: write_collection(whole_sample(), folder))
