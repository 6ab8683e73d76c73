"""Running the command line inside the test's own process."""

import signal
import sys
from typing import NamedTuple

import pytest

import confir.cli
from confir.data.simulation import sample_collection, write_collection


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def confir_command(monkeypatch, capsys):
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
def sample_files(tmp_path_factory):
    """The folder of the sample collection's files: qrels.txt and runs/."""
    folder = tmp_path_factory.mktemp("sample")
    write_collection(sample_collection(), folder)
    return folder
