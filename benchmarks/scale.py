"""Growth of time and memory with topics, runs, documents and replicates, by steps of ten.

Score tables, and runs with their qrels, in Parquet. Every row is a separate process: seconds less
the start of Python and confir, and peak memory; the exponent says how time grows with the axis (1:
proportionally). For comparison, the time that Arrow takes to read the same files and group them by run,
with all of it in memory.

    python benchmarks/scale.py [--only topics] [--quick]
    python benchmarks/scale.py --workers

The latter measures work on a Dask cluster, by the number of its processes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

ROWS_AT_ONCE = 1 << 17
WORKERS = (1, 2, 4)

Result = TypeVar("Result")

PROGRAM = """
import json, re, sys, time
from pathlib import Path
import pyarrow.dataset, pyarrow.parquet
path, work, replicates = sys.argv[1], sys.argv[2], int(sys.argv[3])
qrels, runs = Path(path).with_name("qrels"), Path(path).with_name("runs")
if work != "arrow":
    import confir, confir.intervals.method_list, confir.pairs.compare
    import confir.measures.partitioned_evaluation, scipy.special
    confir.confidence_interval([0.1, 0.2, 0.5])
started = time.perf_counter()
if work == "arrow":
    table = pyarrow.parquet.read_table(path if not runs.exists() else runs)
    if "score" in table.column_names:
        table.group_by("run").aggregate([("score", "mean")])
elif work == "rank":
    confir.confidence_interval(confir.summarise_runs(qrels, runs, ["AP", "nDCG@10"]))
elif work == "compare":
    confir.compare_runs(confir.summarise_scores(path), rng=1)
else:
    kinds = {"method": work, "replicates": replicates, "rng": 1} if replicates else {}
    confir.confidence_interval(confir.summarise_scores(path), **kinds)
seconds = time.perf_counter() - started
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(json.dumps([seconds, int(peak) / 2**20]))
"""


class Case(NamedTuple):
    """A table, and what is computed from it."""

    work: str
    topics: int
    runs: int = 2
    layout: str = "wide"
    replicates: int = 0
    depth: int = 1


def cases(*, quick: bool) -> dict[str, list[Case]]:
    """Return the cases of each axis, each ten times the one before."""
    steps = slice(2) if quick else slice(4)
    topics = [10**4, 10**5, 10**6, 10**7][steps]
    rows, tens = topics[:3], [1, 10, 100][steps]
    axes = {
        "topics": [Case("evaluate", number, 10) for number in topics],
        "runs": [Case("evaluate", 10**5, number) for number in tens],
        "documents": [Case("rank", 10**4, 2, "runs", 0, 10 * number) for number in tens],
        "topics of runs": [Case("rank", number, 2, "runs", 0, 10) for number in rows],
        "replicates": [Case("percentile", 10**5, 2, "wide", 100 * n - 1) for n in tens],
        "topics, rows by run": [Case("evaluate", n, layout="by run") for n in rows],
    }
    if quick:
        return axes
    return {
        **axes,
        "topics, grouped rows": [Case("evaluate", n, layout="grouped") for n in rows],
        "topics, compare": [Case("compare", number, 10) for number in topics],
        "rows by run, compare": [Case("compare", n, layout="by run") for n in rows],
        "runs, compare": [Case("compare", 10**4, runs) for runs in (2, 20, 100)],
        "topics, 99 replicates": [Case("percentile", n, 2, "wide", 99) for n in rows],
        **TEN_MILLION,
    }


# 10 million topics × 10 runs in each layout: the last one is put into order on disk first.
TEN_MILLION = {
    f"10 million topics × 10 runs, {layout}": [Case("evaluate", 10**7, 10, layout)]
    for layout in ("wide", "grouped", "by run")
}


def write_table(path: Path, case: Case) -> None:
    """Write scores of runs that share the topics' difficulty."""
    writer: Any = None
    for table in tables(case):
        writer = append(path, writer, **dict(zip(table.column_names, table.columns, strict=True)))
    writer.close()


