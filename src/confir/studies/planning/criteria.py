"""How the runs of a plan will be compared: the criterion of their family, from the pilot."""

from __future__ import annotations

import math

import numpy as np

from confir.arrays import Floats
from confir.defaults import BASELINE, BEST, NO_FAMILY, REPLICATES, SEED
from confir.intervals.simultaneous import largest_bound_sum
from confir.resampling.borrowed_variance import NOTHING_BORROWED, median_variance
from confir.resampling.sample import Sample, names
from confir.resampling.studentised_maxima import (
    RunCovariance,
    largest_statistics,
    studentised_maxima,
)
from confir.studies.planning.pilot import Pilot
from confir.studies.planning.power import Criterion, family_level, family_size

# As many topics as the normal limit of the critical value takes: those planned for are not known yet.
_MANY_TOPICS = 10**9

# All pairs of more runs take seconds; Bonferroni's critical value is then close enough.
_MOST_RUNS = 150


def planned_criterion(
    sample: Sample, pilot: Pilot, family: str, baseline: str | None, level: float
) -> Criterion:
    """Return how the runs will be judged: by the rule of `compare_runs`, as the pilot shows it.

    The critical value is the normal one of the pilot's correlations, carried over to t. Where those
    are not known, for designs, missing scores and human judgements, it is Bonferroni's,
    which is no smaller, and the median variance is that of the differences planned for. So it is for
    all pairs of very many runs.
    """
    runs, measures = names(sample)
    bound = family_level(level, family, len(runs))
    if family == NO_FAMILY:
        return Criterion(bound, freedom=pilot.freedom, fixed=pilot.fixed)
    comparisons = family_size(family, len(runs))
    sides = 1 if family == BEST else 2
    signs = sample.sums_signs and comparisons > 1
    median, single = _column_medians(pilot, len(measures)), np.full(len(pilot.sd), bound)
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


def _column_medians(pilot: Pilot, measures: int) -> Floats:
    """Return the median variance of the columns of each measure, for each column."""
    variance = np.square(np.nan_to_num(pilot.sd)).reshape(-1, measures)
    medians = [median_variance(column) for column in variance.T]
    return np.tile(medians, len(variance))


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
