"""Speed of the expected AP of random rankings: the closed form, compared with the paper's double sum.

The double sum, R(N-R+1) hypergeometric probabilities, took Bestgen (2015) 131 s for N = 10,000 and
R = 4,000 in R; here it is vectorised with numpy. A million pairs of N and R follow, and the whole
command, start-up included.

    python benchmarks/random_baseline.py
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import side_by_side

DOCUMENTS, RELEVANT = 10_000, 4_000
PAIRS = 1_000_000


def closed_form() -> side_by_side.Job:
    """confir, one pair."""
    from confir import expected_random_ap

    return lambda: expected_random_ap(DOCUMENTS, RELEVANT)


def double_sum() -> side_by_side.Job:
    """The paper's procedure, an array for each relevant document."""
    from scipy.special import gammaln

    factorials = gammaln(np.arange(DOCUMENTS + 1) + 1.0)

    def log_choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
        return factorials[n] - factorials[k] - factorials[n - k]

    def job() -> float:
        total = 0.0
        for i in range(1, RELEVANT + 1):
            n = np.arange(i, DOCUMENTS - RELEVANT + i + 1)
            logs = log_choose(RELEVANT, i) + log_choose(DOCUMENTS - RELEVANT, n - i)
            total += float((np.exp(logs - log_choose(DOCUMENTS, n)) * (i / n) ** 2).sum())
        return total / RELEVANT

    return job


def million_pairs(function: str) -> side_by_side.Prepare:
    """confir, a million pairs up to a million million documents, in one call."""

    def prepare() -> side_by_side.Job:
        from confir.measures import random_rankings

        rng = np.random.default_rng(7)
        documents = rng.integers(1, 10**12, PAIRS)
        relevant = (documents * rng.random(PAIRS)).astype(np.int64)
        return lambda: getattr(random_rankings, function)(documents, relevant)

    return prepare


def process(*arguments: str) -> side_by_side.Prepare:
    """A fresh Python process."""

    def prepare() -> side_by_side.Job:
        return lambda: subprocess.run(
            [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL
        )

    return prepare


CONTESTANTS = {
    "one pair, confir": closed_form,
    "one pair, the paper's double sum": double_sum,
    "a million pairs, expected AP": million_pairs("expected_random_ap"),
    "a million pairs, variance of AP": million_pairs("random_ap_variance"),
    "confir chance, whole process": process(
        "-m", "confir", "chance", "--documents", "1000", "--relevant", "10"
    ),
    "import numpy, whole process": process("-c", "import numpy"),
}

if __name__ == "__main__":
    side_by_side.run("Expected AP of random rankings", CONTESTANTS)
