"""Time, memory and size of reports, for whole processes.

- 129 runs × 9 measures × 50 topics: from lists of 1000 documents, and from their score table
- 1,000 runs × 50 topics, from a score table
- 2 runs × 1,000,000 topics, from Parquet
- 2 runs × 6,980 topics, from lists of 1000 documents: of 64,000 documents with 119 judged per topic, and of
  8.8 million with one relevant document for most topics, as in MS MARCO
- the 74 runs of TREC-COVID round 5, from compressed files, if CONFIR_DATA names the folder that has
  them; with the time of their decompression alone

The input is simulated once, and kept with that of other benchmarks. For a first look:

    python benchmarks/report.py --quick
"""

from __future__ import annotations

import argparse
import lzma
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import side_by_side

from confir.data.simulation import simulate_collection, write_collection

MEASURES = ("AP", "Rprec", "RR", "P@10", "P@30", "P@1000", "nDCG@10", "nDCG", "R@100")
DEPTH, SEED = 1_000, 2006
TOPICS, CORPUS = 6_980, 8_841_823  # of MS MARCO's passages, development set
COVID = Path(os.environ.get("CONFIR_DATA", side_by_side.DATA)) / "trec-covid-r5"


class Report(NamedTuple):
    """A report: its input, the words of its command, and whether it is part of a first look."""

    title: str
    words: Callable[[], list[str]]
    quick: bool = False


class Cost(NamedTuple):
    """What a command takes."""

    seconds: float
    processor: float
    gigabytes: float


def main() -> None:
    """Print what each report takes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", help="reports whose title holds this text")
    parser.add_argument("--quick", action="store_true", help="two of the reports, once")
    arguments = parser.parse_args()
    print("                                        seconds  processor   memory     page")
    for report in REPORTS:
        if (arguments.quick and not report.quick) or (arguments.only or "") not in report.title:
            continue
        words = report.words()
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            command = ("report", *words, "-o", str(page))
            found = [confir(*command) for _ in range(1 if arguments.quick else arguments.rounds)]
            show(report.title, Cost(*map(min, zip(*found, strict=True))), page)
    if not arguments.quick and COVID.exists():
        print(f"{'decompression of TREC-COVID alone':38s} {decompress():8.1f} s")


def show(title: str, cost: Cost, page: Path) -> None:
    """Print a line."""
    size = page.stat().st_size / 1e6
    print(
        f"{title:38s} {cost.seconds:8.1f} s {cost.processor:8.1f} s {cost.gigabytes:5.2f} GB "
        f"{size:5.2f} MB",
        flush=True,
    )


def confir(*words: str) -> Cost:
    """Run a command of this environment; Python may keep what it has compiled."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    command = [sys.executable, "-m", "confir", *words, "--quiet"]
    process = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"confir {words[0]} failed")
    seconds = time.perf_counter() - started
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)


def decompress() -> float:
    """Return how long two threads take to decompress the runs of TREC-COVID."""
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(lambda path: lzma.decompress(path.read_bytes()), (COVID / "runs").glob("*.xz"))
        )
    return time.perf_counter() - started


def many_runs() -> list[str]:
    """Return qrels, runs and measures of 129 runs."""
    return [*collection("report", runs=129, topics=50), *named(MEASURES)]


def many_runs_table() -> list[str]:
    """Return the score table of these runs."""
    table = side_by_side.DATA / "report" / "scores.csv"
    if not table.exists():
        confir("evaluate", *many_runs(), "-q", "-o", str(table))
    return ["--scores", str(table)]


def thousand_runs() -> list[str]:
    """Return a score table of 1,000 runs."""
    path = side_by_side.DATA / "report-runs.csv"
    if not path.exists():
        rows = enumerate(simulated(topics=50, runs=1_000).tolist())
        lines = [f"t{t},run{r:04d},AP,{x:.4f}" for t, row in rows for r, x in enumerate(row)]
        path.write_text("\n".join(["topic,run,measure,score", *lines, ""]))
    return ["--scores", str(path)]


