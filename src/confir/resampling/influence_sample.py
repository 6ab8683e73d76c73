"""Estimates with influence values: what each independent unit adds to them, to first order.

Any estimator that is no mean over units becomes a sample this way, as Bradley-Terry strengths do: its
variance is G/(G-1)·Σψ² over G units, contrasts are differences of rows, and replicates draw units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.measures.strengths import Strengths
from confir.resampling.distribution import Fields, SamplingDistribution, SamplingScheme
from confir.resampling.normal_draws import NORMAL_TOPICS, RunCovariance, draw_normal_means
from confir.resampling.pair_draws import PairBlocks
from confir.resampling.replicates import draw_rows, draw_topics
from confir.resampling.sample import FEW_CLUSTERS, MOST_FLIPPED, Knowledge, Sample, UnitParts
from confir.resampling.studentised_maxima import sizes_in_memory
from confir.resampling.topic_distribution import ROUNDING
from confir.resampling.unit_draws import UnitDraws

# Sums of so many units that count alike, or as much as these, are normal: nothing is resampled.
_NORMAL_UNITS = 1_000


class Wins(NamedTuple):
    """How often a column was preferred to another, where units say so: columns × columns.

    Attributes
    ----------
    wins
        Of the row's column over the column's.
    ties
        Of both, the same in both places.
    """

    wins: Integers
    ties: Integers


@dataclass(frozen=True, slots=True, eq=False)
class InfluenceSample(Sample):
    """Estimates with one row of influence values per independent unit, or per kind of unit.

    Flipping signs of influence values is no exact test, unlike that of topics' differences: such
    tests, which need UNITS, are refused, and p-values of signs alone (p_T) do not exist.

    Attributes
    ----------
    support
        As in `Sample`.
    estimate
        One per column.
    influence
        Rows × columns; 0 in sum over units.
    count
        How many units have each row.
    compared
        Wins between the columns; of a contrast, those of its two columns: 3 × columns, wins, ties
        and losses.
    """

    support: Booleans = field()
    estimate: Floats
    influence: Floats
    count: Integers
    compared: Wins | Integers

    knowledge: ClassVar = frozenset(
        {Knowledge.COVARIANCE, Knowledge.DRAWS, Knowledge.TOPIC_VARIANCE}
    )
    kind: ClassVar = "estimates with influence values"
    reason: ClassVar = "only what each unit adds to the estimates is known, to first order"
    provided: ClassVar = frozenset({"se", "skewness", "acceleration", "replicates", "replicate_se"})

    @property
    def topics(self) -> int:
        """Number of independent units."""
        return int(self.count.sum())

    @property
    def rows(self) -> int:
        """Numbers held per column."""
        return len(self.count)

    def draw(self, replicates: int, rng: np.random.Generator, needs: Fields = ()) -> Floats:
        """Return the share of each row in replicates of the units: replicates × rows."""
        del needs
        units = self.topics
        if len(self.count) == units:
            return draw_topics(units, replicates, rng).shares()
        return draw_rows(self.count, replicates, rng).shares()

    def distribution(
        self, columns: slice, weights: Floats | None, needs: Fields = ("replicates", "replicate_se")
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        estimate, units = self.estimate[columns], float(self.topics)
        scaled = units * self.influence[:, columns]  # deviations of pseudo-values from their mean
        share = self.count / units
        squared = np.square(scaled)
        second, third = share @ squared, share @ (squared * scaled)
        se = np.sqrt(second / (units - 1.0))
        varies = se > ROUNDING * np.maximum(1.0, np.abs(estimate))
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness = third / second**1.5
        drawn = drawn_se = None
        if weights is not None:
            moved = weights @ scaled
            drawn = np.asfortranarray(estimate + moved)
            if "replicate_se" in needs:
                spread = np.maximum(weights @ squared - np.square(moved), 0.0)
                drawn_se = np.sqrt(spread / (units - 1.0))
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=estimate,
            count=np.full(len(estimate), int(units)),
            df=np.full(len(estimate), units - 1.0),
            support=self.support[columns],
            se=np.where(varies, se, 0.0),
            skewness=skewness,
            acceleration=skewness / (6.0 * np.sqrt(units)),
            replicates=drawn,
            replicate_se=drawn_se,
            dropped=None if drawn is None else np.zeros(len(estimate), np.int64),
            independent=False,
        )

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return differences between columns, whose influence values are differences."""
        compared = np.zeros((3, len(plus)), np.int64)  # a contrast of contrasts compares no columns
        if isinstance(self.compared, Wins):
            wins, ties = self.compared
            compared = np.stack([wins[plus, minus], ties[plus, minus], wins[minus, plus]])
        return self._labelled(
            plus,
            support=np.zeros(len(plus), np.bool_),
            estimate=self.estimate[plus] - self.estimate[minus],
            influence=self.influence[:, plus] - self.influence[:, minus],
            compared=compared,
        )

    def chosen(self, columns: Any) -> Self:
        """Return some columns, as a one-dimensional sample."""
        places = np.arange(len(self.labels))[columns]
        compared: Wins | Integers
        if isinstance(self.compared, Wins):
            compared = Wins(*(part[np.ix_(places, places)] for part in self.compared))
        else:
            compared = self.compared[:, places]
        estimate, influence = self.estimate[places], self.influence[:, places]
        return self._labelled(
            places,
            support=self.support[places],
            estimate=estimate,
            influence=influence,
            compared=compared,
        )

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest pseudo-value of each column of a contrast."""
        values = self.estimate + self.topics * self.influence
        whole = np.rint(values / self.ties)
        return whole.min(axis=0), whole.max(axis=0)

    @property
    def ties(self) -> Floats:
        """How near to 0 a difference of a contrast is 0 up to rounding, for each column."""
        largest = np.abs(self.estimate + self.topics * self.influence).max(axis=0)
        steps: Floats = TIE * np.maximum(1.0, largest)
        return steps

    def unit_parts(self) -> UnitParts | None:
        """Return what units add to the differences of a contrast, to first order; None of more than a few."""
        units = self.topics
        if units > MOST_FLIPPED:
            return None
        parts = (self.estimate / units + np.repeat(self.influence, self.count, axis=0)).T
        return UnitParts(parts, np.full(parts.shape, 1.0 / units))

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return how often the first column of each contrast won, tied and lost."""
        if isinstance(self.compared, Wins):
            raise TypeError("wins are those of a contrast")
        wins, ties, losses = self.compared
        return wins, ties, losses

    def covariance(self) -> Floats:
        """Return the covariance of the columns over units: that of the estimates, times their number."""
        units = float(self.topics)
        weighted = self.influence * self.count[:, None]
        return np.atleast_2d(units * units / (units - 1.0) * (self.influence.T @ weighted))

    @property
    def _is_normal(self) -> bool:
        """Whether estimates are normal: rows are many, or the units that matter for each column."""
        if self.rows >= NORMAL_TOPICS:
            return True
        if self.topics < NORMAL_TOPICS:
            return False
        second, fourth = (self.count @ self.influence**power for power in (2, 4))
        with np.errstate(invalid="ignore"):
            effective = np.square(second) / fourth
        return bool(np.nanmin(effective, initial=np.inf) >= _NORMAL_UNITS)

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between all columns in replicates of the units, and how many these are."""
        units = self.topics
        if self._is_normal:
            whole = RunCovariance(self.covariance(), float(units), self.labels)
            yield from whole.pair_draws(replicates, rng)
            return
        scaled = np.ascontiguousarray(units * self.influence.T)
        for size in sizes_in_memory(replicates, self.rows, len(self.labels)):
            weights = np.ascontiguousarray(self.draw(size, rng).T)
            yield UnitDraws(scaled, weights, float(units)), size

    def replicate_means(self, replicates: int, rng: np.random.Generator) -> Floats:
        """Return the estimates of replicates: replicates × columns; normal where units are many."""
        if not self._is_normal:
            return Sample.replicate_means(self, replicates, rng)
        moved = draw_normal_means(self.covariance() / self.topics, replicates, rng, self.labels)
        return (self.estimate[:, None] + moved).T


@dataclass(frozen=True, slots=True, eq=False)
class VoteSample(InfluenceSample):
    """Strengths of systems by votes as a sample: one column per system.

    Attributes
    ----------
    unit
        What a unit is: "vote", or what votes are clustered by, such as "judge".
    """

    unit: str = "vote"

    knowledge: ClassVar = InfluenceSample.knowledge - {Knowledge.TOPIC_VARIANCE}
    kind: ClassVar = "strengths by votes"
    reason: ClassVar = "votes between systems are drawn, not topics with scores"

    @classmethod
    def of(cls, strengths: Strengths) -> Self:
        """Return strengths by votes as a sample."""
        return cls(
            labels=tuple((run, name) for run in strengths.runs for name in strengths.measures),
            shape=strengths.mean().shape,
            support=np.zeros(strengths.mean().size, np.bool_),
            estimate=strengths.strength,
            influence=strengths.influence,
            count=strengths.count,
            compared=Wins(*strengths.table),
            unit=strengths.cluster,
        )

    @property
    def scheme(self) -> SamplingScheme:
        """How votes are clustered, if they are."""
        clusters = 0 if self.unit == "vote" else self.topics
        return SamplingScheme("", clusters, flips=0 < clusters < FEW_CLUSTERS)
