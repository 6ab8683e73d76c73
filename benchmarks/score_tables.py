"""Speed of `confir evaluate` and `compare` on 2 runs × 2,000,000 topics, compared with Arrow.

Every row is a whole process less the start of one that only imports (Arrow) or works on ten
topics (confir); rounds take turns, and minima are reported. Arrow reads the same file, and groups a long one
by run. CPU is user and system time of all threads, whose ratio varies less on a busy machine.

    python benchmarks/score_tables.py [--only "by run"] [--rounds 5] [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scale import Case, write_table

LAYOUTS = ("wide", "grouped", "by run")
ARROW = """
import sys
import pyarrow.parquet
if len(sys.argv) > 1:
    table = pyarrow.parquet.read_table(sys.argv[1])
    if "score" in table.column_names:
        table.group_by("run").aggregate([("score", "mean")])
"""


class Cost(NamedTuple):
    """Seconds by the clock and of the processors, and GB of memory at the peak."""

    wall: float
    cpu: float
    memory: float

    def best(self, other: Cost) -> Cost:
        """Return the minima of both."""
        return Cost(*map(min, self, other))


def run_process(words: Sequence[str]) -> Cost:
    """Return the cost of a process with these arguments of Python."""
    started = time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(sys.executable, [sys.executable, *words], os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - started
    if status:
        raise SystemExit(f"python {' '.join(words[:4])} … failed")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)


def commands(path: Path) -> dict[str, list[str]]:
    """Return what is compared on a table, by name."""
    confir = ["-W", "ignore", "-m", "confir"]
    return {
        "Arrow": ["-c", ARROW, str(path)],
        "evaluate": [*confir, "evaluate", "--scores", str(path)],
        "compare": [*confir, "compare", "--scores", str(path)],
    }


def measure(paths: dict[str, Path], small: Path, rounds: int) -> None:
    """Print the tables of the layouts as they are measured."""
    starts = commands(small) | {"Arrow": ["-c", ARROW]}
    print(f"{'table':10s}{'work':10s}{'s':>7s}{'CPU s':>7s}{'GB':>7s}{'ratio':>8s}{'CPU':>6s}")
    for layout, path in paths.items():
        best: dict[str, Cost] = {}
        for _ in range(rounds):
            for name, words in commands(path).items():
                start, whole = run_process(starts[name]), run_process(words)
                for kind, cost in ((f"{name}, start", start), (name, whole)):
                    best[kind] = cost.best(best.get(kind, cost))
        net = {name: less_start(best[name], best[f"{name}, start"]) for name in starts}
        for name, cost in net.items():
            print(
                f"{layout:10s}{name:10s}{cost.wall:7.2f}{cost.cpu:7.2f}{cost.memory:7.2f}"
                f"{cost.wall / net['Arrow'].wall:8.1f}{cost.cpu / net['Arrow'].cpu:6.1f}",
                flush=True,
            )


def less_start(whole: Cost, start: Cost) -> Cost:
    """Return the cost of a process without its start; memory counts whole."""
    return Cost(whole.wall - start.wall, whole.cpu - start.cpu, whole.memory)


def main() -> None:
    """Write the tables, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=LAYOUTS, help="a layout (repeatable)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="600,000 topics, one round")
    options = parser.parse_args()
    topics = 600_000 if options.quick else 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        paths = {layout: Path(folder, f"{layout}.parquet") for layout in options.only or LAYOUTS}
        for layout, path in paths.items():
            write_table(path, Case("", topics, 2, layout))
        small = Path(folder, "small.parquet")
        write_table(small, Case("", 10, 2, "wide"))
        measure(paths, small, 1 if options.quick else options.rounds)


if __name__ == "__main__":
    main()
