"""Timing of several contestants side by side, each in a separate process; minima of rounds.

A benchmark names its contestants. For each, the benchmark's script runs again with it alone: imports and
one warm-up call first, then the timed calls. Ratios are taken within one run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Job = Callable[[], object]
Prepare = Callable[[], Job]

DATA = Path(__file__).resolve().parent / "data"
REPETITIONS = 3


@dataclass(frozen=True)
class Share:
    """A job that does only a share of the work; its time is multiplied by ``times``."""

    job: Job
    times: float

    def __call__(self) -> object:
        """Do the share."""
        return self.job()


def run(title: str, contestants: Mapping[str, Prepare], *, rounds: int = 2) -> None:
    """Time contestants side by side and print ratios to the first; or time one, if so asked.

    Names such as "b: confir" belong to a case, b, within which ratios are taken.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--contestant", help="time this one alone and print JSON")
    parser.add_argument("--only", action="append", help="leave the others out (repeatable)")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--quick", action="store_true", help="confir alone, and each job once")
    options = parser.parse_args()
    if options.contestant:
        repetitions = 1 if options.quick else REPETITIONS
        print(json.dumps(_time_here(contestants[options.contestant], repetitions)))
        return
    unknown = set(options.only or ()) - set(contestants)
    if unknown:
        parser.error(f"no such contestant: {', '.join(sorted(unknown))}")
    names = [name for name in contestants if not options.only or name in options.only]
    if options.quick:
        names = [name for name in names if "confir" in name]
    best: dict[str, dict[str, float]] = {}
    for _ in range(1 if options.quick else options.rounds):
        for name in names:
            outcome = _time_apart(name, ["--quick"] if options.quick else [])
            if outcome is None:
                continue
            kept = best.setdefault(name, outcome)
            best[name] = {key: min(kept[key], outcome[key]) for key in kept}
    _print(title, best)


def _time_here(prepare: Prepare, repetitions: int) -> dict[str, float]:
    started = time.perf_counter()
    job = prepare()
    job()
    cold = time.perf_counter() - started
    times = job.times if isinstance(job, Share) else 1.0
    seconds = times * min(_clock(job) for _ in range(repetitions))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": seconds, "cold": cold, "memory": memory}


def _clock(job: Job) -> float:
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def _time_apart(name: str, options: list[str]) -> dict[str, float] | None:
    command = [sys.executable, "-W", "ignore", sys.argv[0], "--contestant", name, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{name}: left out ({last})")
        return None
    outcome: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return outcome


def _print(title: str, best: Mapping[str, Mapping[str, float]]) -> None:
    print(f"\n{title}")
    print(f"{'':34s}{'seconds':>10s}{'ratio':>8s}{'cold':>9s}{'memory GB':>11s}")
    first: dict[str, float] = {}
    for name, outcome in best.items():
        seconds = first.setdefault(name.rpartition(": ")[0], outcome["seconds"])
        print(
            f"{name:34s}{outcome['seconds']:10.3f}{outcome['seconds'] / seconds:8.1f}"
            f"{outcome['cold']:9.2f}{outcome['memory']:11.2f}"
        )
