"""Mutation testing of the statistics, on a random sample of mutants.

    make mutate SECONDS=600 ARGS="--seed 7"
    make mutate ARGS="--only intervals/t.py"
    make mutate ARGS="--again printed.txt"        the mutants that were not killed before
    make mutate SECONDS=7200 ARGS="--count 150 --slow"   mutants that only slow tests kill

A mutant is a copy of the sources with one operator, comparison, number or condition changed. Tests
that run the changed line, as `make coverage` recorded them, run on it, the fastest first, until one
fails: the mutant is killed; otherwise it survives. A process that dies although no test failed has
crashed, which is no verdict, because a test may not survive the fork. Each layer of the statistics gets
the same share of the sample: `measures`, `resampling`, `intervals`, and the statistics of studies.
With --slow, surviving mutants are also tried on the slow tests; those that only these kill are
reported as "slow".

The tests are collected once. Each mutant gets a fork of that process, in which the code of the
changed function is replaced; a change of a default or a constant gets a separate process.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from types import CodeType, FunctionType

import coverage
import pytest
from mutants import ROOT, SOURCES, Mutant, all_mutants

RECORD = ROOT / ".coverage"
TIMES = ROOT / "build" / "tests.xml"
LEFT_OUT = ("browser", "documentation", "embedding", "spark")  # as `make coverage` does
OPTIONS = [
    "-q",
    "-x",
    "-p",
    "no:randomly",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:faulthandler",
]
TESTS_OF_A_CONSTANT = 300  # they are collected again
MEMORY = 10 * 2**30  # a mutant may ask for any size of array; charts reserve addresses beyond it
NOT_KILLED = ("survived  ", "untested  ", "timeout  ", "crashed  ")
START = 60.0  # seconds to begin with tests
SLOW = 2.0  # seconds of a slow test, which coverage does not know
PATIENCE = 10  # with processes that wait, in relation to those that compute
FAILED, NOT_COLLECTED = 1, 2  # how pytest ends where a test fails, or its file cannot be imported
CRASHED = 9


class Tests:
    """The tests that run a line, and how long each took."""

    def __init__(self) -> None:
        if not (RECORD.exists() and TIMES.exists()):
            raise SystemExit(
                f"{RECORD.name} or {TIMES.relative_to(ROOT)} is missing: make coverage"
            )
        self._data = coverage.CoverageData(str(RECORD))
        self._data.read()
        self._seconds: dict[str, float] = {}
        self._files: dict[str, list[str]] = defaultdict(list)
        for case in ET.parse(TIMES).iter("testcase"):  # noqa: S314 - written by pytest
            test = f"{case.attrib['file']}::{case.attrib['name']}"
            self._seconds[test] = float(case.attrib["time"])
            self._files[case.attrib["file"]].append(test)

    def of(self, mutant: Mutant, seconds: float) -> list[str]:
        """Return tests to run on a mutant: one case of each function first, then the second."""
        found = sorted(self._that_run(mutant), key=lambda test: (self._seconds[test], test))
        cases: Counter[str] = Counter()
        turns = []
        for test in found:
            function = test.partition("[")[0]
            turns.append(cases[function])
            cases[function] += 1
        chosen: list[str] = []
        total = 0.0
        for _, test in sorted(zip(turns, found, strict=True), key=lambda pair: pair[0]):
            total += self._seconds[test]
            if chosen and total > seconds:
                break
            chosen.append(test)
        if self.at_import(mutant):
            chosen.sort(key=lambda test: mutant.path.stem not in test)
            chosen = chosen[:TESTS_OF_A_CONSTANT]
        return chosen

    def seconds(self, tests: list[str]) -> float:
        """Return how long tests took."""
        return sum(self._seconds.get(test, SLOW) for test in tests)

    def at_import(self, mutant: Mutant) -> bool:
        """Return whether a line runs where its file is imported, if only by a call from there."""
        return mutant.function is None or "" in self._contexts_of(mutant)

    def _contexts_of(self, mutant: Mutant) -> set[str]:
        first, last = mutant.lines
        contexts = self._contexts(mutant.path)
        return set(chain.from_iterable(contexts.get(line, ()) for line in range(first, last + 1)))

    def _that_run(self, mutant: Mutant) -> set[str]:
        contexts = self._contexts_of(mutant)
        if self.at_import(mutant) or (mutant.is_compiled and not contexts):  # or unseen by coverage
            used = (self._contexts(path) for path in (mutant.path, *importers(mutant.path)))
            contexts = {one for lines in used for line in lines.values() for one in line}
        tests = set()
        for context in contexts:
            test, _, phase = context.rpartition("|")
            if phase == "setup":  # a fixture that the first of several tests made
                tests.update(self._files[test.partition("::")[0]])
            else:
                tests.add(test)
        return tests & self._seconds.keys()

    @cache  # noqa: B019 - lives as long as the program
    def _contexts(self, path: Path) -> dict[int, list[str]]:
        return self._data.contexts_by_lineno(str(path.relative_to(ROOT)))


def importers(path: Path) -> list[Path]:
    """Return the files that import from a module."""
    module = ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    files = sorted(SOURCES.rglob("*.py"))
    return [file for file in files if f"from {module} import" in file.read_text(encoding="utf-8")]


def sample(options: argparse.Namespace) -> Iterator[Mutant]:
    """Yield mutants in random order, one of each layer in turn."""
    draw = random.Random(options.seed)  # noqa: S311 - a sample, no secret
    lines = options.again.read_text(encoding="utf-8").splitlines() if options.again else []
    again = {line.split("  ")[1] for line in lines if line.startswith(NOT_KILLED)}
    layers = [
        [m for m in found if options.only in str(m) and (not lines or str(m) in again)]
        for found in all_mutants().values()
    ]
    for mutants in layers:
        draw.shuffle(mutants)
    return (m for turn in zip_longest(*layers) for m in turn if m is not None)


class Trial:
    """A pytest plugin that, instead of running the tests that were collected, tries mutants on them."""

    def __init__(self, mutants: Iterator[Mutant], copy: Path, options: argparse.Namespace) -> None:
        self.mutants, self.copy, self.options = mutants, copy, options
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self._note = copy.parent / "failed"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try mutants until the time is over."""
        session.config.pluginmanager.unregister(name="terminalreporter")  # no dots in between
        items = {item.nodeid: item for item in session.items}
        tests = Tests()
        self._functions = functions_below(self.copy)
        gc.collect()
        gc.freeze()  # forks share what is never visited
        stop = time.monotonic() + self.options.seconds
        for mutant in islice(self.mutants, self.options.count):
            if time.monotonic() > stop:
                break
            chosen = tests.of(mutant, self.options.patience)
            begun = time.monotonic()
            outcome = self._try(mutant, chosen, tests, items)
            if outcome == "survived" and self.options.slow:
                slow = slow_beside(chosen, session.items)
                if self._try(mutant, slow, tests, items) == "killed":
                    outcome = "slow"
            spent = time.monotonic() - begun
            self.outcomes[mutant.layer][outcome] += 1
            killed = outcome in ("killed", "slow")
            by = self._note.read_text(encoding="utf-8") if killed else ""
            print(f"{outcome}  {mutant}  [{len(chosen)} tests, {spent:.0f} s] {by}", flush=True)
        return True

    def _try(
        self, mutant: Mutant, chosen: list[str], tests: Tests, items: dict[str, pytest.Item]
    ) -> str:
        """Return "killed", "survived", "timeout", "crashed" or, if no test runs it, "untested"."""
        if not chosen:
            return "untested"
        changed = self.copy / mutant.path.relative_to(SOURCES)
        source = changed.read_text(encoding="utf-8")
        changed.write_text(mutant.apply(source), encoding="utf-8")
        self._note.write_text("", encoding="utf-8")
        limit = int(START + 4 * tests.seconds(chosen))
        try:
            if tests.at_import(mutant):
                return self._start(chosen, limit)
            return self._fork(mutant, changed, [items[test] for test in chosen], limit)
        finally:
            changed.write_text(source, encoding="utf-8")

    def _start(self, chosen: list[str], limit: int) -> str:
        """Run tests in a process of their own."""
        names = self.copy.parent / "chosen"
        names.write_text("\n".join(chosen), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", *OPTIONS, f"@{names}"]
        ended = in_a_fork(partial(os.execv, sys.executable, command), limit)
        return "killed" if ended in (FAILED, NOT_COLLECTED) else outcome_of(ended)

    def _fork(self, mutant: Mutant, changed: Path, items: list[pytest.Item], limit: int) -> str:
        """Run tests in a fork of this process, in which the function is replaced."""
        ended = in_a_fork(partial(self._run, mutant, changed, items), limit)
        return "killed" if self._note.stat().st_size else outcome_of(ended)

    def _run(self, mutant: Mutant, changed: Path, items: list[pytest.Item]) -> None:
        if mutant.is_compiled:
            _forget_kernels(self.copy.parent / "compiled")
        replace_code(self._functions[str(changed)], changed, mutant.function)
        for item, following in zip_longest(items, items[1:]):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        os._exit(0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the fork where a test fails."""
        if report.failed:
            self._note.write_text(report.nodeid, encoding="utf-8")
            os._exit(1)


def slow_beside(chosen: list[str], items: list[pytest.Item]) -> list[str]:
    """Return the slow tests in the files of other tests, the cases of the same functions first."""
    files = {test.partition("::")[0] for test in chosen}
    functions = {test.partition("[")[0] for test in chosen}
    found = [
        item.nodeid
        for item in items
        if item.get_closest_marker("slow") and item.nodeid.partition("::")[0] in files
    ]
    return sorted(found, key=lambda test: test.partition("[")[0] not in functions)


def in_a_fork(act: Callable[[], None], limit: int) -> int:
    """Return the exit code of a fork that does something, or the signal that ended it, below 0.

    The limit is of the processor's seconds, so that a busy machine changes no verdict.
    """
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, 2 * limit))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            act()
        finally:
            os._exit(CRASHED)
    stop = time.monotonic() + PATIENCE * limit
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > stop:
            os.killpg(child, signal.SIGXCPU)
            ended = os.waitpid(child, 0)
            break
        time.sleep(0.02)
    return os.waitstatus_to_exitcode(ended[1])


def outcome_of(ended: int) -> str:
    """Return what became of a mutant on which no test failed."""
    return {0: "survived", -signal.SIGXCPU: "timeout"}.get(ended, "crashed")


def _forget_kernels(folder: Path) -> None:
    """Have numba compile kernels again: its cache knows them by their file, not by their code."""
    from numba.core.config import reload_config

    shutil.rmtree(folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    reload_config()


def functions_below(folder: Path) -> dict[str, list[FunctionType]]:
    """Return the functions that were imported from each file of a folder."""
    gc.unfreeze()  # the objects that the tests' configuration froze are not listed
    found = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(folder)):
            found[one.__code__.co_filename].append(one)
    return found


def replace_code(functions: list[FunctionType], path: Path, line: int | None) -> None:
    """Give those of a file's functions that begin at a line the code that the file has now."""

    def codes(code: CodeType) -> Iterator[CodeType]:
        yield code
        for part in code.co_consts:
            if isinstance(part, CodeType):
                yield from codes(part)

    if not functions:  # not imported yet: tests will import the changed file
        imported = (getattr(module, "__file__", None) for module in [*sys.modules.values()])
        assert str(path) not in imported, f"no function of {path} was found"
        return
    module = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    new = {(code.co_firstlineno, code.co_qualname): code for code in codes(module)}
    broken = [function for function in functions if function.__code__.co_firstlineno == line]
    assert broken, f"no function begins at line {line} of {path}"
    for function in broken:
        function.__code__ = new[line, function.__code__.co_qualname]  # type: ignore[index]


def main() -> None:
    """Try mutants until the time is over; print the survivors and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="how many mutants at most")
    parser.add_argument("--slow", action="store_true", help="try survivors on slow tests, too")
    parser.add_argument("--patience", type=float, default=30, help="seconds of tests for a mutant")
    parser.add_argument("--only", default="", help="a part of the path, or of the line as shown")
    parser.add_argument("--again", type=Path, help="output: try again what it did not kill")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "src"
        shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
        sys.path.insert(0, str(copy))
        sys.dont_write_bytecode = True
        os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")
        os.environ["NUMBA_CACHE_DIR"] = f"{name}/kernels"
        os.chdir(ROOT)
        trial = Trial(sample(options), copy, options)
        ignored = [f"--ignore=tests/{folder}" for folder in LEFT_OUT]
        pytest.main([*OPTIONS, f"--basetemp={name}/tests", *ignored, "tests"], plugins=[trial])
    for layer, outcomes in trial.outcomes.items():
        print(layer, f"{outcomes.total()} tried:", dict(outcomes))


if __name__ == "__main__":
    main()
