"""What a pilot says: the spread of scores over topics, and the critical values of a family of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats, Integers
from confir.defaults import ALL_PAIRS, BASELINE, BEST, FAMILIES, NO_FAMILY, REPLICATES, SEED
from confir.errors import DegenerateSampleWarning, InvalidValueError, enumerate_names, warn_caller
from confir.intervals.interval import tail_probabilities
from confir.pairs.differences import Pairs
from confir.pairs.power import Criterion, Pilot, pilot_of
from confir.pairs.simultaneous import largest_bound_sum
from confir.resampling.kinds import against
from confir.resampling.normal_draws import RunCovariance, difference_variance
from confir.resampling.pair_draws import NOTHING_BORROWED, median_variance
from confir.resampling.sample import Sample, names
from confir.resampling.studentised_maxima import largest_statistics, studentised_maxima

# As many topics as the normal limit of the critical value takes: those planned for are not known yet.
_MANY_TOPICS = 10**9

# All pairs of more runs take seconds; Bonferroni's critical value is then close enough.
_MOST_RUNS = 150

# The range of a standard deviation needs more topics than these.
_TOO_FEW_FOR_RANGE = 4


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
    return sample.contrast(np.arange(len(sample.labels)).reshape(sample.shape), partners(sample))


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

    It is the standard error times the root of the topics; 0 for pairs whose differences are all equal, -∞
    for those with fewer than two.
    """
    runs, measures = sample.shape
    first, second = (side.astype(np.int64) for side in np.triu_indices(runs, 1))
    pairs = Pairs(sample, first, second)
    parts = [np.empty(0)]
    for columns in pairs.blocks():
        found = pairs.contrast(columns).distribution(slice(None), None, ("se",))
        sd = np.where(found.degenerate, 0.0, found.require("se") * np.sqrt(found.count))
        parts.append(np.where(found.count > 1, sd, -np.inf))
    return first, second, np.concatenate(parts).reshape(len(first), measures)


def measure_pilot(sample: Sample, against: Sequence[str] = ()) -> Pilot:
    """Return the standard deviations over topics; warn where there are none.

    By human and model judgements: that of human-judged topics which would have as large a
    standard error by themselves. ``against`` are the runs that differences are from, for the warning.
    """
    pilot = pilot_of(sample)
    sd, few = pilot.sd, pilot.topics < 2
    for columns, cause in (
        (np.isnan(sd) & few, "the pilot has fewer than two scores"),
        (np.isnan(sd) & ~few, "the pilot's scores or differences are all equal"),
    ):
        labels = [(i, *sample.labels[i]) for i in np.flatnonzero(columns).tolist()]
        names = [
            f"{run} and {against[i]} by {measure}" if against else f"{run} {measure}"
            for i, run, measure in labels
        ]
        if names:
            warn_caller(
                f"nothing can be planned for {enumerate_names(list(dict.fromkeys(names)), 5)}: {cause}",
                DegenerateSampleWarning,
            )
    return pilot


def sd_range(sample: Sample, pilot: Pilot, level: float) -> tuple[Floats, Floats]:
    """Return the limits of the standard deviations of a pilot; NaN for fewer than 5 topics.

    Of topics drawn one by one by their kurtosis, else as if scores were normal.
    """
    from scipy.special import chdtri

    fourth = sample.fourth_powers(pilot.sd)
    if fourth is None:
        low, high = (
            pilot.sd * np.sqrt(pilot.df / chdtri(pilot.df, tail))
            for tail in tail_probabilities(level)
        )
        return low, high
    columns = zip(pilot.topics, pilot.sd.tolist(), fourth.tolist(), strict=True)
    limits = [_limits_by_kurtosis(int(n), sd, power, level) for n, sd, power in columns]
    low, high = np.array(limits).T
    return low, high


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


def planned_family(
    family: str | None, baseline: str | None, runs: int, difference: float | str | None = None
) -> str:
    """Return the family planned for: by default that in which the runs will be compared.

    Several runs against a baseline are a family; a single one, or means, are none. Raise where the
    family does not go with what is planned.
    """
    if family is None:
        return BASELINE if baseline is not None and runs > 2 else NO_FAMILY
    as_choice("family", family, FAMILIES)
    if family == BASELINE and baseline is None:
        raise InvalidValueError("family 'baseline' needs a baseline")
    if family == BEST and (baseline is not None or difference is not None):
        raise InvalidValueError(
            "family 'best' takes no baseline and no difference: it is for a half width, or for what "
            "a number of topics gives"
        )
    return family


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
            f"the level is {level:g}; the best of two runs is tested one-sided and requires more than 0.5"
        )
    return 1.0 - (1.0 - level) / pairs


def family_size(family: str, runs: int) -> int:
    """Return the number of differences in a family of runs; in that of the best, of each run."""
    if family == NO_FAMILY:
        return 1
    if runs < 2:
        raise InvalidValueError(f"family {family!r} is for differences of runs; there is one run")
    return {BASELINE: runs - 1, ALL_PAIRS: runs * (runs - 1) // 2, BEST: runs - 1}[family]


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
        variance = difference_variance(own, np.arange(len(own))[:, None], np.arange(len(own)))
        pairs = variance[np.triu_indices(len(runs), 1)]
        if family == BASELINE and place is not None:
            pairs = np.delete(variance[place], place)
        medians.append(median_variance(pairs))
        spread = RunCovariance(own, _MANY_TOPICS, runs)
        levels.append(_single_levels(spread, family, place, level, bound))
    columns = len(runs) - (place is not None)
    single = np.stack(levels, axis=1)
    if place is not None:
        single = np.delete(single, place, axis=0)
    return np.tile(medians, columns), single.reshape(-1)


def _single_levels(
    spread: RunCovariance, family: str, baseline: int | None, level: float, bound: float
) -> Floats:
    """Return the level of a single t interval that is as wide as the family's, for each run."""
    from scipy.special import ndtr

    rng = np.random.default_rng(SEED)
    nothing = NOTHING_BORROWED
    if family == BEST:
        found = studentised_maxima(spread, REPLICATES, rng, nothing, nothing).above
    else:
        chosen = None if family != BASELINE or baseline is None else [baseline]
        found = largest_statistics(spread, REPLICATES, rng, nothing, chosen)
    if not found.shape[-1]:  # of too many runs none are drawn
        return np.full(len(spread.matrix), bound)
    # -∞ where no pair varies
    critical = np.quantile(np.maximum(found, 0.0), level, axis=-1)
    single = 1.0 - 2.0 * ndtr(-critical)
    least = 2.0 * level - 1.0 if family == BEST else level
    return np.clip(np.broadcast_to(single, len(spread.matrix)), least, bound)
