"""What a number of topics gives: half width, power and detectable difference, as runs will be compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.defaults import ALL_PAIRS, BASELINE, BEST, NO_FAMILY, REPLICATES, SEED
from confir.errors import InvalidValueError
from confir.intervals.simultaneous import largest_bound_sum
from confir.resampling.normal_draws import RunCovariance
from confir.resampling.pair_draws import NOTHING_BORROWED, BorrowedVariance, median_variance
from confir.resampling.sample import Sample, names
from confir.resampling.studentised_maxima import largest_statistics, studentised_maxima
from confir.studies.planning.pilot import Freedom, Pilot

# More topics than anybody will ever judge: the search ends there.
_MOST_TOPICS = 2**30

# As many topics as the normal limit of the critical value takes: those planned for are not known yet.
_MANY_TOPICS = 10**9

# All pairs of more runs take seconds; Bonferroni's critical value is then close enough.
_MOST_RUNS = 150

# Halvings in the search for a difference: finer than double precision.
_HALVINGS = 60

# Probabilities at which the distribution of a sample's variance is evaluated, and their weights.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_PROBABILITIES, _PROBABILITY_WEIGHTS = (1.0 + _NODES) / 2.0, _WEIGHTS / 2.0


@dataclass(frozen=True, slots=True)
class Criterion:
    """How a mean or a difference will be tested, by the rule of `compare_runs`.

    Attributes
    ----------
    level
        Two-sided level of the t quantile that is the critical value, of each column or of all.
    comparisons
        Number of comparisons in the family, m.
    median
        Median variance of the family's differences over topics, M, of each column; 0 for none.
    certain
        The self-normalised sum from which on the sign of a difference is significant by itself.
    freedom
        Degrees of freedom of each column's standard error.
    fixed
        Variance of each column's mean that more topics do not reduce.
    """

    level: float | Floats
    comparisons: int = 1
    median: float | Floats = 0.0
    certain: float = math.inf
    freedom: Freedom = Freedom()  # noqa: RUF009 - immutable
    fixed: float | Floats = 0.0

    def critical_value(self, topics: Integers) -> Floats:
        """Return the critical value with a number of topics."""
        from scipy.special import stdtrit

        return np.asarray(-stdtrit(self.freedom.at(topics), (1.0 - self.level) / 2.0))

    def total_variance(self, sd: Floats, topics: Integers) -> Floats:
        """Return the variance over topics with what it borrows from the family.

        What topics do not reduce counts as if it were theirs: n times as much.
        """
        units = np.maximum(topics / self.freedom.cluster_size, 1.0)
        borrowed = BorrowedVariance(self.comparisons, 1.0).of(units) * self.median
        return np.asarray(np.square(sd) + borrowed + topics * self.fixed)

    def of(self, columns: Integers) -> Criterion:
        """Return how some columns will be tested."""
        level, median, fixed = (
            one[columns] if isinstance(one, np.ndarray) else one
            for one in (self.level, self.median, self.fixed)
        )
        freedom = self.freedom.of(columns)
        return replace(self, level=level, median=median, fixed=fixed, freedom=freedom)

    def half_width(self, sd: Floats, topics: Integers) -> Floats:
        """Return the half width of the interval: ``c·√((sd² + u·M)/n)``."""
        return self.critical_value(topics) * np.sqrt(self.total_variance(sd, topics) / topics)

    def power_function(self, sd: Floats, topics: Integers) -> Callable[[float | Floats], Floats]:
        """Return the function from true differences to the power, for normal differences over topics.

        By the noncentral t for a single comparison. In a family the sample's variance is averaged
        over, as the borrowed one does not vary with it. What does not depend on the difference is
        computed once for all calls.
        """
        df, critical = self.freedom.at(topics), self.critical_value(topics)
        sd = np.sqrt(np.square(sd) + topics * self.fixed)
        if self.comparisons < 2:
            return partial(_power_of_t, sd, topics, df, critical)
        from scipy.special import chdtri

        shape = np.broadcast_shapes(np.shape(sd), np.shape(df))
        column = _PROBABILITIES.reshape(-1, *[1] * len(shape))
        spread = sd * np.sqrt(chdtri(df, column) / df)  # of samples
        units = topics / self.freedom.cluster_size
        borrowed = self.total_variance(np.zeros(1), topics) - topics * self.fixed
        needed = critical * np.sqrt(np.square(spread) + borrowed)
        needed = np.minimum(needed, spread * _t_of_sums(self.certain, units))
        return partial(_power_in_family, sd, topics, needed)

    def detectable(self, sd: Floats, topics: Integers, power: float) -> Floats:
        """Return the smallest true difference that is detected with the given power."""
        error = np.sqrt(self.total_variance(sd, topics) / topics)
        known = np.isfinite(error)
        power_at = self.power_function(sd, topics)
        low, high = np.zeros_like(error), np.where(known, error, 0.0)
        while (short := known & (power_at(high) < power)).any():
            high = np.where(short, 2.0 * high, high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            enough = power_at(middle) >= power
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(known, high, np.nan)


def _power_of_t(
    sd: Floats, topics: Integers, df: Floats, critical: Floats, difference: float | Floats
) -> Floats:
    """Return the power of a single comparison, by the noncentral t."""
    from scipy.special import nctdtr

    with np.errstate(divide="ignore"):
        shift = difference * np.sqrt(topics) / sd
    # nctdtr gives NaN for probabilities too small for a double
    missed = np.nan_to_num(nctdtr(df, shift, critical))
    wrong_side = np.nan_to_num(nctdtr(df, shift, -critical))
    return np.where(np.isnan(shift), np.nan, 1.0 - missed + wrong_side)


def _power_in_family(
    sd: Floats, topics: Integers, needed: Floats, difference: float | Floats
) -> Floats:
    """Return the power, given the differences × √n that samples of each variance need."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        shift = difference * np.sqrt(topics)
        beyond = ndtr((shift - needed) / sd) + ndtr((-shift - needed) / sd)
    power: Floats = np.tensordot(_PROBABILITY_WEIGHTS, beyond, axes=1)
    return power


