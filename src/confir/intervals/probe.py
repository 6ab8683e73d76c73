"""The side of an interval on which a value lies, found by counting, without the limits.

Coverage studies ask of millions of intervals only whether they contain the mean. A quantile lies
above a value just when few enough replicates lie below the value, so that counting replaces sorting.
Where the value falls between the two replicates that a quantile interpolates, these are looked at,
so that the answer is that of the limits themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.count_kernels import CountKernels, Tally
from confir.intervals.interval import ABOVE, BELOW, INSIDE, UNDEFINED, tie_distance
from confir.resampling.distribution import SamplingDistribution, interpolate
from confir.resampling.topic_distribution import ROUNDING


class TargetCounts:
    """How many of a column's values lie below a target that is known up to rounding.

    Parameters
    ----------
    values
        Values × columns, in any order; NaN do not count.
    target
        One for each column; NaN where there is none.
    tie
        A value no farther from the target than this is equal to it; one for each column.
    """

    def __init__(self, values: Floats, target: Floats, tie: Floats) -> None:
        self._values = values
        self._lower, self._upper = _surrounding(target, tie)
        self._below_lower = _count_true(values < self._lower)
        self._below_upper = _count_true(values <= self._upper)

    @cached_property
    def count(self) -> Integers:
        """Values of each column that count."""
        count = np.full(self._values.shape[1], len(self._values))
        # One NaN makes the least value NaN.
        gappy = np.flatnonzero(np.isnan(self._values.min(axis=0)))
        if len(gappy):
            count[gappy] -= _count_true(np.isnan(self._values[:, gappy]))
        return count

    @property
    def share_below(self) -> Floats:
        """Share of the values below the target, ties counting half; NaN where there are none."""
        twice = 2.0 * self.count
        share: Floats = np.divide(
            self._below_lower + self._below_upper,
            twice,
            out=np.full(twice.shape, np.nan),
            where=twice > 0,
        )
        return share

    def under(self, probability: float | Floats) -> Integers:
        """Return BELOW where the target lies below a quantile of the column, else INSIDE."""
        reaches, known = self._reaches(probability, at_upper=True)
        return np.where(known, np.where(reaches, INSIDE, BELOW), UNDEFINED)

    def over(self, probability: float | Floats) -> Integers:
        """Return ABOVE where the target lies above a quantile of the column, else INSIDE."""
        reaches, known = self._reaches(probability, at_upper=False)
        return np.where(known, np.where(reaches, ABOVE, INSIDE), UNDEFINED)

    def _reaches(self, probability: float | Floats, *, at_upper: bool) -> tuple[Booleans, Booleans]:
        """Whether the target's upper end reaches a quantile, or its lower end lies beyond it.

        The second array says where there are a target and a quantile.
        """
        target = self._upper if at_upper else self._lower
        below = self._below_upper if at_upper else self._below_lower
        place = probability * np.maximum(self.count - 1, 0)
        first = np.floor(place)
        reaches = below > first + 1.0
        known = ~np.isnan(place + target) & (self.count > 0)
        between = np.flatnonzero(below == first + 1.0)
        if len(between):
            low, high = self._around(between, at_upper=at_upper)
            quantile = interpolate(low, high, (place - first)[between])
            compare = np.greater_equal if at_upper else np.greater
            reaches[between] = compare(target[between], quantile)
            known[between] &= ~np.isnan(quantile)  # from -∞ to ∞ nothing is between
        return reaches, known

    def _around(self, columns: Integers, *, at_upper: bool) -> tuple[Floats, Floats]:
        """Return the last value below the target and the first that is not, in some columns."""
        values = self._values[:, columns]
        is_below = values <= self._upper[columns] if at_upper else values < self._lower[columns]
        last = np.where(is_below, values, -np.inf).max(axis=0)
        return last, np.where(is_below | np.isnan(values), np.inf, values).min(axis=0)


class TalliedCounts(TargetCounts):
    """Counts of values that were not kept, except those next to the target.

    Parameters
    ----------
    count
        Values of each column.
    lower, upper
        The target lies from the one to the other: a value in between is equal to it.
    below, last_below, first_from
        Values below the lower end, and up to the upper end; the last of them, and the first
        beyond: two of each for every column.
    """

    def __init__(
        self,
        count: Integers,
        lower: Floats,
        upper: Floats,
        below: Integers,
        last_below: Floats,
        first_from: Floats,
    ) -> None:
        self.count = count
        self._lower, self._upper = lower, upper
        self._below_lower, self._below_upper = below
        self._last_below, self._first_from = last_below, first_from

    def _around(self, columns: Integers, *, at_upper: bool) -> tuple[Floats, Floats]:
        row = int(at_upper)
        return self._last_below[row, columns], self._first_from[row, columns]


@dataclass(eq=False)
class Probe:
    """A value for each column of a sampling distribution, and how many replicates lie below it."""

    distribution: SamplingDistribution
    value: Floats

    @cached_property
    def among_replicates(self) -> TargetCounts:
        """The value among the replicates."""
        return TargetCounts(
            self.distribution.require("replicates"), self.value, tie_distance(self.value)
        )

    @cached_property
    def estimate_among_replicates(self) -> TargetCounts:
        """The estimate among the replicates."""
        estimate = self.distribution.estimate
        return TargetCounts(
            self.distribution.require("replicates"), estimate, tie_distance(estimate)
        )

    @cached_property
    def among_t(self) -> TargetCounts:
        """``(m - value)/se`` among the studentised replicates; unknown below three topics."""
        t, tie = self._studentised
        return TargetCounts(self.distribution.t, t, tie)

    @cached_property
    def _studentised(self) -> tuple[Floats, Floats]:
        # As in the limits: of two topics every replicate that varies has the sample's own mean.
        se = np.where(self.distribution.df > 1, self.distribution.require("se"), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.distribution.estimate - self.value) / se, tie_distance(self.value) / se


class CountedProbe(Probe):
    """A probe whose replicates are counted as they come, and not kept.

    Parameters
    ----------
    distribution
        Means of complete columns, without replicates; several samples may be side by side.
    value
        As in `Probe`.
    replicates
        How many there will be.
    studentised
        Whether the studentised replicates are counted too.
    """

    def __init__(
        self,
        distribution: SamplingDistribution,
        value: Floats,
        *,
        replicates: int,
        studentised: bool,
    ) -> None:
        super().__init__(distribution, value)
        self._replicates = np.full(len(value), replicates)
        targets = [
            (value, tie_distance(value)),
            (distribution.estimate, tie_distance(distribution.estimate)),
        ]
        if studentised:
            targets.append(self._studentised)
        self._targets = [_surrounding(*target) for target in targets]
        bounds = self._targets[:2]
        bounds += [(self._square(lower), self._square(upper)) for lower, upper in self._targets[2:]]
        # What is not above an upper end is below the next number.
        self._bounds = np.concatenate(
            [(lower, np.nextafter(upper, np.inf)) for lower, upper in bounds]
        )
        self._tally = Tally.empty(*self._bounds.shape)

    def count(self, kernels: CountKernels, columns: slice, moments: Floats) -> None:
        """Count the replicates of some columns.

        Parameters
        ----------
        kernels
            The compiled code.
        columns
            Which columns.
        moments
            Means of their deviations on each replicate, then of the squares if T is asked for:
            columns × replicates.
        """
        estimate, bounds = self.distribution.estimate[columns], self._bounds[:, columns]
        kernels.count_below(moments, estimate, bounds, ROUNDING, *self._tally.of(columns))

    @cached_property
    def among_replicates(self) -> TargetCounts:
        """The value among the replicates."""
        return self._counts(0, self._replicates, np.positive)

    @cached_property
    def estimate_among_replicates(self) -> TargetCounts:
        """The estimate among the replicates."""
        return self._counts(1, self._replicates, np.positive)

    @cached_property
    def among_t(self) -> TargetCounts:
        """``(m - value)/se`` among the studentised replicates."""
        return self._counts(2, self._tally.varying, self._square_root)

    def _counts(
        self, number: int, count: Integers, original: Callable[[Floats], Floats]
    ) -> TargetCounts:
        pair = slice(2 * number, 2 * number + 2)
        last, first = self._tally.nearest_below[pair], self._tally.nearest_from[pair]
        below = self._tally.below[pair]
        return TalliedCounts(count, *self._targets[number], below, original(last), original(first))

    def _square(self, t: Floats) -> Floats:
        """Return ``T|T|/(n-1)``, which takes no root to compute, and has the order of T."""
        return t * np.abs(t) / self.distribution.df

    def _square_root(self, squares: Floats) -> Floats:
        """Return the T of such squares."""
        return np.copysign(np.sqrt(np.abs(squares) * self.distribution.df), squares)


def side_of_quantiles(
    counts: TargetCounts, lower: float | Floats, upper: float | Floats
) -> Integers:
    """Return the side of a target relative to an interval from one quantile to another."""
    below, above = counts.under(lower), counts.over(upper)
    side = np.where(below == INSIDE, above, below)
    return np.where(above == UNDEFINED, UNDEFINED, side)


def mirrored(side: Integers) -> Integers:
    """Return the sides with below and above exchanged, as for a value that is subtracted."""
    return np.where(side == UNDEFINED, UNDEFINED, -side)


def _surrounding(target: Floats, tie: Floats) -> tuple[Floats, Floats]:
    """Return from where to where a value is equal to a target."""
    with np.errstate(invalid="ignore"):
        return target - tie, target + tie


def _count_true(flags: Booleans) -> Integers:
    """Return how many flags of each column are set; bytes are added faster than flags."""
    count: Integers = flags.view(np.uint8).sum(axis=0, dtype=np.uint32).astype(np.int64)
    return count