def write_lists(folder: Path, case: Case) -> None:
    """Write runs, partitioned by run, and qrels with two judged documents of each topic."""
    import pyarrow as pa

    for place, name in enumerate(["qrels", *(f"runs/run=run{r}" for r in range(case.runs))]):
        (folder / name).mkdir(parents=True)
        depth = 2 if name == "qrels" else case.depth
        step = max(1, ROWS_AT_ONCE // depth)
        writer: Any = None
        for start in range(0, case.topics, step):
            topics = np.arange(start, min(start + step, case.topics))
            each = pa.array(np.repeat(topics, depth) + 10**9).cast(pa.string())
            first = (topics * 7919 * (place + 1) if place else topics) % 50
            documents = (first[:, None] + np.arange(depth)).reshape(-1)
            score = {"score": -documents.astype(np.float64)}
            value = score if place else {"gain": np.ones(len(each), np.int64)}
            docids = pa.array(documents).cast(pa.string())
            writer = append(
                folder / name / "part-0.parquet", writer, topic=each, docid=docids, **value
            )
        writer.close()


def append(path: Path, writer: Any, **columns: Any) -> Any:
    """Write columns after those before; return the writer."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(columns)
    writer = writer or pq.ParquetWriter(path, table.schema)
    writer.write_table(table)
    return writer


def tables(case: Case) -> Iterator[Any]:
    """Yield the table part by part."""
    import pyarrow as pa

    names = [f"run{number}" for number in range(case.runs)]
    for turn in range(case.runs if case.layout == "by run" else 1):
        rng = np.random.default_rng(1)
        for start in range(0, case.topics, ROWS_AT_ONCE):
            size = min(ROWS_AT_ONCE, case.topics - start)
            ids = pa.array(np.arange(10**9 + start, 10**9 + start + size)).cast(pa.string())
            scores = (rng.random((size, 1)) + rng.random((size, case.runs))) / 2.0
            if case.layout == "wide":
                yield pa.table({"topic": ids, **dict(zip(names, scores.T, strict=True))})
            elif case.layout == "by run":
                run = pa.array([names[turn]] * size)
                yield pa.table({"run": run, "topic": ids, "score": scores[:, turn]})
            else:
                each = ids.take(pa.array(np.repeat(np.arange(size), case.runs)))
                runs = np.tile(names, size)
                yield pa.table({"run": runs, "topic": each, "score": scores.reshape(-1)})


def measure(path: Path, work: str, replicates: int) -> tuple[float, float]:
    """Return seconds and peak memory in GB of a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(path), work, str(replicates)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def show_workers() -> None:
    """Print how long work takes in threads, and on processes of a cluster without their start."""
    import confir
    from confir.data.simulation import write_collection
    from confir.errors import ConfirWarning
    from confir.parallel import usable_cores

    print(
        f"{usable_cores()} cores\n{'work':12s}{'where':>10s}{'s':>8s}{'speed-up':>10s}  same bits"
    )
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        write_collection(confir.sample_collection(), folder)
        for name, work in worker_cases(Path(folder)).items():
            found, seconds = timed(work)
            print(f"{name:12s}{'threads':>10s}{seconds:8.1f}", flush=True)
            first = math.nan
            for workers in WORKERS:
                with confir.use_scheduler(f"local:{workers}"):
                    confir.confidence_interval(np.arange(9) / 9)  # starts the processes
                    other, seconds = timed(work)
                first = seconds if workers == WORKERS[0] else first
                same = "yes" if other.tobytes() == found.tobytes() else "NO"
                where = f"local:{workers}"
                print(
                    f"{name:12s}{where:>10s}{seconds:8.1f}{first / seconds:10.1f}  {same}",
                    flush=True,
                )


def worker_cases(folder: Path) -> dict[str, Callable[[], np.ndarray[Any, Any]]]:
    """Return work on the files of the sample collection, from which arrays come."""
    import confir

    files = (folder / "qrels.txt", folder / "runs")
    scores = confir.evaluate(*files)
    methods = ["t", "bootstrap-t", "gaffke"]
    return {
        "evaluate": lambda: confir.evaluate(*files).values,
        "collection": lambda: (
            confir.resample_documents(*files, ["AP", "nDCG@10"], replicates=4000, rng=1).values
        ),
        "coverage": lambda: (
            confir.estimate_coverage(
                scores, methods=methods, samples=1000, replicates=1000, rng=1
            ).coverage
        ),
    }


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of the second of two calls, and the seconds that it took."""
    work()
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def main() -> None:
    """Print a table per axis as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", action="store_true", help="work on a Dask cluster instead")
    parser.add_argument("--only", action="append", help="an axis (repeatable)")
    parser.add_argument("--quick", action="store_true", help="small sizes, within a minute")
    options = parser.parse_args()
    if options.workers:
        show_workers()
        return
    every = cases(quick=options.quick)
    unknown = set(options.only or ()) - set(every)
    if unknown:
        parser.error(f"no such axis: {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    for axis, steps in every.items():
        if options.only and axis not in options.only:
            continue
        print(
            f"\n{axis}\n{'topics':>10s}{'runs':>6s}{'docs':>6s}{'B':>7s}{'s':>9s}{'GB':>7s}{'Arrow s':>9s}{'GB':>7s}{'ratio':>7s}  exponent"
        )
        before: tuple[float, float] | None = None
        for case in steps:
            before = show(case, before)


def show(case: Case, before: tuple[float, float] | None) -> tuple[float, float]:
    """Print one row; return its size and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        write_lists(Path(folder), case) if case.layout == "runs" else write_table(path, case)
        arrow, held = measure(path, "arrow", 0)
        seconds, memory = measure(path, case.work, case.replicates)
    size = float(case.topics * case.runs * case.depth * max(case.replicates, 1))
    grown = ""
    if before is not None:
        grown = f"{math.log(seconds / before[1]) / math.log(size / before[0]):9.2f}"
    print(
        f"{case.topics:10,d}{case.runs:6d}{case.depth:6,d}{case.replicates:7,d}{seconds:9.2f}{memory:7.2f}"
        f"{arrow:9.2f}{held:7.2f}{seconds / arrow:7.1f}{grown}",
        flush=True,
    )
    return size, seconds


if __name__ == "__main__":
    main()
