"""Paired tests: TESTS is the one list.

Every test is two-sided, and looks at a pair's own topics and scores only, tukey-hsd excepted: other
runs change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_choice
from confir.arrays import TIE, Floats, Integers
from confir.intervals.simultaneous import monte_carlo_error, positive
from confir.parallel import run_in_threads
from confir.resampling.sample import Knowledge
from confir.studies.comparison.pairs import LEAST_TOPICS, MeanDifferences, Pairs, complete_topics
from confir.studies.comparison.randomisation import (
    MOST_EXACT_TOPICS,
    flip_signs,
    permute_runs,
    shift_bootstrap,
)

# Up to this many topics that differ, the exact distribution of Wilcoxon's statistic is used.
_MOST_EXACT_RANKS = 50


class Outcome(NamedTuple):
    """What a test says of each pair and measure.

    Attributes
    ----------
    p
        Two-sided p-values.
    direction
        What the test's statistic favours: 1 the second run, -1 the first, 0 neither.
    p_error
        Monte-Carlo error of the p-values; None where they are exact.
    ranges
        By measure, what a test of all runs at once compares the differences with, ascending; else
        None.
    """

    p: Floats
    direction: Integers
    p_error: Floats | None = None
    ranges: tuple[Floats, ...] | None = None


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired test: an entry of the catalogue.

    Attributes
    ----------
    name, title
        Its name in options and results, and in sentences.
    compute
        From pairs, their mean differences, a number of replicates and a seed, to the outcome:
        pairs × measures.
    null
        What it tests, in words.
    source
        Where it comes from.
    resamples
        Whether its p-values are ``(b+1)/(B+1)``, beyond the exact ones.
    corrected
        Whether it accounts for all pairs of runs itself.
    studentised
        Whether its statistic is the mean difference over its standard error, as in a family.
    needs
        What it must know of the sample.
    """

    name: str
    title: str
    compute: Callable[[Any, MeanDifferences, int, int], Outcome]
    null: str
    source: str
    resamples: bool = False
    corrected: bool = False
    studentised: bool = False
    needs: Knowledge = Knowledge.VALUES


def find_test(name: str) -> PairedTest:
    """Return the test of a name; an unknown one raises, with the nearest names."""
    return TESTS[as_choice("test", name, TESTS)]


def equivalence_p_values(means: MeanDifferences, margin: float) -> Floats:
    """Return p-values of two one-sided t tests, the larger one: is the difference within ±margin?

    (Schuirmann 1987.) Where all topics show the same difference, of two one-sided sign-flip tests.
    """
    from scipy.special import stdtr

    above = stdtr(means.df, -(means.difference + margin) / means.se)
    below = stdtr(means.df, (means.difference - margin) / means.se)
    size = np.abs(means.difference)
    within = margin - size > TIE * np.maximum(1.0, size)
    flipped = np.where(within, same_sign_p(means.units) / 2.0, 1.0)
    p: Floats = positive(np.where(means.constant, flipped, np.maximum(above, below)))
    return p


def same_sign_p(units: Floats) -> Floats:
    """Return p-values of the exact sign-flip test where all topics show the same difference.

    Of the 2^n flips of topics or clusters, only none and all of them give as large a mean. There is
    nothing to flip, and p is 1, where units have no number: documents.
    """
    p: Floats = positive(np.exp2(np.where(np.isinf(units), 0.0, 1.0 - units)))
    return p


def _t_test(_: Pairs, means: MeanDifferences, *__: int) -> Outcome:
    from scipy.special import stdtr

    p: Floats = 2.0 * stdtr(means.df, -np.abs(means.difference) / means.se)
    return Outcome(p, means.sign)


def _randomisation_test(
    pairs: Pairs, means: MeanDifferences, replicates: int, seed: int
) -> Outcome:
    p = flip_signs(pairs.unit_scores(), replicates, seed)
    drawn = means.units > MOST_EXACT_TOPICS
    return Outcome(p, means.sign, np.where(drawn, monte_carlo_error(p, replicates), 0.0))


def _shift_test(pairs: Pairs, means: MeanDifferences, replicates: int, seed: int) -> Outcome:
    p = shift_bootstrap(pairs.unit_scores(), replicates, seed)
    return Outcome(p, means.sign, monte_carlo_error(p, replicates))


