"""Differences between runs in replicates, by how a sample is drawn, and the largest of them.

For the difference of two runs' means, t* = √(n/(n-1))·(d* - d)/se*, with the replicate's own se*, to
whose square the borrowed variance is added. The factor makes up for means of resampled topics, which
vary too little.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.order import TIE
from confir.resampling.borrowed_variance import BorrowedVariance
from confir.resampling.maxima_kernels import can_compile, compile_kernels

# Topics drawn show the same difference where t*² is as large, up to rounding; the variance may then be
# negative, too.
_CONSTANT_RATIO = 1e12

# Pairs whose squares are multiplied by the weights together, at least; and squares, pairs × units, that
# are computed once for all replicates.
_PAIRS_AT_ONCE = 128
_SQUARES_KEPT = 1 << 22

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


class Moves(NamedTuple):
    """How far the differences of other runs from one move in replicates: others × replicates.

    Attributes
    ----------
    varies
        Which of the others differ from the one by different amounts: the arrays are of these.
    deviation
        d* - d.
    variance
        Of the units drawn, or of their mean: t*² is scale·deviation²/(variance + borrowed·share).
    units
        Number of independent units, on which the borrowed variance depends.
    share, scale
        As in the formula.
    inflation
        By how much the square of a deviation is too small: n/(n-1), which the scale makes up for.
    """

    varies: Booleans
    deviation: Floats
    variance: Floats
    units: Any
    share: Any
    scale: float = 1.0
    inflation: float = 1.0

    def of_means(self) -> Moves:
        """Return the same with variances of means, and deviations of the right size."""
        by = self.inflation / self.scale
        deviation = np.sqrt(self.inflation) * self.deviation
        return Moves(self.varies, deviation, by * self.variance, self.units, by * self.share)

    def squares(self, borrowed: BorrowedVariance) -> Floats:
        """Return t*²; ∞ where the units drawn show the same difference, and nothing is borrowed."""
        added = borrowed.of(self.units) * self.share
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: Floats = np.square(self.deviation) / (self.variance + added)
        if np.min(added, initial=np.inf) <= 0:
            constant = ~((ratio >= 0) & (ratio < _CONSTANT_RATIO))
            ratio[constant] = np.where(np.abs(self.deviation[constant]) <= TIE, 0.0, np.inf)
        ratio *= self.scale
        return ratio


class PairDraws(ABC):
    """Differences between runs in replicates, and the largest of them."""

    __slots__ = ()

    @property
    @abstractmethod
    def runs(self) -> int:
        """Number of runs."""

    @abstractmethod
    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""

    def pair_moves(
        self, chosen: Integers | None, block: slice
    ) -> Iterator[tuple[int, Integers, Moves]]:
        """Yield runs, those that vary against them, and how far their differences move.

        Each pair comes once, or the pairs of chosen runs.
        """
        for run, others in _opponents(self.runs, chosen):
            moves = self.moves(run, others, block)
            if moves.varies.any():
                yield run, others[moves.varies], moves

    def kernels_pay_off(
        self, chosen: Integers | None, borrowed: Sequence[BorrowedVariance], replicates: int
    ) -> bool:
        """Whether compiled code finds the maxima of chosen runs' pairs: the same ones, sooner."""
        del chosen, borrowed, replicates
        return False

    def maxima(
        self, every: BorrowedVariance, one: BorrowedVariance, compiled: bool, block: slice
    ) -> Maxima:
        """Return the largest t* of each run against the others, and of all pairs, in a block.

        Parameters
        ----------
        every, one
            What variances borrow in the family of all pairs, and in that of one run's pairs.
        compiled
            What `kernels_pay_off` says.
        """
        del compiled
        shape = self.runs, block.stop - block.start
        not_above, below = np.full(shape, np.inf), np.full(shape, -np.inf)
        largest = np.full(shape[1], -np.inf)
        for run, others, moves in self.pair_moves(None, block):
            kept = as_rows(others)
            np.maximum(largest, moves.squares(every).max(axis=0), out=largest)
            t = np.copysign(moves.squares(one), moves.deviation)
            np.minimum(not_above[run], -t.max(axis=0), out=not_above[run])
            np.maximum(below[run], -t.min(axis=0), out=below[run])
            below[kept] = np.maximum(below[kept], t)
            not_above[kept] = np.minimum(not_above[kept], t)
        return Maxima(*(_root(part) for part in (-not_above, below, largest)))

    def largest(
        self, borrowed: BorrowedVariance, chosen: Integers | None, compiled: bool, block: slice
    ) -> Floats:
        """Return the largest |t*| of all pairs, or of those of chosen runs, in a block."""
        del compiled
        largest = np.full(block.stop - block.start, -np.inf)
        for _, _, moves in self.pair_moves(chosen, block):
            np.maximum(largest, moves.squares(borrowed).max(axis=0), out=largest)
        return _root(largest)


