"""How long does a report take? 129 runs × 9 measures × 50 topics, as whole processes.

From files, 129 runs of 1000 documents a topic (6.45 million lines), and from the score table that
`confir evaluate` makes of them. The files are simulated once, and kept beside the others.

    python benchmarks/report.py [--rounds 2] [--quick]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import side_by_side

from confir.data.simulation import simulate_collection, write_collection

MEASURES = ("AP", "Rprec", "RR", "P@10", "P@30", "P@1000", "nDCG@10", "nDCG", "R@100")
RUNS, TOPICS, DEPTH, SEED = 129, 50, 1_000, 2006
FOLDER = side_by_side.DATA / "report"


def make_data() -> Path:
    """Write the collection and its scores, once; return the score table."""
    table = FOLDER / "scores.csv"
    if not table.exists():
        collection = simulate_collection(topics=TOPICS, runs=RUNS, depth=DEPTH, rng=SEED)
        write_collection(collection, FOLDER)
        confir("evaluate", *inputs(), "--per-topic", "-o", str(table))
    return table


def inputs() -> list[str]:
    """Return qrels, runs and measures as a command takes them."""
    measures = [word for name in MEASURES for word in ("-m", name)]
    return [str(FOLDER / "qrels.txt"), str(FOLDER / "runs"), *measures]


def confir(*words: str) -> float:
    """Return what a command of this environment takes; Python may keep what it has compiled."""
    program = Path(sys.executable).with_name("confir")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    subprocess.run([program, *words, "--quiet"], env=environment, check=True)
    return time.perf_counter() - started


def main() -> None:
    """Print seconds and size of each report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="from the score table alone, once")
    arguments = parser.parse_args()
    table = make_data()
    sources = {"files": inputs(), "score table": ["--scores", str(table)]}
    if arguments.quick:
        del sources["files"]
    print(f"{RUNS} runs × {len(MEASURES)} measures × {TOPICS} topics, lists of {DEPTH}")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for name, words in sources.items():
            seconds = min(
                confir("report", *words, "-o", str(page))
                for _ in range(1 if arguments.quick else arguments.rounds)
            )
            print(f"from {name:14s} {seconds:6.1f} s  {page.stat().st_size / 1e6:5.2f} MB")


if __name__ == "__main__":
    main()
