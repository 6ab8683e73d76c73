"""How far do corrected differences between runs vary? Pairs by a model's judgements and people's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.sampling.judged_scores import Judged
from confir.order import TIE
from confir.resampling.borrowed_variance import BorrowedVariance
from confir.resampling.human_judgements import JudgedWeights, judged_weights, resample_judged


class JudgedPairs(NamedTuple):
    """Corrected differences between runs in resampled topics, each with the model's own weight."""

    values: Judged  # topics × runs
    weights: JudgedWeights  # replicates × topics

    @staticmethod
    def draw(values: Judged, replicates: int, rng: np.random.Generator) -> JudgedPairs:
        """Return pairs with replicates of both parts of the topics."""
        return JudgedPairs(values, judged_weights(values, replicates, rng))

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.values.human.shape[1])

    @property
    def scale(self) -> float:
        """What signed squares are still to be multiplied by: n/(n-1) of the human-judged topics."""
        topics = len(self.values.human)
        return topics / (topics - 1.0)

    def squares(
        self, run: int, others: Integers, block: slice, borrowed: Sequence[BorrowedVariance]
    ) -> tuple[Integers, Floats, list[Floats]]:
        """Return the runs that vary against one, their mean differences and t*²."""
        apart = self.apart(run, others)
        found = apart.corrected()
        varies = varying(apart, found.se)
        others, apart, observed = others[varies], apart.columns(varies), found.mean[varies]
        if len(others) == 0:
            return others, np.empty((0, 0)), [np.empty((0, 0))] * len(borrowed)
        weights = JudgedWeights(self.weights.human[block], self.weights.model[block])
        drawn = resample_judged(apart, weights)
        deviation = np.ascontiguousarray((drawn.mean - observed).T)
        units = len(self.values.human)
        constant = np.where(np.abs(deviation) <= TIE, 0.0, np.inf)
        squares = []
        for one in borrowed:
            variance = np.square(drawn.se.T) + one.of(units) / units
            with np.errstate(divide="ignore", invalid="ignore"):
                square = np.square(deviation) / variance
            squares.append(np.where(variance > TIE * TIE, square, constant))
        return others, deviation, squares

    def apart(self, run: int, others: Integers) -> Judged:
        """Return the differences of other runs from one: topics × runs."""
        return Judged(*(part[:, others] - part[:, [run]] for part in self.values))


def varying(apart: Judged, se: Floats) -> Floats:
    """Return which corrected differences vary: people's are not the same on all topics."""
    spread = apart.human.max(axis=0) - apart.human.min(axis=0)
    varies: Floats = (spread > TIE) & (se > 0)
    return varies
