"""Running of the code on pages, and updating of its outputs.

    python tests/documentation/run_pages.py PAGE            prints the page with its outputs updated
    python tests/documentation/run_pages.py --write PAGE…   writes the pages that change
    python tests/documentation/run_pages.py --processes …   starts a process for each `confir`
    python tests/documentation/run_pages.py --serve         runs pages that it reads the paths of

The interpreter that runs this script runs the blocks, so that an environment can be tested that
holds nothing but confir and what it needs; hence only the standard library is imported here. All
blocks of a page run in order in one folder, which holds `sample/` as `confir demo --write sample`
writes it, `exports/`, the files in tests/intake/files, and `data/`, the collections in the folder that CONFIR_DATA names; a file of that folder that the page shows, ![…](figures/NAME), is its picture:

    ```python   one program over the page; an ```output block shows what its block prints
    ```python file=NAME   a file of that name, for the blocks below it
    ```console  commands after `$ `, each followed by what it prints
    ```sh       commands whose output the page does not show
    <!-- $ command --> … <!-- end -->   what a command prints, as part of the page itself

A command that ends with an error, or code that raises one, is an error of the page. Blocks in other
languages do not run.

Commands run in bash. The `confir` that bash finds there is a messenger: it hands its words, folder,
environment and streams to this process, which calls the entry point of confir as the console script
does. So a page imports what its commands need only once; `--processes` lets bash find the program
that a user runs.
"""

import argparse
import contextlib
import functools
import importlib
import io
import json
import os
import pkgutil
import re
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

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
# Made-up files in the shapes of other tools.
EXPORTS = Path(__file__).parents[1] / "intake" / "files"
PROMPT = "$ "
PICTURE = re.compile(r"!\[[^\]]*\]\((figures/[\w-]+\.svg)\)")
# A command may go on in the next line, after a backslash.
COMMAND = re.compile(r"^\$ (?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)


# The `confir` that bash finds: it sends its arguments, waits, and ends with the exit code it receives.
MESSENGER = """\
import json, os, socket, sys
channel = socket.socket(socket.AF_UNIX)
channel.connect({address!r})
given = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(channel, [len(given).to_bytes(8, "big")], [0, 1, 2])
channel.sendall(given)
sys.exit(int(channel.recv(16)))
"""


class EntryPoint:
    """Runs `confir` in this process for messengers, which it puts into a folder of programs."""

    def __init__(self, programs: Path) -> None:
        address = str(programs / "socket")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen()
        messenger, program = programs / "messenger.py", programs / "confir"
        messenger.write_text(MESSENGER.format(address=address), encoding="utf-8")
        words = shlex.join([sys.executable, "-IS", str(messenger)])
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)

    def serve(self, process: "subprocess.Popen[bytes]") -> None:
        """Run what messengers ask for until a process ends."""
        ended, end = socket.socketpair()

        def wait() -> None:
            with end:
                process.wait()

        threading.Thread(target=wait, daemon=True).start()
        with ended, selectors.DefaultSelector() as waiting:
            waiting.register(self._listener, selectors.EVENT_READ)
            waiting.register(ended, selectors.EVENT_READ)
            while (ready := {key.fileobj for key, _ in waiting.select()}) != {ended}:
                if self._listener in ready:
                    self._answer()

    def _answer(self) -> None:
        channel, _ = self._listener.accept()
        with channel:
            length, streams, _, _ = socket.recv_fds(channel, 8, 3)
            with channel.makefile("rb") as reader:
                words, folder, environment = json.loads(reader.read(int.from_bytes(length, "big")))
            with standard_streams(streams), surroundings(words, folder, environment):
                code = call_main()
            channel.sendall(str(code).encode())


def call_main() -> int:
    """Call what the console script calls, and return the exit code."""
    from confir.cli import main

    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@contextlib.contextmanager
def surroundings(words: list[str], folder: str, environment: dict[str, str]) -> Iterator[None]:
    """Let the process look as if it had just been started with words in a folder."""
    program = str(Path(sys.executable).with_name("confir"))
    words_before, variables, hook = sys.argv, dict(os.environ), sys.unraisablehook
    listening = signal.getsignal(signal.SIGINT)
    sys.argv = [program, *words]
    os.environ.clear()
    os.environ.update(environment)
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        sys.argv, sys.unraisablehook = words_before, hook
        signal.signal(signal.SIGINT, listening)
        os.environ.clear()
        os.environ.update(variables)


