"""Sign-flip tests of all pairs of 129 runs × 50 topics by 9 measures, 10,000 flips each.

The other tools process a share of the pairs, measures and flips, and their times are extrapolated. ranx
runs in the interpreter that CONFIR_PEER_PYTHON names, by default this one, and is left out if it cannot
be imported.

    CONFIR_PEER_PYTHON=/path/to/python python benchmarks/comparison.py
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import side_by_side

TOPICS, RUNS, MEASURES, FLIPS = 50, 129, 9, 10_000
PAIRS = RUNS * (RUNS - 1) // 2

PEER = "CONFIR_PEER_PYTHON"
SERVE = "--serve-ranx"
RANX_RUNS, RANX_FLIPS = 8, 1_000


def values() -> np.ndarray:
    """Return scores in (0, 1) with topic and run effects: topics × runs × measures."""
    rng = np.random.default_rng(7)
    effects = rng.normal(size=(TOPICS, 1, MEASURES)) + rng.normal(0, 0.6, (1, RUNS, MEASURES))
    return 1 / (1 + np.exp(1.0 - effects - 0.7 * rng.normal(size=(TOPICS, RUNS, MEASURES))))


def _confir(test: str) -> side_by_side.Job:
    from confir import Scores, compare_runs

    names = [f"{place:03d}" for place in range(RUNS)]
    measures = [f"m{place}" for place in range(MEASURES)]
    scores = Scores(tuple(names[:TOPICS]), tuple(names), tuple(measures), values())
    return lambda: compare_runs(scores, test=test, correction="none", replicates=FLIPS, rng=1)


def confir_flips() -> side_by_side.Job:
    """confir: the sign-flip test, with t intervals, effect sizes and verdicts."""
    return _confir("randomisation")


def confir_tukey() -> side_by_side.Job:
    """confir: the paired randomised Tukey HSD test, likewise."""
    return _confir("tukey-hsd")


def _differences(pairs: int) -> np.ndarray:
    data = values()
    return data[:, 1 : pairs + 1, 0] - data[:, :1, 0]


def scipy_vectorised() -> side_by_side.Job:
    """scipy.stats.permutation_test over several pairs, vectorised."""
    from scipy.stats import permutation_test

    done = 40
    differences = _differences(done)
    return side_by_side.Share(
        lambda: permutation_test(
            (differences,),
            lambda d, axis: np.mean(d, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=FLIPS,
            batch=500,
            axis=0,
            rng=1,
        ),
        PAIRS * MEASURES / done,
    )


def scipy_by_pair() -> side_by_side.Job:
    """scipy.stats.permutation_test, a pair at a time."""
    from scipy.stats import permutation_test

    done = 4
    differences = _differences(done)

    def job() -> None:
        for column in differences.T:
            permutation_test(
                (column,), np.mean, permutation_type="samples", n_resamples=FLIPS, rng=1
            )

    return side_by_side.Share(job, PAIRS * MEASURES / done)


def ranx() -> side_by_side.Job:
    """Ranx: ``compare`` with Fisher's test on short lists, asked for again and again."""
    peer = subprocess.Popen(
        [os.environ.get(PEER, sys.executable), __file__, SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def job() -> None:
        if peer.stdin is None or peer.stdout is None:
            raise RuntimeError("no pipes")
        print("go", file=peer.stdin, flush=True)
        if peer.stdout.readline().strip() != "done":
            raise RuntimeError(f"the peer's Python cannot import ranx; set {PEER}")

    pairs = RANX_RUNS * (RANX_RUNS - 1) / 2
    return side_by_side.Share(job, PAIRS / pairs * MEASURES * FLIPS / RANX_FLIPS)


def serve_ranx() -> None:
    """Compare a few runs by ranx whenever a line comes in."""
    from ranx import Qrels, Run, compare

    rng = np.random.default_rng(7)
    topics = [str(topic) for topic in range(TOPICS)]
    qrels = Qrels({topic: {f"d{d}": 1 for d in range(5)} for topic in topics})
    runs = [
        Run(
            {topic: {f"d{d}": float(s) for d, s in enumerate(rng.random(10))} for topic in topics},
            name=f"run{number}",
        )
        for number in range(RANX_RUNS)
    ]
    for _ in sys.stdin:
        compare(qrels, runs, ["map"], stat_test="fisher", n_permutations=RANX_FLIPS)
        print("done", flush=True)


if __name__ == "__main__":
    if SERVE in sys.argv:
        serve_ranx()
    else:
        side_by_side.run(
            "all pairs of 129 runs x 9 measures, 10,000 flips",
            {
                "confir, sign flips": confir_flips,
                "confir, Tukey HSD": confir_tukey,
                "scipy.stats.permutation_test": scipy_vectorised,
                "the same, a pair at a time": scipy_by_pair,
                "ranx compare, Fisher": ranx,
            },
            rounds=1,
        )