# Differences between all columns in replicates, as many as fit into memory, and how many.
PairBlocks = Iterator[tuple[PairDraws, int]]


@dataclass(frozen=True, eq=False)
class UnitDraws(PairDraws):
    """Differences between runs that have a score on each of n units that count alike.

    Attributes
    ----------
    centred
        Centred scores: runs × units, or × kinds of units that have the same scores.
    weights
        Share of each of these in the draws: units, or kinds of units, × replicates.
    units
        Number of units.
    """

    centred: Floats
    weights: Floats
    units: float

    @cached_property
    def means(self) -> Floats:
        """Means of the centred scores: runs × replicates."""
        return self.centred @ self.weights

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.centred)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        varies, square = self._squares(run, others)
        if not varies.any():
            none = np.empty((0, block.stop - block.start))
            return Moves(varies, none, none, self.units, 1.0)
        moves = self._moves_of(run, others[varies], square @ self.weights[:, block], block)
        return moves._replace(varies=varies)

    def pair_moves(
        self, chosen: Integers | None, block: slice
    ) -> Iterator[tuple[int, Integers, Moves]]:
        """Yield runs, those that vary against them, and how far their differences move."""
        for run, others, square in self._mean_squares(chosen, block):
            yield run, others, self._moves_of(run, others, square, block)

    def _moves_of(self, run: int, others: Integers, square: Floats, block: slice) -> Moves:
        """Return the moves of runs that vary against one, from the mean squares of differences."""
        deviation = self.means[as_rows(others), block] - self.means[run, block]
        square = square - np.square(deviation)
        varies, n = np.ones(len(others), np.bool_), self.units
        share, inflation = (n - 1.0) / n, n / (n - 1.0)
        return Moves(varies, deviation, square, n, share, scale=n, inflation=inflation)

    def _squares(self, run: int, others: Integers) -> tuple[Booleans, Floats]:
        """Return which runs vary against one, and the squares of their differences by unit."""
        square = np.square(self.centred[as_rows(others)] - self.centred[run])
        varies = square.max(axis=1) > TIE * TIE
        return varies, square if varies.all() else square[varies]

    def _mean_squares(
        self, chosen: Integers | None, block: slice
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """Yield runs, those that vary against them, and the mean squares of their differences."""
        few = self._pairs(chosen) * self.units <= _SQUARES_KEPT
        groups = self._all_squares if few and chosen is None else self._grouped_squares(chosen)
        for squares, runs in groups:
            means, start = squares @ self.weights[:, block], 0
            for run, others in runs:
                yield run, others, means[start : start + len(others)]
                start += len(others)

    @cached_property
    def _all_squares(self) -> list[tuple[Floats, list[tuple[int, Integers]]]]:
        return list(self._grouped_squares(None))

    def _grouped_squares(
        self, chosen: Integers | None
    ) -> Iterator[tuple[Floats, list[tuple[int, Integers]]]]:
        """Yield squares by unit of the pairs of one run, or of several where these have few."""
        squares: list[Floats] = []
        runs: list[tuple[int, Integers]] = []
        for run, others in _opponents(self.runs, chosen):
            varies, square = self._squares(run, others)
            if not len(square):
                continue
            squares.append(square)
            runs.append((run, others[varies]))
            if sum(map(len, squares)) >= _PAIRS_AT_ONCE:
                yield np.concatenate(squares), runs
                squares, runs = [], []
        if runs:
            yield np.concatenate(squares), runs

    def _pairs(self, chosen: Integers | None) -> int:
        """Return the number of pairs, or of those of chosen runs."""
        return self.runs * (self.runs - 1 if chosen is None else 2 * len(chosen)) // 2

    def maxima(
        self, every: BorrowedVariance, one: BorrowedVariance, compiled: bool, block: slice
    ) -> Maxima:
        """Return the largest t* of each run against the others, and of all pairs, in a block."""
        kernels = compile_kernels() if compiled else None
        if kernels is None:
            return PairDraws.maxima(self, every, one, compiled, block)
        means = np.ascontiguousarray(self.means[:, block])
        above, below = np.full(means.shape, -np.inf), np.full(means.shape, -np.inf)
        largest = np.full(means.shape[1], -np.inf)
        added = self._added(every), self._added(one)
        for run, others, square in self._mean_squares(None, block):
            kernels.raise_maxima(square, means, run, others, *added, above, below, largest)
        return Maxima(*(_root(part * self.units) for part in (above, below, largest)))

    def largest(
        self, borrowed: BorrowedVariance, chosen: Integers | None, compiled: bool, block: slice
    ) -> Floats:
        """Return the largest |t*| of all pairs, or of those of chosen runs, in a block."""
        kernels = compile_kernels() if compiled else None
        if kernels is None:
            return PairDraws.largest(self, borrowed, chosen, compiled, block)
        means, added = np.ascontiguousarray(self.means[:, block]), self._added(borrowed)
        largest = np.full(means.shape[1], -np.inf)
        for run, others, square in self._mean_squares(chosen, block):
            kernels.raise_largest(square, means, run, others, added, largest)
        return _root(largest * self.units)

    def kernels_pay_off(
        self, chosen: Integers | None, borrowed: Sequence[BorrowedVariance], replicates: int
    ) -> bool:
        """Whether compiled code finds the maxima: for many pairs, whose variances are above 0."""
        return min(map(self._added, borrowed)) > 0 and can_compile(self._pairs(chosen) * replicates)

    def _added(self, borrowed: BorrowedVariance) -> float:
        """Return what is added to the variance of a replicate, which has ddof=0."""
        return float(borrowed.of(self.units) * ((self.units - 1.0) / self.units))


@dataclass(frozen=True, slots=True, eq=False)
class SharedTopicDraws(PairDraws):
    """Differences between runs in resampled topics, each pair on the topics that both have.

    Attributes
    ----------
    centred
        Centred scores, runs × topics; NaN where missing.
    weights
        Share of each topic in the draws: topics × replicates.
    """

    centred: Floats
    weights: Floats

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.centred)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        apart = self.centred[others] - self.centred[run]
        shared = ~np.isnan(apart)
        topics = np.maximum(shared.sum(axis=1, keepdims=True), 1)
        apart = np.where(shared, apart - np.nansum(apart, axis=1, keepdims=True) / topics, 0.0)
        varies = (np.abs(apart).max(axis=1) > TIE) & (topics[:, 0] > 1)
        apart, weights, units = apart[varies], self.weights[:, block], topics[varies]
        share = shared[varies].astype(np.float64) @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.nan_to_num(apart @ weights / share)
            square = np.nan_to_num(np.square(apart) @ weights / share) - np.square(deviation)
        drawn = share * len(self.weights)
        several = drawn > 1.0 + TIE  # a topic drawn alone has no variance, and borrows none
        variance = np.where(several, square / np.where(several, drawn - 1.0, 1.0), 0.0)
        share = np.where(several, 1.0 / np.maximum(drawn, 1.0), 0.0)
        return Moves(varies, deviation * np.sqrt(units / (units - 1.0)), variance, units, share)


def as_rows(numbers: Integers) -> slice | Integers:
    """Return ascending numbers as a slice where none is left out, which copies nothing."""
    first, last = int(numbers[0]), int(numbers[-1])
    return slice(first, last + 1) if last - first + 1 == len(numbers) else numbers


def _root(square: Floats) -> Floats:
    """Return t of signed squares, enlarged so that equal t reach each other."""
    root: Floats = np.copysign(np.sqrt(np.abs(square)), square)
    root *= 1.0 + _ROUNDING
    return root


def _opponents(runs: int, chosen: Integers | None) -> Iterator[tuple[int, Integers]]:
    """Yield runs and those to compare them with: each pair once, or the chosen runs' pairs."""
    every = np.arange(runs)
    if chosen is None:
        yield from ((run, every[run + 1 :]) for run in range(runs - 1))
    else:
        yield from ((int(run), every[every != run]) for run in chosen)
