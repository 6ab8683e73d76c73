"""Speed of intervals over topics: 129 runs × 9 measures, 50 topics, 10,000 replicates.

python benchmarks/topic_bootstrap.py
"""

from __future__ import annotations

import numpy as np
import side_by_side

TOPICS, COLUMNS, REPLICATES = 50, 129 * 9, 10_000
PAIR = ("percentile", "bca")
SIX = (*PAIR, "bootstrap-t", "studentised-logit", "logit-t", "bootstrap-t-logit")


def scores() -> np.ndarray:
    """Return scores in (0, 1) with topic and run effects: topics × columns."""
    rng = np.random.default_rng(7)
    effects = rng.normal(size=(TOPICS, 1)) + rng.normal(0, 0.6, (1, COLUMNS))
    return 1 / (1 + np.exp(1.0 - effects - 0.7 * rng.normal(size=(TOPICS, COLUMNS))))


def confir(methods: tuple[str, ...]) -> side_by_side.Prepare:
    """confir, all columns and methods in one call."""

    def prepare() -> side_by_side.Job:
        from confir import confidence_interval

        data = scores()
        return lambda: confidence_interval(data, method=methods, replicates=REPLICATES, rng=1)

    return prepare


def scipy_vectorised() -> side_by_side.Job:
    """scipy.stats.bootstrap, percentile and BCa, vectorised over the columns."""
    from scipy.stats import bootstrap

    data = scores()

    def job() -> None:
        for method in ("percentile", "BCa"):
            bootstrap(
                (data,), np.mean, axis=0, n_resamples=REPLICATES, batch=50, method=method, rng=1
            )

    return job


def arch_vector() -> side_by_side.Job:
    """arch, percentile, BCa and studentised, with a vector statistic."""
    from arch.bootstrap import IIDBootstrap

    data = scores()

    def mean(x: np.ndarray) -> np.ndarray:
        return x.mean(axis=0)

    def error(_: np.ndarray, x: np.ndarray) -> np.ndarray:
        return x.std(axis=0, ddof=1) / np.sqrt(len(x))

    def job() -> None:
        for method in ("percentile", "bca"):
            IIDBootstrap(data, seed=1).conf_int(mean, reps=REPLICATES, method=method)
        IIDBootstrap(data, seed=1).conf_int(
            mean, reps=REPLICATES, method="studentized", std_err_func=error
        )

    return job


def numpy_loop() -> side_by_side.Job:
    """A loop over the columns with numpy: percentile, BCa, bootstrap-t."""
    from scipy.special import ndtr, ndtri

    data = scores()
    z = ndtri([0.025, 0.975])

    def job() -> None:
        rng = np.random.default_rng(1)
        for column in data.T:
            drawn = column[rng.integers(0, TOPICS, (REPLICATES, TOPICS))]
            means, m = drawn.mean(axis=1), column.mean()
            np.quantile(means, [0.025, 0.975])
            d = column - m
            a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
            z0 = ndtri((means < m).mean())
            np.quantile(means, ndtr(z0 + (z0 + z) / (1 - a * (z0 + z))))
            t = (means - m) / drawn.std(axis=1, ddof=1)
            m - np.quantile(t, [0.975, 0.025]) * column.std(ddof=1)

    return job


if __name__ == "__main__":
    side_by_side.run(
        "W2: topic bootstrap of 1,161 columns",
        {
            "confir, percentile + BCa": confir(PAIR),
            "confir, six methods": confir(SIX),
            "scipy vectorised, percentile + BCa": scipy_vectorised,
            "arch, three methods": arch_vector,
            "numpy per column, three methods": numpy_loop,
        },
    )
