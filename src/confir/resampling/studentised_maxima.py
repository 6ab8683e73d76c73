"""Studentised maxima over replicates: how far the differences between runs vary together.

For the difference of two runs' means, t* = √(n/(n-1))·(d* - d)/se*, with the replicate's own se*, to
whose square the borrowed variance is added. The largest t* of many pairs says what chance alone makes
of them together, correlations included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.sampling.judged_scores import Judged
from confir.order import TIE
from confir.parallel import run_blocks
from confir.resampling.borrowed_variance import BorrowedVariance
from confir.resampling.clusters import Clusters, Ratios
from confir.resampling.drawn_pairs import (
    ClusterPairs,
    CompletePairs,
    IncompletePairs,
    NormalPairs,
    Pairs,
    as_rows,
)
from confir.resampling.judged_pairs import JudgedPairs
from confir.resampling.maxima_kernels import MaximaKernels, can_compile, compile_kernels
from confir.resampling.topic_weights import topic_weights
from confir.resampling.topics import cluster_counts

# Replicates taken together, so that the t* of one run against all others stay in the cache.
_REPLICATES_AT_ONCE = 512

# Pairs whose squares are multiplied by the weights together, at least; and squares, pairs × topics, that
# are computed once for all replicates.
_PAIRS_AT_ONCE = 128
_SQUARES_KEPT = 1 << 22

# Weights and means held at once: replicates × topics or runs.
_NUMBERS_AT_ONCE = 1 << 24

# From so many topics on, means are normal: the runs' covariances replace resampled topics. Those of
# more runs take too long.
NORMAL_TOPICS = 5_000
_MOST_NORMAL_RUNS = 2_000

# A t* that equals the observed t up to rounding reaches it: scores with few values make such.
_ROUNDING = 1e-10


class Maxima(NamedTuple):
    """The largest t* of each run against the others: runs × replicates; -∞ where no pair varies.

    There are no replicates where topics are too many to resample: Bonferroni's t serves alone.
    Variances of ``above`` and ``below`` borrow as one run's pairs do, those of ``largest`` as all do.

    Attributes
    ----------
    above
        Largest t* of another run's mean less this run's: how far others may seem better by chance.
    below
        Largest t* of this run's mean less another run's.
    largest
        Largest absolute t* of all pairs: replicates.
    """

    above: Floats
    below: Floats
    largest: Floats

    @property
    def either(self) -> Floats:
        """Largest absolute t* of each run against the others: runs × replicates."""
        return np.maximum(self.above, self.below)


class SquaredPairs(NamedTuple):
    """Squared differences of some runs from others, by topic."""

    squares: Floats  # pairs × topics
    runs: list[tuple[int, Integers]]  # a run and its opponents, in the order of the rows

    def mean_squares(
        self, pairs: CompletePairs, block: slice
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """Yield each run, its opponents, and their mean squares in a block of replicates."""
        squares, start = self.squares @ pairs.weights[:, block], 0
        for run, others in self.runs:
            yield run, others, squares[start : start + len(others)]
            start += len(others)


class RunCovariance(NamedTuple):
    """How runs vary together over topics whose scores were not kept, for scores topics × runs.

    Attributes
    ----------
    matrix
        Covariances, runs × runs; NaN where a score is missing.
    topics
        Number of topics, or of as many as the covariances are worth.
    """

    matrix: Floats
    topics: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of topics and of runs."""
        return self.topics, len(self.matrix)


