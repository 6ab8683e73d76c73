"""Differences between runs in replicates of many units, whose means are normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import TIE, Floats, Integers
from confir.resampling.pair_draws import Moves, PairBlocks, PairDraws

# From so many topics on, means are normal: the runs' covariances replace resampled topics. Those of
# more runs take too long.
NORMAL_TOPICS = 5_000
MOST_NORMAL_RUNS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class NormalDraws(PairDraws):
    """Differences between runs in the limit of many units: normal means with their covariance.

    Attributes
    ----------
    covariance
        Of the runs over units: runs × runs.
    units
        Number of units.
    drawn
        Normal numbers with this covariance: runs × replicates.
    """

    covariance: Floats
    units: float
    drawn: Floats

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.covariance)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        variance = difference_variance(self.covariance, run, others)
        varies = variance > TIE * TIE
        deviation = self.drawn[others[varies], block] - self.drawn[run, block]
        return Moves(varies, deviation, variance[varies][:, None], self.units, 1.0)


def difference_variance(covariance: Floats, run: int | Integers, others: Integers) -> Floats:
    """Return the variance of differences between runs; 0 where they are constant up to rounding."""
    own = covariance.diagonal()
    total = own[run] + own[others]
    variance = total - 2.0 * covariance[run, others]
    return np.where(variance > TIE * total, variance, 0.0)


def draw_normal_means(
    covariance: Floats,
    replicates: int,
    rng: np.random.Generator,
    names: Sequence[Any] | None = None,
) -> Floats:
    """Return normal numbers of some covariance: runs × replicates.

    By its symmetric root: the signs of axes, which rounding decides, change nothing. Nor does the order
    of runs that have names: numbers are drawn in the order of these.
    """
    size, axes = np.linalg.eigh(covariance)
    drawn = rng.standard_normal((len(covariance), replicates))
    if names is not None:
        drawn[sorted(range(len(names)), key=names.__getitem__)] = drawn.copy()
    means: Floats = (axes * np.sqrt(np.maximum(size, 0.0))) @ axes.T @ drawn
    return means


class RunCovariance(NamedTuple):
    """How runs vary together over many units, in place of scores.

    Attributes
    ----------
    matrix
        Covariances over units: runs × runs.
    units
        Number of units, or of as many as the covariances are worth.
    names
        What tells the runs apart, whatever their order: their names or labels.
    """

    matrix: Floats
    units: float
    names: Sequence[Any]

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between runs in normal replicates, where units are many enough."""
        known = not np.isnan(self.matrix).any()
        if known and self.units >= NORMAL_TOPICS and len(self.matrix) <= MOST_NORMAL_RUNS:
            drawn = draw_normal_means(self.matrix, replicates, rng, self.names)
            yield NormalDraws(self.matrix, self.units, drawn), replicates
