"""The spread of a pilot's scores over topics, and its uncertainty."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import DegenerateSampleWarning, InvalidValueError, enumerate_names, warn_caller
from confir.intervals.interval import tail_probabilities
from confir.resampling.kinds import against
from confir.resampling.sample import Sample
from confir.studies.comparison.pairs import Pairs

# The range of a standard deviation needs more topics than these.
_TOO_FEW_FOR_RANGE = 4


class Freedom(NamedTuple):
    """Degrees of freedom of the standard error of columns.

    Attributes
    ----------
    cluster_size
        Topics per independent unit: 1, or by a design those of a cluster.
    taken
        Degrees that estimated numbers take: 1 for a mean, 2 for a mean and a weight of the model.
    """

    cluster_size: float | Floats = 1.0
    taken: float | Floats = 1.0

    def at(self, topics: Integers) -> Floats:
        """Return the degrees of freedom that a number of topics gives, at least 1."""
        return np.asarray(np.maximum(topics / self.cluster_size - self.taken, 1.0))

    def of(self, columns: Integers) -> Freedom:
        """Return the degrees of freedom of some columns."""
        return Freedom(*(one[columns] if isinstance(one, np.ndarray) else one for one in self))


class Pilot(NamedTuple):
    """What a pilot says about each column, runs × measures.

    Attributes
    ----------
    mean, sd
        Mean over topics of the scores or differences, and their standard deviation.
    sd_low, sd_high
        Range of the standard deviation; NaN for fewer than 5 topics.
    topics, df
        Number of topics, and degrees of freedom of the standard deviation.
    freedom
        Degrees of freedom that another number of topics would give.
    fixed
        Variance of the mean that more topics do not reduce.
    """

    mean: Floats
    sd: Floats
    sd_low: Floats
    sd_high: Floats
    topics: Integers
    df: Floats
    freedom: Freedom
    fixed: Floats

    def upper_sd(self, assurance: float) -> Floats:
        """Return the sd that the true one exceeds with probability 1 - assurance.

        ``s √((n-1) / χ²_{1-assurance; n-1})``, the upper confidence limit for normal scores.
        """
        from scipy.special import chdtri

        limit: Floats = self.sd * np.sqrt(self.df / chdtri(self.df, assurance))
        return limit

    def of(self, columns: Integers) -> Pilot:
        """Return what it says about some columns."""
        own = self._replace(freedom=self.freedom.of(columns))
        arrays = (name for name in self._fields if name != "freedom")
        return own._replace(**{name: getattr(self, name)[columns] for name in arrays})


AnySample = TypeVar("AnySample", bound=Sample)


def planned_differences(sample: AnySample, baseline: str | None, *, by_partner: bool) -> AnySample:
    """Return what is planned for: means, differences from a baseline, or from another run.

    By partner, each run's column is its difference from the run for which it varies most.
    """
    if sample.topics < 2:
        raise InvalidValueError("there is one topic; a pilot needs at least 2")
    if baseline is not None:
        return against(sample, baseline)
    if not by_partner:
        return sample
    return sample.contrast(np.arange(sample.columns).reshape(sample.shape), partners(sample))


def partners(sample: Sample) -> Integers:
    """Return the column from which each column's difference varies most: runs × measures."""
    runs, measures = sample.shape
    spread = np.full((runs, runs, measures), -np.inf)
    first, second, own = pair_spreads(sample)
    spread[first, second] = spread[second, first] = own
    chosen: Integers = spread.argmax(axis=1) * measures + np.arange(measures)
    return chosen


def pair_spreads(sample: Sample) -> tuple[Integers, Integers, Floats]:
    """Return all pairs of runs, and the spread of their differences: pairs × measures.

    It is the standard error times the root of the topics; -∞ for pairs with fewer than two.
    """
    runs, measures = sample.shape
    first, second = (side.astype(np.int64) for side in np.triu_indices(runs, 1))
    pairs = Pairs(sample, first, second)
    parts = [np.empty(0)]
    for columns in pairs.blocks():
        found = pairs.contrast(columns).distribution(slice(None), None, ("se",))
        parts.append(np.where(found.count > 1, found.require("se") * np.sqrt(found.count), -np.inf))
    return first, second, np.concatenate(parts).reshape(len(first), measures)


def measure_pilot(sample: Sample, level: float) -> Pilot:
    """Return the standard deviations over topics with their limits; warn where there are none.

    By human and model judgements: that of human-judged topics which would have as large a
    standard error by themselves.
    """
    distribution = sample.distribution(slice(None), None, ("se",))
    fixed = sample.fixed_variance()
    of_topics = np.maximum(np.square(distribution.require("se")) - fixed, 0.0)
    sd = np.where(distribution.degenerate, np.nan, np.sqrt(of_topics * distribution.count))
    fourth = sample.fourth_powers(sd)
    if fourth is None:
        low, high = _normal_limits(sd, distribution.df, level)
    else:
        columns_of = zip(distribution.count, sd.tolist(), fourth.tolist(), strict=True)
        limits = [_limits_by_kurtosis(int(n), one, power, level) for n, one, power in columns_of]
        low, high = np.array(limits).T
    few = distribution.count < 2
    for columns, cause in (
        (np.isnan(sd) & few, "the pilot has fewer than two scores"),
        (np.isnan(sd) & ~few, "the pilot's scores or differences are all equal"),
    ):
        names = [" ".join(sample.labels[i]) for i in np.flatnonzero(columns)]
        if names:
            warn_caller(
                f"nothing can be planned for {enumerate_names(names, 5)}: {cause}",
                DegenerateSampleWarning,
            )
    count, df = distribution.count, distribution.df
    # strata whose variances happen to be equal have more degrees of freedom than topics
    spent = np.asarray(count - df) if sample.spends_df else None
    size = np.maximum(count / np.maximum(df + 1.0, 1.0), 1.0)
    freedom = Freedom(cluster_size=size) if spent is None else Freedom(taken=spent)
    return Pilot(distribution.estimate, sd, low, high, count, df, freedom, fixed)


def _normal_limits(sd: Floats, df: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the limits of standard deviations that clusters give, as if these were normal."""
    from scipy.special import chdtri

    lower, upper = tail_probabilities(level)
    return sd * np.sqrt(df / chdtri(df, lower)), sd * np.sqrt(df / chdtri(df, upper))


def _limits_by_kurtosis(topics: int, sd: float, fourth: float, level: float) -> tuple[float, float]:
    """Return the limits of a standard deviation, for scores that are not normal (Bonett 2006).

    ``ln(c s²) ± z c √((γ - (n-3)/n) / (n-1))`` with the kurtosis γ, from the sum of fourth powers of
    deviations, and ``c = n/(n-z)``; NaN for fewer than 5 topics.
    """
    from scipy.special import ndtri

    z = float(ndtri(tail_probabilities(level)[1]))
    if topics <= max(_TOO_FEW_FOR_RANGE, z) or math.isnan(sd):
        return math.nan, math.nan
    kurtosis = fourth / (topics * (sd**2 * (1 - 1 / topics)) ** 2)
    c = topics / (topics - z)
    reach = z * c * math.sqrt((kurtosis - (topics - 3.0) / topics) / (topics - 1.0))
    return sd * math.sqrt(c) * math.exp(-reach / 2.0), sd * math.sqrt(c) * math.exp(reach / 2.0)