def studentised_maxima(
    values: Floats | Judged | RunCovariance,
    replicates: int,
    rng: np.random.Generator,
    every: BorrowedVariance,
    one: BorrowedVariance,
    clusters: Clusters | None = None,
) -> Maxima:
    """Return the largest t* of each run against all others, and of all pairs, by one measure.

    Pairs without variance, the same difference on all topics, stand outside.

    Parameters
    ----------
    values
        Scores, topics × runs; NaN where missing. A pair is compared on the topics that both have.
        Or human and model scores, which give corrected differences; or the covariances of the runs.
    replicates, rng
        Number of replicates, and where they are drawn from.
    every, one
        What variances borrow in the family of all pairs, and in that of one run's pairs.
    clusters
        The clusters of the topics' design, which are drawn in place of topics. There are no
        replicates where they give no se*, or where scores are missing.
    """
    count = (values.human if isinstance(values, Judged) else values).shape[1]
    empty = np.empty((count, 0))
    parts = [Maxima(empty, empty, np.empty(0))]
    borrowed = every, one
    for pairs, size in _draw_pairs(values, replicates, rng, clusters):
        compiled = _compiles(pairs, None, borrowed, size)
        squared = _squared_once(pairs, None)
        find = partial(_maxima, pairs, borrowed, compiled, squared)
        parts += run_blocks(find, _blocks(size))
    return Maxima(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))


def largest_statistics(
    values: Floats | Judged | RunCovariance,
    replicates: int,
    rng: np.random.Generator,
    borrowed: BorrowedVariance,
    runs: Sequence[int] | None = None,
    clusters: Clusters | None = None,
) -> Floats:
    """Return the largest |t*| of all pairs in each replicate: that of `studentised_maxima`, faster.

    Parameters are those of `studentised_maxima`; ``runs`` are the numbers of those to compare with
    the others, by default all of them.
    """
    chosen = None if runs is None else np.asarray(runs)
    parts = [np.empty(0)]
    for pairs, size in _draw_pairs(values, replicates, rng, clusters):
        compiled = _compiles(pairs, chosen, (borrowed,), size)
        squared = _squared_once(pairs, chosen)
        find = partial(_largest, pairs, chosen, borrowed, compiled, squared)
        parts += run_blocks(find, _blocks(size))
    return np.concatenate(parts)


def _draw_pairs(
    values: Floats | Judged | RunCovariance,
    replicates: int,
    rng: np.random.Generator,
    clusters: Clusters | None,
) -> Iterator[tuple[Pairs, int]]:
    """Yield pairs with replicates, as many as fit into memory, and their number."""
    if isinstance(values, Judged):
        for size in _sizes(replicates, len(values.human) + len(values.rest), values.human.shape[1]):
            yield JudgedPairs.draw(values, size, rng), size
        return
    topics, count = values.shape
    if isinstance(values, RunCovariance):
        known = not np.isnan(values.matrix).any()
        if known and topics >= NORMAL_TOPICS and count <= _MOST_NORMAL_RUNS:
            yield NormalPairs.draw(values.matrix, topics, replicates, rng), replicates
        return
    if clusters is not None:
        yield from _draw_clusters(values, replicates, rng, clusters)
        return
    centred = values - np.nanmean(np.where(np.isnan(values).all(axis=0), 0.0, values), axis=0)
    complete = not np.isnan(values).any()
    if topics >= NORMAL_TOPICS:
        if complete and count <= _MOST_NORMAL_RUNS:
            covariance = np.atleast_2d(centred.T @ centred / (topics - 1))
            yield NormalPairs.draw(covariance, topics, replicates, rng), replicates
        return
    by_run = np.ascontiguousarray(centred.T)
    for size in _sizes(replicates, topics, count):
        weights = np.ascontiguousarray(topic_weights(topics, size, rng).T)
        if complete:
            yield CompletePairs(by_run, weights, by_run @ weights), size
        else:
            yield IncompletePairs(by_run, weights), size


def _draw_clusters(
    values: Floats, replicates: int, rng: np.random.Generator, clusters: Clusters
) -> Iterator[tuple[Pairs, int]]:
    """Yield pairs with replicates of clusters; none where these have no standard errors."""
    if np.isnan(values).any() or not clusters.studentises or clusters.count >= NORMAL_TOPICS:
        return
    ratios = Ratios(clusters, (values,))
    residuals, mass = np.ascontiguousarray(ratios.residuals[0].T), ratios.mass[:, 0]
    alike = len(clusters.share) == 1 and np.ptp(mass) <= TIE * mass.max()
    for size in _sizes(replicates, clusters.count, values.shape[1]):
        counts = np.ascontiguousarray(cluster_counts(clusters, size, rng).T)
        if alike:  # clusters are then what topics are elsewhere
            centred, weights = residuals / mass[0], counts / clusters.count
            yield CompletePairs(centred, weights, centred @ weights), size
        else:
            yield ClusterPairs(clusters, residuals, mass, counts), size