def million_topics() -> list[str]:
    """Return a score table of 2 runs on a million topics."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = side_by_side.DATA / "report-topics.parquet"
    if not path.exists():
        scores = simulated(topics=1_000_000, runs=2)
        topics = [f"q{number}" for number in range(len(scores))]
        columns = {
            "topic": topics * 2,
            "run": ["a"] * len(topics) + ["b"] * len(topics),
            "measure": ["AP"] * (2 * len(topics)),
            "score": scores.T.reshape(-1),
        }
        pq.write_table(pa.table(columns), path)
    return ["--scores", str(path)]


def long_lists() -> list[str]:
    """Return qrels and runs of 6,980 topics."""
    return collection("report-lists", runs=2, topics=TOPICS)


def sparse_lists() -> list[str]:
    """Return qrels and runs of as many topics, with one relevant document or, sometimes, two."""
    folder = side_by_side.DATA / "report-sparse"
    qrels, runs = folder / "qrels.txt", folder / "runs"
    if not qrels.exists():
        rng = np.random.default_rng(SEED)
        relevant = [rng.choice(CORPUS, 1 + (rng.random() < 0.07)) for _ in range(TOPICS)]
        runs.mkdir(parents=True, exist_ok=True)
        for run, usual_rank in (("bm25", 30.0), ("dense", 8.0)):
            with open(runs / f"{run}.txt", "w") as file:
                for topic, found in enumerate(relevant):
                    file.writelines(sparse_list(topic, found, run, usual_rank, rng))
        judged = [(topic, d) for topic, found in enumerate(relevant) for d in set(found.tolist())]
        qrels.write_text("".join(f"{topic} 0 {document} 1\n" for topic, document in judged))
    return [str(qrels), str(runs)]


def sparse_list(
    topic: int, relevant: np.ndarray, run: str, usual_rank: float, rng: np.random.Generator
) -> Iterator[str]:
    """Yield the lines of a list, relevant documents at about a usual rank, or missing."""
    ranks = np.minimum(usual_rank * rng.pareto(0.7, len(relevant)), DEPTH).astype(int)
    documents = np.insert(rng.choice(CORPUS, DEPTH), np.sort(ranks), relevant)[:DEPTH]
    scores = np.sort(rng.random(DEPTH))[::-1] * 30
    listed = dict.fromkeys(documents.tolist())
    for rank, (document, score) in enumerate(zip(listed, scores, strict=False), 1):
        yield f"{topic} Q0 {document} {rank} {score:.6f} {run}\n"


def covid() -> list[str]:
    """Return qrels and runs of TREC-COVID round 5."""
    return [str(COVID / "qrels.txt"), str(COVID / "runs")]


def simulated(topics: int, runs: int) -> np.ndarray:
    """Return scores in (0, 1) with topic and run effects: topics × runs."""
    rng = np.random.default_rng(SEED)
    effects = rng.normal(size=(topics, 1)) + rng.normal(0, 0.5, (1, runs))
    return 1 / (1 + np.exp(1.0 - effects - 0.7 * rng.normal(size=(topics, runs))))


def collection(name: str, *, runs: int, topics: int) -> list[str]:
    """Return qrels and runs, which are written once."""
    folder = side_by_side.DATA / name
    if not (folder / "runs").exists():
        made = simulate_collection(topics=topics, runs=runs, depth=DEPTH, rng=SEED)
        write_collection(made, folder)
    return [str(folder / "qrels.txt"), str(folder / "runs")]


def named(measures: tuple[str, ...]) -> list[str]:
    """Return measures as a command takes them."""
    return [word for name in measures for word in ("-m", name)]


REPORTS = [
    Report("129 runs, 9 measures: score table", many_runs_table, quick=True),
    Report("129 runs, 9 measures: files", many_runs),
    Report("1,000 runs: score table", thousand_runs),
    Report("1,000,000 topics: Parquet", million_topics, quick=True),
    Report("2 runs, 6,980 topics: files", long_lists),
    Report("the same, one relevant document: files", sparse_lists),
    *([Report("TREC-COVID, 74 runs: files", covid)] if COVID.exists() else []),
]


if __name__ == "__main__":
    main()