def _t_of_sums(certain: float, units: Floats) -> Floats:
    """Return the t from which on the self-normalised sum is large enough; ∞ where it never is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = certain * np.sqrt((units - 1.0) / (units - certain**2))
    return np.where(units > certain**2, t, np.inf)


def planned_criterion(
    sample: Sample, pilot: Pilot, family: str, baseline: str | None, level: float
) -> Criterion:
    """Return how the runs will be tested: by the rule of `compare_runs`, as the pilot shows it.

    The critical value is that of normal statistics with the pilot's correlations; plans take the t
    quantile at its level. Where the correlations are not known, for designs, missing scores and human
    judgements, it is Bonferroni's, which is no smaller, and the median variance is that of the
    differences planned for. So it is for all pairs of very many runs.
    """
    if family == NO_FAMILY:
        return Criterion(level, freedom=pilot.freedom, fixed=pilot.fixed)
    runs, measures = names(sample)
    bound = family_level(level, family, len(runs))
    comparisons = family_size(family, len(runs))
    sides = 1 if family == BEST else 2
    signs = sample.sums_signs and comparisons > 1
    variance = np.square(np.nan_to_num(pilot.sd)).reshape(-1, len(measures))
    median = np.tile([median_variance(column) for column in variance.T], len(variance))
    single = np.full(len(pilot.sd), bound)
    if family == BASELINE or len(runs) <= _MOST_RUNS:
        found = [sample.of_measure(m).covariance() for m in range(len(measures))]
        known = [one for one in found if one is not None]
        if len(known) == len(found) and len(runs) > 1:
            median, single = _from_pairs(known, runs, family, baseline, level, bound)
    return Criterion(
        level=single,
        comparisons=comparisons,
        median=median,
        certain=largest_bound_sum(comparisons, sides, level) if signs else math.inf,
        freedom=pilot.freedom,
        fixed=pilot.fixed,
    )


def _from_pairs(
    covariances: list[Floats],
    runs: tuple[str, ...],
    family: str,
    baseline: str | None,
    level: float,
    bound: float,
) -> tuple[Floats, Floats]:
    """Return median variances and levels of critical values for each column: runs × measures."""
    place = None if baseline is None else runs.index(baseline)
    medians, levels = [], []
    for own in covariances:
        variance = np.diag(own)[:, None] + np.diag(own) - 2.0 * own
        pairs = variance[np.triu_indices(len(runs), 1)]
        if family == BASELINE and place is not None:
            pairs = np.delete(variance[place], place)
        medians.append(median_variance(pairs))
        levels.append(_single_levels(own, family, place, level, bound))
    columns = len(runs) - (place is not None)
    single = np.stack(levels, axis=1)
    if place is not None:
        single = np.delete(single, place, axis=0)
    return np.tile(medians, columns), single.reshape(-1)


def _single_levels(
    covariance: Floats, family: str, baseline: int | None, level: float, bound: float
) -> Floats:
    """Return the level of a single t interval that is as wide as the family's, for each run."""
    from scipy.special import ndtr

    spread = RunCovariance(covariance, _MANY_TOPICS)
    rng = np.random.default_rng(SEED)
    nothing = NOTHING_BORROWED
    if family == BEST:
        found = studentised_maxima(spread, REPLICATES, rng, nothing, nothing).above
        critical = np.quantile(found, level, axis=1)
    else:
        chosen = None if family != BASELINE or baseline is None else [baseline]
        largest = largest_statistics(spread, REPLICATES, rng, nothing, chosen)
        critical = np.full(len(covariance), np.quantile(largest, level))
    single = 1.0 - 2.0 * ndtr(-critical)
    least = 2.0 * level - 1.0 if family == BEST else level
    return np.clip(single, least, bound)