def _sizes(replicates: int, topics: int, runs: int) -> list[int]:
    """Return numbers of replicates that fit into memory together."""
    most = _NUMBERS_AT_ONCE // max(topics, runs)
    most = max(1, most // _REPLICATES_AT_ONCE) * _REPLICATES_AT_ONCE
    return [min(most, replicates - start) for start in range(0, replicates, most)]


def _blocks(replicates: int) -> list[slice]:
    """Return the replicates in blocks, fixed by their number alone."""
    starts = range(0, replicates, _REPLICATES_AT_ONCE)
    return [slice(start, min(start + _REPLICATES_AT_ONCE, replicates)) for start in starts]


def _compiles(
    pairs: Pairs,
    chosen: Integers | None,
    borrowed: Sequence[BorrowedVariance],
    replicates: int,
) -> bool:
    """Whether compiled code finds the maxima: the same ones, sooner."""
    compared = pairs.runs - 1 if chosen is None else 2 * len(chosen)
    cells = pairs.runs * compared // 2 * replicates
    return (
        isinstance(pairs, CompletePairs)
        and all(pairs.added_variance(one) > 0 for one in borrowed)
        and can_compile(cells)
    )


def _squared_once(pairs: Pairs, chosen: Integers | None) -> Sequence[SquaredPairs]:
    """Return the squares of all pairs if they are few enough to be kept."""
    if not isinstance(pairs, CompletePairs):
        return ()
    opponents = pairs.runs - 1 if chosen is None else 2 * len(chosen)
    few = pairs.runs * opponents // 2 * pairs.centred.shape[1] <= _SQUARES_KEPT
    return tuple(_squared_pairs(pairs, chosen)) if few else ()


def _squared_pairs(pairs: CompletePairs, chosen: Integers | None) -> Iterator[SquaredPairs]:
    """Yield the pairs of one run, or of several where these have few."""
    squares: list[Floats] = []
    runs: list[tuple[int, Integers]] = []
    for run, others in _opponents(pairs.runs, chosen):
        kept, square = pairs.topic_squares(run, others)
        if len(kept) == 0:
            continue
        squares.append(square)
        runs.append((run, kept))
        if sum(map(len, squares)) >= _PAIRS_AT_ONCE:
            yield SquaredPairs(np.concatenate(squares), runs)
            squares, runs = [], []
    if runs:
        yield SquaredPairs(np.concatenate(squares), runs)


def _maxima(
    pairs: Pairs,
    borrowed: Sequence[BorrowedVariance],
    compiled: bool,
    squared: Sequence[SquaredPairs],
    block: slice,
) -> Maxima:
    """Return the largest t* in a block of replicates, by their signed squares."""
    kernels = compile_kernels() if compiled else None  # of this process, which may have none
    if kernels is not None and isinstance(pairs, CompletePairs):
        return _compiled_maxima(pairs, borrowed, kernels, squared, block)
    size = block.stop - block.start
    below, largest = np.full((pairs.runs, size), -np.inf), np.full(size, -np.inf)
    not_above = -below  # the largest with its sign turned, so that t itself is compared
    for run, kept, deviation, (square, own) in _ratios(pairs, None, borrowed, squared, block):
        np.maximum(largest, square.max(axis=0), out=largest)
        t = np.copysign(own, deviation, out=own)
        np.minimum(not_above[run], -t.max(axis=0), out=not_above[run])
        np.maximum(below[run], -t.min(axis=0), out=below[run])
        below[as_rows(kept)] = np.maximum(below[as_rows(kept)], t)
        not_above[as_rows(kept)] = np.minimum(not_above[as_rows(kept)], t)
    return Maxima(*(_root(part, pairs.scale) for part in (-not_above, below, largest)))


def _largest(
    pairs: Pairs,
    chosen: Integers | None,
    borrowed: BorrowedVariance,
    compiled: bool,
    squared: Sequence[SquaredPairs],
    block: slice,
) -> Floats:
    """Return the largest |t*| of all pairs in a block of replicates, by their squares."""
    kernels = compile_kernels() if compiled else None
    if kernels is not None and isinstance(pairs, CompletePairs):
        groups = squared or _squared_pairs(pairs, chosen)
        return _compiled_largest(pairs, borrowed, kernels, groups, block)
    largest = np.full(block.stop - block.start, -np.inf)
    for _, _, _, (square,) in _ratios(pairs, chosen, (borrowed,), squared, block):
        np.maximum(largest, square.max(axis=0), out=largest)
    return _root(largest, pairs.scale)


def _ratios(
    pairs: Pairs,
    chosen: Integers | None,
    borrowed: Sequence[BorrowedVariance],
    squared: Sequence[SquaredPairs],
    block: slice,
) -> Iterator[tuple[int, Integers, Floats, list[Floats]]]:
    """Yield runs, those that vary against them, their mean differences and t*², not yet scaled."""
    if isinstance(pairs, CompletePairs):
        for group in squared or _squared_pairs(pairs, chosen):
            for run, others, square in group.mean_squares(pairs, block):
                yield run, others, *pairs.ratios(run, others, square, block, borrowed)
        return
    for run, others in _opponents(pairs.runs, chosen):
        kept, deviation, ratios = pairs.squares(run, others, block, borrowed)
        if len(kept):
            yield run, kept, deviation, ratios


def _compiled_maxima(
    pairs: CompletePairs,
    borrowed: Sequence[BorrowedVariance],
    kernels: MaximaKernels,
    squared: Sequence[SquaredPairs],
    block: slice,
) -> Maxima:
    """Return what `_maxima` does."""
    means = np.ascontiguousarray(pairs.means[:, block])
    added, added_to_one = (pairs.added_variance(one) for one in borrowed)
    above, below = np.full(means.shape, -np.inf), np.full(means.shape, -np.inf)
    largest = np.full(means.shape[1], -np.inf)
    for group in squared or _squared_pairs(pairs, None):
        for run, others, square in group.mean_squares(pairs, block):
            kernels.raise_maxima(
                square, means, run, others, added, added_to_one, above, below, largest
            )
    return Maxima(*(_root(part, pairs.scale) for part in (above, below, largest)))


def _compiled_largest(
    pairs: CompletePairs,
    borrowed: BorrowedVariance,
    kernels: MaximaKernels,
    squared: Iterable[SquaredPairs],
    block: slice,
) -> Floats:
    """Return what `_largest` does."""
    means, added = np.ascontiguousarray(pairs.means[:, block]), pairs.added_variance(borrowed)
    largest = np.full(means.shape[1], -np.inf)
    for group in squared:
        for run, others, square in group.mean_squares(pairs, block):
            kernels.raise_largest(square, means, run, others, added, largest)
    return _root(largest, pairs.scale)


def _root(square: Floats, scale: float) -> Floats:
    """Return t of signed squares over a scale, enlarged so that equal t reach each other."""
    scaled = square * scale
    root: Floats = np.copysign(np.sqrt(np.abs(scaled)), scaled)
    root *= 1.0 + _ROUNDING
    return root


def _opponents(runs: int, chosen: Integers | None) -> Iterator[tuple[int, Integers]]:
    """Yield runs and those to compare them with: each pair once, or the chosen runs' pairs."""
    every = np.arange(runs)
    if chosen is None:
        yield from ((run, every[run + 1 :]) for run in range(runs - 1))
    else:
        yield from ((int(run), every[every != run]) for run in chosen)
