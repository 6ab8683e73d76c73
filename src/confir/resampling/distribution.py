"""The sampling distribution of a statistic, the input of every interval method."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers, logit
from confir.defaults import LOGIT_EPSILON, REPLICATES
from confir.errors import UnsupportedMethodError

Resampled = Literal["topics", "documents"]

# (run, measure) of each column, and names of fields of a sampling distribution.
Labels = tuple[tuple[str, str], ...]
Fields = Collection[str]


class SamplingScheme(NamedTuple):
    """How the units of a sample are drawn, where they are not topics drawn one by one.

    Attributes
    ----------
    words
        The topics' design in words, or what else is sampled; nothing for a simple random sample.
    clusters
        Number of clusters, where these are drawn in place of topics; 0 for topics.
    replicates
        Number of replicates where these are drawn already, else 0.
    uneven
        Whether few units weigh so much more than others that t is too optimistic.
    flips
        Whether clusters of several topics, or of several votes, are so few that decisions rest on sign
        flips of whole clusters.
    """

    words: str = ""
    clusters: int = 0
    replicates: int = 0
    uneven: bool = False
    flips: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class SamplingDistribution:
    """A statistic of C columns (runs × measures), and how it varies over resampled data.

    Fields that are not available are None; a method that needs one raises.

    Attributes
    ----------
    labels
        (run, measure) of each column, for messages.
    estimate
        The statistic on the observed data (C).
    count
        Number of topics with scores (C).
    df
        Degrees of freedom of the standard error: count - 1, infinite for documents (C).
    support
        Whether the column holds scores in [0, 1] (C).
    resampled
        What was resampled.
    sample
        Scores, topics × C, NaN where missing; None unless the statistic is their mean.
    se
        Standard error of the estimate (C).
    skewness
        Skewness of the scores, ddof=0 (C); where it is None, it follows from the sample.
    acceleration
        Acceleration of BCa (C).
    replicates
        The statistic on each replicate, B × C; a column is contiguous in memory.
    replicate_se
        Its standard error on each replicate, B × C.
    replicate_skewness
        Skewness of the scores of each replicate, B × C.
    dropped
        Replicates on which the statistic is undefined (C); they are NaN in ``replicates``.
    seed, draws
        Seed and number of draws of methods that draw their own random numbers.
    epsilon
        Distance from 0 and 1 to which scores are clipped before the logit.
    independent
        Whether the estimate is from one simple random sample of topics.
    effective
        By a design, how many independent topics give the same standard error (C); else None.
    """

    labels: Labels
    estimate: Floats
    count: Integers
    df: Floats
    support: Booleans
    resampled: frozenset[Resampled] = frozenset({"topics"})
    sample: Floats | None = None
    se: Floats | None = None
    skewness: Floats | None = None
    acceleration: Floats | None = None
    replicates: Floats | None = None
    replicate_se: Floats | None = None
    replicate_skewness: Floats | None = None
    dropped: Integers | None = None
    seed: int = 0
    draws: int = REPLICATES
    epsilon: float = LOGIT_EPSILON
    independent: bool = True
    effective: Floats | None = None

    def __repr__(self) -> str:
        over = " and ".join(sorted(self.resampled))
        sizes = f"{len(self.labels)} columns, {self.scheme.replicates} replicates of {over}"
        return f"SamplingDistribution({sizes})"

    def require(self, name: str) -> Floats:
        """Return a field; raise if this distribution lacks it."""
        field: Floats | None = getattr(self, name)
        if field is None:
            raise UnsupportedMethodError(f"this sampling distribution has no {name}")
        return field

    @property
    def over(self) -> Resampled:
        """What is resampled, for the choice of an interval method: documents, if they vary."""
        return "documents" if "documents" in self.resampled else "topics"

    @property
    def shape(self) -> tuple[int, ...]:
        """The columns' shape in results."""
        return (len(self.labels),)

    @property
    def scheme(self) -> SamplingScheme:
        """How many replicates there are; nothing else is known of single units."""
        return SamplingScheme(replicates=0 if self.replicates is None else len(self.replicates))

    @property
    def provided(self) -> frozenset[str]:
        """The fields that it has; from the sample follows the skewness."""
        known = {name for name in DISTRIBUTION_FIELDS if getattr(self, name) is not None}
        return frozenset(known if self.sample is None else {*known, "skewness"})

    def simple_columns(self) -> Booleans:
        """Return which columns are means of one simple random sample of topics."""
        return np.full(len(self.labels), self.independent)

    @cached_property
    def sorted_replicates(self) -> Floats:
        """The replicates of each column in ascending order, undefined ones last."""
        return np.sort(self.require("replicates"), axis=0)

    @cached_property
    def replicate_logits(self) -> Floats:
        """The logits of the replicates; ±∞ where a replicate is 1 or 0."""
        replicates = self.require("replicates")
        return logit(np.clip(replicates, 0.0, 1.0))  # outside [0, 1] by rounding only

    @cached_property
    def logit_moments(self) -> tuple[Floats, Floats]:
        """Mean and maximum-likelihood spread of the finite logits of the replicates (C)."""
        logits = self.replicate_logits
        finite = np.isfinite(logits)
        if finite.all():
            return logits.mean(axis=0), logits.std(axis=0)
        count = finite.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(finite, logits, 0.0).sum(axis=0) / count
            square = np.where(finite, np.square(logits - mean), 0.0).sum(axis=0) / count
        return mean, np.sqrt(square)

    @cached_property
    def t(self) -> Floats:
        """``(m* - m) / se*``; NaN for replicates without variance."""
        t = self.require("replicates") - self.estimate
        se = self.require("replicate_se")
        constant = se <= 0
        if constant.any():
            se = np.where(constant, np.nan, se)
        t /= se
        return t

    @cached_property
    def logit_t(self) -> Floats:
        """The studentised replicates on the logit scale, se there by the delta method.

        Replicates without variance are ±∞ by the sign of their deviation, so a limit can be 0 or
        1; undefined ones are NaN.
        """
        replicates, se = self.require("replicates"), self.require("replicate_se")
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1.0 - replicates
            scale *= replicates
            undefined = ~((scale > 0) & (se > 0))
            scale /= se
            scale *= self.replicate_logits - logit(self.estimate)
        t: Floats = scale
        if undefined.any():
            deviation = (replicates - self.estimate)[undefined]
            infinite = np.where(np.abs(deviation) <= TIE, 0.0, np.copysign(np.inf, deviation))
            t[undefined] = np.where(np.isnan(deviation), np.nan, infinite)
        return t

    @cached_property
    def sorted_logit_t(self) -> Floats:
        """The studentised replicates on the logit scale, in ascending order."""
        return np.sort(self.logit_t, axis=0)

    def ascending(self, values: Callable[[SamplingDistribution], Floats]) -> Floats:
        """Return a function of the replicates in ascending order, sorted only once."""
        if values not in self._ascending:
            self._ascending[values] = np.sort(values(self), axis=0)
        return self._ascending[values]

    @cached_property
    def _ascending(self) -> dict[Callable[[SamplingDistribution], Floats], Floats]:
        return {}

    @cached_property
    def degenerate(self) -> Booleans:
        """Columns that do not vary: fewer than two scores, or all of them equal (C)."""
        return ~(self.require("se") > 0)


