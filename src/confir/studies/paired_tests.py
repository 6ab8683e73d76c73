"""Could chance alone explain a difference? TESTS is the one list of paired tests.

Every test is two-sided, and looks at a pair's own topics and scores only, tukey-hsd excepted: other
runs change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import UnknownNameError
from confir.parallel import run_in_threads
from confir.studies.mean_differences import MeanDifferences
from confir.studies.pairs import LEAST_TOPICS, Pairs
from confir.studies.randomisation import flip_signs, permute_runs, shift_bootstrap

# Up to so many topics that differ, Wilcoxon's statistic has its exact distribution.
_MOST_EXACT_RANKS = 50


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired test: a line of the catalogue.

    Attributes
    ----------
    name
        Its name in options and results.
    compute
        From pairs, their mean differences, a number of replicates and a seed, to p-values:
        pairs × measures.
    null
        What it tests, in words.
    source
        Where it comes from.
    resamples
        Whether its p-values are ``(b+1)/(B+1)``, beyond the exact ones.
    corrected
        Whether it accounts for all pairs of runs itself.
    """

    name: str
    compute: Callable[[Pairs, MeanDifferences, int, int], Floats]
    null: str
    source: str
    resamples: bool = False
    corrected: bool = False


def find_test(name: str) -> PairedTest:
    """Return the test of a name; an unknown one raises, with the nearest names."""
    if name not in TESTS:
        raise UnknownNameError("test", name, TESTS)
    return TESTS[name]


def equivalence_p_values(means: MeanDifferences, margin: float) -> Floats:
    """Return p-values of two one-sided t tests, the larger one: is the difference within ±margin?

    (Schuirmann 1987.) NaN where the differences do not vary.
    """
    from scipy.special import stdtr

    above = stdtr(means.topics - 1.0, -(means.difference + margin) / means.se)
    below = stdtr(means.topics - 1.0, (means.difference - margin) / means.se)
    return np.maximum(above, below)


def _t_test(_: Pairs, means: MeanDifferences, *__: int) -> Floats:
    from scipy.special import stdtr

    p: Floats = 2.0 * stdtr(means.topics - 1.0, -np.abs(means.difference) / means.se)
    return p


def _sign_test(pairs: Pairs, *_: Any) -> Floats:
    """Topics won against topics lost; ties are left out. All ties give 1."""
    from scipy.special import bdtr

    wins, ties, losses = count_wins(pairs)
    p = np.minimum(1.0, 2.0 * bdtr(np.minimum(wins, losses), wins + losses, 0.5))
    enough = (wins + ties + losses) >= LEAST_TOPICS
    return np.where(enough, p, np.nan)


def count_wins(pairs: Pairs) -> tuple[Integers, Integers, Integers]:
    """Return topics that the second run of each pair wins, ties and loses: pairs × measures."""

    def task(columns: slice) -> list[Integers]:
        whole = pairs.whole_differences(columns)
        return [np.sum(sign, axis=0) for sign in (whole > 0, whole == 0, whole < 0)]

    parts = run_in_threads(task, pairs.blocks())
    wins, ties, losses = (
        np.concatenate(part).reshape(pairs.shape) for part in zip(*parts, strict=True)
    )
    return wins, ties, losses


def _wilcoxon_test(pairs: Pairs, *_: Any) -> Floats:
    """Signed ranks of the topics that differ; ties share their mean rank."""

    def task(columns: slice) -> list[float]:
        return [_signed_rank_p(column) for column in pairs.whole_differences(columns).T]

    parts = run_in_threads(task, pairs.blocks())
    return np.concatenate(parts).reshape(pairs.shape)


def _signed_rank_p(differences: Floats) -> float:
    """Return the p-value of one pair: exact for up to 50 topics that differ, with ties too."""
    there = differences[~np.isnan(differences)]
    changed = there[there != 0]
    if len(there) < LEAST_TOPICS:
        return float("nan")
    if len(changed) == 0:
        return 1.0
    _, member, size = np.unique(np.abs(changed), return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(size) - size + 1)[member]  # twice the mean rank: a whole number
    positive = int(ranks[changed > 0].sum())
    larger = max(positive, int(ranks.sum()) - positive)
    if len(changed) > _MOST_EXACT_RANKS:
        from scipy.special import ndtr

        middle, spread = ranks.sum() / 2.0, np.sqrt(np.square(ranks).sum()) / 2.0
        return float(2.0 * ndtr((middle - larger) / spread))
    return float(min(1.0, 2.0 * _rank_sum_tails(tuple(sorted(ranks.tolist())))[larger]))


@lru_cache(maxsize=64)
def _rank_sum_tails(ranks: tuple[int, ...]) -> Floats:
    """Return the probability of each sum of ranks or a larger one; each counts or not by a coin."""
    probability = np.zeros(sum(ranks) + 1)
    probability[0] = 1.0
    for rank in ranks:
        probability /= 2.0
        probability[rank:] += probability[:-rank].copy()
    tails: Floats = np.cumsum(probability[::-1])[::-1]
    return tails


_ALL = (
    PairedTest("t", _t_test, "the mean difference is 0", "Student 1908"),
    PairedTest(
        "randomisation",
        lambda pairs, _, replicates, seed: flip_signs(pairs, replicates, seed),
        "the two runs could be exchanged in every topic",
        "Fisher 1935; Smucker 2007",
        resamples=True,
    ),
    PairedTest(
        "bootstrap-shift",
        lambda pairs, _, replicates, seed: shift_bootstrap(pairs, replicates, seed),
        "the mean difference is 0",
        "Noreen 1989; Smucker 2007",
        resamples=True,
    ),
    PairedTest(
        "wilcoxon", _wilcoxon_test, "the differences are symmetric around 0", "Wilcoxon 1945"
    ),
    PairedTest("sign", _sign_test, "a topic is as likely won as lost", "Arbuthnot 1710"),
    PairedTest(
        "tukey-hsd",
        lambda pairs, _, replicates, seed: permute_runs(pairs, replicates, seed),
        "all runs could be exchanged in every topic",
        "Carterette 2012",
        resamples=True,
        corrected=True,
    ),
)

TESTS: dict[str, PairedTest] = {test.name: test for test in _ALL}

DEFAULT_TEST = "t"
