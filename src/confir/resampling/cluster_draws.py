"""Differences between runs in resampled clusters of topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arrays import Floats, Integers
from confir.order import TIE
from confir.resampling.clusters import Clusters
from confir.resampling.pair_draws import Moves, PairDraws


@dataclass(frozen=True, slots=True, eq=False)
class ClusterDraws(PairDraws):
    """Differences between runs in resampled clusters of any weight, where no score is missing.

    Attributes
    ----------
    clusters
        Of the design.
    residuals
        Weighted sums of deviations from the stratum's mean: runs × clusters.
    mass
        Weight of each cluster.
    counts
        How often each is drawn: clusters × replicates.
    """

    clusters: Clusters
    residuals: Floats
    mass: Floats
    counts: Floats

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.residuals)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        apart = self.residuals[others] - self.residuals[run]
        varies = np.abs(apart).max(axis=1) > TIE * self.mass.max()
        apart = apart[varies]
        deviation: Floats = np.zeros((len(apart), block.stop - block.start))
        variance: Floats = np.zeros_like(deviation)
        for inside, share in zip(self.clusters.blocks, self.clusters.share.tolist(), strict=True):
            counts, mass, own = self.counts[inside, block], self.mass[inside], apart[:, inside]
            total, drawn = mass @ counts, counts[:, 0].sum()
            move = (own @ counts) / total
            part = np.square(own) @ counts - 2.0 * move * ((own * mass) @ counts)
            part += np.square(move) * (np.square(mass) @ counts)
            deviation += share * move
            variance += share**2 * drawn / (drawn - 1.0) * part / np.square(total)
        units = float(self.clusters.count)
        if len(self.clusters.share) == 1:  # of several strata one less is drawn, which makes up
            deviation *= np.sqrt(units / (units - 1.0))
        return Moves(varies, deviation, variance, units, 1.0 / units)
