"""Studentised maxima of differences from the influence values of independent units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.resampling.maxima_kernels import can_compile, compile_kernels
from confir.resampling.pair_draws import (
    BorrowedVariance,
    Maxima,
    Moves,
    PairDraws,
    as_rows,
    opponents_of,
    signed_root,
)

# Pairs whose squares are multiplied by the weights together, at least; and squares, pairs × units, that
# are computed once for all replicates.
_PAIRS_AT_ONCE = 128
_SQUARES_KEPT = 1 << 22


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
        few = self.runs * (self.runs - 1) // 2 * self.units <= _SQUARES_KEPT
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
        for run, others in opponents_of(self.runs, chosen):
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
        share = (self.units - 1.0) / self.units  # variances of replicates have ddof=0
        added, added_to_one = (float(each.of(self.units) * share) for each in (every, one))
        for run, others, square in self._mean_squares(None, block):
            kernels.raise_maxima(
                square, means, run, others, added, added_to_one, above, below, largest
            )
        return Maxima(*(signed_root(part * self.units) for part in (above, below, largest)))

    def largest(
        self, borrowed: BorrowedVariance, chosen: Integers | None, compiled: bool, block: slice
    ) -> Floats:
        """Return the largest |t*| of all pairs, or of those of chosen runs, in a block."""
        kernels = compile_kernels() if compiled else None
        if kernels is None:
            return PairDraws.largest(self, borrowed, chosen, compiled, block)
        means = np.ascontiguousarray(self.means[:, block])
        added = float(borrowed.of(self.units) * ((self.units - 1.0) / self.units))
        largest = np.full(means.shape[1], -np.inf)
        for run, others, square in self._mean_squares(chosen, block):
            kernels.raise_largest(square, means, run, others, added, largest)
        return signed_root(largest * self.units)

    def kernels_pay_off(
        self, chosen: Integers | None, borrowed: Sequence[BorrowedVariance], replicates: int
    ) -> bool:
        """Whether compiled code finds the maxima: for many pairs, whose variances are above 0."""
        pairs = self.runs * (self.runs - 1 if chosen is None else 2 * len(chosen)) // 2
        lowest = min(one.of(self.units) for one in borrowed) * (self.units - 1.0)
        return bool(lowest > 0) and can_compile(pairs * replicates)