@contextlib.contextmanager
def standard_streams(descriptors: Sequence[int]) -> Iterator[None]:
    """Read and write the given files as standard streams, and close them."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = sys.stdin, sys.stdout, sys.stderr
    saved = [os.dup(place) for place in range(3)]
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, place)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdin, sys.stdout, sys.stderr = kept
        for place, descriptor in enumerate(saved):
            os.dup2(descriptor, place)
            os.close(descriptor)


class PageRun:
    """One page's blocks, run in order in a folder: Python in one namespace, commands by bash.

    Parameters
    ----------
    folder
        In which they run.
    programs
        A folder in which bash finds `confir`.
    entry
        Runs `confir` for the messenger in that folder, or None where there is a program.
    """

    def __init__(self, folder: Path, programs: Path, entry: EntryPoint | None) -> None:
        self.folder = folder
        self.entry = entry
        self.names: dict[str, object] = {"__name__": "__main__"}
        binaries = [str(programs), str(Path(sys.executable).parent)]
        path = os.pathsep.join([*binaries, os.environ.get("PATH", os.defpath)])
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
        # A file, not a pipe: libraries in this process may hold on to the streams of a command.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
            bash = subprocess.Popen(
                ["bash", "-e", "-c", commands],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )
            if self.entry is not None:
                self.entry.serve(bash)
            code = bash.wait()
            printed.seek(0)
            output = printed.read()
        if code:
            sys.exit(f"{commands.strip()} ended with exit code {code}:\n{output}")
        return trimmed(output)


def trimmed(output: str) -> str:
    """Return lines without blanks at their ends, and without empty lines around them."""
    text = "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")
    return f"{text}\n" if text else ""


def run_page(text: str, *, processes: bool, sample: Path | None) -> tuple[str, dict[str, str]]:
    """Return a page with the outputs of all its blocks updated, and its pictures by their paths."""
    if not RUNNABLE.search(text):
        return text, {}
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as programs:
        put_sample(Path(name) / "sample", sample)
        if data := os.environ.get("CONFIR_DATA"):
            (Path(name) / "data").symlink_to(Path(data).absolute())
        (Path(name) / "exports").symlink_to(EXPORTS)
        entry = None if processes else EntryPoint(Path(programs))
        with contextlib.chdir(name):
            made = RUNNABLE.sub(PageRun(Path(name), Path(programs), entry).block, text)
            drawn = {path: Path(Path(path).name) for path in PICTURE.findall(text)}
            pictures = {path: svg.read_text("utf-8") for path, svg in drawn.items() if svg.exists()}
        return made, pictures


def put_sample(folder: Path, made: Path | None) -> None:
    """Copy the files of the sample collection from where they were made, or make them."""
    if made is not None:
        shutil.copytree(made, folder)
        return
    from confir.data.simulation import sample_collection, write_collection

    write_collection(sample_collection(), folder)


def labels(picture: str) -> set[str]:
    """Return the labels of the marks of a picture, numbers to four decimals: fonts may differ."""
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


# What pages and commands import apart from confir; a part of it may be missing.
HEAVY = ("numpy", "scipy.stats", "numba", "click", "rich.table", "altair", "pyarrow.parquet")


def get_ready() -> None:
    """Import all that pages need, load kernels, and make the sample collection and scripts of pages."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    import confir

    for module in pkgutil.walk_packages(confir.__path__, "confir."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from confir.data import simulation
    from confir.data.trec_kernel import load_kernel

    load_kernel()
    simulation.sample_collection = functools.cache(simulation.sample_collection)
    simulation.sample_collection()
    with contextlib.suppress(ImportError):  # of altair: there are no pages then
        from confir.report.script_bundle import ScriptBundle

        with ScriptBundle() as bundle:
            bundle.text()


def serve(sample: Path | None) -> None:
    """Run pages, one for each line on stdin, and answer each by a line: JSON of code, output, errors.

    Each page runs in a copy of this process, which has got ready.
    """
    get_ready()
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
            child = os.fork()
            if child == 0:
                run_as_if_started(Path(line.rstrip("\n")), sample, out.fileno(), err.fileno())
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said = []
            for stream in (out, err):
                stream.seek(0)
                said.append(stream.read().decode())
        sys.stdout.write(json.dumps([code, *said]) + "\n")
        sys.stdout.flush()


def run_as_if_started(page: Path, sample: Path | None, out: int, err: int) -> NoReturn:
    """Run one page with these files as standard streams, and end the process."""
    code = 1
    try:
        for descriptor, place in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
            os.dup2(descriptor, place)
        print_page(page, processes=False, sample=sample)
        code = 0
    except SystemExit as stop:
        sys.stderr.write(f"{stop.code}\n")
    except BaseException:  # noqa: BLE001 - the process ends
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def print_page(page: Path, *, processes: bool, sample: Path | None) -> None:
    """Print a page with its outputs updated, if its pictures are what it draws."""
    made, pictures = run_page(page.read_text(encoding="utf-8"), processes=processes, sample=sample)
    check_pictures(page, pictures)
    sys.stdout.write(made)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Run what pages show.")
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="write the pages that change")
    parser.add_argument(
        "--processes", action="store_true", help="start a process for each command of confir"
    )
    parser.add_argument("--serve", action="store_true", help="run pages named on standard input")
    parser.add_argument("--sample", type=Path, help="where the sample collection has been written")
    given = parser.parse_args(arguments)
    if given.serve:
        serve(given.sample)
    for page in given.pages:
        if not given.write:
            print_page(page, processes=given.processes, sample=given.sample)
            continue
        text = page.read_text(encoding="utf-8")
        made, pictures = run_page(text, processes=given.processes, sample=given.sample)
        write_changed(page, made)
        for path, drawn in pictures.items():
            write_changed(page.parent / path, drawn)


if __name__ == "__main__":
    main()
