"""A file with the durations of tests, for reading only."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

SLOWEST = 50
HEADER = " seconds  processor  tests"


class Spent(NamedTuple):
    """What tests took: seconds on the clock, and of processors, which other work does not change."""

    clock: float = 0.0
    processor: float = 0.0
    tests: int = 0

    def plus(self, other: "Spent") -> "Spent":
        return Spent(*(a + b for a, b in zip(self, other, strict=True)))

    def line(self, name: str) -> str:
        return f"{self.clock:8.1f} {self.processor:10.1f} {self.tests:6}  {name}"


def processor_seconds() -> float:
    """Return the seconds that processors spent on this process, and on those that it waited for."""
    return sum(os.times()[:4])


class Stopwatch:
    """A pytest plugin of a process that runs tests: notes what each phase of a test takes."""

    def __init__(self) -> None:
        self._last = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):  # noqa: ARG002 - names that pytest knows
        report = yield
        now = processor_seconds()
        report.processor_seconds = now - self._last
        self._last = now
        return report


class Durations:
    """A pytest plugin of the process that reports: adds up what tests take, and writes a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tests: dict[str, Spent] = {}

    def pytest_runtest_logreport(self, report):
        spent = Spent(report.duration, getattr(report, "processor_seconds", 0.0))
        before = self._tests.get(report.nodeid, Spent(tests=1))
        self._tests[report.nodeid] = before.plus(spent)

    def pytest_sessionfinish(self):
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_text("\n".join(self._lines()) + "\n", encoding="utf-8")

    def _lines(self) -> Iterable[str]:
        load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "not known"
        yield f"What tests took, fixtures included; load of the machine at the end: {load}"
        yield HEADER
        yield from self._by(lambda _: "all")
        yield f"\nfolders\n{HEADER}"
        yield from self._by(lambda test: "/".join(test.partition("::")[0].split("/")[:2]))
        yield f"\nfiles\n{HEADER}"
        yield from self._by(lambda test: test.partition("::")[0])
        yield f"\nthe {SLOWEST} slowest tests\n{HEADER}"
        yield from self._by(lambda test: test, SLOWEST)

    def _by(self, key: Callable[[str], str], most: int | None = None) -> Iterable[str]:
        """Yield a line for the tests that share a key, those that take longest first."""
        sums: dict[str, Spent] = defaultdict(Spent)
        for test, spent in self._tests.items():
            sums[key(test)] = sums[key(test)].plus(spent)
        for name in sorted(sums, key=lambda name: (-sums[name].clock, name))[:most]:
            yield sums[name].line(name)
