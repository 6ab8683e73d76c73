"""Coverage of four methods for 129 runs: 1,000 samples, 1,000 replicates of each.

The peers do a share of the samples and runs, and are charged for all of them.

    python benchmarks/coverage_study.py
"""

from __future__ import annotations

import numpy as np
import side_by_side

TOPICS, RUNS, SAMPLES, REPLICATES = 50, 129, 1_000, 1_000


def scores(columns: int = RUNS) -> np.ndarray:
    """Return scores in (0, 1) with topic and run effects: topics × columns."""
    rng = np.random.default_rng(7)
    effects = rng.normal(size=(TOPICS, 1)) + rng.normal(0, 0.6, (1, columns))
    return 1 / (1 + np.exp(1.0 - effects - 0.7 * rng.normal(size=(TOPICS, columns))))


def confir() -> side_by_side.Job:
    """confir: t, percentile, BCa and bootstrap-t."""
    from confir.studies.misses import count_misses

    data = scores()
    methods = ("t", "percentile", "bca", "bootstrap-t")
    return lambda: count_misses(
        data, methods=methods, samples=SAMPLES, replicates=REPLICATES, rng=1
    )


def as_the_paper_describes() -> side_by_side.Job:
    """t, percentile and bootstrap-t, a run and a sample at a time, as Soboroff 2014 §3 has it."""
    from scipy import stats

    data = scores()
    done = 20

    def one(column: np.ndarray, rng: np.random.Generator) -> None:
        sample = rng.choice(column, TOPICS)
        m, se = sample.mean(), sample.std(ddof=1) / np.sqrt(TOPICS)
        stats.t.interval(0.95, TOPICS - 1, m, se)
        means, ts = [], []
        for _ in range(REPLICATES):
            again = rng.choice(sample, TOPICS)
            means.append(again.mean())
            ts.append((again.mean() - m) / (again.std(ddof=1) / np.sqrt(TOPICS)))
        np.quantile(means, [0.025, 0.975])
        np.quantile(ts, [0.025, 0.975])

    rng = np.random.default_rng(1)
    return side_by_side.Share(
        lambda: [one(data[:, 0], rng) for _ in range(done)], RUNS * SAMPLES / done
    )


def scipy_bca() -> side_by_side.Job:
    """BCa alone by scipy, a run and a sample at a time."""
    from scipy.stats import bootstrap

    data = scores()
    done = 60

    def job() -> None:
        rng = np.random.default_rng(1)
        for _ in range(done):
            sample = rng.choice(data[:, 0], TOPICS)
            bootstrap((sample,), np.mean, n_resamples=REPLICATES, method="BCa", rng=rng)

    return side_by_side.Share(job, RUNS * SAMPLES / done)


if __name__ == "__main__":
    side_by_side.run(
        "W3: coverage study",
        {
            "confir, four methods": confir,
            "as the paper describes, three": as_the_paper_describes,
            "scipy, BCa alone": scipy_bca,
        },
        rounds=1,
    )
