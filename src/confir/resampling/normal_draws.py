"""Differences between runs in replicates of many units, whose means are normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.order import TIE
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

    @classmethod
    def draw(
        cls, covariance: Floats, units: float, replicates: int, rng: np.random.Generator
    ) -> NormalDraws:
        """Return normal means with the covariance that the runs' scores have."""
        return cls(covariance, units, draw_normal_means(covariance, replicates, rng))

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.covariance)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        variance = self.covariance[run, run] + self.covariance.diagonal()[others]
        variance = variance - 2.0 * self.covariance[run, others]
        varies = variance > TIE * TIE
        deviation = self.drawn[others[varies], block] - self.drawn[run, block]
        return Moves(varies, deviation, variance[varies][:, None], self.units, 1.0)


def draw_normal_means(covariance: Floats, replicates: int, rng: np.random.Generator) -> Floats:
    """Return normal numbers of some covariance: runs × replicates.

    By its symmetric root: the signs of axes, which rounding decides, change nothing.
    """
    size, axes = np.linalg.eigh(covariance)
    drawn = rng.standard_normal((len(covariance), replicates))
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
    """

    matrix: Floats
    units: float

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between runs in normal replicates, where units are many enough."""
        known = not np.isnan(self.matrix).any()
        if known and self.units >= NORMAL_TOPICS and len(self.matrix) <= MOST_NORMAL_RUNS:
            yield NormalDraws.draw(self.matrix, self.units, replicates, rng), replicates
