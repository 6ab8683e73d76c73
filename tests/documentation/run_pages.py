"""Run what pages show, and put in place what it prints.

    python tests/documentation/run_pages.py PAGE            prints the page with its outputs made anew
    python tests/documentation/run_pages.py --write PAGE…   writes the pages that change

The interpreter that runs this script runs the blocks, so that an environment can be tested that
holds nothing but confir and what it needs; hence only the standard library is imported here. All
blocks of a page run in order in one folder, which holds `sample/` as `confir demo --write sample`
writes it; a file of that folder that the page shows, ![…](figures/NAME), is its picture:

    ```python   one program over the page; an ```output block shows what its block prints
    ```python file=NAME   a file of that name, for the blocks below it
    ```console  commands after `$ `, each followed by what it prints
    ```sh       commands whose output the page does not show
    <!-- $ command --> … <!-- end -->   what a command prints, as part of the page itself

A command that ends with an error, or code that raises one, is an error of the page. Blocks in other
languages do not run.
"""

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

RUNNABLE = re.compile(
    r"""
      ^```python\ file=(?P<file>\S+)\n (?P<held>.*?) ^```\n
    | ^```python\n (?P<code>.*?) ^```\n (?:\n```output\n.*?^```\n)?
    | ^```console\n (?P<session>.*?) ^```\n
    | ^```sh\n (?P<commands>.*?) ^```\n
    | ^<!--\ \$\ (?P<command>[^\n]*)\ -->\n .*? ^<!--\ end\ -->\n
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
PROMPT = "$ "
PICTURE = re.compile(r"!\[[^\]]*\]\((figures/[\w-]+\.svg)\)")
# A command may go on in the next line, after a backslash.
COMMAND = re.compile(r"^\$ (?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)


class PageRun:
    """One page's blocks, run in order in a folder: Python in one namespace, commands by bash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "__main__"}
        binaries = str(Path(sys.executable).parent)
        path = os.pathsep.join([binaries, os.environ.get("PATH", os.defpath)])
        self.environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}

    def block(self, match: re.Match[str]) -> str:
        """Return a block with what it prints now."""
        if (name := match["file"]) is not None:
            self.file(name, match["held"])
            return match[0]
        if (code := match["code"]) is not None:
            output = self.python(code)
            shown = f"\n```output\n{output}```\n" if output else ""
            return f"```python\n{code}```\n{shown}"
        if (session := match["session"]) is not None:
            return f"```console\n{self.session(session)}```\n"
        if (commands := match["commands"]) is not None:
            self.shell(commands)
            return match[0]
        command = match["command"]
        return f"<!-- $ {command} -->\n\n{self.shell(command).strip()}\n\n<!-- end -->\n"

    def file(self, name: str, held: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(held, encoding="utf-8")

    def python(self, code: str) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<page>", "exec"), self.names)  # noqa: S102 - our own pages
        return trimmed(printed.getvalue())

    def session(self, text: str) -> str:
        """Return the commands of a session, each followed by what it prints."""
        commands = COMMAND.findall(text)
        return "".join(command + self.shell(command.removeprefix(PROMPT)) for command in commands)

    def shell(self, commands: str) -> str:
        """Return what commands print, errors and warnings included, as a terminal would show it."""
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{commands.strip()} ended with exit code {done.returncode}:\n{done.stdout}")
        return trimmed(done.stdout)


def trimmed(output: str) -> str:
    """Return lines without blanks at their ends, and without empty lines around them."""
    text = "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")
    return f"{text}\n" if text else ""


def run_page(text: str) -> tuple[str, dict[str, str]]:
    """Return a page with the outputs of all its blocks made anew, and its pictures by their paths."""
    from confir.data.simulation import sample_collection, write_collection

    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        write_collection(sample_collection(), Path("sample"))
        made = RUNNABLE.sub(PageRun(Path(name)).block, text)
        drawn = {path: Path(Path(path).name) for path in PICTURE.findall(text)}
        return made, {path: svg.read_text("utf-8") for path, svg in drawn.items() if svg.exists()}


def labels(picture: str) -> set[str]:
    """Return what a picture says of its marks, numbers to four decimals: fonts may differ."""
    found = set(re.findall(r'aria-label="([^"]*)"', picture))
    return {re.sub(r"\d+\.\d+", lambda n: f"{float(n[0]):.4f}", label) for label in found}


def check_pictures(page: Path, pictures: dict[str, str]) -> None:
    """Stop unless the pictures of a page say what its commands draw now."""
    for path, drawn in pictures.items():
        kept = page.parent / path
        if not kept.exists() or labels(kept.read_text("utf-8")) != labels(drawn):
            sys.exit(f"{kept} is not what the page draws; `make outputs` draws it anew")


def write_changed(path: Path, text: str) -> None:
    """Write a file where its content changes, and say so."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        sys.stderr.write(f"{path}: written\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Run what pages show.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="write the pages that change")
    given = parser.parse_args(arguments)
    for page in given.pages:
        text = page.read_text(encoding="utf-8")
        made, pictures = run_page(text)
        if given.write:
            write_changed(page, made)
            for path, drawn in pictures.items():
                write_changed(page.parent / path, drawn)
        else:
            check_pictures(page, pictures)
            sys.stdout.write(made)


if __name__ == "__main__":
    main()
