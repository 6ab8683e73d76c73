"""The way of data in docs/contributing.md is the one that commands take."""

import re
import sys
import threading
from pathlib import Path

import pytest

import confir
from confir.cli import main, start
from confir.data.simulation import write_collection
from samples import short_sample

HOME = Path(confir.__file__).parent
PAGE = HOME.parents[1] / "docs" / "contributing.md"
FILES = {
    "qrels.txt": "qrels.txt",
    "a.run": "runs/bm25.txt",
    "b.run": "runs/dense.txt",
    "a": "bm25",
    "page.html": "page.html",
}


def described() -> dict[str, list[str]]:
    """Return the commands of the section, and the functions below each."""
    section = PAGE.read_text().partition("## The way of data\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    commands = (part.splitlines() for part in block.strip().split("\n\n"))
    return {head: [line.split()[0] for line in lines] for head, *lines in commands}


def entered(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the functions of confir that a command enters, in the order of their first calls."""
    functions: dict[str, None] = {}

    def watch(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOME)):
            name = frame.f_globals.get("__name__", "")  # compiled code may have none
            module = name.removeprefix("confir.")
            functions.setdefault(f"{module}.{code.co_qualname}")

    monkeypatch.setattr(sys, "argv", ["confir", *arguments])
    start.build_app().commands.clear()  # which other tests keep
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert not ended.value.code
    return list(functions)


@pytest.mark.parametrize("command", described())
def test_a_command_enters_the_functions_in_the_order_of_the_page(command, tmp_path, monkeypatch):
    write_collection(short_sample(), tmp_path)
    monkeypatch.chdir(tmp_path)
    _, *words = command.split()
    found = entered([FILES.get(word, word) for word in words] + ["--quiet"], monkeypatch)
    named = described()[command]
    assert len(named) > 6
    assert [name for name in named if name not in found] == []
    assert [name for name in found if name in named] == named
