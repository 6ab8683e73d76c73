"""Comparison of all outputs of an earlier commit with those of the present sources.

    python hardening/earlier_outputs.py d55b3bb
    python hardening/earlier_outputs.py d55b3bb --lines 40      shows more of what differs

Every command of tests/cli/json_outputs.py is run in each format, on the same files; so are --help of all
commands, and the pages. Outputs that differ are listed, with their first differing lines.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORMATS = ("json", "csv", "md", "tex")
WIDTH = "120"
# It prints the folder of the sources, and how long things take.
OF_THE_MACHINE = "finding"


def all_commands(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield the commands, after the files that they read are written to a folder."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]
    from cli.json_outputs import JSON_OUTPUTS, write_files
    from confir.cli.commands import COMMANDS
    from confir.data.simulation import write_collection
    from samples import short_sample

    write_collection(short_sample(), folder / "sample")
    names = write_files(folder, folder / "sample")
    for kind, cases in JSON_OUTPUTS.items():
        for words in cases if kind != OF_THE_MACHINE else ():
            given = [word.format(**names) for word in words]
            yield tuple(given)  # as in a terminal
            yield from ((*given, "--format", one) for one in FORMATS)
    for command in COMMANDS:
        yield (command, "--help-all")
        yield (command, "--help")
    sample = (str(folder / "sample" / "qrels.txt"), str(folder / "sample" / "runs"))
    yield ("report", *sample, "-m", "AP,nDCG@10", "--replicates", "99", "-o", "page.html")
    yield ("report", *sample, "-m", "AP", "--baseline", "bm25", "-o", "page.html")
    yield ("preferences", str(names["votes"]), "-o", "page.html")
    yield ("history", str(names["history"]), "-o", "page.html")


def print_outputs() -> None:
    """Print what each command of standard input prints, and the page that it writes, as JSON."""
    from confir.cli import main

    found = []
    for words in json.load(sys.stdin):
        sys.argv = ["confir", *words]
        page = Path("page.html")
        page.unlink(missing_ok=True)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                code: object = 0
            except SystemExit as stop:
                code = stop.code
        written = page.read_text() if page.exists() else ""
        found.append(f"exit {code}\n{out.getvalue()}\n{err.getvalue()}\n{written}")
    print(json.dumps(found))


def outputs_of(source: Path, commands: list[tuple[str, ...]], folder: Path) -> list[str]:
    """Return the outputs of commands by the sources in a folder."""
    done = subprocess.run(
        [sys.executable, __file__, "--print"],
        input=json.dumps(commands),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source / "src"), "COLUMNS": WIDTH},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [str(one) for one in json.loads(done.stdout)]


def compare(commit: str, lines: int) -> int:
    """Print which outputs differ from those of a commit, and return how many."""
    sys.path.append(str(ROOT / "benchmarks"))
    from earlier_commit import checked_out

    with checked_out(commit) as earlier, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        commands = list(all_commands(folder))
        before = outputs_of(earlier, commands, folder)
        after = outputs_of(ROOT, commands, folder)
    different = 0
    for words, old, new in zip(commands, before, after, strict=True):
        if old == new:
            continue
        different += 1
        print(f"differs: confir {' '.join(words)}".replace(place, ""))
        changes = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
        for change in list(changes)[2 : 2 + lines]:
            print(f"    {change[:200]}")
    print(f"{different} of {len(commands)} outputs differ from those of {commit}")
    return different


def main() -> None:
    """Compare, or print outputs where this is the process that makes them."""
    parser = argparse.ArgumentParser(description="Compare outputs with those of an earlier commit.")
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--lines", type=int, default=6, help="of differences to show for each")
    parser.add_argument("--print", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.print:
        print_outputs()
        return
    raise SystemExit(min(compare(chosen.commit, chosen.lines), 1))


if __name__ == "__main__":
    main()
