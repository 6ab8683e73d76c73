"""Coverage of four methods for 129 runs: 1,000 samples, 1,000 replicates of each.

The other tools process a share of the samples and runs, and their times are extrapolated. With a folder
of data, confir studies all collections of Soboroff 2014 instead.

    python benchmarks/coverage_study.py [data]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import side_by_side

TOPICS, RUNS, SAMPLES, REPLICATES = 50, 129, 1_000, 1_000
METHODS = ("t", "percentile", "bca", "bootstrap-t")


def scores(columns: int = RUNS) -> np.ndarray:
    """Return scores in (0, 1) with topic and run effects: topics × columns."""
    rng = np.random.default_rng(7)
    effects = rng.normal(size=(TOPICS, 1)) + rng.normal(0, 0.6, (1, columns))
    return 1 / (1 + np.exp(1.0 - effects - 0.7 * rng.normal(size=(TOPICS, columns))))


def confir() -> side_by_side.Job:
    """confir: t, percentile, BCa and bootstrap-t."""
    from confir.studies.coverage.miss_counts import count_misses

    data = scores()
    return lambda: count_misses(
        data, methods=METHODS, samples=SAMPLES, replicates=REPLICATES, rng=1
    )


def as_the_paper_does() -> side_by_side.Job:
    """t, percentile and bootstrap-t, an interval at a time, as the code of Soboroff 2014 does.

    The replicates of one interval are an array; each method draws its own.
    """
    from scipy import stats

    data = scores()
    done = 60

    def replicates(sample: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn: np.ndarray = sample[rng.integers(0, TOPICS, (REPLICATES, TOPICS))]
        return drawn

    def one(column: np.ndarray, truth: float, rng: np.random.Generator) -> list[bool]:
        m, se = column.mean(), column.std(ddof=1) / np.sqrt(TOPICS)
        critical = stats.t.ppf(0.975, TOPICS - 1)
        means = replicates(column, rng).mean(axis=1)
        drawn = replicates(column, rng)
        errors = drawn.std(axis=1, ddof=1) / np.sqrt(TOPICS)
        high, low = np.percentile((drawn.mean(axis=1) - m) / errors, [2.5, 97.5])
        limits = (
            (m - critical * se, m + critical * se),
            np.percentile(means, [2.5, 97.5]),
            (m - low * se, m - high * se),
        )
        return [bool(lower <= truth <= upper) for lower, upper in limits]

    def job() -> np.ndarray:
        rng = np.random.default_rng(1)
        column = data[:, 0]
        samples = column[rng.integers(0, TOPICS, (done, TOPICS))]
        return np.mean([one(sample, column.mean(), rng) for sample in samples], axis=0)

    return side_by_side.Share(job, RUNS * SAMPLES / done)


def scipy_bca() -> side_by_side.Job:
    """BCa alone by scipy, a run and a sample at a time."""
    from scipy.stats import bootstrap

    data = scores()
    done = 60

    def job() -> None:
        rng = np.random.default_rng(1)
        for _ in range(done):
            sample = data[rng.integers(0, TOPICS, TOPICS), 0]
            bootstrap((sample,), np.mean, n_resamples=REPLICATES, method="BCa", rng=rng)

    return side_by_side.Share(job, RUNS * SAMPLES / done)


def study_all(data: Path) -> None:
    """Print how long the study of all runs, measures and collections of the paper takes."""
    from confir import estimate_coverage, read_scores

    tables = [read_scores(path) for path in sorted((data / "soboroff2014/scores").glob("*.csv.gz"))]
    columns = sum(len(table.runs) * len(table.measures) for table in tables)
    started = time.perf_counter()
    for table in tables:
        estimate_coverage(table, methods=METHODS, samples=SAMPLES, replicates=REPLICATES, rng=1)
    seconds = time.perf_counter() - started
    print(f"confir, all {columns:,} runs × measures of Soboroff 2014: {seconds:.1f} s")


if __name__ == "__main__":
    if sys.argv[1:] and Path(sys.argv[1]).is_dir():
        study_all(Path(sys.argv[1]))
    else:
        side_by_side.run(
            "W3: coverage study",
            {
                "confir, four methods": confir,
                "as the paper does, three": as_the_paper_does,
                "scipy, BCa alone": scipy_bca,
            },
            rounds=1,
        )
