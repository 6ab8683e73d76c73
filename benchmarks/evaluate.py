"""Speed from files on disk to per-topic AP, Rprec, RR, P@10, P@30, P@1000, nDCG@10 and nDCG.

Case a is one run of 50 topics × 1000 documents, b a hundred of them, c one run of 6,980 topics.
Then the run of case a on the command line, timed as whole processes.

    python benchmarks/evaluate.py [commands | --only "b: confir" --only "b: pytrec_eval"]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import side_by_side

MEASURES = ("AP", "Rprec", "RR", "P@10", "P@30", "P@1000", "nDCG@10", "nDCG")
TREC_NAMES = ("map", "Rprec", "recip_rank", "P.10,30,1000", "ndcg_cut.10", "ndcg")
RANX_NAMES = (
    "map", "r-precision", "mrr", "precision@10", "precision@30", "precision@1000", "ndcg@10",
    "ndcg",
)  # fmt: skip
SEED = 2006
DEPTH = 1000
COMMAND_ROUNDS = 15


def make_data(runs: int = 100) -> None:
    """Write the two collections, once; with one run, the first alone, which commands need."""
    written = "complete" if runs > 1 else "b-run000.txt"
    if (side_by_side.DATA / written).exists():
        return
    side_by_side.DATA.mkdir(exist_ok=True)
    rng = np.random.default_rng(SEED)
    documents = np.array([f"{('FT', 'LA', 'FR')[i % 3]}9{i % 7}-{i:07d}" for i in range(400_000)])
    _many_runs(rng, documents, runs)
    if runs > 1:
        _many_topics(rng, documents)
        (side_by_side.DATA / "complete").touch()


def _many_runs(rng: np.random.Generator, documents: np.ndarray, runs: int) -> None:
    """Write runs of 50 topics, with deep pools: about 1,700 judged documents a topic."""
    topics = range(401, 451)
    pools = {topic: rng.choice(documents, 6000, replace=False) for topic in topics}
    relevant = {topic: int(np.clip(rng.lognormal(4.2, 0.9), 6, 400)) for topic in topics}
    with (side_by_side.DATA / "b-qrels.txt").open("w") as stream:
        for topic in topics:
            for place, document in enumerate(pools[topic][:1737]):
                gain = (1 + (place % 4 == 0)) if place < relevant[topic] else 0
                stream.write(f"{topic} 0 {document} {gain}\n")
    for run in range(runs):
        with (side_by_side.DATA / f"b-run{run:03d}.txt").open("w") as stream:
            for topic in topics:
                value = rng.normal(size=6000) + 1.5 * (np.arange(6000) < relevant[topic])
                _write_list(stream, str(topic), pools[topic], value, f"run{run:03d}")


def _many_topics(rng: np.random.Generator, documents: np.ndarray) -> None:
    """Write one run of 6,980 topics with one relevant document each, as in MS MARCO."""
    with (
        (side_by_side.DATA / "c-qrels.txt").open("w") as qrels,
        (side_by_side.DATA / "c-run.txt").open("w") as run,
    ):
        for topic in range(1_000_000, 1_006_980):
            start = int(rng.integers(0, len(documents) - 1500))
            pool = documents[start : start + 1500]
            qrels.write(f"{topic}\t0\t{pool[int(rng.integers(0, 1200))]}\t1\n")
            _write_list(run, str(topic), pool, rng.gamma(4, 4, len(pool)), "bm25")


def _write_list(stream: object, topic: str, pool: np.ndarray, value: np.ndarray, tag: str) -> None:
    best = np.argsort(-value)[:DEPTH]
    lines = [
        f"{topic} Q0 {document} {rank} {score:.6f} {tag}\n"
        for rank, (document, score) in enumerate(
            zip(pool[best].tolist(), value[best].tolist(), strict=True), start=1
        )
    ]
    stream.write("".join(lines))  # type: ignore[attr-defined]


CASES = {"a": ("b-qrels.txt", 1), "b": ("b-qrels.txt", 100), "c": ("c-qrels.txt", None)}


def files(case: str) -> tuple[Path, list[Path]]:
    """Return qrels and runs of a case."""
    qrels, runs = CASES[case]
    if runs is None:
        return side_by_side.DATA / qrels, [side_by_side.DATA / "c-run.txt"]
    return side_by_side.DATA / qrels, [
        side_by_side.DATA / f"b-run{run:03d}.txt" for run in range(runs)
    ]


def confir(case: str) -> side_by_side.Job:
    """confir, from files to Scores."""
    from confir import evaluate
    from confir.data.trec_kernel import load_kernel

    if case != "a":
        load_kernel()
    qrels, runs = files(case)
    return lambda: evaluate(qrels, runs, MEASURES)


def pytrec_eval(case: str) -> side_by_side.Job:
    """pytrec_eval, with its own parsers."""
    import pytrec_eval

    qrels, runs = files(case)

    def job() -> None:
        with qrels.open() as stream:
            evaluator = pytrec_eval.RelevanceEvaluator(
                pytrec_eval.parse_qrel(stream), set(TREC_NAMES)
            )
        for run in runs:
            with run.open() as stream:
                evaluator.evaluate(pytrec_eval.parse_run(stream))

    return job


def ir_measures(case: str) -> side_by_side.Job:
    """ir_measures, with its own parsers."""
    import ir_measures

    qrels, runs = files(case)
    measures = [ir_measures.parse_measure(name) for name in MEASURES]

    def job() -> None:
        evaluator = ir_measures.evaluator(measures, ir_measures.read_trec_qrels(str(qrels)))
        for run in runs:
            list(evaluator.iter_calc(ir_measures.read_trec_run(str(run))))

    return job


def ranx(case: str) -> side_by_side.Job:
    """ranx, with its own parsers; compiled by the warm-up call."""
    from ranx import Qrels, Run, evaluate

    qrels, runs = files(case)

    def job() -> None:
        judged = Qrels.from_file(str(qrels), kind="trec")
        for run in runs:
            evaluate(judged, Run.from_file(str(run), kind="trec"), list(RANX_NAMES))

    return job


def trec_eval(case: str) -> side_by_side.Job:
    """The program trec_eval, where it is on the PATH."""
    program = shutil.which("trec_eval")
    if program is None:
        sys.exit("there is no trec_eval on the PATH")
    qrels, runs = files(case)
    options = [part for name in TREC_NAMES for part in ("-m", name)]

    def job() -> None:
        for run in runs:
            command = [program, "-q", "-c", *options, str(qrels), str(run)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    return job


def contestants() -> Iterator[tuple[str, side_by_side.Prepare]]:
    """Yield every contestant of every case."""
    everyone: list[Callable[[str], side_by_side.Job]] = [
        confir, pytrec_eval, trec_eval, ir_measures, ranx,
    ]  # fmt: skip
    for case in CASES:
        for contestant in everyone:
            yield f"{case}: {contestant.__name__}", _prepared(contestant, case)


def _prepared(contestant: Callable[[str], side_by_side.Job], case: str) -> side_by_side.Prepare:
    return lambda: contestant(case)


def compare_commands() -> None:
    """Print what one small run takes from the command line: minima of rounds, side by side."""
    qrels, runs = files("a")
    inputs = [str(qrels), *map(str, runs)]
    commands = {
        "confir": ["confir", "evaluate", *inputs, "-m", "AP", "-m", "nDCG@10"],
        "ir_measures": ["ir_measures", *inputs, "AP", "nDCG@10"],
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(COMMAND_ROUNDS):
        for name, command in commands.items():
            taken[name].append(_process_seconds(command))
    best = {name: tuple(map(min, zip(*every, strict=True))) for name, every in taken.items()}
    print("\nW1: one small run from the command line, means of AP and nDCG@10")
    print(f"{'':34s}{'seconds':>10s}{'ratio':>8s}{'processor':>12s}{'ratio':>8s}")
    for name, (seconds, used) in best.items():
        ratios = seconds / best["ir_measures"][0], used / best["ir_measures"][1]
        print(f"{name:34s}{seconds:10.3f}{ratios[0]:8.2f}{used:12.3f}{ratios[1]:8.2f}")


def _process_seconds(command: list[str]) -> tuple[float, float]:
    """Return the time that a command takes, and that of the processor; compiled Python is kept."""
    program = Path(sys.executable).with_name(command[0])
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen([program, *command[1:]], stdout=subprocess.DEVNULL, env=environment)
    _, state, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if state != 0:
        sys.exit(f"{' '.join(command)} failed")
    return seconds, used.ru_utime + used.ru_stime


if __name__ == "__main__":
    make_data(1 if sys.argv[1:] == ["commands"] else 100)
    if sys.argv[1:] != ["commands"]:
        side_by_side.run("W1: evaluate, by case", dict(contestants()))
    if sys.argv[1:] in ([], ["commands"]):
        compare_commands()