def _tukey_test(pairs: Pairs, _: MeanDifferences, replicates: int, seed: int) -> Outcome:
    """All runs at once, on the topics that all of them have."""
    scores = pairs.unit_scores()
    complete = complete_topics(scores.values)
    total = np.where(complete[:, None], scores.values, 0.0).sum(axis=0)
    direction = np.sign(total[pairs.second] - total[pairs.first]).astype(int)
    p, ranges = permute_runs(scores, replicates, seed)
    missing = bool(np.isnan(scores.values).any())
    error = monte_carlo_error(p, replicates)
    return Outcome(p, direction, error, None if missing else ranges)


def _sign_test(pairs: Pairs, *_: Any) -> Outcome:
    """Topics won against topics lost; ties are left out. All ties give 1."""
    from scipy.special import bdtr

    wins, ties, losses = count_wins(pairs)
    p = np.minimum(1.0, 2.0 * bdtr(np.minimum(wins, losses), wins + losses, 0.5))
    enough = (wins + ties + losses) >= LEAST_TOPICS
    return Outcome(np.where(enough, p, np.nan), np.sign(wins - losses))


def count_wins(pairs: Pairs) -> tuple[Integers, Integers, Integers]:
    """Return topics that the second run of each pair wins, ties and loses: pairs × measures."""
    parts = run_in_threads(lambda columns: pairs.contrast(columns).wins(), pairs.blocks())
    wins, ties, losses = (
        np.concatenate(part).reshape(pairs.shape) for part in zip(*parts, strict=True)
    )
    return wins, ties, losses


def _wilcoxon_test(pairs: Pairs, *_: Any) -> Outcome:
    """Signed ranks of the topics that differ; ties share their mean rank."""

    def task(columns: slice) -> list[tuple[float, int]]:
        differences = pairs.contrast(columns).whole_differences()
        return [_signed_rank_test(column) for column in differences.T]

    parts = run_in_threads(task, pairs.blocks())
    p, direction = np.concatenate(parts).T
    return Outcome(p.reshape(pairs.shape), direction.astype(int).reshape(pairs.shape))


def _signed_rank_test(differences: Floats) -> tuple[float, int]:
    """Return p-value and direction of one pair: exact for up to 50 topics that differ."""
    there = differences[~np.isnan(differences)]
    changed = there[there != 0]
    if len(there) < LEAST_TOPICS:
        return float("nan"), 0
    _, member, size = np.unique(np.abs(changed), return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(size) - size + 1)[member]  # twice the mean rank: a whole number
    positive, negative = int(ranks[changed > 0].sum()), int(ranks[changed < 0].sum())
    larger, direction = max(positive, negative), int(np.sign(positive - negative))
    if len(changed) > _MOST_EXACT_RANKS:
        from scipy.special import ndtr

        middle, spread = ranks.sum() / 2.0, np.sqrt(np.square(ranks).sum()) / 2.0
        return float(2.0 * ndtr((middle - larger) / spread)), direction
    tail = float(_rank_sum_tails(tuple(sorted(ranks.tolist())))[larger])
    return min(1.0, 2.0 * tail), direction


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
    PairedTest(
        "t",
        "t test",
        _t_test,
        "the mean difference is 0",
        "Student 1908",
        studentised=True,
        needs=Knowledge.COVARIANCE,
    ),
    PairedTest(
        "randomisation",
        "randomisation test",
        _randomisation_test,
        "the two runs could be exchanged in every topic",
        "Fisher 1935; Smucker 2007",
        resamples=True,
        needs=Knowledge.UNITS,
    ),
    PairedTest(
        "bootstrap-shift",
        "bootstrap-shift test",
        _shift_test,
        "the mean difference is 0",
        "Noreen 1989; Smucker 2007",
        resamples=True,
    ),
    PairedTest(
        "wilcoxon",
        "Wilcoxon test",
        _wilcoxon_test,
        "the differences are symmetric around 0",
        "Wilcoxon 1945",
    ),
    PairedTest(
        "sign",
        "sign test",
        _sign_test,
        "a topic is as likely won as lost",
        "Arbuthnot 1710",
        needs=Knowledge.SIGNS,
    ),
    PairedTest(
        "tukey-hsd",
        "Tukey HSD test",
        _tukey_test,
        "all runs could be exchanged in every topic",
        "Carterette 2012",
        resamples=True,
        corrected=True,
    ),
)

TESTS: dict[str, PairedTest] = {test.name: test for test in _ALL}

DEFAULT_TEST = "t"