DISTRIBUTION_FIELDS = frozenset(field.name for field in fields(SamplingDistribution))


def quantile_of_sorted(ordered: Floats, probability: float | Floats, count: Integers) -> Floats:
    """Return the linear (type 7) quantile of each column.

    Parameters
    ----------
    ordered
        Values in ascending order down each column; may hold infinities.
    probability
        One for all columns, or one for each.
    count
        Number of leading rows to use in each column; NaN for columns with none.
    """
    columns = np.arange(ordered.shape[1])
    place = np.clip(probability, 0.0, 1.0) * np.maximum(count - 1, 0)
    lower = np.floor(np.nan_to_num(place)).astype(np.int64)
    upper = np.minimum(lower + 1, np.maximum(count - 1, 0))
    quantile = interpolate(ordered[lower, columns], ordered[upper, columns], place - lower)
    return np.where(count > 0, quantile, np.nan)


def around_quantiles(values: Floats, probabilities: Sequence[float]) -> Floats:
    """Return columns with the values that `quantile_of_sorted` takes where a sort would put them.

    That is faster than to sort them; columns with undefined values, NaN, are sorted.
    """
    if not len(values) or np.isnan(values).any():
        return np.sort(values, axis=0)
    last = len(values) - 1
    lower = [int(np.floor(probability * last)) for probability in probabilities]
    return np.partition(values, sorted({min(p + n, last) for p in lower for n in (0, 1)}), axis=0)


def interpolate(low: Floats, high: Floats, part: Floats) -> Floats:
    """Return the linear interpolation between two values, either of which may be infinite."""
    with np.errstate(invalid="ignore"):
        between = (1.0 - part) * low + part * high
    return np.where((part == 0) | (low == high), low, between)


def count_below(ordered: Floats, value: Floats) -> Integers:
    """Return the number of entries of each ascending column below its value; NaN count as above.

    A binary search of all columns at once.
    """
    columns = np.arange(ordered.shape[1])
    low = np.zeros(len(columns), np.int64)
    high = np.full(len(columns), len(ordered))
    while (low < high).any():
        middle = (low + high) // 2
        below = (low < high) & (ordered[np.minimum(middle, len(ordered) - 1), columns] < value)
        low, high = np.where(below, middle + 1, low), np.where(below, high, middle)
    return low
