"""Differences under the null hypothesis: resampled for all pairs of runs.

A resampled difference is linear in the scores, so that one matrix product per measure resamples
every run, and every pair's difference is the difference of two of its rows. What is drawn depends
on the seed and the number of topics that a pair shares, never on the other runs or on threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import TopicMismatchError
from confir.parallel import run_blocks
from confir.resampling.replicates import draw_topics
from confir.studies.comparison.pairs import (
    LEAST_TOPICS,
    MOST_NUMBERS,
    SharedTopics,
    UnitScores,
    complete_topics,
)

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
