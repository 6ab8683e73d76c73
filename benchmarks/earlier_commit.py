"""Speed of the present sources, compared with those of an earlier commit in turns.

    python benchmarks/earlier_commit.py 945188c
    python benchmarks/earlier_commit.py 945188c --only report --rounds 9

Every job is a separate process, measured in processor time, so that other work on the machine
matters little; the result is the median of the rounds' ratios. Memory is the peak of the process. Packages
that only the earlier commit needs can be named by PYTHONPATH.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

COMMAND = "from confir.cli import main; main()"

TOPICS, DEPTH = 6_980, 200

SAMPLE = ("sample/qrels.txt", "sample/runs")
# With a baseline, `compare` answers the same question in every version.
JOBS: Mapping[str, tuple[str, ...]] = {
    "help": ("--help",),
    "evaluate two runs": (
        "evaluate",
        "sample/qrels.txt",
        "sample/runs/bm25.txt",
        "sample/runs/dense.txt",
    ),
    "evaluate 6,980 topics": (
        "evaluate",
        "many-qrels.txt",
        "many-a.txt",
        "many-b.txt",
        "-m",
        "AP,nDCG@10,RR",
    ),
    "evaluate 129 x 9, three methods": (
        *("evaluate", "--scores", "wide.csv"),
        *("--method", "percentile", "--method", "bca", "--method", "bootstrap-t"),
    ),
    "compare 8 runs": ("compare", *SAMPLE, "-m", "AP,nDCG@10", "--baseline", "bm25"),
    "compare 100 runs": ("compare", "--scores", "runs.csv", "--baseline", "run0"),
    "evaluate 2 x 2,000,000 topics": ("evaluate", "--scores", "long.parquet"),
    "compare 2 x 2,000,000 topics": ("compare", "--scores", "long.parquet", "--baseline", "a"),
    "collection": ("collection", *SAMPLE, "--replicates", "2000"),
    "coverage": ("coverage", "--scores", "runs.csv", "--samples", "200"),
    "report": ("report", *SAMPLE, "-m", "AP,nDCG@10", "-o", "page.html"),
    "report 6,980 topics": (
        "report",
        "many-qrels.txt",
        "many-a.txt",
        "many-b.txt",
        "-m",
        "AP",
        "-o",
        "page.html",
    ),
}


def write_scores(folder: Path) -> None:
    """Write tables of scores: 129 runs by 9 measures, 100 runs, and 2 runs on 2 million topics."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    import confir

    rng = np.random.default_rng(1)
    values = np.clip(rng.beta(0.8, 1.6, (50, 1, 1)) + rng.normal(0, 0.08, (50, 129, 9)), 0, 1)
    topics, runs = map(str, range(50)), [f"run{number}" for number in range(129)]
    wide = confir.Scores(tuple(topics), tuple(runs), tuple("abcdefghi"), values)
    confir.write_scores(wide, folder / "wide.csv")
    confir.write_scores(wide.select(run=runs[:100], measure="a"), folder / "runs.csv")
    long = {
        "topic": np.repeat(np.arange(2_000_000), 2).astype(str),
        "run": np.tile(["a", "b"], 2_000_000),
        "score": rng.beta(1, 2, 4_000_000),
    }
    pq.write_table(pa.table(long), folder / "long.parquet")


def write_runs(folder: Path) -> None:
    """Write qrels and two runs of many topics, each with four relevant documents."""
    import numpy as np

    rng = np.random.default_rng(2)
    relevant = np.arange(TOPICS)[:, None] + np.array([0, 1, 2, 3]) * TOPICS
    judged = (f"{topic} 0 d{one} 1\n" for topic in range(TOPICS) for one in relevant[topic])
    (folder / "many-qrels.txt").write_text("".join(judged))
    for name in "ab":
        listed = rng.integers(4 * TOPICS, 10**6, (TOPICS, DEPTH))
        listed[np.arange(TOPICS), rng.integers(0, DEPTH, TOPICS)] = relevant[:, 0]
        lines = (
            f"{topic} Q0 d{docid} 1 {-place} {name}\n"
            for topic in range(TOPICS)
            for place, docid in enumerate(dict.fromkeys(listed[topic].tolist()))
        )
        (folder / f"many-{name}.txt").write_text("".join(lines))


class Cost(NamedTuple):
    """Processor time in seconds, and peak memory in GB."""

    seconds: float
    memory: float


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Yield a folder with the files of a commit, which is deleted afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)
        yield Path(folder)


def measure(tree: Path, arguments: tuple[str, ...], folder: Path) -> Cost:
    """Return what a command costs with the sources of a tree."""
    paths = [str(tree / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as a user's are
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", COMMAND, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{tree}: confir {' '.join(arguments)} failed")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)


def main() -> None:
    """Print, for every job, the cost with both sources and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commit", help="the earlier commit")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="jobs whose name holds this")
    options = parser.parse_args()
    with checked_out(options.commit) as earlier, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure(ROOT, ("demo", "--write", "sample"), folder)
        with ProcessPoolExecutor(1) as apart:  # a child's peak is never below that of its parent
            apart.submit(write_scores, folder).result()
            apart.submit(write_runs, folder).result()
        print(f"{'':34s}{'before':>9s}{'now':>9s}{'ratio':>8s}{'GB before':>11s}{'now':>7s}")
        for job, arguments in JOBS.items():
            if options.only in job:
                compare(job, arguments, (earlier, ROOT), folder, options.rounds)


def compare(
    job: str, arguments: tuple[str, ...], trees: tuple[Path, Path], folder: Path, rounds: int
) -> None:
    """Print what a job costs with two trees, in turns, after one round that fills the caches."""
    for tree in trees:
        measure(tree, arguments, folder)
    costs = [[measure(tree, arguments, folder) for tree in trees] for _ in range(rounds)]
    ratio = statistics.median(now.seconds / before.seconds for before, now in costs)
    before, now = (
        Cost(min(cost.seconds for cost in of), min(cost.memory for cost in of))
        for of in zip(*costs, strict=True)
    )
    print(
        f"{job:34s}{before.seconds:9.2f}{now.seconds:9.2f}{ratio:8.2f}"
        f"{before.memory:11.2f}{now.memory:7.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
