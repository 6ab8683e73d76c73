"""Simultaneous intervals of all pairs of 129 runs × 50 topics by 9 measures, 9,999 replicates.

No other tool does the same. Plain numpy resamples a share of the replicates pair by pair, and its time is
extrapolated. For a first look:

    python benchmarks/families.py --rounds 1 --only "20 runs: confir" --only "20 runs: plain numpy"
"""

from __future__ import annotations

import numpy as np
import side_by_side

TOPICS, MEASURES, REPLICATES = 50, 9, 9_999
MANY, FEW = 129, 20
NUMPY_RUNS, NUMPY_REPLICATES = 12, 500


def values(runs: int) -> np.ndarray:
    """Return scores in (0, 1) with topic and run effects: topics × runs × measures."""
    rng = np.random.default_rng(7)
    effects = rng.normal(size=(TOPICS, 1, MEASURES)) + rng.normal(0, 0.6, (1, runs, MEASURES))
    return 1 / (1 + np.exp(1.0 - effects - 0.7 * rng.normal(size=(TOPICS, runs, MEASURES))))


def confir(runs: int, *, baseline: bool = False) -> side_by_side.Job:
    """confir: differences, both intervals, p-values, effect sizes and verdicts."""
    from confir import Scores, compare_runs

    names = [f"{place:03d}" for place in range(max(runs, TOPICS))]
    measures = [f"m{place}" for place in range(MEASURES)]
    scores = Scores(tuple(names[:TOPICS]), tuple(names[:runs]), tuple(measures), values(runs))
    chosen = names[0] if baseline else None
    return lambda: compare_runs(scores, baseline=chosen, replicates=REPLICATES, rng=1)


def plain_numpy(runs: int) -> side_by_side.Job:
    """The largest |t*| by indexing: the differences of a pair on topics drawn, mean and spread."""
    data = values(NUMPY_RUNS)[:, :, 0]
    first, second = np.triu_indices(NUMPY_RUNS, 1)

    def job() -> np.ndarray:
        drawn = np.random.default_rng(1).integers(0, TOPICS, (TOPICS, NUMPY_REPLICATES))
        largest = np.zeros(NUMPY_REPLICATES)
        for a, b in zip(first, second, strict=True):
            difference = data[:, b] - data[:, a]
            sample = difference[drawn]
            se = sample.std(axis=0, ddof=1) / np.sqrt(TOPICS)
            np.maximum(largest, np.abs(sample.mean(axis=0) - difference.mean()) / se, out=largest)
        return np.sort(largest)

    pairs = runs * (runs - 1) / 2 * MEASURES
    return side_by_side.Share(job, pairs / len(first) * REPLICATES / NUMPY_REPLICATES)


if __name__ == "__main__":
    side_by_side.run(
        "simultaneous intervals by 9 measures, 9,999 replicates",
        {
            "all pairs, 129 runs: confir": lambda: confir(MANY),
            "all pairs, 129 runs: plain numpy": lambda: plain_numpy(MANY),
            "baseline, 129 runs: confir": lambda: confir(MANY, baseline=True),
            "20 runs: confir": lambda: confir(FEW),
            "20 runs: plain numpy": lambda: plain_numpy(FEW),
        },
        rounds=1,
    )
