"""The way of data in docs/contributing.md is the one that commands take."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import confir
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


# A separate process, because others may have loaded compiled kernels, which read small files, too.
WATCHING = """
import sys, threading
from pathlib import Path
import confir
from confir.cli import main

home, functions = str(Path(confir.__file__).parent), {}

def watch(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(home):
        name = frame.f_globals.get("__name__", "")  # compiled code may have none
        functions.setdefault(f"{name.removeprefix('confir.')}.{code.co_qualname}")

sys.argv[0] = "confir"
threading.setprofile(watch)
sys.setprofile(watch)
try:
    main()
except SystemExit as ended:
    assert not ended.code
finally:
    sys.setprofile(None)
    Path("entered.txt").write_text("\\n".join(functions))
"""


def entered(arguments: list[str], folder: Path) -> list[str]:
    """Return the functions of confir that a command enters, in the order of their first calls."""
    command = [sys.executable, "-c", WATCHING, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / "entered.txt").read_text().split("\n")


@pytest.mark.parametrize("command", described())
def test_a_command_enters_the_functions_in_the_order_of_the_page(command, tmp_path):
    write_collection(short_sample(), tmp_path)
    _, *words = command.split()
    found = entered([*(FILES.get(word, word) for word in words), "--quiet"], tmp_path)
    named = described()[command]
    assert len(named) > 6
    assert [name for name in named if name not in found] == []
    assert [name for name in found if name in named] == named
