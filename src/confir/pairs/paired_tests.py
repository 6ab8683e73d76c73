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
from confir.errors import TopicMismatchError
from confir.pairs.differences import (
    LEAST_TOPICS,
    MOST_NUMBERS,
    MeanDifferences,
    Pairs,
    SharedTopics,
    UnitScores,
    complete_topics,
)
from confir.pairs.simultaneous import monte_carlo_error, positive
from confir.parallel import run_blocks, run_in_threads
from confir.resampling.replicates import draw_topics
from confir.resampling.sample import Knowledge

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
    flips
        Whether it flips signs of units, as a family of few clusters does.
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
    flips: bool = False
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
    within = margin - size > np.maximum(means.step, TIE * margin)
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
    p = 2.0 * means.flips
    if np.isnan(p).any():
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
        flips=True,
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


# Up to this many topics all 2^n flips are counted, which splitting the topics in two makes cheap.
MOST_EXACT_TOPICS = 20

# Replicates computed together: few enough for the processor's cache, fixed so that the number of
# threads changes no bit of the result.
_BLOCK = 500

# Numbers that the processor's cache holds.
_CACHED_NUMBERS = 1 << 15

Moves = Callable[[int, int, np.random.Generator], Floats]


def flip_signs(pairs: UnitScores, replicates: int, seed: int) -> Floats:
    """Return p-values of the sign-flip randomisation test: pairs × measures.

    Under the null hypothesis the two runs of a pair could be exchanged in every topic, which flips
    the sign of the difference there. Exact for up to 20 topics, else ``(b+1)/(B+1)``.
    """
    groups = list(pairs.shared_topics())
    exact = [group for group in groups if len(group.topics) <= MOST_EXACT_TOPICS]
    drawn = [group for group in groups if len(group.topics) > MOST_EXACT_TOPICS]
    p = _resampled_p(pairs, drawn, _sign_moves, replicates, seed)
    shares = run_blocks(lambda group: _exact_share(pairs, group), exact)
    for group, share in zip(exact, shares, strict=True):
        p[group.pairs, group.measure] = share
    return p


def shift_bootstrap(pairs: UnitScores, replicates: int, seed: int) -> Floats:
    """Return p-values of the bootstrap shift test: pairs × measures, ``(b+1)/(B+1)``.

    Topics are drawn with replacement, and the bootstrap distribution of the mean difference is
    shifted to 0, as the null hypothesis has it (Noreen 1989; Smucker 2007).
    """
    groups = list(pairs.shared_topics())
    return _resampled_p(pairs, groups, _weight_moves, replicates, seed)


def permute_runs(
    pairs: UnitScores, replicates: int, seed: int
) -> tuple[Floats, tuple[Floats, ...]]:
    """Return p-values of the paired randomised Tukey HSD test, and the permuted ranges by measure.

    p-values are pairs × measures, ``(b+1)/(B+1)``; ranges ascend.

    In each replicate every topic's scores are shuffled among all runs; a difference is compared
    with the largest difference between any two runs (Carterette 2012), which corrects for all
    pairs at once. The topics are those that all runs have.
    """
    p = np.full(pairs.shape, np.nan)
    by_measure = [np.empty(0)] * pairs.shape[1]
    complete = complete_topics(pairs.values)
    if not (complete.sum(axis=0) >= LEAST_TOPICS).all():
        raise TopicMismatchError(
            "fewer than 2 topics have a score of every run; tukey-hsd needs them: take another "
            "test, or leave runs out"
        )
    for pattern in np.unique(complete, axis=1).T:
        measures = np.flatnonzero(np.all(complete == pattern[:, None], axis=0))
        values = pairs.values[pattern][:, :, measures]
        ranges = _permuted_ranges(values, replicates, seed)
        mean = values.mean(axis=0)
        difference = np.abs(mean[pairs.second] - mean[pairs.first])
        tie = pairs.ties()[:, measures].max(axis=0)  # of all runs alike, as the ranges are
        for place, measure in enumerate(measures):
            ordered = np.sort(ranges[:, place]) + tie[place]
            below = np.searchsorted(ordered, difference[:, place], side="left")
            p[:, measure] = (replicates - below + 1.0) / (replicates + 1.0)
            by_measure[measure] = ordered
    return p, tuple(by_measure)


def _sign_moves(topics: int, size: int, rng: np.random.Generator) -> Floats:
    """Return random signs over the number of topics, size × topics."""
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-size * topics // 8)), np.uint8))
    signs: Floats = (bits[: size * topics].reshape(size, topics) * 2.0 - 1.0) / topics
    return signs


def _weight_moves(topics: int, size: int, rng: np.random.Generator) -> Floats:
    """Return bootstrap weights less those of the sample itself, size × topics."""
    return draw_topics(topics, size, rng).shares() - 1.0 / topics


