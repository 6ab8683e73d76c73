"""Studentised maxima over replicates: how far the differences between runs vary together.

The largest t* of many pairs is distributed as chance alone makes it, correlations included.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from confir.arrays import Floats
from confir.parallel import run_blocks
from confir.resampling.borrowed_variance import BorrowedVariance
from confir.resampling.normal_draws import RunCovariance
from confir.resampling.pair_draws import Maxima, PairDraws
from confir.resampling.sample import Sample
from confir.resampling.shared_draws import KeptMaxima

# Replicates taken together, so that the t* of one run against all others stay in the cache.
REPLICATES_AT_ONCE = 512

# Weights and means held at once: replicates × topics or runs.
_NUMBERS_AT_ONCE = 1 << 24


def studentised_maxima(
    sample: Sample | RunCovariance,
    replicates: int,
    rng: np.random.Generator,
    every: BorrowedVariance,
    one: BorrowedVariance,
) -> Maxima:
    """Return the largest t* of each run against all others, and of all pairs, by one measure.

    Pairs without variance, the same difference on all topics, are left out.

    Parameters
    ----------
    sample
        One column per run.
    replicates, rng
        Number of replicates, and where they are drawn from.
    every, one
        What variances borrow in the family of all pairs, and in that of one run's pairs.
    """
    empty = np.empty((sample.columns, 0))
    parts = [Maxima(empty, empty, np.empty(0))]
    for pairs, size in sample.pair_draws(replicates, rng):
        kept = KeptMaxima(pairs, every)
        compiled = pairs.kernels_pay_off(None, (every, one), size)
        blocks = run_blocks(partial(pairs.maxima, every, one, compiled), _blocks(size))
        kept.keep(np.concatenate([block.largest for block in blocks]))
        parts += blocks
    return Maxima(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))


def largest_statistics(
    sample: Sample | RunCovariance,
    replicates: int,
    rng: np.random.Generator,
    borrowed: BorrowedVariance,
    runs: Sequence[int] | None = None,
) -> Floats:
    """Return the largest |t*| of all pairs in each replicate: that of `studentised_maxima`, faster.

    Parameters are those of `studentised_maxima`; ``runs`` are the numbers of those to compare with
    the others, by default all of them.
    """
    chosen = None if runs is None else np.asarray(runs)
    parts = [np.empty(0)]
    for pairs, size in sample.pair_draws(replicates, rng):

        def compute(pairs: PairDraws = pairs, size: int = size) -> Floats:
            compiled = pairs.kernels_pay_off(chosen, (borrowed,), size)
            part = partial(pairs.largest, borrowed, chosen, compiled)
            return np.concatenate(run_blocks(part, _blocks(size)))

        parts.append(KeptMaxima(pairs, borrowed).find(compute) if chosen is None else compute())
    return np.concatenate(parts)


def sizes_in_memory(replicates: int, units: int, runs: int) -> list[int]:
    """Return numbers of replicates that fit into memory together."""
    most = _NUMBERS_AT_ONCE // max(units, runs)
    most = max(1, most // REPLICATES_AT_ONCE) * REPLICATES_AT_ONCE
    return [min(most, replicates - start) for start in range(0, replicates, most)]


def _blocks(replicates: int) -> list[slice]:
    """Return the replicates in blocks, fixed by their number alone."""
    starts = range(0, replicates, REPLICATES_AT_ONCE)
    return [slice(start, min(start + REPLICATES_AT_ONCE, replicates)) for start in starts]