def family_level(level: float, family: str, runs: int) -> float:
    """Return the level of a two-sided t interval that makes a family of intervals hold at a level.

    The Bonferroni-t bound: with ``α = 1 - level`` and K runs, t at 1-α/(2m) for m differences (K-1
    from a baseline, K(K-1)/2 of all pairs); at 1-α/(K-1), one-sided, for the best run (Hsu 1984).
    Critical values from replicates are no larger, so that a plan by this bound needs no fewer
    topics.
    """
    if family == NO_FAMILY:
        return level
    pairs = family_size(family, runs) / (2 if family == BEST else 1)
    if 1.0 - level >= pairs:
        raise InvalidValueError(
            f"level is {level:g}; expected more than 0.5 for the best of two runs, one-sided"
        )
    return 1.0 - (1.0 - level) / pairs


def family_size(family: str, runs: int) -> int:
    """Return the number of differences in a family of runs; in that of the best, of each run."""
    if family == NO_FAMILY:
        return 1
    if runs < 2:
        raise InvalidValueError(f"family {family!r} is for differences of runs; there is one run")
    return {BASELINE: runs - 1, ALL_PAIRS: runs * (runs - 1) // 2, BEST: runs - 1}[family]


def fewest_topics(reaches: Callable[[Integers], Booleans], size: int) -> Floats:
    """Return the smallest number of topics, 2 or more, that reaches a goal; NaN where none does."""
    short, enough = np.ones(size, np.int64), np.full(size, 2, np.int64)
    found = reaches(enough)
    while (~found & (enough < _MOST_TOPICS)).any():
        short, enough = np.where(found, short, enough), np.where(found, enough, 2 * enough)
        found = reaches(enough)
    while (enough - short > 1).any():
        middle = (short + enough) // 2
        reached = reaches(middle) & (middle > 1)
        short, enough = np.where(reached, short, middle), np.where(reached, middle, enough)
    return np.where(found, enough, np.nan)