def _resampled_p(
    pairs: UnitScores, groups: list[SharedTopics], moves: Moves, replicates: int, seed: int
) -> Floats:
    """Return ``(b+1)/(B+1)``, with b resampled differences at least as large as the pair's own.

    NaN for pairs in no group.
    """
    p = np.full(pairs.shape, np.nan)
    if not groups:
        return p
    most_topics = max(len(group.topics) for group in groups)
    block = max(1, min(_BLOCK, MOST_NUMBERS // most_topics))
    tie = pairs.ties()

    def task(start: int) -> Integers:
        count = np.zeros(pairs.shape, np.int64)
        drawn: dict[int, Floats] = {}
        for group in groups:
            topics = len(group.topics)
            if topics not in drawn:
                rng = np.random.default_rng((seed, topics, start))
                drawn[topics] = moves(topics, min(block, replicates - start), rng)
            threshold = _thresholds(pairs, group, tie)
            count[group.pairs, group.measure] = _beyond(drawn[topics], pairs, group, threshold)
        return count

    counts = run_blocks(task, range(0, replicates, block))
    total = np.sum(counts, axis=0)
    for group in groups:
        cells = group.pairs, group.measure
        p[cells] = (total[cells] + 1.0) / (replicates + 1.0)
    return p


def _beyond(moves: Floats, pairs: UnitScores, group: SharedTopics, threshold: Floats) -> Integers:
    """Return the count of one block of replicates for the pairs of a group."""
    resampled = pairs.values[group.topics, :, group.measure].T @ moves.T
    first, second = pairs.first[group.pairs], pairs.second[group.pairs]
    count = np.zeros(len(group.pairs), np.int64)
    starts = np.flatnonzero(np.diff(first, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(first)], strict=True):
        deviation = resampled[second[start:stop]]
        deviation -= resampled[first[start]]
        np.abs(deviation, out=deviation)
        reached = deviation >= threshold[start:stop, None]
        # bytes add up faster than truth values; a block is far shorter than 2^16
        count[start:stop] = reached.view(np.uint8).sum(axis=1, dtype=np.uint16)
    return count


def _thresholds(pairs: UnitScores, group: SharedTopics, tie: Floats) -> Floats:
    """Return what a resampled difference must reach: the pair's own, up to rounding."""
    mean = pairs.values[group.topics, :, group.measure].mean(axis=0)
    difference = np.abs(mean[pairs.second[group.pairs]] - mean[pairs.first[group.pairs]])
    threshold: Floats = difference - tie[group.pairs, group.measure]
    return threshold


def _exact_share(pairs: UnitScores, group: SharedTopics) -> Floats:
    """Return the share of all sign flips that give a difference as large as the pair's own.

    A flipped sum is one of the first half of the topics plus one of the second. With the latter in
    order, those that reach the threshold are found by bisection: 2^(n/2) steps for 2^n flips.
    """
    topics = len(group.topics)
    values = pairs.values[group.topics, :, group.measure] / topics
    half = topics // 2
    front, back = (part.T @ _all_signs(len(part)).T for part in (values[:half], values[half:]))
    threshold = _thresholds(pairs, group, pairs.ties())
    share = np.ones(len(group.pairs))
    for place in np.flatnonzero(threshold > 0):
        pair = group.pairs[place]
        first, second = pairs.first[pair], pairs.second[pair]
        missing = threshold[place] - (front[second] - front[first])
        ordered = np.sort(back[second] - back[first])
        reached = len(ordered) * len(missing) - np.searchsorted(ordered, missing).sum()
        # as many flips fall as far below 0 as above
        share[place] = 2.0 * reached / 2.0**topics
    return share


def _all_signs(topics: int) -> Floats:
    """Return every combination of signs: 2^topics × topics."""
    numbers = np.arange(2**topics)[:, None]
    return (numbers >> np.arange(topics) & 1).astype(np.float64) * 2.0 - 1.0


def _permuted_ranges(values: Floats, replicates: int, seed: int) -> Floats:
    """Return largest less smallest mean of the runs after shuffling: replicates × measures.

    Each topic's scores are put in order first: the order of the runs changes nothing.
    """
    topics, runs, measures = values.shape
    ordered = np.sort(values, axis=1).transpose(2, 0, 1).reshape(measures, topics * runs)
    block = max(1, min(_BLOCK, MOST_NUMBERS // (topics * runs)))
    together = max(1, _CACHED_NUMBERS // (topics * runs))
    # the random numbers carry the place of a score in their lowest bits, and are then put in order
    low_bits = np.uint64((1 << (runs - 1).bit_length()) - 1)
    row = (np.arange(topics) * runs)[:, None]

    def task(start: int) -> Floats:
        rng = np.random.default_rng((seed, topics, start))
        ranges = np.empty((min(block, replicates - start), measures))
        for part in np.split(ranges, range(together, len(ranges), together)):
            keys = rng.integers(0, 2**64, (len(part), topics, runs), dtype=np.uint64)
            keys = keys & ~low_bits | np.arange(runs, dtype=np.uint64)
            keys.sort(axis=2)
            places = (keys & low_bits).astype(np.int64) + row
            for measure, scores in enumerate(ordered):
                means = scores.take(places).sum(axis=1) / topics
                part[:, measure] = means.max(axis=1) - means.min(axis=1)
        return ranges

    return np.concatenate(run_blocks(task, range(0, replicates, block)))
