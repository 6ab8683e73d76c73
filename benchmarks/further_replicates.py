"""Processor time of comparisons and reports, with and without further replicates near a threshold.

For borderline decisions ten times as many replicates are drawn. Both ways run in one process in turn, on
the 42 runs of TREC Deep Learning 2021, from their files, and on MTEB's means of 197 models, from a table;
CONFIR_DATA names the folder that has them. The minimum of the rounds is printed.

    python benchmarks/further_replicates.py --rounds 2
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import confir
from confir.errors import ConfirWarning
from confir.resampling import replicates

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "R@100"]
SEED = 1
Job = Callable[[], object]


def main() -> None:
    """Print what each job takes with and without further replicates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CONFIR_DATA"))
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if options.data is None:
        parser.error("expected --data, or a folder in CONFIR_DATA")
    warnings.simplefilter("ignore", ConfirWarning)
    with tempfile.TemporaryDirectory() as folder:
        for name, job in jobs(options.data, Path(folder)):
            job()  # compiles the kernels
            without, with_them = (min(times) for times in time_both(job, options.rounds))
            print(
                f"{name}: {without:.2f} s without, {with_them:.2f} s with further replicates "
                f"({100 * (with_them / without - 1):+.0f} %)",
                flush=True,
            )


def jobs(data: Path, folder: Path) -> Iterator[tuple[str, Job]]:
    """Yield comparisons and reports of both tables."""
    deep = data / "trec-dl-2021"
    runs = sorted((deep / "runs").iterdir())
    scores = confir.evaluate(deep / "qrels.nist.txt", runs, MEASURES)
    means = confir.read_scores(data / "mteb-beir" / "ndcg_at_10.csv")
    experiment = confir.Experiment(deep / "qrels.nist.txt", runs, measures=MEASURES)
    page = folder / "page.html"
    yield "DL 2021, compare_runs", partial(confir.compare_runs, scores, rng=SEED)
    yield "DL 2021, find_best", partial(confir.find_best, scores, rng=SEED)
    yield "DL 2021, write_report", partial(confir.write_report, page, experiment, rng=SEED)
    yield "MTEB, compare_runs", partial(confir.compare_runs, means, rng=SEED)
    yield "MTEB, find_best", partial(confir.find_best, means, rng=SEED)
    yield "MTEB, make_leaderboard", partial(confir.make_leaderboard, means, rng=SEED)
    yield "MTEB, write_report", partial(confir.write_report, page, means, rng=SEED)


def time_both(job: Job, rounds: int) -> tuple[list[float], list[float]]:
    """Return the processor seconds of each round without further replicates, and with them."""
    allowed = replicates.MOST_PRODUCTS
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for limit, times in zip((0, allowed), seconds, strict=True):
            replicates.MOST_PRODUCTS = limit
            started = time.process_time()
            job()
            times.append(time.process_time() - started)
    replicates.MOST_PRODUCTS = allowed
    return seconds


if __name__ == "__main__":
    main()
