"""Differences between runs in replicates, by how a sample is drawn, and the largest of them.

For the difference of two runs' means, t* = √(n/(n-1))·(d* - d)/se*, with the replicate's own se*, to
whose square the borrowed variance is added. The factor makes up for means of resampled topics, which
vary too little.

Similar runs differ on few topics. Where a sample contains hardly any of those, the variance of their
difference is estimated far too small, and among many pairs this happens to some. So every variance of
a family is raised by a share of the family's median variance, which its comparisons borrow from each
other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers

# Topics drawn show the same difference where t*² is as large, up to rounding; the variance may then be
# negative, too.
_CONSTANT_RATIO = 1e12


# A t* that equals the observed t up to rounding reaches it: scores with few values make such.
_ROUNDING = 1e-10


class BorrowedVariance(NamedTuple):
    """What is added to each variance of a family: u·M with ``u = 1 - m^(-1/n)``.

    u is the share of the topics of which one in m pairs is expected to have met none; it falls as
    the topics grow, and is 0 for a single comparison.

    Attributes
    ----------
    comparisons
        Number of comparisons in the family, m.
    median
        Median variance of the differences, M, of one unit: a topic, or a cluster.
    """

    comparisons: int = 1
    median: float = 0.0

    def of(self, units: Any) -> Any:
        """Return u·M for differences on n independent units."""
        share = -np.expm1(-np.log(max(self.comparisons, 1)) / units)
        return share * self.median


NOTHING_BORROWED = BorrowedVariance()


def median_variance(variance: Floats) -> float:
    """Return the median of the finite variances above 0; 0 where there are none.

    They are NaN where a pair has none, and infinite where units have no number, as documents have.
    """
    known = variance[(variance > 0) & (variance < np.inf)]
    return float(np.median(known)) if len(known) else 0.0


class Maxima(NamedTuple):
    """The largest t* of each run against the others: runs × replicates; -∞ where no pair varies.

    There are no replicates where topics are too many to resample: Bonferroni's t is used.
    Variances of ``above`` and ``below`` borrow as one run's pairs do, those of ``largest`` as all do.

    Attributes
    ----------
    above
        Largest t* of another run's mean less this run's: how much better others may seem by chance.
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
        Which of the others differ from the one by different amounts; the arrays hold these alone.
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
        for run, others in opponents_of(self.runs, chosen):
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
        return Maxima(*(signed_root(part) for part in (-not_above, below, largest)))

    def largest(
        self, borrowed: BorrowedVariance, chosen: Integers | None, compiled: bool, block: slice
    ) -> Floats:
        """Return the largest |t*| of all pairs, or of those of chosen runs, in a block."""
        del compiled
        largest = np.full(block.stop - block.start, -np.inf)
        for _, _, moves in self.pair_moves(chosen, block):
            np.maximum(largest, moves.squares(borrowed).max(axis=0), out=largest)
        return signed_root(largest)


# Differences between all columns in replicates, as many as fit into memory, and how many.
PairBlocks = Iterator[tuple[PairDraws, int]]


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
        differences = self.centred[others] - self.centred[run]
        shared = ~np.isnan(differences)
        topics = np.maximum(shared.sum(axis=1, keepdims=True), 1)
        differences = np.where(
            shared, differences - np.nansum(differences, axis=1, keepdims=True) / topics, 0.0
        )
        varies = (np.abs(differences).max(axis=1) > TIE) & (topics[:, 0] > 1)
        differences, weights, units = differences[varies], self.weights[:, block], topics[varies]
        share = shared[varies].astype(np.float64) @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.nan_to_num(differences @ weights / share)
            square = np.nan_to_num(np.square(differences) @ weights / share) - np.square(deviation)
        drawn = share * len(self.weights)
        several = drawn > 1.0 + TIE  # a topic drawn alone has no variance, and borrows none
        variance = np.where(several, square / np.where(several, drawn - 1.0, 1.0), 0.0)
        share = np.where(several, 1.0 / np.maximum(drawn, 1.0), 0.0)
        return Moves(varies, deviation * np.sqrt(units / (units - 1.0)), variance, units, share)


def as_rows(numbers: Integers) -> slice | Integers:
    """Return ascending numbers as a slice where none is left out, which copies nothing."""
    first, last = int(numbers[0]), int(numbers[-1])
    return slice(first, last + 1) if last - first + 1 == len(numbers) else numbers


def signed_root(square: Floats) -> Floats:
    """Return t of signed squares, enlarged so that equal t reach each other."""
    root: Floats = np.copysign(np.sqrt(np.abs(square)), square)
    root *= 1.0 + _ROUNDING
    return root


def opponents_of(runs: int, chosen: Integers | None) -> Iterator[tuple[int, Integers]]:
    """Yield runs and those to compare them with: each pair once, or the chosen runs' pairs."""
    every = np.arange(runs)
    if chosen is None:
        yield from ((run, every[run + 1 :]) for run in range(runs - 1))
    else:
        yield from ((int(run), every[every != run]) for run in chosen)
