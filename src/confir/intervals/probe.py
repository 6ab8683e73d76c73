"""Where does a value stand beside an interval? Found by counting, without the interval's limits.

Studies of coverage ask of millions of intervals only whether they hold the truth. A quantile lies
above a value just when few enough replicates lie below the value, so that counting replaces sorting;
the rare columns in which the value falls between the two replicates that a quantile interpolates
are sorted after all, so that the answer is that of the limits themselves.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.interval import Limits
from confir.measures.summary import logit
from confir.resampling.distribution import TIE, SamplingDistribution, quantile_of_sorted

BELOW, INSIDE, ABOVE = -1, 0, 1


class Ranks:
    """How many of a column's values lie below a target, ties allowed for.

    Parameters
    ----------
    values
        Values × columns, in any order; NaN do not count.
    target
        One for each column.
    tie
        How near a value must come to the target to be equal to it, one for each column.
    """

    def __init__(self, values: Floats, target: Floats, tie: Floats) -> None:
        self._values = values
        with np.errstate(invalid="ignore"):
            self._upper, self._lower = target + tie, target - tie
        self._below_upper = (values <= self._upper).sum(axis=0)
        self._below_lower = (values < self._lower).sum(axis=0)

    @cached_property
    def count(self) -> Integers:
        """Values of each column that count."""
        count: Integers = (~np.isnan(self._values)).sum(axis=0)
        return count

    @property
    def share_below(self) -> Floats:
        """Share of the values below the target, ties counting half."""
        share: Floats = (self._below_lower + self._below_upper) / (2.0 * self.count)
        return share

    def under(self, probability: float | Floats) -> Booleans:
        """Whether the target lies below a quantile of the column."""
        return ~self._reaches(probability, self._below_upper, self._upper, np.greater_equal)

    def over(self, probability: float | Floats) -> Booleans:
        """Whether the target lies above a quantile of the column."""
        return self._reaches(probability, self._below_lower, self._lower, np.greater)

    def _reaches(
        self, probability: float | Floats, below: Integers, target: Floats, exceed: Any
    ) -> Booleans:
        """Whether a target exceeds the quantile, given how many values lie below the target."""
        place = np.clip(probability, 0.0, 1.0) * np.maximum(self.count - 1, 0)
        first = np.floor(np.nan_to_num(place)).astype(np.int64)
        exceeds = below > first + 1
        between = np.flatnonzero(below == first + 1)
        if len(between):
            ordered = np.sort(self._values[:, between], axis=0)
            chances = np.broadcast_to(probability, below.shape)[between]
            quantile = quantile_of_sorted(ordered, chances, self.count[between])
            exceeds[between] = exceed(target[between], quantile)
        return np.asarray(exceeds)


class Probe:
    """A value for each column of a sampling distribution, and its place among the replicates."""

    def __init__(self, distribution: SamplingDistribution, value: Floats) -> None:
        self.distribution = distribution
        self.value = value

    @cached_property
    def among_replicates(self) -> Ranks:
        """The value among the replicates."""
        tie = np.full(self.value.shape, TIE)
        return Ranks(self.distribution.require("replicates"), self.value, tie)

    @cached_property
    def estimate_among_replicates(self) -> Ranks:
        """The estimate among the replicates."""
        tie = TIE * np.maximum(1.0, np.abs(self.distribution.estimate))
        return Ranks(self.distribution.require("replicates"), self.distribution.estimate, tie)

    @cached_property
    def among_t(self) -> Ranks:
        """``(m - value)/se`` among the studentised replicates."""
        t, tie = self._studentised
        return Ranks(self.distribution.t, t, tie)

    @cached_property
    def among_absolute_t(self) -> Ranks:
        """``|m - value|/se`` among the absolute studentised replicates."""
        t, tie = self._studentised
        return Ranks(np.abs(self.distribution.t), np.abs(t), tie)

    @cached_property
    def logit_t(self) -> Floats:
        """``(logit m - logit value)/se`` on the logit scale."""
        m = self.distribution.estimate
        with np.errstate(divide="ignore", invalid="ignore"):
            se = self.distribution.require("se") / (m * (1.0 - m))
            return (logit(m) - logit(self.value)) / se

    @cached_property
    def among_logit_t(self) -> Ranks:
        """The same among the replicates studentised on the logit scale."""
        return Ranks(self.distribution.logit_t, self.logit_t, np.full(self.value.shape, TIE))

    @cached_property
    def among_absolute_logit_t(self) -> Ranks:
        """The same among the absolute replicates studentised on the logit scale."""
        tie = np.full(self.value.shape, TIE)
        return Ranks(np.abs(self.distribution.logit_t), np.abs(self.logit_t), tie)

    @cached_property
    def _studentised(self) -> tuple[Floats, Floats]:
        se = self.distribution.require("se")
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.distribution.estimate - self.value) / se, TIE / se


def side_of_limits(limits: Limits, value: Floats) -> Integers:
    """Return BELOW, INSIDE or ABOVE for each value beside its interval; INSIDE where NaN."""
    below, above = value < limits.low - TIE, value > limits.high + TIE
    return np.where(below, BELOW, np.where(above, ABOVE, INSIDE))


def side_of_quantiles(ranks: Ranks, lower: float | Floats, upper: float | Floats) -> Integers:
    """Return the side of a target beside an interval from one quantile to another."""
    return np.where(ranks.under(lower), BELOW, np.where(ranks.over(upper), ABOVE, INSIDE))
