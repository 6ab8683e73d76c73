"""Speed of the bootstrap over documents, compared with a plain numpy version.

74 runs × 50 topics, lists of 1000 documents, about 30 relevant ones in each and 30 elsewhere, four
times as many judged not relevant, 2000 replicates: 7.4 million replicates of AP. The plain version
repeats documents and recomputes AP, and is timed on a few lists; ours is timed on all of them, on one
thread and on all. Then the cost of every further measure, as a multiple of the cost of AP.

    python benchmarks/document_bootstrap.py [--topics 50] [--replicates 2000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from confir.arrays import Booleans, Integers
from confir.data.qrels import Qrels, build_qrels
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.list_reader import read_lists
from confir.data.run import Run, build_run
from confir.measures.parsing import parse_measure
from confir.parallel import reuse_memory, run_in_threads, usable_cores
from confir.resampling.document_kernels import (
    PLAIN_KERNELS,
    THRESHOLDS,
    DocumentKernels,
    compile_kernels,
    document_keys,
    seeded_keys,
)
from confir.resampling.replicate_scores import ReplicateScorer

RUNS, DEPTH, RELEVANT, JUDGED, POOL = 74, 1_000, 60, 300, 3_000
BLOCK = 512
SCALAR = (
    *("nDCG", "nDCG@10", "nDCG(dcg='exp-log2')", "P@10", "R@100", "Rprec", "RR", "RR@10"),
    *("RBP", "RBP(rel=1)", "ERR", "ERR@20", "nERR", "nERR@20", "Q", "Q@10", "Bpref", "Success@10"),
    *("Judged@10", "NumRet", "NumRel", "NumRelRet", "AP@100"),
)
INTENT_AWARE = ("alpha_nDCG@20", "nERR_IA@20")


def make_collection(topics: int, seed: int = 5) -> tuple[Qrels, list[Run]]:
    """Return qrels and runs: relevant documents tend to stand high, half of them are retrieved."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(POOL)]
    number = [f"{t:03d}" for t in range(topics)]
    rows: list[tuple[str, str, str, int]] = []
    lists: list[list[str]] = [[] for _ in range(RUNS)]
    for topic in number:
        judged = rng.choice(POOL, JUDGED, replace=False)
        liked = judged[:RELEVANT]
        rows += [(topic, "0", f"{topic}-{names[d]}", 0) for d in judged[RELEVANT:].tolist()]
        for d in liked.tolist():
            rows += [(topic, str(s), f"{topic}-{names[d]}", 1) for s in rng.permutation(4)[:2]]
        lift = np.zeros(POOL)
        lift[liked] = 0.6
        for ranked in lists:
            order = np.argsort(-(rng.random(POOL) + lift * rng.random(POOL)))[:DEPTH]
            ranked += [f"{topic}-{names[d]}" for d in order.tolist()]
    where, subtopics, documents, gains = zip(*rows, strict=True)
    scores = -np.arange(DEPTH * topics, dtype=float)
    listed = [topic for topic in number for _ in range(DEPTH)]
    runs = [build_run(f"run{r}", listed, ranked, scores) for r, ranked in enumerate(lists)]
    return build_qrels(where, subtopics, documents, np.array(gains)), runs


def plain_replicates(
    relevant: Booleans, missed: int, replicates: int, rng: np.random.Generator
) -> float:
    """Return the sum of AP over replicates, each list written out document by document."""
    total = 0.0
    for _ in range(replicates):
        hits = np.repeat(relevant, rng.poisson(1.0, len(relevant)))
        found = np.cumsum(hits)
        places = np.flatnonzero(hits)
        known = len(places) + rng.poisson(1.0, missed).sum()
        total += float((found[places] / (places + 1)).sum()) / max(known, 1)
    return total


def resample(
    lists: HeldLists,
    names: list[str],
    replicates: int,
    kernels: DocumentKernels,
    *,
    threads: bool,
) -> None:
    """Score all lists on all replicates."""
    measures = [parse_measure(name) for name in names]
    keys = seeded_keys(document_keys(lists.docids), 1)
    gains = np.unique(lists.qrels.gains)

    def task(number: int) -> None:
        topic = ReplicateScorer(lists.of_topics(number, number + 1), gains, kernels)
        for first in range(0, replicates, BLOCK):
            counts = np.empty((len(topic.pool), min(BLOCK, replicates - first)), np.uint8)
            kernels.draw_counts(keys[topic.pool], first, THRESHOLDS, counts)
            topic.scores(measures, counts)

    topics = range(len(lists.qrels.topics))
    if threads:
        run_in_threads(task, topics)
    else:
        for number in topics:
            task(number)


def seconds(work: Callable[[], object], rounds: int = 2) -> float:
    """Return the minimum time of several rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def plain_rate(lists: HeldLists) -> float:
    """Return replicates per second of the plain version, over three lists."""
    rng = np.random.default_rng(1)
    samples: list[tuple[Booleans, int]] = []
    topics = len(lists.qrels.topics)
    for place in range(0, 3 * topics, topics):
        liked: Integers = lists.judged[(lists.qrels.document_topics == 0) & (lists.qrels.gains > 0)]
        ranked = lists.documents[lists.offsets[place] : lists.offsets[place + 1]]
        relevant = np.isin(ranked, liked)
        samples.append((relevant, len(liked) - int(relevant.sum())))
    spent = seconds(lambda: [plain_replicates(*sample, 300, rng) for sample in samples])
    return 900 / spent


def main() -> None:
    """Print rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--replicates", type=int, default=2_000)
    parser.add_argument("--quick", action="store_true", help="5 topics, 200 replicates")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.topics, arguments.replicates = 5, 200
    qrels, runs = make_collection(arguments.topics)
    lists = read_lists(qrels, runs)
    size = RUNS * arguments.topics * arguments.replicates
    compiled = compile_kernels()
    reuse_memory()
    print(f"{RUNS} runs × {arguments.topics} topics × {arguments.replicates} replicates")
    base = plain_rate(lists)
    print(f"{'numpy, replicate by replicate':34s} {base:12,.0f} replicates/s")
    short = min(arguments.replicates, BLOCK)
    few = seconds(lambda: resample(lists, ["AP"], short, PLAIN_KERNELS, threads=False), 1)
    rate = size * short / arguments.replicates / few
    print(
        f"{'confir without numba, 1 thread':34s} {rate:12,.0f} replicates/s  {rate / base:8.1f} ×"
    )
    if compiled is None:
        return
    for threads in (False, True):
        spent = seconds(
            lambda t=threads: resample(lists, ["AP"], arguments.replicates, compiled, threads=t)  # type: ignore[misc]
        )
        name = f"confir, {usable_cores() if threads else 1} thread{'s' if threads else ''}"
        print(
            f"{name:34s} {size / spent:12,.0f} replicates/s  {size / spent / base:8.1f} ×  "
            f"{spent:6.2f} s"
        )
    one = seconds(lambda: resample(lists, ["AP"], short, compiled, threads=False), 5)
    for names, most in ((SCALAR, 3), (INTENT_AWARE, 50)):
        for measure in names:
            both = seconds(
                lambda m=measure: resample(lists, ["AP", m], short, compiled, threads=False),  # type: ignore[misc]
                3 if most == 3 else 1,
            )
            ratio = (both - one) / one
            verdict = "" if ratio <= most else ", missed"
            print(
                f"{measure + ' beside AP':34s} {ratio:8.1f} × the cost of AP "
                f"(target {most}{verdict})"
            )


if __name__ == "__main__":
    main()
